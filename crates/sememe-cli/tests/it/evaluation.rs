//! Evaluations as the command gives them.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{json, random_rows, refused, sememe, text, vectors_text, with_noise};

/// Two views of 60 words and a space fitted to the first 40 pairs.
static SMALL: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let rows = random_rows(60, 4, 1);
    write(&folder, "a.vec", &vectors_text(&rows, |i| format!("w{i}")));
    write(&folder, "b.vec", &vectors_text(&with_noise(&rows, 0.4, 2), |i| format!("w{i}")));
    let pairs = |range: std::ops::Range<usize>| range.map(|i| format!("w{i} w{i}\n")).collect::<String>();
    write(&folder, "train.txt", &pairs(0..40));
    write(&folder, "test.txt", &pairs(30..60));
    write(&folder, "a-b.5000-6500.txt", &pairs(40..60));
    write(&folder, "b-a.5000-6500.txt", &pairs(45..60));
    for (space, method) in [("space", "ibfa"), ("other", "svd")] {
        let align = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=train.txt", "--method", method, "-o", space];
        json(folder.path(), &align);
    }
    folder
});

fn write(folder: &TempDir, name: &str, content: &str) {
    std::fs::write(folder.path().join(name), content).unwrap();
}

/// A folder of its own for a test that writes files, and the arguments with which a command is run on the space.
fn evaluate(folder: &Path, task: &str, what: &str, more: &[&str]) -> Value {
    let what = SMALL.path().join(what);
    json(folder, &[&["evaluate", task, what.to_str().unwrap()], more].concat())
}

fn evaluate_refused(folder: &Path, task: &str, what: &str, more: &[&str]) -> String {
    let what = SMALL.path().join(what);
    refused(folder, &[&["evaluate", task, what.to_str().unwrap()], more].concat())
}

const A_TO_B: [&str; 4] = ["--from", "a", "--to", "b"];

fn translate(more: &[&str]) -> Value {
    let arguments = ["evaluate", "translation", "space", "--gold", "test.txt"];
    json(SMALL.path(), &[&arguments[..], &A_TO_B, more].concat())
}

#[test]
fn gold_pairs_that_were_trained_on_are_told() {
    let result = translate(&[]);
    assert_eq!(result["overlap"], json!({ "gold_pairs": 30, "trained_pairs": 10, "words": 10 }));
    assert_eq!((&result["queries"], &result["unseen"]["queries"]), (&json!(30), &json!(20)));
    let arguments = [&["evaluate", "translation", "space", "--gold", "test.txt"], &A_TO_B[..]].concat();
    let output = sememe(SMALL.path(), &arguments);
    assert!(
        text(&output.stderr).contains("fitted to 10 of the 30 gold pairs, of 10 words"),
        "{}",
        text(&output.stderr)
    );

    // A space from moments has no pairs and says so.
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| SMALL.path().join(name).display().to_string();
    let (a, b) = (format!("a={}", at("a.vec")), format!("b={}", at("b.vec")));
    json(folder.path(), &["moments", &a, &b, "--lexicon", &format!("a-b={}", at("train.txt")), "-o", "m.safetensors"]);
    json(folder.path(), &["align", &a, &b, "--moments", "m.safetensors", "-o", "space"]);
    let gold = at("test.txt");
    let evaluate = [&["evaluate", "translation", "space", "--gold", &gold], &A_TO_B[..]].concat();
    assert_eq!(json(folder.path(), &evaluate)["overlap"], Value::Null);
    assert!(text(&sememe(folder.path(), &evaluate).stdout).contains("unknown, as from moments"));
}

#[test]
fn several_criteria_and_both_directions_are_evaluated_at_once() {
    let result = translate(&["--criterion", "CSLS,nn", "--both"]);
    let evaluations = result["evaluations"].as_array().unwrap();
    let told: Vec<_> = evaluations.iter().map(|one| (&one["from"], &one["criterion"])).collect();
    let [a, b] = [json!("a"), json!("b")];
    let [csls, nn] = [json!("csls"), json!("nn")];
    assert_eq!(told, [(&a, &csls), (&a, &nn), (&b, &csls), (&b, &nn)]);
    assert_eq!((&result["criterion"], &result["precision"]), (&csls, &evaluations[0]["precision"]));
    let [low, high] = [0, 1].map(|end| result["intervals"]["precision"]["1"][end].as_f64().unwrap());
    let precision = result["precision"]["1"].as_f64().unwrap();
    assert!(low <= precision && precision <= high && result["mrr"].as_f64().unwrap() >= precision);
    assert_eq!(result, translate(&["--criterion", "csls", "--criterion", "nn", "--both"]));
    assert_eq!(translate(&[])["criterion"], "csls");
    // In a folder each direction has a file of its own.
    let arguments = [&["evaluate", "translation", "space", "--gold", ".", "--both"], &A_TO_B[..]].concat();
    let queries: Vec<u64> = json(SMALL.path(), &arguments)["evaluations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["queries"].as_u64().unwrap())
        .collect();
    assert_eq!(queries, [20, 15]);
    // So it has beside a file; where it has none, the file is read backwards, and that is told.
    for (gold, queries, is_reversed) in [("a-b.5000-6500.txt", 15, false), ("test.txt", 30, true)] {
        let arguments = [&["evaluate", "translation", "space", "--gold", gold, "--both"], &A_TO_B[..]].concat();
        let evaluations = json(SMALL.path(), &arguments)["evaluations"].clone();
        assert_eq!((&evaluations[0]["gold_reversed"], &evaluations[1]["queries"]), (&json!(false), &json!(queries)));
        assert_eq!(evaluations[1]["gold_reversed"], is_reversed, "{gold}");
        let output = sememe(SMALL.path(), &arguments);
        assert_eq!(text(&output.stdout).contains("b → a (gold reversed), csls"), is_reversed, "{gold}");
        assert_eq!(text(&output.stderr).contains("test.txt is read backwards"), is_reversed);
    }
}

#[test]
fn a_gold_dictionary_with_its_sides_swapped_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows = random_rows(60, 4, 1);
    write(&folder, "a.vec", &vectors_text(&rows, |i| format!("w{i}")));
    write(&folder, "b.vec", &vectors_text(&rows, |i| if i < 5 { format!("w{i}") } else { format!("v{i}") }));
    // A few words are spelled alike in both.
    let pair = |i: usize| if i < 5 { format!("w{i} w{i}\n") } else { format!("w{i} v{i}\n") };
    write(&folder, "gold.txt", &(0..60).map(pair).collect::<String>());
    let evaluate = ["evaluate", "translation", "b.vec", "--with", "a.vec", "--gold", "gold.txt"];
    let message = refused(folder.path(), &evaluate);
    assert!(message.contains("seem to be swapped: 5 of 60 entries") && message.contains("60 words of"), "{message}");
    let both = ["evaluate", "translation", "a.vec", "--with", "b.vec", "--gold", "gold.txt", "--both"];
    assert_eq!(json(folder.path(), &both)["evaluations"][1]["queries"], 60);
}

#[test]
fn a_test_set_that_is_mostly_unknown_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let unknown = |line: &str, times: usize| line.repeat(times);
    write(&folder, "gold.txt", &format!("w50 w50\n{}", (0..9).map(|i| format!("x{i} y{i}\n")).collect::<String>()));
    write(&folder, "set.txt", &format!("w1 w2 1\nw3 w4 2\nw5 w6 3\n{}", unknown("x y 2\n", 20)));
    write(&folder, "questions.txt", &format!(": s\nw1 w2 w3 w4\n{}", unknown("q r s t\n", 9)));
    write(
        &folder,
        "text.txt",
        &(0..20).map(|i| if i < 10 { format!("w{i}\n") } else { "x\n".to_owned() }).collect::<String>(),
    );
    write(&folder, "known.txt", &(0..20).map(|i| format!("w{i}\n")).collect::<String>());
    let said = |task: &str, more: &[&str]| {
        let space = SMALL.path().join("space");
        let output = sememe(folder.path(), &[&["evaluate", task, space.to_str().unwrap()], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let a_to_b = |more: &[&'static str]| [&A_TO_B, more].concat();
    for (message, expected) in [
        (said("translation", &a_to_b(&["--gold", "gold.txt"])), "gold words: only 1 of 10 have vectors"),
        (said("similarity", &["--view", "a", "set.txt"]), "pairs of set: only 3 of 23"),
        (said("analogy", &["--view", "a", "questions.txt"]), "questions: only 1 of 10"),
        (said("sentences", &a_to_b(&["known.txt", "text.txt"])), "text.txt: only 10 of 20"),
    ] {
        assert!(message.contains(expected) && message.contains("this says little"), "{expected}: {message}");
    }
    assert!(!said("sentences", &a_to_b(&["known.txt", "known.txt"])).contains("says little"));
}

#[test]
fn intervals_are_the_same_for_any_number_of_threads() {
    let [one, three, other] = [["--threads", "1"], ["--threads", "3"], ["--seed", "7"]].map(|more| translate(&more));
    assert_eq!(one, three);
    assert!(one["precision"] == other["precision"] && one["intervals"] != other["intervals"]);
}

#[test]
fn unknown_words_are_wrong_where_asked() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "gold.txt", "w50 w50\nw51 unheard\nunheard w52\n");
    let result = |more: &[&str]| evaluate(folder.path(), "translation", "space", &[&A_TO_B, more].concat());
    let skipped = result(&["--gold", "gold.txt"]);
    let wrong = result(&["--gold", "gold.txt", "--oov", "wrong"]);
    let at_10 = |result: &Value| result["precision"]["10"].as_f64().unwrap();
    assert_eq!((&skipped["queries"], &wrong["queries"], &wrong["oov"]), (&json!(1), &json!(1), &json!("wrong")));
    assert!((at_10(&wrong) - at_10(&skipped) / 3.0).abs() < 1e-9);
}

#[test]
fn two_spaces_are_compared_query_by_query() {
    let same = &translate(&["--compare", "space"])["comparison"];
    assert_eq!((&same["difference"], &same["p_value"], &same["queries"]), (&json!(0.0), &json!(1.0), &json!(30)));
    let other = &translate(&["--compare", "other"])["comparison"];
    let number = |name: &str| other[name].as_f64().unwrap();
    assert!((number("first") - number("second") - number("difference")).abs() < 1e-9);
    assert!((0.0..=1.0).contains(&number("p_value")));
    let arguments = ["evaluate", "translation", "space", "--gold", "test.txt", "--compare", "other"];
    let output = sememe(SMALL.path(), &[&arguments[..], &A_TO_B].concat());
    assert!(text(&output.stdout).contains("McNemar"), "{}", text(&output.stdout));
}

#[test]
fn vectors_are_evaluated_as_they_are() {
    let arguments = ["evaluate", "translation", "a.vec", "--with", "a.vec", "--gold", "test.txt", "--criterion", "nn"];
    let result = json(SMALL.path(), &arguments);
    assert_eq!((&result["precision"]["1"], &result["overlap"]), (&json!(100.0), &Value::Null));
    assert!(refused(SMALL.path(), &["evaluate", "translation", "a.vec", "--gold", "test.txt"]).contains("--with"));
    assert!(refused(SMALL.path(), &["evaluate", "translation", "space", "--gold", "test.txt"]).contains("a or b"));
    let lower = [&["evaluate", "translation", "space", "--gold", "test.txt", "--lower"], &A_TO_B[..]].concat();
    assert!(refused(SMALL.path(), &lower).contains("--lower is for vectors"));
    let empty = tempfile::tempdir().unwrap();
    let gold = ["--gold", empty.path().to_str().unwrap()];
    let message = evaluate_refused(empty.path(), "translation", "space", &[&A_TO_B[..], &gold].concat());
    assert!(message.contains("a-b.5000-6500.txt"), "{message}");
}

#[test]
fn similarity_is_measured_before_and_after_and_across() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "A_set.txt", "w1 w2 3.5\nW3 w4 1\nw5 w6 2.5\nw7 unheard 9\n");
    write(&folder, "a_other.csv.txt", "first,second,score\nw1,w2,1\nw9,w8,2\nw3,w5,0\n");
    write(&folder, "B_set.txt", "w1 w2 3.5\n");
    write(&folder, "A_B_set.txt", "w1 w2 3.5\nw3 w4 1\nw5 w6 2.5\n");
    let raw = evaluate(folder.path(), "similarity", "a.vec", &["A_set.txt"]);
    assert_eq!((&raw["sets"][0]["pairs"], &raw["sets"][0]["known"]), (&json!(4), &json!(3)));
    assert_eq!(raw["sets"][0]["coverage"], json!(75.0));
    let aligned = evaluate(folder.path(), "similarity", "space", &["--view", "a", "A_set.txt"]);
    assert_ne!(aligned["sets"][0]["pearson"], raw["sets"][0]["pearson"]);
    let across = evaluate(folder.path(), "similarity", "space", &["--view", "a", "--view", "b", "."]);
    assert_eq!(across["sets"].as_array().unwrap().len(), 1);
    assert_eq!(across["sets"][0]["set"], "A_B_set");
    std::fs::remove_file(folder.path().join("A_B_set.txt")).unwrap();
    let picked = evaluate(folder.path(), "similarity", "space", &["--view", "a", "."]);
    let names: Vec<&str> = picked["sets"].as_array().unwrap().iter().map(|set| set["set"].as_str().unwrap()).collect();
    assert_eq!(names, ["A_set", "a_other"]);
}

#[test]
fn bad_sets_of_similarity_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "no-score.txt", "w1 w2 3\nw3 w4\n");
    write(&folder, "unknown.txt", "one two 3\nthree four 4\n");
    let refused = |more: &[&str]| evaluate_refused(folder.path(), "similarity", "space", more);
    for (arguments, said) in [
        (&["--view", "a", "no-score.txt"][..], "no-score.txt, line 2: has 2 of 3 columns"),
        (&["--view", "a", "unknown.txt"], "unknown.txt"),
        (&["--view", "a", "unknown.txt"], "no pair has a vector for both words"),
        (&["--view", "a", "."], "no file whose name begins with \"A_\""),
        (&["unknown.txt"], "--view a or b"),
        (&["--view", "c", "unknown.txt"], "no view named \"c\""),
        (&["--view", "a", "missing.txt"], "cannot read missing.txt"),
    ] {
        let message = refused(arguments);
        assert!(message.contains(said), "{arguments:?}: {message}");
    }
}

#[test]
fn analogies_are_counted_by_section() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "q.txt", ": first\nw1 w2 w3 w4\nw1 w2 w3 unheard\n: gram\nW5 w6 w7 w8\n");
    let result = evaluate(folder.path(), "analogy", "space", &["--view", "b", "q.txt"]);
    assert_eq!((&result["sections"][0]["known"], &result["sections"][0]["questions"]), (&json!(1), &json!(2)));
    assert_eq!((&result["syntactic"]["known"], &result["total"]["questions"]), (&json!(1), &json!(3)));
    write(&folder, "three.txt", ": first\nw1 w2 w3\n");
    assert!(evaluate_refused(folder.path(), "analogy", "a.vec", &["three.txt"]).contains("three.txt, line 2"));
    write(&folder, "unheard.txt", "one two three four\n");
    assert!(evaluate_refused(folder.path(), "analogy", "a.vec", &["unheard.txt"]).contains("no question has vectors"));
}

#[test]
fn sentence_similarity_is_averaged_by_year() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |shift: usize| -> String {
        (0..12).map(|i| format!("{}\tw{i} w{} W3.\tw{} w9!\n", i % 5, i + shift, 2 * i)).collect()
    };
    write(&folder, "STS12.one.tsv", &lines(1));
    write(&folder, "STS12.two.tsv", &lines(2));
    write(&folder, "STS13.one.tsv", &lines(3));
    write(&folder, "counts.txt", "w1 100\nw3 50\nthe 1000\n");
    let result = evaluate(folder.path(), "sts", "space", &["--view", "a", "."]);
    let sif = &result["weightings"]["sif"];
    let of_set = |at: usize| sif["sets"][at]["spearman"].as_f64().unwrap();
    let year = sif["years"][0]["spearman"].as_f64().unwrap();
    assert!((year - (of_set(0) + of_set(1)) / 2.0).abs() < 1e-12);
    assert_eq!((&sif["years"][1]["year"], &sif["years"][0]["pairs"]), (&json!("STS13"), &json!(24)));
    assert!(result["weightings"]["tfidf"]["sets"][2]["pearson"].is_f64());
    let counted = ["--view", "a", "STS12.one.tsv", "--weighting", "sif", "--frequencies", "counts.txt"];
    let counted = evaluate(folder.path(), "sts", "space", &counted);
    assert_ne!(counted["weightings"]["sif"]["sets"][0]["pearson"], sif["sets"][0]["pearson"]);
    assert_eq!(counted["weightings"]["tfidf"], Value::Null);

    write(&folder, "STS14.bad.tsv", "1\tw1\tw2\n2\tw1 w2\n");
    write(&folder, "STS14.unheard.tsv", "1\tone\ttwo\n2\tthree\tfour\n");
    let refused = |more: &[&str]| evaluate_refused(folder.path(), "sts", "a.vec", more);
    assert!(refused(&["STS14.bad.tsv"]).contains("STS14.bad.tsv, line 2: has 2 of 3 columns"));
    assert!(refused(&["STS14.unheard.tsv"]).contains("no word of any sentence has a vector"));
    assert!(refused(&["STS12.one.tsv", "--a", "0"]).contains("above 0"));
    write(&folder, "counts.txt", "w1 many\n");
    assert!(refused(&["STS12.one.tsv", "--frequencies", "counts.txt"]).contains("counts.txt, line 1"));
}

#[test]
fn sentences_are_looked_for_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..50).map(|i| format!("W{i} w{}, w{}!\n", (i + 7) % 60, (i * 3) % 60)).collect();
    write(&folder, "s.a", &lines);
    write(&folder, "s.b", &lines);
    let asked = [&["s.a", "s.b"], &A_TO_B[..]].concat();
    let refused = |more: &[&str]| evaluate_refused(folder.path(), "sentences", "space", &[&asked, more].concat());
    let found = |more: &[&str]| evaluate(folder.path(), "sentences", "space", &[&asked, more].concat());
    let result = found(&["--both", "--queries", "30"]);
    assert_eq!((&result["queries"], &result["sentences"]), (&json!(30), &json!(50)));
    let evaluations = result["evaluations"].as_array().unwrap();
    let told: Vec<_> = evaluations.iter().map(|one| (one["from"].as_str().unwrap(), &one["criterion"])).collect();
    let [nn, csls] = [json!("nn"), json!("csls")];
    assert_eq!(told, [("a", &nn), ("a", &csls), ("b", &nn), ("b", &csls)]);
    assert!(evaluations.iter().all(|one| one["precision"]["10"].as_f64().unwrap() > 50.0));
    let all = found(&["--criterion", "csls", "--neighbors", "all", "--max-sentences", "40"]);
    assert_eq!((&all["sentences"], &all["queries"]), (&json!(40), &json!(40)));
    assert!(refused(&["--criterion", "pmi"]).contains("pmi is for words"));

    write(&folder, "s.b", &lines[..lines.len() / 2]);
    assert!(refused(&[]).contains("s.b, line 2"), "{}", refused(&[]));
    write(&folder, "s.b", &"nothing known\n".repeat(50));
    assert!(refused(&[]).contains("s.b: none of its words has a vector"));
}

#[test]
fn every_task_has_help_with_an_example() {
    let folder = tempfile::tempdir().unwrap();
    for task in ["translation", "similarity", "analogy", "sts", "sentences"] {
        let output = sememe(folder.path(), &["evaluate", task, "--help"]);
        assert!(output.status.success() && text(&output.stdout).contains("Example"), "{task}");
    }
}

#[test]
fn zero_vectors_are_counted_in_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    // The last word is the mean of all, so that centring makes its vector zero.
    write(&folder, "a.vec", "w0 0 1\nw1 2 1\nw2 1 0\nw3 1 2\nw4 1 1\n");
    write(&folder, "gold.txt", &(0..5).map(|i| format!("w{i} w{i}\n")).collect::<String>());
    write(&folder, "questions.txt", ": section\nw0 w1 w2 w3\n");
    let translation =
        ["evaluate", "translation", "a.vec", "--with", "a.vec", "--gold", "gold.txt", "--normalize", "center"];
    let output = sememe(folder.path(), &[&translation[..], &["--criterion", "nn", "--criterion", "csls"]].concat());
    let message = text(&output.stderr);
    assert_eq!(message.matches("1 queries of source are zero vectors").count(), 1, "{message}");
    assert_eq!(message.matches("1 words of target are zero vectors").count(), 1, "{message}");
    let analogy = ["evaluate", "analogy", "a.vec", "questions.txt", "--normalize", "center"];
    let message = text(&sememe(folder.path(), &analogy).stderr);
    assert!(message.contains("1 words are zero vectors"), "{message}");
}
