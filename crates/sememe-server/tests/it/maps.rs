//! Maps: principal components at once, neighbours when they are computed, and kept for the next start.

use std::thread;
use std::time::{Duration, Instant};

use sememe_server::Event;
use serde_json::json;

use crate::fixture::{Running, WORDS, write_space};

fn points(server: &Running, layout: &str) -> Vec<[f32; 2]> {
    let bytes = server.client.get(&format!("/v1/map/points?layout={layout}")).body;
    let number = |at: usize| f32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
    (0..bytes.len() / 8).map(|point| [number(2 * point), number(2 * point + 1)]).collect()
}

fn wait_for_layout(server: &Running) {
    let start = Instant::now();
    while server.client.look("/v1/map?layout=pca")["layouts"][1]["ready"] != json!(true) {
        assert!(start.elapsed() < Duration::from_secs(120), "it is not laid out");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_words_of_the_dictionary_are_pairs_of_points() {
    let server = Running::start();
    assert_eq!(server.client.look("/v1/map")["lines"], json!(3 * WORDS / 2));
    let bytes = server.client.get("/v1/map/lines").body;
    let points: Vec<usize> =
        bytes.chunks_exact(4).map(|four| u32::from_le_bytes(four.try_into().unwrap()) as usize).collect();
    // Words of one number mean the same, and the first half of them is in the dictionary.
    let expected = (0..WORDS / 2).flat_map(|row| {
        let [en, fr, ru] = [0, 1, 2].map(|view| view * WORDS + row);
        [en, fr, en, ru, fr, ru]
    });
    assert_eq!(points, expected.collect::<Vec<_>>());
    let training =
        |word: &str| server.client.ask("/v1/explain", &json!({ "from": "fr", "word": word }))["training"].clone();
    assert_eq!([training("fr7"), training(&format!("fr{}", WORDS / 2 + 7))], [json!(true), json!(false)]);
}

#[test]
fn neighbours_are_neighbours_and_the_layout_is_kept() {
    let mut server = Running::with(|options| options.layouts = true);
    let map = server.client.look("/v1/map?layout=pca");
    assert_eq!(map["views"][1], json!({ "name": "fr", "words": WORDS, "offset": WORDS }));
    assert_eq!(map["points"], json!(3 * WORDS));
    let principal = points(&server, "pca");
    assert_eq!(principal.len(), 3 * WORDS);
    wait_for_layout(&server);
    let places = points(&server, "tsne");
    assert_eq!(server.client.look("/v1/map")["layout"], json!("tsne"), "the best that is ready");
    let bounds: Vec<f64> =
        server.client.look("/v1/map")["bounds"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    let width = bounds[2] - bounds[0];
    assert!(places.iter().flatten().all(|x| x.is_finite()) && width > 1.0, "{bounds:?}");
    // Words of one meaning are near in all views.
    let near = |at: usize| {
        let [a, b] = [places[at], places[WORDS + at]];
        f64::from((a[0] - b[0]).hypot(a[1] - b[1])) < 0.1 * width
    };
    let count = (0..WORDS).filter(|&at| near(at)).count();
    assert!(count > WORDS * 8 / 10, "{count} of {WORDS}");
    assert!(server.path().join("tsne.layout").is_file());
    server.end();
    // The file is part of the space: nothing is computed again, and the space can be replaced.
    let again = Running::serving(
        std::mem::replace(&mut server.folder, tempfile::tempdir().unwrap()),
        &[("small", "space")],
        |_| {},
    );
    assert_eq!(points(&again, "tsne"), places);
    sememe::space::Space::check_writable(&again.path()).unwrap();
}

#[test]
fn a_layout_that_cannot_be_kept_is_shown_and_said_once() {
    let folder = tempfile::tempdir().unwrap();
    write_space(&folder.path().join("space"), 1);
    // Nothing can take the place of a folder, whoever asks for it.
    std::fs::create_dir(folder.path().join("space/tsne.layout")).unwrap();
    let server = Running::serving(folder, &[("small", "space")], |options| options.layouts = true);
    wait_for_layout(&server);
    assert_eq!(points(&server, "tsne").len(), 3 * WORDS);
    let says = |event: &&Event| matches!(event, Event::Notice { message } if message.contains("cannot be written to"));
    let count = || server.events.lock().unwrap().iter().filter(says).count();
    let start = Instant::now();
    while count() == 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing is said");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(count(), 1);
}
