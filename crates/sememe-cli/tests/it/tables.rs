//! Tables in and out of commands.

use super::{DEMO, json, refused, sememe};

#[test]
fn vectors_and_results_are_tables_where_the_name_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let space = DEMO.folder().join("space");
    let space = space.to_str().unwrap();
    let at = folder.path();
    json(at, &["export", space, "--format", "parquet", "-o", "views"]);
    json(at, &["convert", "views/en.parquet", "en.arrow", "--max-words", "300"]);
    let read = json(at, &["inspect", "en.arrow"]);
    assert_eq!((&read["format"], &read["words"]), (&"arrow".into(), &300.into()), "{read}");

    let found = json(at, &["neighbors", "en.arrow", "views/fr.parquet", "-k", "3", "-o", "nearest.parquet"]);
    assert_eq!(found["files"], serde_json::json!(["nearest.parquet"]));
    assert!(at.join("nearest.parquet").exists() && !at.join("nearest.parquet.ids.npy").exists());

    std::fs::write(at.join("words.txt"), "water\nhouse\nxqzxq\n").unwrap();
    let translate = ["translate", space, "--from", "en", "--to", "fr", "--file", "words.txt", "-o"];
    let written = json(at, &[&translate[..], &["translations.parquet"]].concat());
    assert_eq!((&written["words"], &written["unknown"][0]), (&2.into(), &"xqzxq".into()));
    assert!(refused(at, &[&translate[..], &["translations.txt"]].concat()).contains("name a table to write"));

    // What is induced can be fitted to again.
    json(at, &["lexicon", "induce", space, "--from", "en", "--to", "fr", "--mutual", "-o", "induced.parquet"]);
    let views = ["align", "en=views/en.parquet", "fr=views/fr.parquet", "--shrinkage", "0.5", "--finish", "none"];
    let aligned = json(at, &[&views[..], &["--lexicon", "en-fr=induced.parquet", "-o", "again"]].concat());
    assert!(aligned["lexicons"][0]["matched"].as_u64().unwrap() > 500, "{aligned}");
    let columns = ["--lexicon", "en-fr=induced.parquet", "--lexicon-columns", "en,score", "-o", "never"];
    let message = refused(at, &[&views[..], &columns].concat());
    assert!(message.contains("the column \"score\" is of type Float32, not words"), "{message}");
    assert!(!at.join("never").exists());
}

#[test]
fn columns_are_named_where_several_would_do() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/parquet/two-candidates");
    let folder = tempfile::tempdir().unwrap();
    let message = refused(folder.path(), &["convert", corpus, "a.vec"]);
    assert!(message.contains("could be vectors (a, b)") && message.contains("--columns WORD,VECTOR"), "{message}");
    assert!(sememe(folder.path(), &["convert", corpus, "a.vec", "--columns", "word,b"]).status.success());
}
