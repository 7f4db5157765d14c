//! Files of semantic textual similarity (STS): sentence pairs with ratings.

use std::path::{Path, PathBuf};

use super::scored_pairs::{number_in, set_name, utf8_line};
use crate::error::{Error, Place, Result};
use crate::files::{Bytes, Input};
use crate::lexicon::{lines, text_of};

/// Two sentences and the human rating of their similarity.
#[derive(Debug, Clone, PartialEq)]
pub struct SentencePair {
    /// The sentences.
    pub sentences: [String; 2],
    /// The rating; larger is more similar.
    pub score: f64,
}

/// An STS dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct SentencePairs {
    /// The release that it is averaged with, such as `STS12`.
    pub year: String,
    /// Its name, such as `MSRpar`.
    pub name: String,
    /// The pairs in file order.
    pub pairs: Vec<SentencePair>,
    /// Number of pairs without a rating, which are left out. Later releases have them.
    pub without_score: usize,
}

/// File name prefixes of the original releases: sentences, and their ratings.
const INPUT: &str = "STS.input.";
const SCORES: &str = "STS.gs.";

impl SentencePairs {
    /// Reads a file in one of two formats:
    ///
    /// - lines of `score TAB sentence TAB sentence`, in a file such as `STS12.MSRpar.tsv`;
    /// - lines of `sentence TAB sentence`, as originally released, in a file such as `STS.input.MSRpar.txt`. The
    ///   ratings are in `STS.gs.MSRpar.txt` beside it. The name of the folder begins with the release, such as
    ///   `STS12-en-test`.
    pub fn read(path: &Path) -> Result<Self> {
        let name = set_name(path);
        match name.strip_prefix(INPUT) {
            Some(set) => {
                let file = path.file_name().unwrap_or_default().to_string_lossy().replacen(INPUT, SCORES, 1);
                let folder = std::path::absolute(path).ok().and_then(|path| Some(path.parent()?.to_owned()));
                let folder = folder.and_then(|folder| Some(folder.file_name()?.to_string_lossy().into_owned()));
                let year = folder.as_deref().and_then(|folder| folder.split(['-', '.', '_']).next()).unwrap_or("STS");
                read_release(&Input::open(path)?, &Input::open(&path.with_file_name(file))?, year, set)
            }
            None => Self::read_input(&Input::open(path)?),
        }
    }

    /// Reads lines of `score TAB sentence TAB sentence` from memory.
    pub fn read_input(input: &Input) -> Result<Self> {
        const FORM: &str = "SCORE TAB SENTENCE TAB SENTENCE";
        let mut pairs = Vec::new();
        for_each_line(input, |number, line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let problem = |what: String| Error::malformed(input.path(), Place::Line(number), what);
            let &[score, first, second, ..] = &fields[..] else {
                return Err(problem(format!("has {} of 3 columns; lines must be {FORM}", fields.len())));
            };
            let score = number_in(score)
                .ok_or_else(|| problem(format!("{score:?} is no score; lines must be {FORM}, without a header")))?;
            pairs.push(SentencePair { sentences: [first, second].map(|text| text.trim().to_owned()), score });
            Ok(())
        })?;
        let name = set_name(input.path());
        let (year, name) = name.split_once('.').unwrap_or(("STS", &name));
        Self::new(input, year, name, pairs, 0)
    }

    fn new(input: &Input, year: &str, name: &str, pairs: Vec<SentencePair>, without_score: usize) -> Result<Self> {
        if pairs.is_empty() {
            return Err(Error::malformed(input.path(), Place::Whole, "has no pairs of sentences with scores"));
        }
        Ok(SentencePairs { year: year.to_owned(), name: name.to_owned(), pairs, without_score })
    }

    /// The datasets in a folder and its subfolders, sorted by path.
    pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        for path in entries.map_err(|error| Error::read(folder, error))?.into_iter().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_set = (name.starts_with("STS") && name.contains(".tsv")) || name.starts_with(INPUT);
            // `.ALL` files combine the other datasets of a release.
            if path.is_dir() {
                found.extend(Self::files_in(&path)?);
            } else if is_set && !set_name(&path).ends_with(".ALL") {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }
}

fn read_release(input: &Input, scores: &Input, year: &str, name: &str) -> Result<SentencePairs> {
    let mut all_scores: Vec<Option<f64>> = Vec::new();
    for_each_line(scores, |number, line| {
        let score = number_in(line);
        if score.is_none() && !line.trim().is_empty() {
            return Err(Error::malformed(scores.path(), Place::Line(number), format!("{line:?} is no score")));
        }
        all_scores.push(score);
        Ok(())
    })?;
    let mut sentences = Vec::new();
    for_each_line(input, |number, line| {
        let mut fields = line.split('\t').map(|field| field.trim().to_owned());
        let (Some(first), Some(second)) = (fields.next(), fields.next()) else {
            let problem = "has no tab; lines must be SENTENCE TAB SENTENCE";
            return Err(Error::malformed(input.path(), Place::Line(number), problem));
        };
        sentences.push([first, second]);
        Ok(())
    })?;
    if sentences.len() != all_scores.len() {
        let problem = format!("has {} scores for {} pairs of sentences", all_scores.len(), sentences.len());
        return Err(Error::malformed(scores.path(), Place::Whole, problem));
    }
    let without_score = all_scores.iter().filter(|score| score.is_none()).count();
    let pairs = sentences.into_iter().zip(all_scores);
    let pairs = pairs.filter_map(|(sentences, score)| Some(SentencePair { sentences, score: score? })).collect();
    SentencePairs::new(input, year, name, pairs, without_score)
}

/// Calls `visit` with the number and the text of every line.
fn for_each_line(input: &Input, mut visit: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    let text: Bytes = text_of(input)?;
    let text: &[u8] = &text;
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    lines(text).try_for_each(|(number, line)| visit(number, utf8_line(input, number, line)?))
}
