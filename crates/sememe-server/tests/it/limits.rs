//! Nobody takes more than a share.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::fixture::Running;

#[test]
fn bodies_and_heads_are_bounded() {
    let server = Running::with(|options| options.max_body = 100_000);
    let word = "x".repeat(10_000_000);
    let answer = server.client.post("/v1/translate", &json!({ "from": "en", "words": [word] }));
    assert_eq!((answer.status, answer.problem().0.as_str()), (413, "too_large"));
    // Whoever has begun to send may finish, and reads what is wrong.
    for announced in [20_000_000_u64, 2_000_000_000_000] {
        let mut stream = server.client.connect();
        let head = format!("POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {announced}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'x'; 20_000_000]).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("too_large"), "{answer}");
    }
    let mut many = String::new();
    (0..200).for_each(|number| many += &format!("X-{number}: 1\r\n"));
    let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{many}\r\n");
    let answer = server.client.raw(request.as_bytes());
    let answer = answer.unwrap();
    assert_eq!((answer.status, answer.problem().0.as_str()), (431, "bad_http"));
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(200_000));
    let answer = server.client.raw(long.as_bytes());
    let answer = answer.unwrap();
    assert!([414, 431].contains(&answer.status) && answer.problem().0 == "bad_http", "{}", answer.text());
    assert_eq!(server.client.get("/healthz").status, 200);
}

#[test]
fn slow_clients_are_cut_off() {
    let server = Running::with(|options| {
        options.header_timeout = Duration::from_millis(300);
        options.timeout = Duration::from_millis(600);
    });
    // A head that never ends.
    let mut stream = server.client.connect();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
    let mut rest = Vec::new();
    let start = Instant::now();
    let _ = stream.read_to_end(&mut rest);
    assert!(start.elapsed() < Duration::from_secs(20));
    // A body that never ends.
    let mut stream = server.client.connect();
    stream.write_all(b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{").unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(String::from_utf8_lossy(&rest).starts_with("HTTP/1.1 422"), "{}", String::from_utf8_lossy(&rest));
}

#[test]
fn connections_beyond_the_limit_wait() {
    let server = Running::with(|options| {
        options.max_connections = 2;
        options.header_timeout = Duration::from_millis(300);
    });
    let idle: Vec<_> = (0..5).map(|_| server.client.connect()).collect();
    // They are cut off one after the other, and then it is its turn.
    assert_eq!(server.client.get("/healthz").status, 200);
    drop(idle);
}

#[test]
fn work_that_takes_too_long_is_given_up() {
    let server = Running::with(|options| options.timeout = Duration::from_nanos(1));
    let answer = server.client.post("/v1/translate", &json!({ "from": "en", "words": ["en1"] }));
    // What it needs may still be prepared.
    let told = (answer.status, answer.problem().0);
    assert!([(422, "timeout".to_owned()), (429, "preparing".to_owned())].contains(&told), "{told:?}");
}

#[test]
fn criteria_with_any_parameters_leave_nothing_on_disk() {
    let server = Running::start();
    for k in 1..40 {
        let criterion = format!("csls:k={k}");
        let asked = json!({ "from": "en", "to": "fr", "words": ["en1"], "criterion": criterion });
        assert_eq!(
            server.client.ask("/v1/translate", &asked)["criterion"],
            json!(if k == 10 { "csls" } else { &criterion })
        );
    }
    let files =
        std::fs::read_dir(server.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let terms: Vec<String> = files.filter(|name| name.ends_with(".terms")).collect();
    assert!(terms.iter().all(|name| name.starts_with("csls.")), "{terms:?}");
}
