//! Tables 3 and 4: what alignment does to similarity within English.

use sememe::evaluate::{
    Probabilities, SIF_A, ScoredPairs, SentencePairs, Weighting, Words, similarity, sts, sts_years,
};
use sememe::model::Method;
use sememe::vectors::Embeddings;

use super::claims::Claim;
use super::lab::{Dictionary, Lab, Outcome, Recipe};
use super::paper::{self, find};
use super::{Findings, Part};
use crate::experiment::latent;
use crate::report::{Cell, Column, Row, Section, Table};
use crate::work::Work;

/// A row: English vectors as they are, or aligned with another language by a method.
struct Aligned {
    name: String,
    by: Option<(Method, String)>,
}

impl Aligned {
    fn vectors(&self, lab: &Lab, work: &Work) -> Outcome<Embeddings> {
        let english = lab.words("en")?;
        let Some((method, other)) = &self.by else { return Ok(english.clone()) };
        let model = lab.model(&("en".to_owned(), other.clone(), Dictionary::Whole, Recipe::plain(*method)), work)?;
        latent(&model, 0, english).map_err(|error| error.to_string())
    }
}

/// The paper's rows, and the same with other languages of the data.
fn rows(lab: &Lab) -> Vec<Aligned> {
    let others = lab.languages.keys().filter(|code| *code != "en" && !paper::ALIGNED_WITH.contains(&code.as_str()));
    let languages: Vec<String> =
        paper::ALIGNED_WITH.iter().map(|&code| code.to_owned()).chain(others.cloned()).collect();
    let mut rows = vec![Aligned { name: "English".to_owned(), by: None }];
    for method in [Method::Ibfa, Method::Cca] {
        rows.extend(languages.iter().map(|code| Aligned {
            name: format!("{} en-{code}", method.name().to_uppercase()),
            by: Some((method, code.clone())),
        }));
    }
    rows
}

pub fn compute(lab: &Lab, work: &Work) -> Findings {
    let rows = rows(lab);
    let sets: Vec<Outcome<ScoredPairs>> = (paper::SIMILARITY_SETS.iter())
        .map(|(_, file)| ScoredPairs::read(&lab.data.similarity(file)?).map_err(|error| error.to_string()))
        .collect();
    let sentences = if lab.options.wants(Part::Table(4)) { read_sts(lab) } else { Err(String::new()) };
    let (mut of_words, mut of_sentences) = (Vec::new(), Vec::new());
    for (done, row) in rows.iter().enumerate() {
        let vectors = row.vectors(lab, work);
        let words =
            vectors.as_ref().map(|embeddings| Words { embeddings, casing: lab.options.casing }).map_err(Clone::clone);
        if lab.options.wants(Part::Table(3)) {
            let paper = find(&paper::SIMILARITY, &row.name);
            of_words.push(Row::new(row.name.clone(), word_cells(&words, &sets, paper)));
        }
        if lab.options.wants(Part::Table(4)) {
            let paper = find(&paper::STS, &row.name);
            of_sentences.push(Row::new(row.name.clone(), sentence_cells(&words, &sentences, paper)));
        }
        work.advance(done as u64 + 1, rows.len() as u64);
    }
    let mut findings = Findings::default();
    if lab.options.wants(Part::Table(3)) {
        let mut section = Section::new("table-3", "Table 3 · Word similarity");
        section.say(
            "Spearman’s rank correlation, times 100, between cosines and the judgements of people, for English words before \
             and after they are aligned with another language by MUSE’s whole dictionary. Pairs with a word that has no \
             vector are left out.",
        );
        if let Ok(english) = lab.words("en") {
            section.say(coverage(Words { embeddings: english, casing: lab.options.casing }, &sets));
        }
        let columns = paper::SIMILARITY_SETS.iter().map(|(name, _)| Column::new(*name)).collect();
        finish(section, columns, of_words, "Word similarity", &rows, &mut findings);
    }
    if lab.options.wants(Part::Table(4)) {
        let mut section = Section::new("table-4", "Table 4 · Similarity of sentences");
        section.say(
            "Spearman’s rank correlation, times 100, between cosines of sentence vectors and the judgements of people, the mean \
             over the sets of a year; STS13 without SMT. Sentence vectors are those of Arora et al. (SIF): words weighted by \
             a/(a + p), first principal component removed. Probabilities p follow from the ranks of words by Zipf’s law.",
        );
        let columns = paper::STS_YEARS.iter().map(|year| Column::new(*year)).collect();
        finish(section, columns, of_sentences, "Sentence similarity", &rows, &mut findings);
    }
    findings
}

fn finish(
    mut section: Section,
    columns: Vec<Column>,
    cells: Vec<Row>,
    task: &str,
    rows: &[Aligned],
    findings: &mut Findings,
) {
    let mut table = Table::new(format!("{task}: before and after alignment"), "vectors", columns);
    table.rows = cells;
    let ibfa = || rows.iter().filter(|row| matches!(row.by, Some((Method::Ibfa, _))));
    let before: Vec<Claim> = ibfa().map(|row| Claim::compare("", &table, &row.name, "English")).collect();
    let rival = |row: &Aligned| row.name.replace("IBFA", "CCA");
    let after: Vec<Claim> = ibfa().map(|row| Claim::compare("", &table, &row.name, &rival(row))).collect();
    findings.claims.push(Claim::together(format!("{task}: IBFA is ahead of English alone"), &before));
    findings.claims.push(Claim::together(format!("{task}: IBFA is ahead of CCA"), &after));
    section.add(table);
    findings.sections.push(section);
}

fn word_cells(words: &Outcome<Words>, sets: &[Outcome<ScoredPairs>], paper: Option<[f64; 8]>) -> Vec<Cell> {
    let cell = |(at, set): (usize, &Outcome<ScoredPairs>)| {
        let measure = || -> Outcome<f64> {
            let (words, set) = (words.clone()?, set.as_ref().map_err(Clone::clone)?);
            similarity([words, words], set).map(|result| 100.0 * result.spearman).map_err(|error| error.to_string())
        };
        Cell::measured(measure(), None, paper.map(|figures| figures[at]))
    };
    sets.iter().enumerate().map(cell).collect()
}

fn sentence_cells(words: &Outcome<Words>, sets: &Outcome<Vec<SentencePairs>>, paper: Option<[f64; 5]>) -> Vec<Cell> {
    let measure = || -> Outcome<_> {
        let (words, sets) = (words.clone()?, sets.as_ref().map_err(Clone::clone)?);
        let weighting = Weighting::Sif { a: SIF_A, probabilities: Probabilities::of_ranks(words) };
        let results: Result<Vec<_>, _> = sets.iter().map(|set| sts(words, set, &weighting)).collect();
        Ok(sts_years(&results.map_err(|error| error.to_string())?))
    };
    let years = measure();
    let cell = |(at, year): (usize, &&str)| {
        let found = years.as_ref().map_err(Clone::clone).and_then(|years| {
            let found = years.iter().find(|found| found.year == *year);
            found.map(|found| 100.0 * found.spearman).ok_or_else(|| format!("no set of {year} in sts/"))
        });
        Cell::measured(found, None, paper.map(|figures| figures[at]))
    };
    paper::STS_YEARS.iter().enumerate().map(cell).collect()
}

fn read_sts(lab: &Lab) -> Outcome<Vec<SentencePairs>> {
    let files = SentencePairs::files_in(&lab.data.sts()?).map_err(|error| error.to_string())?;
    files.iter().map(|file| SentencePairs::read(file).map_err(|error| error.to_string())).collect()
}

/// Coverage: the number of pairs of every set with vectors.
fn coverage(words: Words, sets: &[Outcome<ScoredPairs>]) -> String {
    let of_set = |((name, _), set): (&(&str, &str), &Outcome<ScoredPairs>)| {
        let result = similarity([words, words], set.as_ref().ok()?).ok()?;
        Some(format!("{name} {} of {}", result.known, result.pairs))
    };
    let found: Vec<String> = paper::SIMILARITY_SETS.iter().zip(sets).filter_map(of_set).collect();
    format!("Pairs with vectors: {}.", found.join(", "))
}
