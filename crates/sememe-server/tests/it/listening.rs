//! Who can reach a server, and how it ends.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::thread;
use std::time::Duration;

use sememe_server::{Event, Options, Server};
use serde_json::json;

use crate::fixture::Running;

#[test]
fn others_need_a_token() {
    let server = Running::start();
    assert!(server.client.address.ip().is_loopback());
    let spaces = || vec![("a".to_owned(), server.path())];
    let open = |change: &dyn Fn(&mut Options)| {
        let mut options = Options::default();
        options.port = 0;
        change(&mut options);
        Server::open(spaces(), options, |_| {}).map(|server| server.url()).map_err(|error| error.to_string())
    };
    let everywhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let refused = open(&|options| options.bind = everywhere).unwrap_err();
    assert!(refused.contains("--token") && refused.contains("--insecure"), "{refused}");
    assert!(open(&|options| (options.bind, options.insecure) = (everywhere, true)).is_ok());
    let with_token = |token: &'static str| {
        open(&move |options: &mut Options| (options.bind, options.token) = (everywhere, Some(token.to_owned())))
    };
    assert!(with_token("0123456789abcdef").unwrap().ends_with("/#token=0123456789abcdef"));
    for token in ["short", "with a blank in it", "mit Umlaut äöü"] {
        assert!(with_token(token).unwrap_err().contains("8 characters"));
    }
    assert!(Server::open(Vec::new(), Options::default(), |_| {}).is_err());
    let twice = vec![("a".to_owned(), server.path()), ("a".to_owned(), server.path())];
    assert!(Server::open(twice, Options::default(), |_| {}).is_err_and(|error| error.to_string().contains("NAME=")));
}

#[test]
fn a_token_opens_everything_but_the_page() {
    let server = Running::with(|options| options.token = Some("0123456789abcdef".to_owned()));
    for path in ["/", "/healthz", "/assets/app.js"] {
        assert_eq!(server.client.get(path).status, 200, "{path}");
    }
    let with = |value: &str| server.client.send("GET", "/v1/spaces", &[("Authorization", value)], b"").status;
    assert_eq!(with("Bearer 0123456789abcdef"), 200);
    assert_eq!(with("bearer 0123456789abcdef"), 200);
    for value in
        ["", "Bearer", "Bearer ", "Bearer 0123456789abcdeX", "Bearer 0123456789abcdef0", "Basic 0123456789abcdef"]
    {
        assert_eq!(with(value), 401, "{value}");
    }
    for path in ["/v1/spaces", "/metrics", "/openapi.json", "/nothing", "/v1/../assets/app.js"] {
        let answer = server.client.get(path);
        assert_eq!((answer.status, answer.header("www-authenticate")), (401, "Bearer"), "{path}");
    }
    let seen = format!("{:?}", server.events.lock().unwrap());
    assert!(!seen.contains("0123456789abcdef"), "the token is not logged");
}

#[test]
fn pages_of_other_servers_are_refused() {
    let server = Running::start();
    let port = server.client.address.port();
    let status = |headers: &[(&str, &str)]| server.client.send("GET", "/v1/spaces", headers, b"").status;
    assert_eq!(status(&[("Host", "localhost")]), 200);
    for host in ["evil.example", "localhost.evil.example", "192.168.0.1", ""] {
        assert_eq!(status(&[("Host", host)]), 403, "{host}");
    }
    let own = format!("http://127.0.0.1:{port}");
    assert_eq!(status(&[("Origin", &own)]), 200);
    for origin in ["http://evil.example", "null", "http://127.0.0.1", "file://"] {
        assert_eq!(status(&[("Origin", origin)]), 403, "{origin}");
    }
}

#[test]
fn what_was_begun_is_answered_at_the_end() {
    let mut server = Running::start();
    let client = server.client.clone();
    let asking: Vec<_> = (0..8)
        .map(|number| {
            let client = client.clone();
            thread::spawn(move || {
                let asked = json!({ "from": "en", "words": [format!("en{number}")], "criterion": "isf" });
                client.post("/v1/translate", &asked).status
            })
        })
        .collect();
    // A request of which the head has arrived.
    let mut half = TcpStream::connect(client.address).unwrap();
    let body = br#"{"from": "en", "words": ["en1"]}"#;
    write!(half, "POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
    thread::sleep(Duration::from_millis(300));
    server.stop.stop();
    half.write_all(body).unwrap();
    let mut answer = String::new();
    half.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(asking.into_iter().all(|thread| thread.join().unwrap() == 200));
    server.end();
    assert!(TcpStream::connect(client.address).is_err());
}

#[test]
fn every_request_is_logged_without_its_words() {
    let server = Running::start();
    server.client.ask("/v1/translate", &json!({ "from": "en", "words": ["secretword"] }));
    server.client.get("/v1/complete?prefix=secretword");
    server.client.get("/nowhere\x1b[2J");
    let events = server.events.lock().unwrap();
    let lines: Vec<String> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    assert!(
        lines.iter().any(|line| line.contains(r#""event":"access""#) && line.contains(r#""path":"/v1/translate""#))
    );
    assert!(!lines.concat().contains("secretword"));
    assert!(events.iter().any(|event| matches!(event, Event::Access(access) if access.status == 200)));
    drop(events);
    let metrics = server.client.get("/metrics").text();
    assert!(metrics.contains("sememe_requests_total{route=\"/v1/translate\",status=\"200\"} 1"), "{metrics}");
}
