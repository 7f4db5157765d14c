//! A space as a dictionary: `sememe translate` and `sememe lexicon induce`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;

use assert_cmd::Command;
use serde_json::{Value, json as value};

use super::{bundled, json, sememe, text};

/// A folder that all tests share, with the bundled Finnish, Russian and French vectors aligned in `space`.
fn shared() -> &'static Path {
    static ALIGNED: OnceLock<PathBuf> = OnceLock::new();
    ALIGNED.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("translation");
        std::fs::create_dir_all(&folder).unwrap();
        align(&folder, &[]);
        folder
    })
}

fn align(folder: &Path, more: &[&str]) {
    let view = |name: &str| format!("{name}={}", bundled(&format!("{name}.npy.zst")).display());
    let (fi, ru, fr) = (view("fi"), view("ru"), view("fr"));
    let concepts = bundled("concepts.train.tsv").display().to_string();
    let fitting = ["--latent", "60", "--iterations", "6", "--shrinkage", "0.1", "--lower", "-o", "space"];
    json(folder, &[&["align", &fi, &ru, &fr, "--lexicon", &concepts], &fitting[..], more].concat());
}

fn translate(folder: &Path, more: &[&str]) -> Value {
    json(folder, &[&["translate", "space", "--from", "fi", "--to", "ru"], more].concat())
}

fn confidences(translation: &Value) -> Vec<f64> {
    let candidates = translation["candidates"].as_array().unwrap();
    candidates.iter().map(|candidate| candidate["confidence"].as_f64().unwrap()).collect()
}

#[test]
fn candidates_have_probabilities_that_follow_the_score() {
    let folder = shared();
    for criterion in ["nn", "csls", "isf", "pmi"] {
        let found = translate(folder, &["-k", "50", "--criterion", criterion, "koira", "keittiö", "tuuli"]);
        for translation in found["translations"].as_array().unwrap() {
            let confidences = confidences(translation);
            assert!(confidences.iter().all(|p| (0.0..=1.0).contains(p)), "{criterion}: {translation}");
            assert!(confidences.is_sorted_by(|a, b| a >= b), "{criterion}: {translation}");
        }
    }
    let threads = |number| translate(folder, &["--threads", number, "koira", "tuuli", "--criterion", "csls"]);
    assert_eq!(threads("1"), threads("2"));
}

#[test]
fn what_is_not_sure_is_not_known() {
    let folder = shared();
    let known =
        |least: &str| translate(folder, &["--min-confidence", least, "koira"])["translations"][0]["known"].clone();
    assert_eq!((known("0"), known("1")), (value!(true), value!(false)));
    let shown = |least: &str| {
        let arguments = ["translate", "space", "--from", "fi", "--to", "ru", "--min-confidence", least, "koira"];
        text(&sememe(folder, &arguments).stdout)
    };
    assert!(shown("1").contains("don't know; nearest: "), "{}", shown("1"));
    assert!(!shown("0").contains("don't know") && shown("0").contains(" % ("), "{}", shown("0"));
    let refused = sememe(folder, &["translate", "space", "--from", "fi", "--to", "ru", "--min-confidence", "5", "x"]);
    assert!(text(&refused.stderr).contains("from 0 to 1"));
}

#[test]
fn words_come_from_arguments_files_and_standard_input() {
    let folder = shared();
    std::fs::write(folder.join("words.txt"), "koira\r\n\ntuuli\n").unwrap();
    let given = translate(folder, &["koira", "tuuli"]);
    assert_eq!(translate(folder, &["--file", "words.txt"]), given);
    for more in [&["--file", "-"][..], &[]] {
        let mut command = Command::cargo_bin("sememe").unwrap();
        command.current_dir(folder).args(["translate", "space", "--from", "fi", "--to", "ru", "--json"]).args(more);
        let output = command.write_stdin("koira\n\n  tuuli \n").output().unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), given, "{more:?}");
    }
    let output = sememe(folder, &["translate", "space", "--from", "fi", "--to", "ru"]);
    assert_eq!(output.status.code(), Some(2), "nothing on standard input");
    assert!(text(&output.stderr).contains("no words to translate"));
}

/// Another program can ask word after word: an answer comes before the next word is asked.
#[test]
fn piped_words_are_answered_as_they_come() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sememe"));
    command.current_dir(shared()).args(["translate", "space", "--from", "fi", "--to", "ru", "--quiet"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = BufReader::new(stdout).lines().map(Result::unwrap);
    writeln!(stdin, "koira").unwrap();
    let answer: Vec<String> = lines.by_ref().take(3).collect();
    assert!(answer[0].contains("fi") && answer[2].contains("koira") && answer[2].contains("собака"), "{answer:?}");
    writeln!(stdin, "unheardof\ntuuli").unwrap();
    let answer = lines.next().unwrap();
    assert!(answer.contains("tuuli") && answer.contains("ветер"), "no second header: {answer}");
    drop(stdin);
    assert_eq!((lines.next(), child.wait().unwrap().code()), (None, Some(0)));
}

#[test]
fn csls_ranks_where_nobody_chooses() {
    let folder = shared();
    let by_default = translate(folder, &["koira"]);
    assert_eq!(by_default["criterion"], "csls");
    for criterion in ["auto", "CSLS"] {
        assert_eq!(translate(folder, &["koira", "--criterion", criterion]), by_default);
    }
    assert_ne!(translate(folder, &["koira", "--criterion", "nn"]), by_default);
}

#[test]
fn several_views_are_translated_to_at_once() {
    let folder = shared();
    let both = translate(folder, &["--to", "fr", "koira", "tuuli"]);
    assert_eq!((&both["from"], &both["to"]), (&value!("fi"), &value!(["ru", "fr"])));
    let order: Vec<(&Value, &Value)> =
        both["translations"].as_array().unwrap().iter().map(|found| (&found["word"], &found["to"])).collect();
    let (koira, tuuli, ru, fr) = (&value!("koira"), &value!("tuuli"), &value!("ru"), &value!("fr"));
    assert_eq!(order, [(koira, ru), (koira, fr), (tuuli, ru), (tuuli, fr)]);
    assert_eq!(both["translations"][0], translate(folder, &["koira", "tuuli"])["translations"][0]);
    let arguments = ["translate", "space", "--from", "fi", "--to", "ru", "--to", "fr", "koira"];
    let shown = text(&sememe(folder, &arguments).stdout);
    assert!(["to", "candidates", "ru", "fr", "koira"].iter().all(|part| shown.contains(part)), "{shown}");
}

#[test]
fn spellings_are_suggested_for_unknown_words() {
    let folder = shared();
    let answer = translate(folder, &["koirra", "talo"]);
    assert_eq!(answer["unknown"], value!(["koirra"]));
    assert_eq!(answer["suggestions"]["koirra"][0], "koira");
    assert_eq!(answer["translations"].as_array().unwrap().len(), 1);
    let refused = sememe(folder, &["translate", "space", "--from", "fi", "--to", "ru", "KOIRRA"]);
    let message = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2));
    assert!(message.contains("\"KOIRRA\" is not in the vocabulary of fi; did you mean \"koira\""), "{message}");
}

#[test]
fn further_vectors_translate_words_that_the_space_does_not_have() {
    let few = tempfile::tempdir().unwrap();
    align(few.path(), &["--max-words", "4500"]);
    let vectors = sememe::vectors::read(&bundled("fi.npy.zst"), &Default::default(), &()).unwrap().embeddings;
    let rare = vectors.word(4800).to_lowercase();
    let arguments = ["translate", "space", "--from", "fi", "--to", "ru", &rare];
    assert_eq!(sememe(few.path(), &arguments).status.code(), Some(2));
    let file = bundled("fi.npy.zst").display().to_string();
    let found = translate(few.path(), &["--vectors", &file, &rare, "koira"]);
    assert_eq!(found["translations"].as_array().unwrap().len(), 2);
    // Vectors of another dimension are not of this view.
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sememe/tests/golden/subwords.fasttext.bin");
    let other = sememe(few.path(), &[&arguments[..], &["--vectors", &golden.display().to_string()]].concat());
    assert!(text(&other.stderr).contains("dimension"), "{}", text(&other.stderr));
}

#[test]
fn subwords_make_vectors_of_unheard_words() {
    let folder = tempfile::tempdir().unwrap();
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sememe/tests/golden/subwords.fasttext.bin");
    let golden = golden.display().to_string();
    let (a, b) = (format!("a={golden}"), format!("b={golden}"));
    json(folder.path(), &["align", &a, &b, "--identical", "--method", "svd", "-o", "space"]);
    let translate = ["translate", "space", "--from", "a", "--to", "b", "unheardof"];
    let without = sememe(folder.path(), &translate);
    assert_eq!(without.status.code(), Some(2));
    let found = json(folder.path(), &[&translate[..], &["--vectors", &golden]].concat());
    assert!(!found["translations"][0]["candidates"].as_array().unwrap().is_empty());
}

/// The lines of an induced dictionary, without its header.
fn induced(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("# fi\tru\tscore"), "{text:.60}");
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn an_induced_dictionary_aligns_again() {
    let folder = shared();
    let induce = |file: &str, more: &[&str]| {
        json(folder, &[&["lexicon", "induce", "space", "--from", "fi", "--to", "ru", "-o", file], more].concat())
    };
    let all = induce("all.tsv", &[]);
    assert_eq!((all["words"].as_u64(), all["min_confidence"].is_null()), (Some(5000), true));
    let lines = induced(&folder.join("all.tsv"));
    assert_eq!(lines.len() as u64, all["pairs"].as_u64().unwrap());
    // The same as what `translate` says.
    let koira = lines.iter().find(|line| line[0] == "koira").unwrap();
    let first = &translate(folder, &["-k", "1", "koira"])["translations"][0]["candidates"][0];
    assert_eq!(first["word"], koira[1]);
    assert!((first["confidence"].as_f64().unwrap() - koira[3].parse::<f64>().unwrap()).abs() < 1e-4);

    let best = induce("best.tsv", &["--mutual", "--min-confidence", "0.5"]);
    let sure = induced(&folder.join("best.tsv"));
    assert!(sure.len() > 100 && sure.len() < lines.len() / 2, "{best}");
    assert!(sure.iter().all(|line| lines.contains(line) && line[3].parse::<f64>().unwrap() >= 0.4999));
    let mut targets: Vec<&String> = sure.iter().map(|line| &line[1]).collect();
    targets.sort();
    targets.dedup();
    assert_eq!(targets.len(), sure.len(), "a word is the best translation of one word only");
    let (one, two) =
        (induce("1.tsv", &["--threads", "1"]), induce("2.tsv", &["--threads", "2", "--max-words", "9999"]));
    assert_eq!(one["pairs"], two["pairs"]);
    assert_eq!(induced(&folder.join("1.tsv")), induced(&folder.join("2.tsv")));
    induce("few.tsv", &["--max-words", "7"]);
    assert!(induced(&folder.join("few.tsv")).len() <= 7);

    let view = |name: &str| format!("{name}={}", bundled(&format!("{name}.npy.zst")).display());
    // The file names its views itself, whatever the order of the views.
    let again = ["align", &view("ru"), &view("fi"), "--lexicon", "best.tsv", "--lower", "--latent", "60"];
    let again = json(folder, &[&again[..], &["--shrinkage", "0.3", "-o", "again"]].concat());
    let lexicon = &again["lexicons"][0];
    assert_eq!((&lexicon["matched"], &lexicon["ignored_columns"]), (&best["pairs"], &value!(true)));
}

#[test]
fn a_space_from_moments_says_no_confidence() {
    let folder = tempfile::tempdir().unwrap();
    let view = |name: &str| format!("{name}={}", bundled(&format!("{name}.npy.zst")).display());
    let (fi, ru) = (view("fi"), view("ru"));
    let concepts = bundled("concepts.train.tsv").display().to_string();
    json(folder.path(), &["moments", &fi, &ru, "--lexicon", &concepts, "-o", "moments.safetensors"]);
    json(folder.path(), &["align", &fi, &ru, "--moments", "moments.safetensors", "-o", "space"]);
    let answer = translate(folder.path(), &["koira"]);
    assert!(answer["translations"][0]["candidates"][0]["confidence"].is_null());
    assert_eq!(answer["translations"][0]["known"], true);
    let told = sememe(folder.path(), &["translate", "space", "--from", "fi", "--to", "ru", "koira"]);
    assert!(text(&told.stderr).contains("no confidences are shown"), "{}", text(&told.stderr));
    let induce = ["lexicon", "induce", "space", "--from", "fi", "--to", "ru", "-o", "induced.tsv"];
    json(folder.path(), &induce);
    assert!(induced(&folder.path().join("induced.tsv")).iter().all(|line| line.len() == 3));
    let refused = sememe(folder.path(), &[&induce[..], &["--min-confidence", "0.5"]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("has no confidences"));
}
