//! From vectors and a dictionary to translations.

use std::path::Path;

use super::{DEMO, bundled, json, sememe, text};

/// Aligns the bundled Finnish and Russian vectors in `folder/space` and returns what `align` said.
fn align(folder: &Path, space: &str, more: &[&str]) -> serde_json::Value {
    let fi = format!("fi={}", bundled("fi.npy.zst").display());
    let ru = format!("ru={}", bundled("ru.npy.zst").display());
    let concepts = bundled("concepts.train.tsv");
    let pairs: String = std::fs::read_to_string(concepts)
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|cells| !cells[2].is_empty() && !cells[3].is_empty())
        .map(|cells| format!("{}\t{}\n", cells[3], cells[2]))
        .collect();
    std::fs::write(folder.join("fi-ru.tsv"), pairs).unwrap();
    let arguments = ["align", &fi, &ru, "--lexicon", "fi-ru=fi-ru.tsv", "-o", space];
    json(folder, &[&arguments[..], more].concat())
}

#[test]
fn demo_aligns_evaluates_and_translates() {
    let (folder, result) = (DEMO.folder(), &DEMO.result);
    for direction in ["en-fr", "fr-en"] {
        let precision = result["translation"][direction]["precision"]["1"].as_f64().unwrap();
        assert!(precision > 65.0, "{direction}: {precision}");
    }
    // The words shown are test words, and no test word of any language is a training word.
    let words = |name: &str| -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(bundled(name)).unwrap();
        text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    };
    let (train, test) = (words("concepts.train.tsv"), words("concepts.test.tsv"));
    assert!(train.len() + test.len() >= 1200);
    for shown in result["translations"].as_array().unwrap() {
        assert!(test.iter().any(|row| row[0] == shown["word"].as_str().unwrap()), "{shown}");
    }
    for column in 0..4 {
        let trained: std::collections::HashSet<&String> = train.iter().map(|row| &row[column]).collect();
        assert!(test.iter().all(|row| row[column].is_empty() || !trained.contains(&row[column])));
    }
    assert_eq!(result["translations"][1]["candidates"]["fr"][0], "chien");
    let output = sememe(folder, &["translate", "space", "--from", "fr", "--to", "en", "Roi"]);
    assert!(text(&output.stdout).contains("king"));

    // The report is beside it, and stays whole when it is written again or cannot be.
    let page = folder.join(result["report"].as_str().unwrap());
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("Four languages in one space") && html.matches("<svg").count() == 5 && !html.contains("NaN"));
    let explorer = std::fs::read_to_string(page.with_file_name("page.html")).unwrap();
    assert!(
        html.contains("href=\"page.html\"") && explorer.contains("id=\"sememe-data\"") && explorer.contains("sha256-")
    );
    let report = std::fs::read_to_string(page.with_file_name("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let sections = report["sections"].as_array().unwrap();
    let small = sections.iter().find(|section| section["id"] == "dictionary-size").unwrap();
    let curves = &small["blocks"][1]["data"];
    let at_25 = |curve: usize, place: usize| curves[curve]["points"][place][1].as_f64().unwrap();
    // Refined from 25 entries, and from these alone.
    assert!(at_25(0, 0) > 60.0 && at_25(1, 1) < 20.0 && curves[1]["points"][0][1] == 0.0, "{curves}");
    std::fs::write(page.with_file_name("mine.txt"), "mine").unwrap();
    let message = text(&sememe(folder, &["demo", "--report", "sememe-report"]).stderr);
    assert!(message.contains("mine.txt") && page.exists(), "{message}");
}

#[test]
fn align_evaluate_translate_and_project_work_together() {
    let folder = tempfile::tempdir().unwrap();
    let fitted = align(folder.path(), "space", &["--lower"]);
    assert_eq!(fitted["views"][0]["words"], 5000);
    assert!(fitted["tuples"].as_f64().unwrap() > 1200.0);

    let gold = "koira собака\nkissa кошка\ntalo дом\nolematon ничто-такое\n";
    std::fs::write(folder.path().join("gold.txt"), gold).unwrap();
    let evaluate = ["evaluate", "translation", "space", "--from", "fi", "--to", "ru", "--gold", "gold.txt"];
    let result = json(folder.path(), &evaluate);
    assert_eq!((result["queries"].as_u64(), result["gold_words"].as_u64()), (Some(3), Some(4)));
    assert!(result["precision"]["10"].as_f64().unwrap() > 60.0, "{result}");

    let translated = json(folder.path(), &["translate", "space", "--from", "fi", "--to", "ru", "-k", "3", "KOIRA"]);
    assert_eq!(translated["translations"][0]["candidates"].as_array().unwrap().len(), 3);

    // Projecting the same vectors again gives what the space holds.
    let same = format!("fi={}", bundled("fi.npy.zst").display());
    json(folder.path(), &["project", "space", &same, "-o", "again.safetensors"]);
    let read =
        |path: &str| sememe::vectors::read(&folder.path().join(path), &Default::default(), &()).unwrap().embeddings;
    assert_eq!(read("again.safetensors").matrix().as_slice(), read("space/fi.safetensors").matrix().as_slice());
}

#[test]
fn a_finish_is_said_and_its_coordinates_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["--max-words", "1500", "--latent", "40", "--shrinkage", "0.4", "--finish", "2"];
    let aligned = align(folder.path(), "space", &small);
    assert_eq!(aligned["finishes"], serde_json::json!([{ "views": ["fi", "ru"], "steps": 2 }]));
    let fi = format!("fi={}", bundled("fi.npy.zst").display());
    let read =
        |path: &str| sememe::vectors::read(&folder.path().join(path), &Default::default(), &()).unwrap().embeddings;
    let project = |output: &str, more: &[&str]| {
        json(folder.path(), &[&["project", "space", &fi, "--max-words", "1500", "-o", output], more].concat());
        read(output)
    };
    let (latent, compared) = (project("latent.npy", &[]), project("compared.npy", &["--compared-with", "ru"]));
    assert_eq!(latent.matrix().as_slice(), read("space/fi.safetensors").matrix().as_slice());
    assert_ne!(latent.matrix().as_slice(), compared.matrix().as_slice());
    json(folder.path(), &["export", "space", "--format", "npy", "-o", "exported"]);
    assert_eq!(read("exported/fi.npy").matrix().as_slice(), compared.matrix().as_slice());
    let same = sememe(folder.path(), &["project", "space", &fi, "-o", "x.npy", "--compared-with", "fi"]);
    assert!(text(&same.stderr).contains("must name another view"), "{}", text(&same.stderr));
}

#[test]
fn a_chosen_exponent_and_criterion_are_said_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["--max-words", "1500", "--latent", "40", "--shrinkage", "0.4", "--finish", "none"];
    let chosen = ["--exponent", "auto", "--criterion", "csls:k=auto"];
    let aligned = align(folder.path(), "space", &[&small[..], &chosen].concat());
    assert!(aligned["finishes"][0]["exponent"].is_number(), "{aligned}");
    assert!(aligned["criterion"].as_str().unwrap().starts_with("csls"), "{aligned}");
    let translated = json(folder.path(), &["translate", "space", "--from", "fi", "--to", "ru", "koira"]);
    assert_eq!(translated["criterion"], aligned["criterion"]);
    assert_eq!(json(folder.path(), &["inspect", "space"])["criterion"], aligned["criterion"]);
    let asked = sememe(
        folder.path(),
        &["translate", "space", "--from", "fi", "--to", "ru", "--criterion", "csls:k=auto", "koira"],
    );
    assert!(text(&asked.stderr).contains("align --criterion"), "{}", text(&asked.stderr));
}

/// Vectors of the words `new_york`, `w1`, `w2`, … in three dimensions.
fn write_vectors(path: &Path, turn: f64) {
    let word = |i: usize| if i == 0 { "new_york".to_owned() } else { format!("w{i}") };
    let number = |i: usize, j: usize| ((i * 7 + j * 13) as f64 * 0.37 + turn).sin();
    let text: String =
        (0..60).map(|i| format!("{} {} {} {}\n", word(i), number(i, 0), number(i, 1), number(i, 2))).collect();
    std::fs::write(path, text).unwrap();
}

#[test]
fn expressions_are_translated_however_they_are_spelled() {
    let folder = tempfile::tempdir().unwrap();
    write_vectors(&folder.path().join("a.vec"), 0.0);
    write_vectors(&folder.path().join("b.vec"), 0.1);
    json(folder.path(), &["align", "a=a.vec", "b=b.vec", "--identical", "-o", "space", "--lower"]);
    let translate = ["translate", "space", "--from", "a", "--to", "b", "New York", "un heard"];
    let translated = json(folder.path(), &translate);
    assert_eq!(translated["translations"][0]["word"], "New York");
    assert_eq!(translated["translations"].as_array().unwrap().len(), 1);
    assert_eq!(translated["unknown"][0], "un heard");
}

#[test]
fn what_a_dictionary_holds_beside_entries_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    write_vectors(&folder.path().join("a.vec"), 0.0);
    write_vectors(&folder.path().join("b.vec"), 0.1);
    let tuples = "# made by hand\na\tc\tb\nw1\tx\t\n".to_owned()
        + &(1..50).map(|i| format!("w{i}\tx\tw{i}\n")).collect::<String>();
    let scored: String = (1..50).map(|i| format!("w{i}\tw{i}\t0.5\n")).collect();
    std::fs::write(folder.path().join("tuples.tsv"), tuples).unwrap();
    std::fs::write(folder.path().join("scored.tsv"), scored).unwrap();
    let align = ["align", "a=a.vec", "b=b.vec", "-l", "tuples.tsv", "-l", "a-b=scored.tsv", "-o", "space"];
    let lexicons = &json(folder.path(), &align)["lexicons"];
    assert_eq!(lexicons[0]["ignored_views"], serde_json::json!(["c"]));
    assert_eq!((&lexicons[0]["comments"], &lexicons[0]["single_cells"]), (&1.into(), &1.into()));
    assert_eq!((&lexicons[0]["matched"], &lexicons[1]["matched"]), (&49.into(), &49.into()));
    assert_eq!(lexicons[1]["ignored_columns"], true);
    let said = text(&sememe(folder.path(), &[&align[..], &["--verbose"]].concat()).stderr);
    for part in ["views that are not given: c", "after the second", "1 comment lines", "fewer than two words"] {
        assert!(said.contains(part), "{said}");
    }
    let evaluate = ["evaluate", "translation", "space", "--from", "a", "--to", "b", "--gold", "scored.tsv"];
    assert_eq!(json(folder.path(), &evaluate)["gold"]["ignored_columns"], true);
}

#[test]
fn one_thread_and_two_write_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    for threads in ["1", "2"] {
        align(
            folder.path(),
            threads,
            &["--threads", threads, "--normalize", "unit,center,unit", "--max-words", "2000"],
        );
    }
    for file in ["model.safetensors", "fi.safetensors", "ru.safetensors"] {
        let [one, two] = ["1", "2"].map(|space| std::fs::read(folder.path().join(space).join(file)).unwrap());
        assert!(one == two, "{file} differs");
    }
}

#[test]
fn identical_strings_can_stand_for_a_dictionary() {
    let folder = tempfile::tempdir().unwrap();
    let (en, fr) = (bundled("en.npy.zst"), bundled("fr.npy.zst"));
    let (en, fr) = (format!("a={}", en.display()), format!("b={}", fr.display()));
    let all = json(folder.path(), &["moments", &en, &fr, "--identical", "-o", "all"]);
    let numerals = json(folder.path(), &["align", &en, &fr, "--identical=numerals", "-o", "numerals"]);
    let pairs = |result: &serde_json::Value| result["lexicons"][0]["identical"].as_u64().unwrap();
    assert!(pairs(&all) > pairs(&numerals) && pairs(&numerals) > 50);
}

#[test]
fn convert_and_inspect_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let mut from = bundled("en.npy.zst").display().to_string();
    for to in ["a.vec", "b.bin", "c.npy", "d.safetensors", "e.txt"] {
        json(folder.path(), &["convert", &from, to]);
        let seen = json(folder.path(), &["inspect", to]);
        assert_eq!((seen["words"].as_u64(), seen["dimension"].as_u64()), (Some(5000), Some(300)), "{to}");
        from = to.to_owned();
    }
    let vectors = |path: std::path::PathBuf| sememe::vectors::read(&path, &Default::default(), &()).unwrap().embeddings;
    let (first, last) = (vectors(bundled("en.npy.zst")), vectors(folder.path().join("e.txt")));
    assert_eq!(first.fingerprint(), last.fingerprint());
}

#[test]
fn inspect_describes_a_space() {
    let folder = tempfile::tempdir().unwrap();
    align(folder.path(), "space", &["--latent", "50", "--shrinkage", "0.1"]);
    let space = json(folder.path(), &["inspect", "space"]);
    assert_eq!(space["latent"], 50);
    assert_eq!(space["views"][1]["shrinkage"], 0.1);
    assert_eq!(space["canonical_correlations"].as_array().unwrap().len(), 50);
    let for_people = text(&sememe(folder.path(), &["inspect", "space"]).stdout);
    assert!(for_people.contains("latent dimensions  50"), "{for_people}");
}

/// Writes the pairs of two columns of the training concepts.
fn write_pairs(folder: &Path, name: &str, from: usize, to: usize) {
    let text = std::fs::read_to_string(bundled("concepts.train.tsv")).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let pairs = rows.filter(|row| !row[from].is_empty() && !row[to].is_empty());
    let lines: String = pairs.map(|row| format!("{}\t{}\n", row[from], row[to])).collect();
    std::fs::write(folder.join(name), lines).unwrap();
}

#[test]
fn three_views_from_two_dictionaries_translate_between_the_two_that_share_none() {
    let folder = tempfile::tempdir().unwrap();
    write_pairs(folder.path(), "en-fr.tsv", 0, 1);
    write_pairs(folder.path(), "en-fi.tsv", 0, 3);
    let view = |name: &str| format!("{name}={}", bundled(&format!("{name}.npy.zst")).display());
    let (en, fr, fi) = (view("en"), view("fr"), view("fi"));
    let align = ["align", &en, &fr, &fi, "--lexicon", "en-fr=en-fr.tsv", "--lexicon", "en-fi=en-fi.tsv"];
    let fitting = ["--latent", "60", "--iterations", "6", "--finish", "none"];
    let holes = json(folder.path(), &[&align[..], &fitting, &["-o", "holes"]].concat());
    let complete = json(folder.path(), &[&align[..], &fitting, &["--tuples", "complete", "-o", "complete"]].concat());
    assert_eq!(holes["method"], "mbfa");
    assert!(complete["tuples"].as_f64() < holes["tuples"].as_f64());
    assert!(complete["certificate"].is_f64() && holes["certificate"].is_null());

    std::fs::write(folder.path().join("gold.txt"), "chien koira\ncuisine keittiö\nthé tee\nvent tuuli\nsucre sokeri\n")
        .unwrap();
    for space in ["holes", "complete"] {
        let evaluate = ["evaluate", "translation", space, "--from", "fr", "--to", "fi", "--gold", "gold.txt"];
        let precision = json(folder.path(), &evaluate)["precision"]["10"].as_f64().unwrap();
        assert!(precision >= 60.0, "{space}: {precision}");
    }
}

#[test]
fn every_method_makes_a_space_that_translates() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("gold.txt"), "koira собака\nkeittiö кухня\ntuuli ветер\ntee чай\n").unwrap();
    for method in ["ibfa", "cca", "svd", "least-squares", "mbfa"] {
        let more: &[&str] = match method {
            "mbfa" => &["--iterations", "4", "--finish", "none"],
            "ibfa" => &["--finish", "none"],
            _ => &[],
        };
        let fitted = align(folder.path(), method, &[&["--method", method], more].concat());
        assert_eq!(fitted["method"], method);
        assert_eq!(fitted["log_likelihood"].is_number(), ["ibfa", "mbfa"].contains(&method));
        let evaluate = ["evaluate", "translation", method, "--from", "fi", "--to", "ru", "--gold", "gold.txt"];
        let precision = json(folder.path(), &evaluate)["precision"]["10"].as_f64().unwrap();
        assert!(precision >= 50.0, "{method}: {precision}");
        let described = text(&sememe(folder.path(), &["inspect", method]).stdout);
        assert!(described.contains(method), "{described}");
    }
}
