//! The candidates of every gold word, for those who look at mistakes.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use super::{Answer, TranslationEvaluation};
use crate::error::{Error, Result};
use crate::files;
#[cfg(feature = "parquet")]
use crate::tables::TableFormat;

/// Number of candidates that are listed.
pub(super) const CANDIDATES: usize = 10;
/// What separates words in a cell of text.
const SEPARATOR: &str = " | ";

/// A gold word and how it was translated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Detail {
    /// The source word, as the gold dictionary spells it under the casing policy.
    pub word: String,
    /// Its gold translations.
    pub gold: Vec<String>,
    /// Whether it was translated: it has a vector and a gold translation with a vector.
    pub known: bool,
    /// Rank of the first gold translation, counted from 1; `None` if it is not among the first [`DEPTH`](super::DEPTH) candidates.
    pub rank: Option<usize>,
    /// See [`Outcome::average_precision`](super::Outcome::average_precision).
    pub average_precision: f64,
    /// The best candidates, at most ten.
    pub candidates: Vec<String>,
    /// Their scores.
    pub scores: Vec<f32>,
}

impl Detail {
    pub(super) fn new(word: &str, gold: &[&str]) -> Self {
        let gold = gold.iter().map(|&word| word.to_owned()).collect();
        let (candidates, scores) = (Vec::new(), Vec::new());
        Detail { word: word.to_owned(), gold, known: false, rank: None, average_precision: 0.0, candidates, scores }
    }

    pub(super) fn set(&mut self, answer: Answer, average_precision: f64) {
        self.known = answer != Answer::Unknown;
        self.average_precision = average_precision;
        if let Answer::Found(rank) = answer {
            self.rank = Some(rank);
        }
    }
}

/// The file formats of details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DetailsFormat {
    /// Tab-separated values with a header; several words of a cell are separated by ` | `.
    Tsv,
    /// A JSON object on each line.
    JsonLines,
    /// Parquet or Arrow.
    #[cfg(feature = "parquet")]
    Table(TableFormat),
}

impl DetailsFormat {
    /// The format by the extension of a file name.
    pub fn of_name(path: &Path) -> Result<Self> {
        #[cfg(feature = "parquet")]
        if let Some(format) = TableFormat::of_name(path) {
            return Ok(DetailsFormat::Table(format));
        }
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("tsv") => Ok(DetailsFormat::Tsv),
            Some("jsonl" | "ndjson") => Ok(DetailsFormat::JsonLines),
            _ => {
                let expected = "its name must end in .tsv, .jsonl, .parquet or .arrow";
                Err(Error::argument("file of details", path.display(), expected))
            }
        }
    }

    /// Writes a row for each gold word of each evaluation.
    pub fn write(self, evaluations: &[TranslationEvaluation], path: &Path) -> Result<()> {
        match self {
            DetailsFormat::Tsv => files::write(path, tsv(evaluations).as_bytes()),
            DetailsFormat::JsonLines => files::write(path, json_lines(evaluations).as_bytes()),
            #[cfg(feature = "parquet")]
            DetailsFormat::Table(format) => table::write(evaluations, path, format),
        }
    }
}

/// The rows of all evaluations, and where each comes from.
fn rows(evaluations: &[TranslationEvaluation]) -> impl Iterator<Item = (&TranslationEvaluation, &Detail)> + Clone {
    evaluations.iter().flat_map(|evaluation| evaluation.details.iter().map(move |detail| (evaluation, detail)))
}

fn tsv(evaluations: &[TranslationEvaluation]) -> String {
    let mut text = "from\tto\tcriterion\tword\tgold\tknown\trank\taverage_precision\tcandidates\tscores\n".to_owned();
    // A word of a table may have characters that would end a cell.
    let plain = |words: &[String]| words.join(SEPARATOR).replace(['\t', '\n', '\r'], " ");
    for (TranslationEvaluation { from, to, translation, .. }, detail) in rows(evaluations) {
        let Detail { word, gold, known, rank, average_precision, candidates, scores } = detail;
        let word = plain(std::slice::from_ref(word));
        let rank = rank.map_or(String::new(), |rank| rank.to_string());
        let scores: Vec<String> = scores.iter().map(f32::to_string).collect();
        let _never_fails = writeln!(
            text,
            "{from}\t{to}\t{}\t{word}\t{}\t{known}\t{rank}\t{average_precision}\t{}\t{}",
            translation.criterion,
            plain(gold),
            plain(candidates),
            scores.join(SEPARATOR)
        );
    }
    text
}

#[derive(Serialize)]
struct Line<'a> {
    from: &'a str,
    to: &'a str,
    criterion: String,
    #[serde(flatten)]
    detail: &'a Detail,
}

fn json_lines(evaluations: &[TranslationEvaluation]) -> String {
    let line = |(evaluation, detail): (&TranslationEvaluation, &Detail)| {
        let TranslationEvaluation { from, to, translation, .. } = evaluation;
        let line = Line { from, to, criterion: translation.criterion.to_string(), detail };
        serde_json::to_string(&line).expect("details are plain data") + "\n"
    };
    rows(evaluations).map(line).collect()
}

#[cfg(feature = "parquet")]
mod table {
    use std::path::Path;
    use std::sync::Arc;

    use arrow_array::builder::{Float32Builder, ListBuilder, StringBuilder};
    use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, StringArray};
    use arrow_schema::Field;

    use super::{Detail, TranslationEvaluation, rows};
    use crate::error::Result;
    use crate::tables::{TableFormat, table};

    pub(super) fn write(evaluations: &[TranslationEvaluation], path: &Path, format: TableFormat) -> Result<()> {
        let rows = || rows(evaluations);
        let texts = |text: fn(&TranslationEvaluation, &Detail) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows().map(|(evaluation, detail)| text(evaluation, detail))))
        };
        let words = |words: fn(&Detail) -> &[String]| -> ArrayRef {
            let mut lists = ListBuilder::new(StringBuilder::new());
            rows().for_each(|(_, detail)| lists.append_value(words(detail).iter().map(Some)));
            Arc::new(lists.finish())
        };
        let mut scores = ListBuilder::new(Float32Builder::new());
        rows().for_each(|(_, detail)| scores.append_value(detail.scores.iter().copied().map(Some)));
        let known: BooleanArray = rows().map(|(_, detail)| Some(detail.known)).collect();
        let ranks: Int32Array = rows().map(|(_, detail)| detail.rank.map(|rank| rank as i32)).collect();
        let precisions: Float64Array = rows().map(|(_, detail)| Some(detail.average_precision)).collect();
        let columns: [(&str, ArrayRef); 10] = [
            ("from", texts(|evaluation, _| evaluation.from.clone())),
            ("to", texts(|evaluation, _| evaluation.to.clone())),
            ("criterion", texts(|evaluation, _| evaluation.translation.criterion.to_string())),
            ("word", texts(|_, detail| detail.word.clone())),
            ("gold", words(|detail| &detail.gold)),
            ("known", Arc::new(known)),
            ("rank", Arc::new(ranks)),
            ("average_precision", Arc::new(precisions)),
            ("candidates", words(|detail| &detail.candidates)),
            ("scores", Arc::new(scores.finish())),
        ];
        let field =
            |(name, column): (&str, ArrayRef)| (Field::new(name, column.data_type().clone(), name == "rank"), column);
        table(path, format, columns.into_iter().map(field).collect(), &[])
    }
}
