//! Requests that arrive together get the answers that they would get alone.

use std::thread;

use serde_json::{Value, json};

use crate::fixture::Running;

#[test]
fn company_changes_no_answer() {
    let server = Running::with(|options| options.workers = 1);
    let requests: Vec<(&str, Value)> = (0..48)
        .map(|number| {
            let (words, k) = ([format!("en{number}"), format!("en{}", 3 * number), "no".to_owned()], 1 + number % 25);
            match number % 3 {
                0 => ("/v1/translate", json!({ "from": "en", "to": "fr", "words": words, "k": k })),
                1 => ("/v1/translate", json!({ "from": "en", "words": words[..1], "k": k, "min_confidence": 0.9 })),
                _ => ("/v1/neighbors", json!({ "from": "en", "to": "ru", "words": words, "k": 7 })),
            }
        })
        .collect();
    let alone: Vec<Value> = requests.iter().map(|(path, body)| server.client.ask(path, body)).collect();
    let together: Vec<Value> = thread::scope(|scope| {
        let client = &server.client;
        let asked: Vec<_> = requests.iter().map(|(path, body)| scope.spawn(move || client.ask(path, body))).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(together, alone);
    let metrics = server.client.get("/metrics").text();
    let searches = metrics.lines().find_map(|line| line.strip_prefix("sememe_search_words_count ")).unwrap();
    assert!(searches.parse::<u64>().unwrap() <= 96, "{metrics}");
}
