//! Reports of some of the stages.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;

use sememe::observe::Event;
use sememe::vectors::{Embeddings, Matrix};

use super::*;

const WORDS: usize = 40;
const DIM: usize = 3;

/// Two languages with the same vectors, and a dictionary of half of the words.
fn languages() -> BTreeMap<String, Embeddings> {
    let of = |code: &str| {
        let values = (0..WORDS * DIM).map(|at| ((at * at) as f32).sin()).collect();
        let words = (0..WORDS).map(|word| format!("{code}{word}")).collect::<Vec<_>>();
        (code.to_owned(), Embeddings::new(words.iter().map(String::as_str).collect(), Matrix::new(values, DIM)))
    };
    ["en", "fr"].map(of).into()
}

fn write_dictionaries(folder: &std::path::Path) {
    let pairs = |words: std::ops::Range<usize>| words.map(|word| format!("en{word} fr{word}\n")).collect::<String>();
    let muse = folder.join("dictionaries/muse");
    fs::create_dir_all(&muse).unwrap();
    fs::write(muse.join("en-fr.0-5000.txt"), pairs(0..WORDS / 2)).unwrap();
    fs::write(muse.join("en-fr.5000-6500.txt"), pairs(WORDS / 2..WORDS)).unwrap();
    // The folder must have vectors; those of the tests are not read from it.
    fs::write(folder.join("en.vec"), "").unwrap();
}

/// The text of the summary, with what it lacks.
fn summary_of(reproduction: &Reproduction) -> String {
    serde_json::to_string(&reproduction.report(Duration::ZERO).report.sections[0]).unwrap()
}

fn ids(reproduction: &Reproduction) -> Vec<String> {
    reproduction.report(Duration::ZERO).report.sections.iter().map(|section| section.id.clone()).collect()
}

#[test]
fn a_report_names_the_stages_that_are_not_there_yet() {
    let folder = tempfile::tempdir().unwrap();
    write_dictionaries(folder.path());
    let (data, languages) = (Data::open(folder.path(), None).unwrap(), languages());
    let options = Options { parts: vec![Part::Table(1), Part::Table(7), Part::Learned], ..Options::default() };
    let mut reproduction = Reproduction::new(&data, &languages, &options);
    assert_eq!((reproduction.stages(), reproduction.remaining().len()), (4, 4));

    reproduction.compute_next(&()).unwrap();
    assert_eq!(ids(&reproduction), ["summary", "table-1"]);
    let summary = summary_of(&reproduction);
    assert!(summary.contains("1 of 4 stages") && summary.contains("not there yet: table 7: samples"), "{summary}");
    let missing = reproduction.report(Duration::ZERO).missing;
    assert!(missing.iter().any(|reason| reason == "not computed yet"), "the learned rows are: {missing:?}");

    // A stage that is stopped is still to be computed.
    let stopped = reproduction.compute_next(&|_: Event| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(crate::Error::Sememe(sememe::Error::Stopped))));
    assert_eq!((ids(&reproduction).len(), reproduction.remaining()[0].short_name()), (2, "table 7"));

    while !reproduction.remaining().is_empty() {
        reproduction.compute_next(&()).unwrap();
    }
    // The learned rows belong to the table that was there before.
    assert_eq!(ids(&reproduction), ["summary", "table-1", "table-7", "learned"]);
    assert!(!summary_of(&reproduction).contains("not there yet"));
    let Reproduced { claims, missing, .. } = reproduction.report(Duration::ZERO);
    assert!(!missing.iter().any(|reason| reason == "not computed yet"), "{missing:?}");
    let texts: std::collections::BTreeSet<&str> = claims.iter().map(|claim| claim.text.as_str()).collect();
    assert_eq!(texts.len(), claims.len(), "each claim once");
}
