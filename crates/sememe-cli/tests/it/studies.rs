//! Drawing from models, making input worse, and the report of everything.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{json, random_rows, refused, sememe, text, vectors_text, with_noise};

const WORDS: usize = 90;
const DIM: usize = 6;

/// Vectors of a language: the same latent vectors times a matrix of its own, plus noise. Word `i` of `en` is `eni`.
fn write_language(folder: &Path, code: &str, seed: u64, (words, dim): (usize, usize)) {
    // Rotations, disturbed: orthogonal methods must find something, and those without a dictionary nothing.
    let (latent, mut mixing) = (random_rows(words, dim, 0), orthonormal(random_rows(dim, dim, seed)));
    let disturbance = random_rows(dim, dim, seed + 70);
    for (x, more) in mixing.iter_mut().flatten().zip(disturbance.iter().flatten()) {
        *x += 1.5 * more;
    }
    let mixed = |z: &Vec<f64>| (0..dim).map(|j| z.iter().zip(&mixing).map(|(z, row)| z * row[j]).sum()).collect();
    let rows: Vec<Vec<f64>> = latent.iter().map(mixed).collect();
    // Beyond those of the other tests, every eighth word is the same string in all languages.
    let word = |i: usize| if i >= WORDS && i.is_multiple_of(8) { format!("w{i}") } else { format!("{code}{i}") };
    let lines = vectors_text(&with_noise(&rows, 0.04, seed + 50), word);
    fs::write(folder.join(format!("{code}.vec")), format!("{words} {dim}\n{lines}")).unwrap();
}

/// Rows made orthonormal (Gram-Schmidt), times the length that they have on average.
fn orthonormal(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let length = rows.len() as f64;
    for row in 0..rows.len() {
        for other in 0..row {
            let (before, after) = rows.split_at_mut(row);
            let along = dot(&before[other], &after[0]) / dot(&before[other], &before[other]);
            after[0].iter_mut().zip(&before[other]).for_each(|(x, y)| *x -= along * y);
        }
        let factor = (length / dot(&rows[row], &rows[row])).sqrt();
        rows[row].iter_mut().for_each(|x| *x *= factor);
    }
    rows
}

fn pairs(from: &str, to: &str, range: std::ops::Range<usize>) -> String {
    range.map(|i| format!("{from}{i} {to}{i}\n")).collect()
}

/// A folder of data as `sememe reproduce` wants it, but for what it lacks.
pub fn write_data(folder: &Path) {
    for (seed, code) in (1..).zip(["en", "fr", "ru"]) {
        write_language(folder, code, seed, (WORDS, DIM));
    }
    let muse = folder.join("dictionaries/muse");
    fs::create_dir_all(&muse).unwrap();
    for (from, to) in [("en", "fr"), ("fr", "en"), ("en", "ru"), ("ru", "en")] {
        fs::write(muse.join(format!("{from}-{to}.0-5000.txt")), pairs(from, to, 0..60)).unwrap();
        fs::write(muse.join(format!("{from}-{to}.5000-6500.txt")), pairs(from, to, 60..WORDS)).unwrap();
        fs::write(muse.join(format!("{from}-{to}.txt")), pairs(from, to, 0..WORDS)).unwrap();
    }
    let triples: String = (0..WORDS).map(|i| format!("en{i}\tfr{i}\tru{i}\n")).collect();
    fs::write(folder.join("triples.en-fr-ru.tsv"), format!("en\tfr\tru\n{triples}")).unwrap();
    let similarities = random_rows(20, 1, 9);
    let set: String = (0..20).map(|i| format!("en{i} en{} {:.3}\n", i + 1, similarities[i][0])).collect();
    fs::create_dir(folder.join("similarity")).unwrap();
    fs::write(folder.join("similarity/EN_RG-65.txt"), set).unwrap();
    let sentence = |code: &str, i: usize| {
        (0..4).map(|j| format!("{code}{}", (i * 5 + j * 7) % WORDS)).collect::<Vec<_>>().join(" ")
    };
    // The more words two sentences share, the more similar they are.
    let changed = |i: usize, different: usize| {
        let word = |j: usize| (i * 5 + j * 7 + if j < different { WORDS / 2 } else { 0 }) % WORDS;
        (0..4).map(|j| format!("en{}", word(j))).collect::<Vec<_>>().join(" ")
    };
    let sts: String = (0..40).map(|i| format!("{}\t{}\t{}\n", 4 - i % 5, changed(i, 0), changed(i, i % 5))).collect();
    fs::create_dir(folder.join("sts")).unwrap();
    fs::write(folder.join("sts/STS12.tiny.tsv"), sts).unwrap();
    fs::create_dir(folder.join("sentences")).unwrap();
    for code in ["en", "fr"] {
        let lines: String = (0..40).map(|i| sentence(code, i) + "\n").collect();
        fs::write(folder.join(format!("sentences/tiny.en-fr.{code}")), lines).unwrap();
    }
}

fn align(folder: &Path, views: &[&str], space: &str, more: &[&str]) {
    let named: Vec<String> = views.iter().map(|code| format!("{code}={code}.vec")).collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let lexicon = ["--lexicon", "triples.en-fr-ru.tsv", "--latent", "4", "-o", space];
    json(folder, &[&["align"], &named[..], &lexicon, more].concat());
}

/// The pairs of a number of the first words are what the data have as translations.
fn is_pair(words: &Value, a: &str, b: &str) -> bool {
    let place = |code: &str| words[code].as_str().unwrap().strip_prefix(code).unwrap().to_owned();
    place(a) == place(b)
}

#[test]
fn samples_are_ranked_new_and_of_every_view() {
    let folder = tempfile::tempdir().unwrap();
    write_data(folder.path());
    align(folder.path(), &["en", "fr"], "two", &[]);
    align(folder.path(), &["en", "fr", "ru"], "three", &["--iterations", "20"]);
    for (space, others) in [("two", &["fr"][..]), ("three", &["fr", "ru"])] {
        let result = json(folder.path(), &["sample", space, "-n", "400", "--top", "15"]);
        let samples = result["samples"].as_array().unwrap();
        assert_eq!((samples.len(), result["drawn"].as_u64()), (15, Some(400)), "{result}");
        let densities: Vec<f64> = samples.iter().map(|sample| sample["log_density"].as_f64().unwrap()).collect();
        assert!(densities.is_sorted_by(|a, b| a >= b), "{densities:?}");
        // Every pair of the dictionary was trained on, and some were drawn.
        assert!(result["in_lexicon"].as_u64().unwrap() > 0, "{result}");
        assert!(samples.iter().all(|sample| !others.iter().any(|other| is_pair(&sample["words"], "en", other))));
    }
    let with = |seed: &str| json(folder.path(), &["sample", "two", "-n", "50", "--seed", seed]);
    assert_eq!(with("3"), with("3"));
    assert_ne!(with("3"), with("4"));
    let vectors = ["sample", "two", "-n", "50", "--vectors", "en=en.vec", "--vectors", "fr=fr.vec"];
    assert_eq!(json(folder.path(), &vectors)["compared_with"], "vectors");
    let shown = text(&sememe(folder.path(), &["sample", "two", "-n", "50", "--top", "3"]).stdout);
    assert!(shown.contains("log p") && shown.contains("left out"), "{shown}");

    let one = refused(folder.path(), &["sample", "two", "--vectors", "en=en.vec"]);
    assert!(one.contains("\"fr\"") && one.contains("every view"), "{one}");
    assert!(refused(folder.path(), &["sample", "two", "--vectors", "xx=en.vec"]).contains("\"xx\""));
    let named = ["align", "en=en.vec", "fr=fr.vec", "-l", "triples.en-fr-ru.tsv", "--method", "svd", "-o", "direct"];
    json(folder.path(), &named);
    assert!(refused(folder.path(), &["sample", "direct"]).contains("no density"));
}

#[test]
fn precision_falls_as_the_input_gets_worse() {
    let folder = tempfile::tempdir().unwrap();
    write_data(folder.path());
    let muse = |ending: &str| format!("dictionaries/muse/en-fr.{ending}");
    let (train, gold) = (format!("en-fr={}", muse("0-5000.txt")), muse("5000-6500.txt"));
    let evaluate = ["evaluate", "noise", "en=en.vec", "fr=fr.vec", "--lexicon", &train, "--gold", &gold];
    let levels =
        ["--levels", "0,4", "--wrong", "0,100", "--entries", "30,2", "--shrinkage", "0.05", "--plot", "noise.svg"];
    let result = json(folder.path(), &[&evaluate[..], &levels].concat());
    let panels = result["panels"].as_array().unwrap();
    assert_eq!(
        (panels.len(), result["queries"].as_u64(), result["overlap"]["trained_pairs"].as_u64()),
        (3, Some(30), Some(0))
    );
    for panel in panels {
        for method in panel["methods"].as_array().unwrap() {
            let results = method["results"].as_array().unwrap();
            let p1 = |at: usize| results[at]["p1"].as_f64().unwrap_or_else(|| panic!("no precision in {method}"));
            let (first, last) = (p1(0), p1(results.len() - 1));
            assert!(first > if method["method"] == "ibfa" { 70.0 } else { 20.0 }, "{method}");
            assert!(last < first / 2.0, "{}: {method}", panel["degradation"]);
        }
    }
    assert_eq!(panels[2]["methods"][0]["results"][0]["level"], 60.0);
    let svg = fs::read_to_string(folder.path().join("noise.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("ibfa") && svg.contains("Wrong entries") && !svg.contains("NaN"));
    assert_eq!(result, json(folder.path(), &[&evaluate[..], &levels, &["--threads", "1"]].concat()));
    // A plot that cannot be written does not lose the table.
    if cfg!(target_os = "linux") {
        let few = ["--levels", "0", "--wrong", "none", "--entries", "none", "--methods", "svd", "--plot", "/dev/full"];
        let output = sememe(folder.path(), &[&evaluate[..], &few].concat());
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("P@1 en → fr") && text(&output.stderr).contains("/dev/full"));
    }
    let bad = [&evaluate[..], &["--levels", "0,x"]].concat();
    assert!(refused(folder.path(), &bad).contains("\"x\" is no number"));
    fs::write(folder.path().join("unknown.txt"), "house maison\n").unwrap();
    let unknown = ["evaluate", "noise", "en=en.vec", "fr=fr.vec", "--lexicon", &train, "--gold", "unknown.txt"];
    assert!(refused(folder.path(), &unknown).contains("none of the 1 gold words"));
}

/// A cell of a table of a report.
fn cell(table: &Value, row: &str, column: &str) -> Value {
    let column = table["columns"].as_array().unwrap().iter().position(|known| known["name"] == column).unwrap();
    let rows = table["rows"].as_array().unwrap();
    rows.iter().find(|known| known["name"] == row).unwrap()["cells"][column].clone()
}

/// What was measured here in a cell of a table.
fn ours(table: &Value, row: &str, column: &str) -> f64 {
    let cell = cell(table, row, column);
    cell["ours"].as_f64().unwrap_or_else(|| panic!("{row}, {column}: {cell}"))
}

#[test]
fn reproduce_reports_what_it_can_and_names_what_it_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    write_data(&data);
    let result = json(folder.path(), &["reproduce", "-o", "report", "--em-steps", "5", "--sentences", "30"]);
    let missing: Vec<&str> =
        result["missing"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap()).collect();
    for reason in [
        "no vectors of Spanish (es)",
        "no vectors of Italian (it)",
        "no EN_MC-30.txt in similarity/",
        "no set of STS13 in sts/",
    ] {
        assert!(missing.contains(&reason), "{reason}: {missing:?}");
    }

    assert!(missing.iter().any(|reason| reason.contains("learn") && reason.contains("500")), "{missing:?}");

    let file = |name: &str| fs::read_to_string(folder.path().join("report").join(name)).unwrap();
    let report: Value = serde_json::from_str(&file("report.json")).unwrap();
    let ids: Vec<&str> =
        report["sections"].as_array().unwrap().iter().map(|section| section["id"].as_str().unwrap()).collect();
    let expected = [
        "summary", "table-1", "table-2", "table-3", "table-4", "table-5", "table-6", "table-7", "table-8", "learned",
        "noise", "map",
    ];
    assert_eq!(ids, expected);
    let table = |section: usize| {
        let blocks = report["sections"][section]["blocks"].as_array().unwrap();
        blocks.iter().find(|block| block["kind"] == "table").unwrap().clone()
    };
    let words = table(1);
    // The paper's figure is beside ours; where the languages are not there it stands alone with the reason.
    let ibfa = cell(&words, "IBFA", "en-fr");
    assert!(ibfa["ours"].as_f64().unwrap() > 60.0 && ibfa["paper"] == 77.3 && ibfa["interval"].is_array(), "{ibfa}");
    // Too few entries for a finish: it is the model without one.
    assert_eq!(ours(&words, "IBFA, finished", "en-fr"), ours(&words, "IBFA, shrunk", "en-fr"));
    assert!(ours(&words, "RCSLS+CSLS", "fr-en") > 20.0);
    let spanish = cell(&words, "IBFA", "en-es");
    assert_eq!((&spanish["ours"], &spanish["paper"]), (&Value::Null, &79.5.into()));
    assert_eq!(spanish["missing"], "no vectors of Spanish (es)");
    assert_eq!(cell(&table(3), "English", "RG-65")["paper"], 79.7);
    assert!(ours(&table(4), "English", "STS12") > 60.0 && ours(&table(4), "IBFA en-fr", "STS12") > 60.0);
    assert!(ours(&table(6), "MBFA", "fr-en") > 60.0);
    // The triples hold the test pairs, which must not be learned from.
    let about = report["sections"][6]["blocks"][0]["text"].as_str().unwrap();
    assert!(about.contains("60 triples; 30 more"), "{about}");
    let html = file("index.html");
    assert!(html.contains("no vectors of Spanish (es)") && html.matches("<svg").count() >= 6 && !html.contains("NaN"));
    assert!(file("report.md").contains("| IBFA |") && file("figures/map.svg").starts_with("<svg"));

    let some = json(folder.path(), &["reproduce", "-o", "report", "--tables", "3"]);
    assert_eq!(some["claims"].as_array().unwrap().len(), 2);
    assert!(!file("index.html").contains("not there yet"));
    let shown = text(&sememe(folder.path(), &["reproduce", "-o", "report", "--tables", "3,6,7"]).stderr);
    for (stage, left) in [
        ("1 of 3, tables 3 and 4: similarity of words and sentences: ", "; left: tables 6 and 8 and 1 more"),
        ("2 of 3, tables 6 and 8: three languages: ", "; left: table 7"),
        ("3 of 3, table 7: samples: ", "; nothing is left"),
    ] {
        assert!(shown.lines().any(|line| line.starts_with(stage) && line.ends_with(left)), "{stage}{left}: {shown}");
    }
    assert!(!folder.path().join("report/figures").exists());
}

#[test]
fn reproduce_learns_pairs_when_it_is_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    write_data(&data);
    for (seed, code) in (1..).zip(["en", "fr", "ru"]) {
        write_language(&data, code, seed, (600, 16));
    }
    let tables = |of: &str, section: usize| -> Vec<Value> {
        json(folder.path(), &["reproduce", "-o", "report", "--tables", of]);
        let report = fs::read_to_string(folder.path().join("report/report.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        let blocks = report["sections"][section]["blocks"].as_array().unwrap();
        blocks.iter().filter(|block| block["kind"] == "table").cloned().collect()
    };
    let learned = tables("1,learned", 1);
    let semi = &learned[1];
    for direction in ["en-fr", "fr-en", "en-ru"] {
        // From the 64 strings that are the same in all languages, of 600 words.
        for (row, least) in
            [("SVD, refined", 40.0), ("IBFA, refined", 80.0), ("SVD, refined+CSLS", 50.0), ("IBFA, refined+CSLS", 80.0)]
        {
            let found = ours(semi, row, direction);
            assert!(found > least, "{row}, {direction}: {found}");
        }
        // What is no better than chance is no figure.
        let unsupervised = cell(semi, "IBFA, unsupervised", direction);
        let reason = unsupervised["missing"].as_str().unwrap();
        assert!(unsupervised["ours"].is_null() && reason.contains("no better than chance"), "{unsupervised}");
    }
    assert_eq!(cell(semi, "IBFA, unsupervised+CSLS", "en-fr")["paper"], 82.3);
    assert!(ours(&learned[0], "IBFA, refined+CSLS", "fr-en") > 80.0);
    let few = &tables("learned", 1)[0];
    assert!(ours(few, "alone", "en-ru") > 80.0 && ours(few, "together, refined", "ru-en") > 80.0, "{few}");
    let left_out = cell(&tables("1", 1)[1], "IBFA, refined", "en-fr");
    assert!(left_out["ours"].is_null() && left_out["missing"].as_str().unwrap().starts_with("left out"), "{left_out}");
}

#[test]
fn reproduce_refuses_what_it_cannot_begin_with() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    let message = refused(folder.path(), &["reproduce", "--data", "empty"]);
    assert!(message.contains("has no vectors") && message.contains("XX/vectors.npy"), "{message}");
    assert!(refused(folder.path(), &["reproduce", "--data", "nowhere"]).contains("nowhere"));
    assert!(refused(folder.path(), &["reproduce", "--tables", "9"]).contains("1 to 8, learned, noise and map"));
    fs::create_dir(folder.path().join("report")).unwrap();
    fs::write(folder.path().join("report/mine.txt"), "mine").unwrap();
    assert!(refused(folder.path(), &["reproduce", "--data", "empty", "-o", "report"]).contains("mine.txt"));
}
