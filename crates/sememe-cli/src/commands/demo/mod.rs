//! `sememe demo`: the whole way on real vectors and a dictionary that are part of the program.

mod learning;
mod report;

use std::path::{Path, PathBuf};
use std::time::Instant;

use sememe::align::{self, Aligned, align};
use sememe::evaluate;
use sememe::evidence;
use sememe::files::Input;
use sememe::lexicon::{self, Lexicon, Tuples};
use sememe::normalize::Step;
use sememe::preparation::Casing;
use sememe::retrieve::{Criterion, Pair, Retriever, nearest};
use sememe::space::Space;
use sememe::vectors::{self, Embeddings, ReadOptions};
use serde_json::{Value, json};

use self::report::Done;
use super::align::summary;
use crate::arguments::{Demo, Global};
use crate::output::{self, count};
use crate::report::check_writable;

/// Words of the test split whose translations show what the space knows.
const SHOWN: [&str; 8] = ["kitchen", "dog", "seventeen", "nurse", "kingdom", "anger", "crazy", "imagine"];
const CANDIDATES: usize = 3;
/// Enough for retrieval: the likelihood rises for long after the precision has settled.
const EVALUATIONS: usize = 15;

struct Language {
    name: &'static str,
    in_english: &'static str,
    vectors: &'static [u8],
    words: &'static str,
}

const LANGUAGES: [Language; 4] = [
    Language {
        name: "en",
        in_english: "English",
        vectors: include_bytes!("../../../demo/en.npy.zst"),
        words: include_str!("../../../demo/en.words.txt"),
    },
    Language {
        name: "fr",
        in_english: "French",
        vectors: include_bytes!("../../../demo/fr.npy.zst"),
        words: include_str!("../../../demo/fr.words.txt"),
    },
    Language {
        name: "ru",
        in_english: "Russian",
        vectors: include_bytes!("../../../demo/ru.npy.zst"),
        words: include_str!("../../../demo/ru.words.txt"),
    },
    Language {
        name: "fi",
        in_english: "Finnish",
        vectors: include_bytes!("../../../demo/fi.npy.zst"),
        words: include_str!("../../../demo/fi.words.txt"),
    },
];
const TRAIN: &str = include_str!("../../../demo/concepts.train.tsv");
const TEST: &str = include_str!("../../../demo/concepts.test.tsv");

impl Language {
    fn embeddings(&self) -> sememe::Result<Embeddings> {
        let file = |ending: &str| PathBuf::from(format!("{}{ending}", self.name));
        let vectors = Input::from_bytes(file(".npy.zst"), self.vectors.to_vec())?;
        let words = Input::from_bytes(file(".words.txt"), self.words.as_bytes().to_vec())?;
        Ok(vectors::read_input(&vectors, Some(&words), &ReadOptions::default())?.embeddings)
    }
}

/// Where the report goes unless another folder is named.
pub const REPORT: &str = "sememe-report";

pub fn run(arguments: &Demo, global: &Global) -> anyhow::Result<()> {
    if let Some(folder) = &arguments.keep {
        Space::check_writable(folder)?;
    }
    let report_folder = report_folder(arguments, global)?;
    let start = Instant::now();
    let views = read_languages()?;
    let (aligned, tuples) = align_languages(views.clone())?;
    let latent: Vec<&Embeddings> = aligned.latent.iter().flatten().map(|view| &view.embeddings).collect();
    let evaluations = evaluate_all(&latent)?;
    let translations = translate_shown(&latent)?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(folder) = &arguments.keep {
        Space::write(folder, &aligned.alignment, &aligned.latent)?;
    }
    let done = Done {
        aligned: &aligned,
        views: &views,
        tuples: &tuples,
        evaluations: &evaluations,
        translations: &translations,
        seed: global.seed,
    };
    let page = report_folder.map(|folder| done.report()?.write(&folder)).transpose()?;
    let tuples = tuples.len();

    let by_direction: serde_json::Map<String, Value> = evaluations
        .iter()
        .map(|(from, to, result)| (format!("{}-{}", LANGUAGES[*from].name, LANGUAGES[*to].name), json!(result)))
        .collect();
    let examples: Vec<Value> = translations
        .iter()
        .map(|(word, found)| {
            let found =
                LANGUAGES[1..].iter().zip(found).map(|(language, words)| (language.name.to_owned(), json!(words)));
            json!({ "word": word, "candidates": found.collect::<serde_json::Map<_, _>>() })
        })
        .collect();
    let json = json!({
        "tuples": tuples,
        "translation": by_direction,
        "translations": examples,
        "seconds": seconds,
        "space": arguments.keep,
        "report": page,
    });
    output::result(global, json, || {
        let kept = match &arguments.keep {
            Some(folder) => {
                format!("The space is in {0}; try: sememe translate {0} --from fi --to fr talo", folder.display())
            }
            None => "Keep the space with --keep FOLDER, then try the other commands on it.".to_owned(),
        };
        let page = page.map_or(String::new(), |page| format!("\n\nFor more, open {} in a browser.", page.display()));
        format!(
            "Aligned 5,000 words each of four languages through {} everyday concepts in {seconds:.1} s.\n\n{}\n{}\n\n{}\n\n{kept}{page}",
            count(tuples),
            summary(&aligned),
            precision_table(&evaluations),
            examples_table(&translations),
        )
    })
}

/// The folder for the report. One that was not asked for is no reason to fail.
fn report_folder(arguments: &Demo, global: &Global) -> anyhow::Result<Option<PathBuf>> {
    let folder = arguments.report.as_deref().unwrap_or(Path::new(REPORT));
    match check_writable(folder) {
        Ok(()) => Ok(Some(folder.to_owned())),
        Err(error) if arguments.report.is_none() => {
            output::warn(global, format_args!("no report is written: {error:#}; name a folder with --report"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn read_languages() -> sememe::Result<Vec<(String, Embeddings)>> {
    LANGUAGES.iter().map(|language| Ok((language.name.to_owned(), language.embeddings()?))).collect()
}

fn align_languages(views: Vec<(String, Embeddings)>) -> anyhow::Result<(Aligned, Tuples)> {
    let train = concepts("concepts.train.tsv", TRAIN)?;
    let mut tuples = Tuples::new(views.len());
    let vocabularies: Vec<_> = views.iter().map(|(name, view)| (name.as_str(), view.vocabulary())).collect();
    tuples.add_lexicon(&train, &vocabularies)?;
    let evidence = evidence::Options { casing: Casing::Lower, normalize: vec![Step::Unit], ..Default::default() };
    let mut options = align::Options { evidence, ..Default::default() };
    options.fit.mbfa.evaluations = EVALUATIONS;
    Ok((align(views, &tuples, &options)?, tuples))
}

fn concepts(name: &str, text: &str) -> sememe::Result<Lexicon> {
    let file = Input::from_bytes(name, text.as_bytes().to_vec())?;
    Ok(lexicon::read_tuples_input(&file, &Default::default())?.lexicon)
}

/// Every language to every other on the test words.
fn evaluate_all(latent: &[&Embeddings]) -> anyhow::Result<Vec<(usize, usize, evaluate::Translation)>> {
    let test = concepts("concepts.test.tsv", TEST)?;
    let mut results = Vec::new();
    for from in 0..LANGUAGES.len() {
        for to in (0..LANGUAGES.len()).filter(|&to| to != from) {
            let gold = test.restricted(&[LANGUAGES[from].name, LANGUAGES[to].name])?;
            let (source, target) = (latent[from], latent[to]);
            let retriever = Retriever::new(Pair::new(source.matrix(), target.matrix()), Criterion::Nn)?;
            results.push((from, to, evaluate::translation(source, target, &gold, &retriever)?));
        }
    }
    Ok(results)
}

/// An English word and its candidates in every other language.
type Translated<'a> = (&'a str, Vec<Vec<&'a str>>);

fn translate_shown<'a>(latent: &[&'a Embeddings]) -> anyhow::Result<Vec<Translated<'a>>> {
    let english = latent[0];
    let rows: Vec<usize> = SHOWN.iter().filter_map(|word| english.vocabulary().get(word)).collect();
    let mut translations: Vec<Translated> = rows.iter().map(|&row| (english.word(row), Vec::new())).collect();
    for target in &latent[1..] {
        let hits = nearest(&english.matrix().select(&rows), target.matrix(), CANDIDATES, Criterion::Nn)?;
        for ((_, found), hits) in translations.iter_mut().zip(hits) {
            found.push(hits.iter().map(|hit| target.word(hit.index)).collect());
        }
    }
    Ok(translations)
}

fn precision_table(evaluations: &[(usize, usize, evaluate::Translation)]) -> String {
    let row = |from: usize| {
        let cell = |to: usize| {
            let result = evaluations.iter().find(|(a, b, _)| (*a, *b) == (from, to));
            result.map_or("–".to_owned(), |(_, _, result)| format!("{:.1}", result.precision[&1]))
        };
        std::iter::once(LANGUAGES[from].in_english.to_owned()).chain((0..LANGUAGES.len()).map(cell)).collect()
    };
    let header: Vec<&str> = std::iter::once("P@1 on unseen words, from \\ to")
        .chain(LANGUAGES.iter().map(|language| language.in_english))
        .collect();
    output::table(&header, (0..LANGUAGES.len()).map(row).collect(), true)
}

fn examples_table(translations: &[Translated]) -> String {
    let header: Vec<&str> = LANGUAGES.iter().map(|language| language.in_english).collect();
    let row = |(word, found): &Translated| {
        std::iter::once((*word).to_owned()).chain(found.iter().map(|words| words.join(", "))).collect()
    };
    output::table(&header, translations.iter().map(row).collect(), false)
}
