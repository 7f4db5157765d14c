//! A space that is replaced while it is served.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::{Running, write_space};

fn fingerprint(server: &Running) -> Value {
    server.client.look("/v1/spaces")["spaces"][0]["fingerprint"].clone()
}

#[test]
fn requests_are_answered_by_the_old_space_or_the_new_one() {
    let server = Running::start();
    let old = fingerprint(&server);
    let is_done = AtomicBool::new(false);
    let asked = json!({ "from": "en", "to": "fr", "words": ["en1", "en2"] });
    let before = server.client.ask("/v1/translate", &asked);
    thread::scope(|scope| {
        let asking: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut answers = vec![before.clone()];
                    while !is_done.load(Ordering::Relaxed) {
                        let answer = server.client.ask("/v1/translate", &asked);
                        if answers.last() != Some(&answer) {
                            answers.push(answer);
                        }
                    }
                    answers
                })
            })
            .collect();
        write_space(&server.path(), 2);
        let start = Instant::now();
        while fingerprint(&server) == old {
            assert!(start.elapsed() < Duration::from_secs(60), "it is not opened anew");
            thread::sleep(Duration::from_millis(50));
        }
        let after = server.client.ask("/v1/translate", &asked);
        assert_ne!(after, before);
        thread::sleep(Duration::from_millis(100));
        is_done.store(true, Ordering::Relaxed);
        for thread in asking {
            assert_eq!(thread.join().unwrap(), [before.clone(), after.clone()], "one change, and no failure");
        }
    });
    assert!(server.client.get("/metrics").text().contains("sememe_spaces_reopened_total 1"));
}

#[test]
fn a_space_that_is_gone_or_broken_is_served_as_it_was() {
    let server = Running::start();
    let asked = json!({ "from": "en", "to": "ru", "words": ["en1"] });
    let before = server.client.ask("/v1/translate", &asked);
    std::fs::write(server.path().join("model.1.safetensors"), b"nonsense").unwrap();
    thread::sleep(Duration::from_millis(700));
    assert_eq!(server.client.ask("/v1/translate", &asked), before);
    std::fs::rename(server.path(), server.folder.path().join("elsewhere")).unwrap();
    thread::sleep(Duration::from_millis(700));
    assert_eq!(server.client.ask("/v1/translate", &asked), before);
    server.client.ask("/v1/explain", &json!({ "from": "fr", "word": "fr9" }));
}
