//! Table 5: sentences and their translations.

use std::collections::HashMap;

use sememe::evaluate::{Bootstrap, Corpus, ParallelSentences, SentenceOptions, Words, sentences};

use super::Findings;
use super::claims::Claim;
use super::data::{ParallelText, language};
use super::lab::{Dictionary, Lab, Outcome, Recipe};
use super::paper::{self, find};
use super::translation::{self, Line};
use crate::experiment::Precision;
use crate::report::{Cell, Column, Row, Section, Table};
use crate::text::count;
use crate::work::Work;

/// The rows as the paper orders them.
const ROWS: [&str; 10] = [
    "Mikolov et al.",
    "Dinu et al.",
    "Smith et al.",
    "SVD",
    "IBFA",
    "IBFA, shrunk",
    "SVD+CSLS",
    "IBFA, unsupervised+CSLS",
    "IBFA+CSLS",
    "IBFA, shrunk+CSLS",
];

/// The rows in an order in which rows of the same recipe follow each other, so that each text is converted to vectors once.
fn lines() -> impl Iterator<Item = Line> {
    translation::lines().into_iter().filter(|(name, ..)| ROWS.contains(name))
}

/// The results from and to English, by row.
type Found = HashMap<&'static str, [Outcome<[Precision; 3]>; 2]>;

pub fn compute(lab: &Lab, work: &Work) -> Findings {
    let mut section = Section::new("table-5", "Table 5 · Sentence retrieval");
    section.say(
        "How often the translation of a sentence is the nearest, or among the 5 or 10 nearest, of all sentences of the other \
         language: 2,000 sentences drawn at random, vectors that are means of word vectors weighted by tf-idf, words aligned by \
         the supervised models of table 1, and by IBFA without a dictionary where the paper has AdvR. CSLS and inverted softmax look at the 2,000 queries, as MUSE does. The paper’s text \
         is English and Italian, with the vectors of Dinu et al.; its first three rows are copied from Smith et al., who do \
         not weight words.",
    );
    let with_english = |text: &ParallelText| text.languages.iter().any(|code| code == "en");
    let texts: Vec<ParallelText> = lab.data.parallel_texts().into_iter().filter(with_english).collect();
    let columns = ["from English", "to English"]
        .into_iter()
        .flat_map(|group| ["@1", "@5", "@10"].map(|rank| Column::of(group, rank)));
    let mut table = Table::new("Retrieval of translated sentences", "", columns.collect());
    let is_of_paper = |text: &ParallelText| text.languages.iter().any(|code| code == "it");
    let total = (texts.len() * 2 * ROWS.len()) as u64;
    let mut done = 0;
    if !texts.iter().any(is_of_paper) {
        table.rows.push(Row::heading("English–Italian, Europarl"));
        let reason = lab.words("it").err().unwrap_or_else(|| "no sentences NAME.en-it.en and NAME.en-it.it".to_owned());
        let none = [0, 1].map(|_| Err(reason.clone()));
        table.rows.extend(ROWS.iter().map(|name| row(name, &none, find(&paper::SENTENCES, name))));
    }
    for text in &texts {
        let found = measure(lab, text, work, &mut || {
            done += 1;
            work.advance(done, total);
        });
        let paper = |name: &str| if is_of_paper(text) { find(&paper::SENTENCES, name) } else { None };
        let (lines, found) = match found {
            Ok(found) => found,
            Err(reason) => {
                section.lack(vec![format!("{}: {reason}", text.name)]);
                continue;
            }
        };
        let other = text.languages.iter().find(|code| *code != "en").map_or("en", String::as_str);
        table.rows.push(Row::heading(format!("English–{}, {} ({} lines)", language(other), text.name, count(lines))));
        table.rows.extend(ROWS.iter().filter_map(|name| Some(row(name, found.get(name)?, paper(name)))));
    }
    if texts.is_empty() {
        section.lack(vec!["no sentences: sentences/NAME.XX-YY.XX and NAME.XX-YY.YY".to_owned()]);
    }
    let mut findings = Findings::default();
    for (suffix, what) in [("", ""), ("+CSLS", ", CSLS")] {
        let text = format!("Sentence retrieval{what}: IBFA is ahead of SVD");
        findings.claims.push(Claim::compare(text, &table, &format!("IBFA{suffix}"), &format!("SVD{suffix}")));
    }
    section.add(table);
    findings.sections.push(section);
    findings
}

fn row(name: &str, found: &[Outcome<[Precision; 3]>; 2], paper: Option<[f64; 6]>) -> Row {
    let cell = |at: usize| {
        let precision = found[at / 3].as_ref().map(|ranks| ranks[at % 3]).map_err(Clone::clone);
        // At 1 the interval says enough.
        let interval = precision.as_ref().ok().filter(|_| at.is_multiple_of(3)).map(|precision| precision.interval);
        Cell::measured(precision.map(|precision| precision.value), interval, paper.map(|figures| figures[at]))
    };
    Row::new(name, (0..6).map(cell).collect())
}

/// Every row on one text, from and to English, and how many lines that has.
fn measure(lab: &Lab, text: &ParallelText, work: &Work, step: &mut dyn FnMut()) -> Outcome<(usize, Found)> {
    let mut found: Found = HashMap::new();
    let [first, second] = [lab.words(&text.languages[0])?, lab.words(&text.languages[1])?];
    let words = [first, second].map(|embeddings| Words { embeddings, casing: lab.options.casing });
    let files = [text.files[0].as_path(), text.files[1].as_path()];
    let read = ParallelSentences::read(files, words, lab.options.sentences, work).map_err(|error| error.to_string())?;
    let english = text.languages.iter().position(|code| code == "en").unwrap_or(0);
    let mut lines_of_text = 0;
    for (place, from) in [english, 1 - english].into_iter().enumerate() {
        let mut corpus: Option<(Recipe, Corpus)> = None;
        for (name, recipe, criterion) in lines() {
            if corpus.as_ref().is_none_or(|(known, _)| *known != recipe) {
                let key = (text.languages[from].clone(), text.languages[1 - from].clone(), Dictionary::Expert, recipe);
                let latent = match lab.latent(&key, work) {
                    Err(reason) if recipe.is_learned() => {
                        note(&mut found, name, place, Err(reason));
                        step();
                        continue;
                    }
                    latent => latent?,
                };
                // In the order of the files, whichever language is searched for.
                let vectors = if from == 0 { [&latent[0], &latent[1]] } else { [&latent[1], &latent[0]] };
                // The vectors before are not needed any more, and take much memory.
                drop(corpus.take());
                corpus = Some((recipe, read.with_vectors(vectors).map_err(|error| error.to_string())?));
            }
            let Some((_, corpus)) = &corpus else { continue };
            lines_of_text = corpus.len();
            let options = SentenceOptions::default().with_criterion(criterion).with_seed(lab.options.seed);
            let result = sentences(corpus, from, &options, work).map_err(|error| error.to_string());
            let precision = result.map(|result| {
                let intervals = result.intervals(&Bootstrap { seed: lab.options.seed, ..Bootstrap::default() });
                Precision::at_ranks(&result.precision, &intervals)
            });
            note(&mut found, name, place, precision);
            step();
        }
    }
    Ok((lines_of_text, found))
}

fn note(found: &mut Found, name: &'static str, place: usize, precision: Outcome<[Precision; 3]>) {
    found.entry(name).or_insert_with(|| [0, 1].map(|_| Err(String::new())))[place] = precision;
}
