//! `sememe page`: what it writes and how it fails. What the page shows is tested in a browser.

use std::fs;
use std::path::Path;

use super::{json, sememe, text};

/// A space of two views of twelve words.
fn space(folder: &Path) {
    for (name, turn) in [("a", 0.0), ("b", 0.1)] {
        let row = |row: usize| {
            let values: Vec<String> =
                (0..3).map(|at| format!("{:.4}", ((row * 3 + at) as f64 * 1.7 + turn).sin())).collect();
            format!("{name}{row} {}\n", values.join(" "))
        };
        fs::write(folder.join(format!("{name}.vec")), (0..12).map(row).collect::<String>()).unwrap();
    }
    let pairs: String = (0..12).map(|row| format!("a{row}\tb{row}\n")).collect();
    fs::write(folder.join("pairs.txt"), pairs).unwrap();
    json(folder, &["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "--quiet", "-o", "space"]);
}

#[test]
fn a_page_is_one_file_and_says_what_it_left_out() {
    let folder = tempfile::tempdir().unwrap();
    space(folder.path());
    let made = json(folder.path(), &["page", "space", "-o", "page.html"]);
    assert_eq!(made["views"], serde_json::json!([["a", 12], ["b", 12]]));
    let html = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(made["bytes"], html.len());
    assert!(html.contains("Content-Security-Policy") && !html.contains("src=\"assets"));
    let output = sememe(folder.path(), &["page", "space", "-o", "page.html", "--max-words", "5"]);
    assert!(text(&output.stderr).contains("first 5 words of each view"), "{}", text(&output.stderr));
    let shorter = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(shorter.len() < html.len());
    for (arguments, said) in [
        (["page", "space", "-o", "page.html", "--max-words", "20001"], "from 1 to 20000"),
        (["page", "space", "-o", "missing/page.html", "--max-words", "5"], "missing"),
        (["page", "pairs.txt", "-o", "page.html", "--max-words", "5"], "is no sememe space"),
    ] {
        let message = text(&sememe(folder.path(), &arguments).stderr);
        assert!(message.contains(said) || message.contains("a sememe space is a folder"), "{message}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("page.html")).unwrap(), shorter);
}
