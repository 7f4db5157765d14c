//! A client that sends what it is told, however wrong.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

#[derive(Debug, Clone)]
pub struct Client {
    pub address: SocketAddr,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// The code and the sentence of a refused request.
    pub fn problem(&self) -> (String, String) {
        let error = &self.json()["error"];
        let text = |what: &str| error[what].as_str().unwrap_or_else(|| panic!("no {what}: {}", self.text())).to_owned();
        (text("code"), text("message"))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let header = |line: &str| line.split_once(':').map(|(a, b)| (a.to_lowercase(), b.trim().to_owned()));
        Some(Answer { status, headers: lines.filter_map(header).collect(), body: bytes[end + 4..].to_vec() })
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Client { address }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes as they are; `None` if the connection ends without an answer.
    pub fn raw(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = self.connect();
        // A server that has heard enough may close the connection while it is written to.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::read(&answer)
    }

    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head += &format!("Host: {}\r\n", self.address);
        }
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        let bytes = [head.as_bytes(), b"\r\n", body].concat();
        self.raw(&bytes).unwrap_or_else(|| panic!("no answer to {method} {path}"))
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("Content-Type", "application/json")], body.to_string().as_bytes())
    }

    /// The JSON of a request that must be answered.
    pub fn ask(&self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, body);
        assert_eq!(answer.status, 200, "{path} {body}: {}", answer.text());
        answer.json()
    }

    pub fn look(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }
}
