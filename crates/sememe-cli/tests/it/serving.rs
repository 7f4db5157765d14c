//! `sememe serve`, from its start to its end. What it answers is tested in its crate.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{DEMO, json, refused, text};

/// A server and the address that it printed.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sememe"));
        command.current_dir(folder).args(["serve", "--port", "0"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap());
        while !first.contains("127.0.0.1:") {
            assert_ne!(lines.read_line(&mut first).unwrap(), 0, "it ended: {first}");
        }
        let after = first.split("127.0.0.1:").nth(1).unwrap();
        let port: String = after.chars().take_while(char::is_ascii_digit).collect();
        Serving { child, address: format!("127.0.0.1:{port}") }
    }

    /// The body of an answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    /// Asks it to end; its exit code, and what it wrote to standard error.
    #[cfg(unix)]
    fn end(mut self) -> (Option<i32>, String) {
        let id = self.child.id();
        assert!(super::errors::shell(Path::new("."), &format!("kill -TERM {id}")).status.success());
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap().code(), log)
    }
}

#[cfg(unix)]
#[test]
fn it_answers_as_the_command_does_and_ends_when_it_is_asked_to() {
    let expected = json(DEMO.folder(), &["translate", "space", "--from", "en", "--to", "fr", "house", "hous"]);
    let asked = r#"{"from": "en", "to": "fr", "words": ["house", "hous"]}"#;
    let server = Serving::start(DEMO.folder(), &["space", "--json"]);
    let found: Value = serde_json::from_str(&server.ask("POST", "/v1/translate", asked)).unwrap();
    assert_eq!(found, expected);
    assert!(server.ask("GET", "/", "").starts_with("<!doctype html>"));
    let (code, log) = server.end();
    assert_eq!(code, Some(0));
    let line: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!((&line["path"], &line["status"]), (&Value::from("/v1/translate"), &Value::from(200)), "{log}");
    let quiet = Serving::start(DEMO.folder(), &["one=space", "two=space", "--quiet"]);
    assert!(quiet.ask("GET", "/v1/spaces", "").contains(r#""name":"two""#));
    assert_eq!(quiet.end(), (Some(0), String::new()));
}

#[test]
fn what_cannot_be_served_is_refused() {
    let folder = DEMO.folder();
    let others = refused(folder, &["serve", "space", "--bind", "0.0.0.0", "--port", "0"]);
    assert!(others.contains("--token") && others.contains("--insecure"), "{others}");
    assert!(refused(folder, &["serve", "nothing-here"]).contains("nothing-here"));
    assert!(refused(folder, &["serve", "space", "space"]).contains("NAME=SPACE"));
    assert!(refused(folder, &["serve", "space", "--token", "short"]).contains("8 characters"));
    assert!(refused(folder, &["serve", "space", "--timeout", "0"]).contains("above 0"));
    assert!(refused(folder, &["demo", "--port", "9000"]).contains("--serve"));
    assert!(text(&super::sememe(folder, &["serve", "--help"]).stdout).contains("/openapi.json"));
}
