//! Moments, fits that go on, and spaces that grow.

use std::path::Path;

use super::{bundled, json, refused, sememe, text};

/// Pairs of two of the bundled languages as a dictionary file.
fn write_pairs(folder: &Path, from: (&str, usize), to: (&str, usize), rows: std::ops::Range<usize>) -> String {
    let concepts = std::fs::read_to_string(bundled("concepts.train.tsv")).unwrap();
    let cells = |line: &str| -> Vec<String> { line.split('\t').map(str::to_owned).collect() };
    let pairs: String = concepts
        .lines()
        .skip(1 + rows.start)
        .take(rows.len())
        .map(cells)
        .filter(|cells| !cells[from.1].is_empty() && !cells[to.1].is_empty())
        .map(|cells| format!("{}\t{}\n", cells[from.1], cells[to.1]))
        .collect();
    let name = format!("{}-{}.{}.tsv", from.0, to.0, rows.start);
    std::fs::write(folder.join(&name), pairs).unwrap();
    format!("{}-{}={name}", from.0, to.0)
}

fn view(name: &str) -> String {
    format!("{name}={}", bundled(&format!("{name}.npy.zst")).display())
}

const EN: (&str, usize) = ("en", 0);
const FR: (&str, usize) = ("fr", 1);
const RU: (&str, usize) = ("ru", 2);

#[test]
fn moments_of_two_owners_fit_the_model_that_all_pairs_fit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (first, second) = (write_pairs(folder, EN, FR, 0..600), write_pairs(folder, EN, FR, 600..1100));
    for (lexicon, output) in [(&first, "ours"), (&second, "theirs")] {
        json(folder, &["moments", &view("en"), &view("fr"), "--lexicon", lexicon, "-o", output]);
    }
    assert_eq!(json(folder, &["inspect", "ours"])["groups"][0]["views"], serde_json::json!(["en", "fr"]));
    let fixed = ["--shrinkage", "0.1"];
    let merged =
        json(folder, &[&["align", &view("en"), "-o", "merged", "--moments", "ours", "theirs"], &fixed[..]].concat());
    let both = ["align", &view("en"), &view("fr"), "--lexicon", &first, "--lexicon", &second, "-o", "whole"];
    let whole = json(folder, &[&both[..], &fixed].concat());
    let value = |result: &serde_json::Value| result["log_likelihood_per_tuple"].as_f64().unwrap();
    // A pair that is in both files counts once in one and twice in the other.
    assert!((value(&merged) - value(&whole)).abs() < 1.0, "{merged} {whole}");
    assert_eq!((&merged["views"][0]["words"], &merged["views"][1]["words"]), (&5000.into(), &0.into()));

    let said = refused(folder, &["translate", "merged", "--from", "en", "--to", "fr", "house"]);
    assert!(said.contains("no words of view \"fr\"") && said.contains("fr=FILE"), "{said}");
    assert!(refused(folder, &["align", "-o", "x", "--moments", "ours", "ours"]).contains("given twice"));
    assert!(refused(folder, &["align", "-o", "x", "--moments", "ours", &view("fr")]).contains("put views first"));
    let said = refused(folder, &["align", "-o", "x", "--moments", "ours", "--lower"]);
    assert!(said.contains("cannot be used with"), "{said}");
}

#[test]
fn an_iterated_fit_is_resumed_and_its_curve_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (fr, ru) = (write_pairs(folder, EN, FR, 0..1100), write_pairs(folder, EN, RU, 0..1100));
    let align = |more: &[&str]| {
        let lexicons = ["--lexicon", &fr, "--lexicon", &ru, "--latent", "40", "--shrinkage", "0.3", "-o", "space"];
        [&["align", &view("en"), &view("fr"), &view("ru")], &lexicons[..], more]
            .concat()
            .iter()
            .map(|s| s.to_string())
            .collect::<Vec<_>>()
    };
    let run = |more: &[&str]| json(folder, &align(more).iter().map(String::as_str).collect::<Vec<_>>());
    let refuse = |more: &[&str]| refused(folder, &align(more).iter().map(String::as_str).collect::<Vec<_>>());
    assert!(refuse(&["--resume"]).contains("nothing to resume"));
    let first = run(&["--iterations", "3"]);
    assert_eq!((&first["evaluations"], &first["converged"]), (&3.into(), &false.into()));
    let said = refuse(&["--resume", "--lower", "--normalize", "none"]);
    assert!(said.contains("how vectors are prepared changed"), "{said}");
    let more = run(&["--resume", "--iterations", "4"]);
    assert_eq!(more["evaluations"], 7);
    let value = |result: &serde_json::Value| result["log_likelihood"].as_f64().unwrap();
    assert!(value(&more) > value(&first));

    let inspected = json(folder, &["inspect", "space", "--curve", "curve.svg"]);
    assert!(inspected["trace"]["negative_log_likelihoods"].as_array().unwrap().len() >= 3);
    assert!(std::fs::read_to_string(folder.join("curve.svg")).unwrap().starts_with("<svg"));
}

#[test]
fn a_language_is_added_to_a_space() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (fr, ru) = (write_pairs(folder, EN, FR, 0..1100), write_pairs(folder, EN, RU, 0..1100));
    json(folder, &["align", &view("en"), &view("fr"), "--lexicon", &fr, "--finish", "none", "-o", "space"]);
    let old = std::fs::read(folder.join("space/model.safetensors")).unwrap();
    let added = json(folder, &["extend", "space", &view("ru"), "--lexicon", &ru]);
    assert_eq!(added["view"]["words"], 5000);
    assert_eq!(std::fs::read(folder.join("space/model.safetensors")).unwrap(), old);
    // Through a language that neither of the two dictionaries has both of.
    let output = sememe(folder, &["translate", "space", "--from", "ru", "--to", "fr", "король"]);
    assert!(text(&output.stdout).contains("roi"), "{}", text(&output.stdout));
    assert!(refused(folder, &["extend", "space", &view("ru"), "--lexicon", &ru]).contains("already"));
    assert!(refused(folder, &["extend", "space", &view("fi")]).contains("--lexicon"));
}
