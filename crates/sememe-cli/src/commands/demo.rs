//! `sememe demo`: the whole way on real vectors and a dictionary that are part of the program.

use std::path::PathBuf;
use std::time::Instant;

use sememe::align::{self, align};
use sememe::evaluate;
use sememe::files::Input;
use sememe::lexicon::{self, Lexicon, Tuples};
use sememe::model::Casing;
use sememe::normalize::Step;
use sememe::retrieve::{Criterion, nearest};
use sememe::space::Space;
use sememe::vectors::{self, Embeddings, ReadOptions};
use serde_json::json;

use super::align::summary;
use crate::arguments::{Demo, Global};
use crate::output::{self, count};

/// Words of the test split whose translation shows what the space knows.
const SHOWN: [&str; 8] = ["kitchen", "dog", "seventeen", "nurse", "kingdom", "anger", "crazy", "imagine"];
const CANDIDATES: usize = 4;

struct Language {
    name: &'static str,
    vectors: &'static [u8],
    words: &'static str,
}

const ENGLISH: Language = Language {
    name: "en",
    vectors: include_bytes!("../../demo/en.npy.zst"),
    words: include_str!("../../demo/en.words.txt"),
};
const FRENCH: Language = Language {
    name: "fr",
    vectors: include_bytes!("../../demo/fr.npy.zst"),
    words: include_str!("../../demo/fr.words.txt"),
};
const TRAIN: &str = include_str!("../../demo/concepts.train.tsv");
const TEST: &str = include_str!("../../demo/concepts.test.tsv");

impl Language {
    fn embeddings(&self) -> sememe::Result<Embeddings> {
        let file = |ending: &str| PathBuf::from(format!("{}{ending}", self.name));
        let vectors = Input::from_bytes(file(".npy.zst"), self.vectors.to_vec())?;
        let words = Input::from_bytes(file(".words.txt"), self.words.as_bytes().to_vec())?;
        Ok(vectors::read_input(&vectors, Some(&words), &ReadOptions::default())?.embeddings)
    }
}

/// The columns of two languages out of a list of concepts.
fn concepts(name: &str, text: &str, from: &Language, to: &Language) -> sememe::Result<Lexicon> {
    let file = Input::from_bytes(name, text.as_bytes().to_vec())?;
    lexicon::read_tuples_input(&file, &Default::default())?.lexicon.restricted(&[from.name, to.name])
}

pub fn run(arguments: &Demo, global: &Global) -> anyhow::Result<()> {
    if let Some(folder) = &arguments.keep {
        Space::check_writable(folder)?;
    }
    let start = Instant::now();
    let (from, to) = (&ENGLISH, &FRENCH);
    let views = vec![(from.name.to_owned(), from.embeddings()?), (to.name.to_owned(), to.embeddings()?)];
    let train = concepts("concepts.train.tsv", TRAIN, from, to)?;
    let mut tuples = Tuples::new(views.len());
    let vocabularies: Vec<_> = views.iter().map(|(name, view)| (name.as_str(), view.vocabulary())).collect();
    tuples.add_lexicon(&train, &vocabularies)?;

    let options = align::Options { casing: Casing::Lower, normalize: vec![Step::Unit], ..Default::default() };
    let aligned = align(views, &tuples, &options)?;
    let [source, target] = &aligned.latent[..] else { unreachable!("two languages were aligned") };
    let forth = evaluate::translation(source, target, &concepts("concepts.test.tsv", TEST, from, to)?, Criterion::Nn)?;
    let back = evaluate::translation(target, source, &concepts("concepts.test.tsv", TEST, to, from)?, Criterion::Nn)?;
    let rows: Vec<usize> = SHOWN.iter().filter_map(|word| source.vocabulary().get(word)).collect();
    let hits = nearest(&source.matrix().select(&rows), target.matrix(), CANDIDATES, Criterion::Nn)?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(folder) = &arguments.keep {
        Space::write(folder, &aligned.alignment, &aligned.latent)?;
    }

    let translations: Vec<(&str, Vec<&str>)> = rows
        .iter()
        .zip(&hits)
        .map(|(&row, hits)| (source.word(row), hits.iter().map(|hit| target.word(hit.index)).collect()))
        .collect();
    let json = json!({
        "pairs": tuples.len(),
        "translation": { "en-fr": forth, "fr-en": back },
        "translations": translations.iter().map(|(word, found)| json!({ "word": word, "candidates": found })).collect::<Vec<_>>(),
        "seconds": seconds,
        "space": arguments.keep,
    });
    output::result(global, json, || {
        let precision = |name: &str, result: &evaluate::Translation| {
            let values = result.precision.values().map(|p| format!("{p:.1}"));
            [name.to_owned(), count(result.queries)].into_iter().chain(values).collect()
        };
        let table = output::table(
            &["test words, never seen in training", "words", "P@1", "P@5", "P@10"],
            vec![precision("English → French", &forth), precision("French → English", &back)],
            true,
        );
        let examples = translations.iter().map(|(word, found)| vec![(*word).to_owned(), found.join(", ")]).collect();
        let kept = match &arguments.keep {
            Some(folder) => {
                format!("The space is in {0}; try: sememe translate {0} --from en --to fr house", folder.display())
            }
            None => "Keep the space with --keep FOLDER, then try the other commands on it.".to_owned(),
        };
        format!(
            "Aligned 5,000 English and 5,000 French words through {} pairs of everyday concepts in {seconds:.1} s.\n\n{}\n{table}\n\n{}\n\n{kept}",
            count(tuples.len()),
            summary(&aligned),
            output::table(&["English", "nearest French words"], examples, false),
        )
    })
}
