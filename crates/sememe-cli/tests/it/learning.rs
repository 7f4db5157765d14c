//! `sememe align` with little or no dictionary.

use std::path::Path;

use super::{bundled, json, random_rows, refused, sememe, text, vectors_text};

fn view(name: &str) -> String {
    format!("{name}={}", bundled(&format!("{name}.npy.zst")).display())
}

/// Random vectors, unrelated to those of any other seed.
fn write_noise(path: &Path, words: usize, seed: u64) {
    std::fs::write(path, vectors_text(&random_rows(words, 20, seed), |i| format!("w{i}"))).unwrap();
}

#[test]
fn refining_finds_pairs_and_doubts_entries() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["align", &view("en"), &view("fr"), "--identical", "--lower"];
    let learn = ["--max-words", "1500", "--refine", "--trust", "keep", "-o", "space"];
    let result = json(folder.path(), &[&arguments[..], &learn].concat());
    let learning = &result["learning"];
    assert!(learning["induced"].as_u64().unwrap() > 200, "{learning}");
    let objective = |round: &serde_json::Value| round["objective"].as_f64().unwrap();
    let rounds = learning["rounds"].as_array().unwrap();
    assert!(objective(rounds.last().unwrap()) > objective(&rounds[0]));
    // French "car" is a conjunction, and "an" a year.
    let doubtful = learning["doubtful"].as_array().unwrap();
    for word in ["car", "an"] {
        assert!(doubtful.iter().any(|entry| entry["words"] == serde_json::json!([word, word])), "{doubtful:?}");
    }
    let translated =
        json(folder.path(), &["translate", "space", "--from", "en", "--to", "fr", "--criterion", "csls", "year"]);
    assert!(translated.to_string().contains("année"), "{translated}");
}

#[test]
fn what_cannot_be_learned_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_noise(&path.join("a.vec"), 600, 1);
    write_noise(&path.join("b.vec"), 600, 2);
    let unrelated = sememe(path, &["align", "a=a.vec", "b=b.vec", "--unsupervised", "-o", "space"]);
    let message = text(&unrelated.stderr);
    assert_eq!(unrelated.status.code(), Some(1), "{message}");
    assert!(message.contains("no better than chance") && !path.join("space").exists(), "{message}");

    let (en, fr) = (view("en"), view("fr"));
    let few = refused(path, &["align", &en, &fr, "--identical", "--refine", "--max-words", "50", "-o", "space"]);
    assert!(few.contains("learning pairs needs 500"), "{few}");
    let both = refused(path, &["align", &en, &fr, "--identical", "--unsupervised", "-o", "space"]);
    assert!(both.contains("--unsupervised") && both.contains("--identical"), "{both}");
    let trust = refused(path, &["align", &en, &fr, "--identical", "--trust", "keep", "-o", "space"]);
    assert!(trust.contains("--refine"), "{trust}");
    let nothing = refused(path, &["align", &en, &fr, "-o", "space"]);
    assert!(nothing.contains("--unsupervised"), "{nothing}");
    std::fs::write(path.join("none.txt"), "zzzz qqqq\n").unwrap();
    let none = refused(path, &["align", &en, &fr, "--lexicon", "en-fr=none.txt", "--refine", "-o", "space"]);
    assert!(none.contains("none of the given pairs"), "{none}");
}
