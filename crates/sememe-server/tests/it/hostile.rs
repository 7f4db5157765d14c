//! Whatever is wrong with a request, its sender is told in a sentence, and nobody else notices.

use serde_json::{Value, json};

use crate::fixture::Running;

fn refused(server: &Running, path: &str, body: &[u8], status: u16, code: &str) {
    let shown: String = String::from_utf8_lossy(body).chars().take(100).collect();
    let answer = server.client.send("POST", path, &[], body);
    assert_eq!(answer.status, status, "{path} {shown}: {}", answer.text());
    let (found, message) = answer.problem();
    assert_eq!(found, code, "{path} {shown}: {message}");
    assert!(message.len() > 20 && message.len() < 400, "{message}");
    let folder = server.folder.path().to_str().unwrap();
    assert!(!message.contains(folder), "no file of the machine is named: {message}");
}

#[test]
fn bodies_that_are_not_what_is_expected() {
    let server = Running::start();
    let deep = "[".repeat(100_000);
    let bad: [&[u8]; 14] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\"en\"",
        b"\xff\xfe\x00",
        br#"{"from": "en"}"#,
        br#"{"from": 3, "words": ["a"]}"#,
        br#"{"from": "en", "words": "house"}"#,
        br#"{"from": "en", "words": [1]}"#,
        br#"{"from": "en", "words": ["a"], "k": -1}"#,
        br#"{"from": "en", "words": ["a"], "k": 1.5}"#,
        br#"{"from": "en", "words": ["a"], "min_confidence": NaN}"#,
        br#"{"from": "en", "words": ["a"], "typo": 1}"#,
    ];
    for body in bad.into_iter().chain([deep.as_bytes()]) {
        refused(&server, "/v1/translate", body, 400, "bad_json");
    }
    for path in ["neighbors", "explain", "project", "vectors", "axis", "errors", "compare", "induce"] {
        refused(&server, &format!("/v1/{path}"), b"{\"x\": 1", 400, "bad_json");
        refused(&server, &format!("/v1/{path}"), b"17", 400, "bad_json");
    }
}

#[test]
fn values_that_are_impossible() {
    let server = Running::start();
    let long = "x".repeat(1000);
    let translate = |change: &dyn Fn(&mut Value)| {
        let mut body = json!({ "from": "en", "to": "fr", "words": ["en1"] });
        change(&mut body);
        body.to_string().into_bytes()
    };
    type Change<'a> = &'a dyn Fn(&mut Value);
    let cases: [(Change, u16, &str); 14] = [
        (&|body| body["k"] = json!(0), 400, "bad_k"),
        (&|body| body["k"] = json!(1_000_000_000), 400, "bad_k"),
        (&|body| body["from"] = json!("../../etc/passwd"), 404, "unknown_view"),
        (&|body| body["to"] = json!(["fr", "xx"]), 404, "unknown_view"),
        (&|body| body["to"] = json!([]), 400, "bad_views"),
        (&|body| body["to"] = json!(vec!["fr"; 50]), 400, "bad_views"),
        (&|body| body["space"] = json!("/etc"), 404, "unknown_space"),
        (&|body| body["criterion"] = json!("cosine"), 400, "bad_criterion"),
        (&|body| body["criterion"] = json!("csls:k=0"), 400, "bad_criterion"),
        (&|body| body["criterion"] = json!("nn".repeat(100)), 400, "bad_criterion"),
        (&|body| body["min_confidence"] = json!(1.5), 400, "bad_confidence"),
        (&|body| body["min_confidence"] = json!(1e300), 400, "bad_confidence"),
        (&|body| body["words"] = json!(vec!["en1"; 513]), 400, "too_many_words"),
        (&|body| body["words"] = json!([long]), 400, "word_too_long"),
    ];
    for (change, status, code) in cases {
        refused(&server, "/v1/translate", &translate(change), status, code);
    }
    // Names that are shown again are cut.
    let answer = server.client.post("/v1/translate", &json!({ "from": "x".repeat(100_000), "words": [] }));
    assert!(answer.status == 404 && answer.body.len() < 500);
    let vectors =
        |numbers: &str| format!("{{\"from\": \"en\", \"to\": \"fr\", \"vectors\": [[{numbers}]]}}").into_bytes();
    let twelve = |first: &str| [first].into_iter().chain(["0.5"; 11]).collect::<Vec<_>>().join(",");
    refused(&server, "/v1/neighbors", &vectors("1, 2"), 400, "bad_vector");
    refused(&server, "/v1/neighbors", &vectors(&twelve("1e31")), 400, "bad_vector");
    refused(&server, "/v1/neighbors", &vectors(&twelve("1e999")), 400, "bad_json");
    refused(&server, "/v1/neighbors", &vectors(&twelve("NaN")), 400, "bad_json");
    refused(&server, "/v1/neighbors", br#"{"from": "en"}"#, 400, "bad_request");
    refused(&server, "/v1/project", br#"{"view": "en", "vectors": [[1]]}"#, 400, "bad_vector");
    refused(&server, "/v1/axis", br#"{"positive": []}"#, 400, "no_axis");
    refused(&server, "/v1/errors", br#"{"from": "en", "to": "fr", "entries": []}"#, 400, "bad_request");
    refused(&server, "/v1/errors", br#"{"from": "en", "to": "fr", "entries": [["a"]]}"#, 400, "bad_json");
    refused(&server, "/v1/compare", br#"{"other": "no", "from": "en"}"#, 404, "unknown_space");
    // A zero vector has no neighbours, and that is no mistake.
    let zeros = server.client.send("POST", "/v1/neighbors", &[], &vectors(&["0"; 12].join(",")));
    assert_eq!((zeros.status, &zeros.json()["neighbors"][0]["hits"]), (200, &json!([])));
}

#[test]
fn arrays_that_are_none() {
    let server = Running::start();
    let npy = [("Content-Type", "application/x-npy")];
    let header = |text: &str| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes
    };
    for body in [
        b"".to_vec(),
        b"hello".to_vec(),
        b"\x1f\x8b\x08\x00compressed".to_vec(),
        b"\x93NUMPY\x01\x00\xff\xff".to_vec(),
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 4000000000), }"),
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 12), }"),
        header("{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }"),
    ] {
        let answer = server.client.send("POST", "/v1/project?view=en", &npy, &body);
        assert_eq!((answer.status, answer.problem().0.as_str()), (400, "bad_array"), "{}", answer.text());
    }
    let unnamed = server.client.send("POST", "/v1/project", &npy, b"");
    assert_eq!(unnamed.problem().0, "no_view");
}

#[test]
fn addresses_that_lead_nowhere() {
    let server = Running::start();
    for path in [
        "/v2/translate",
        "/assets/../Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets//etc/passwd",
        "/assets/",
        "/.git/config",
        "/model.safetensors",
        "/v1/words/en",
        "//",
        "/%00",
        "/assets/index.html%00.js",
    ] {
        let answer = server.client.get(path);
        assert_eq!((answer.status, answer.problem().0.as_str()), (404, "unknown_path"), "{path}");
    }
    for (path, code, status) in [
        ("/v1/words", "bad_parameters", 400),
        ("/v1/words?view=xx", "unknown_view", 404),
        ("/v1/words?view=en&extra=1", "bad_parameters", 400),
        ("/v1/complete?prefix=%ff", "unknown", 0),
        ("/v1/complete?view=en&prefix=a&limit=-1", "bad_parameters", 400),
        ("/v1/factors?count=x", "bad_parameters", 400),
        ("/v1/map?layout=umap", "bad_layout", 400),
        ("/v1/map/points?layout=tsne", "not_ready", 404),
        ("/v1/map?space=%2e%2e", "unknown_space", 404),
    ] {
        let answer = server.client.get(path);
        match status {
            // Bytes that are no text are replaced, and complete nothing.
            0 => assert!(answer.status < 500, "{path}"),
            _ => assert_eq!((answer.status, answer.problem().0.as_str()), (status, code), "{path}"),
        }
    }
    for (method, path) in [("GET", "/v1/translate"), ("POST", "/v1/spaces"), ("DELETE", "/"), ("PUT", "/v1/map")] {
        let answer = server.client.send(method, path, &[], b"");
        assert_eq!((answer.status, answer.problem().0.as_str()), (405, "method"), "{method} {path}");
    }
    let far = server.client.look("/v1/factors?from=99999999&count=99999999");
    assert_eq!(far["factors"], json!([]));
}

#[test]
fn nonsense_is_no_request_and_is_told_so() {
    let server = Running::start();
    for (bytes, code) in [
        (&b"hello\r\n\r\n"[..], "bad_http"),
        (b"GET / HTTP/9.9\r\n\r\n", "bad_http"),
        (b"GET / HTTP/1.1\r\nNo colon\r\n\r\n", "bad_http"),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "bad_http"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n", "bad_http"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "bad_http"),
        (&[0xff; 1000], "bad_http"),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "wrong_host"),
        (b"GET / HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\nHost: localhost\r\n\r\n", "bad_header"),
        (
            b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n",
            "bad_body",
        ),
    ] {
        let answer = server.client.raw(&[bytes, b"\r\n\r\n"].concat()).unwrap();
        assert!((400..500).contains(&answer.status), "{bytes:?}");
        let (found, message) = answer.problem();
        assert!(found == code && message.len() > 20, "{bytes:?}: {found} {message}");
    }
    assert_eq!(server.client.get("/healthz").status, 200);
}

#[test]
fn nothing_of_a_space_is_markup() {
    let server = Running::start();
    let words = server.client.get("/v1/words?view=en");
    assert!(words.text().contains("<script>"));
    assert_eq!(words.header("content-type"), "text/plain; charset=utf-8");
    for path in ["/", "/v1/words?view=en", "/v1/spaces", "/nothing"] {
        let answer = server.client.get(path);
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
    }
    let page = server.client.get("/").text();
    assert!(!page.contains("<script>") && !page.contains(" onload=") && !page.contains("http://"), "no inline script");
}
