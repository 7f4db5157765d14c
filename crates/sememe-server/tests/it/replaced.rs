//! A space that is replaced while it is served.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sememe::align;
use sememe::model::FitOptions;
use serde_json::{Value, json};

use crate::fixture::{Running, tuples, view, write_space};

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

#[test]
fn a_view_that_is_added_is_served_and_nobody_is_dropped() {
    let server = Running::start();
    let old = fingerprint(&server);
    let asked = json!({ "from": "en", "to": "fr", "words": ["en1", "en2"] });
    let before = server.client.ask("/v1/translate", &asked);
    let to_new = json!({ "from": "en", "to": "fi", "words": ["en1"], "k": 1 });
    assert_eq!(server.client.post("/v1/translate", &to_new).problem().0, "unknown_view");
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let asking = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                assert_eq!(
                    server.client.ask("/v1/translate", &asked),
                    before,
                    "the views that were there stay as they are"
                );
            }
        });
        let space = server.space();
        let reservation = space.reserve("fi", None).unwrap();
        let latent = space.latent_views().unwrap();
        let options = FitOptions::for_new_view();
        let extended = align::extend(space.alignment(), &latent, view(1, 4, "fi"), &tuples(4), &options, &()).unwrap();
        space.extend(&extended.alignment, &extended.latent, reservation).unwrap();
        let start = Instant::now();
        while fingerprint(&server) == old {
            assert!(start.elapsed() < Duration::from_secs(60), "it is not opened anew");
            thread::sleep(Duration::from_millis(50));
        }
        let found = server.client.ask("/v1/translate", &to_new);
        assert_eq!(found["translations"][0]["candidates"][0]["word"], json!("fi1"), "{found}");
        is_done.store(true, Ordering::Relaxed);
        asking.join().unwrap();
    });
}
