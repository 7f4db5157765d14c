//! Word analogies: `a` is to `b` as `c` is to which word?

use std::path::Path;

use serde::Serialize;

use super::scored_pairs::utf8_line;
use super::{Words, is_zero};
use crate::error::{Error, Place, Result};
use crate::files::Input;
use crate::lexicon::{is_passed_over, lines, text_of};
use crate::observe::Observer;
use crate::prepare::norm;
use crate::retrieve::{Criterion, Retriever};
use crate::vectors::Matrix;

/// `a : b = c : d`.
pub type Question = [String; 4];

/// Questions in named sections.
#[derive(Debug, Clone, PartialEq)]
pub struct Analogies {
    /// The sections in file order, each with its questions.
    pub sections: Vec<(String, Vec<Question>)>,
}

impl Analogies {
    /// Reads the format of `questions-words.txt`: four words per line, and a line `: name` before each section.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_input(&Input::open(path)?)
    }

    /// [`Analogies::read`] on data in memory.
    pub fn read_input(input: &Input) -> Result<Self> {
        let text = text_of(input)?;
        let mut sections: Vec<(String, Vec<Question>)> = Vec::new();
        for (number, line) in lines(&text).filter(|(_, line)| !is_passed_over(line)) {
            let line = utf8_line(input, number, line)?;
            if let Some(name) = line.strip_prefix(':') {
                sections.push((name.trim().to_owned(), Vec::new()));
                continue;
            }
            let words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
            let question = words.try_into().map_err(|words: Vec<String>| {
                let problem = format!("has {} words; a question has four, and a section begins with `:`", words.len());
                Error::malformed(input.path(), Place::Line(number), problem)
            })?;
            if sections.is_empty() {
                sections.push(("all".to_owned(), Vec::new()));
            }
            sections.last_mut().expect("there is one").1.push(question);
        }
        match sections.iter().all(|(_, questions)| questions.is_empty()) {
            true => Err(Error::malformed(input.path(), Place::Whole, "has no questions of four words")),
            false => Ok(Analogies { sections }),
        }
    }
}

/// Accuracy on one section.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Section {
    /// Its name.
    pub section: String,
    /// Number of questions.
    pub questions: usize,
    /// Number of questions whose four words have vectors.
    pub known: usize,
    /// Number of known questions that were answered correctly.
    pub right: usize,
    /// Per cent of known questions answered correctly; `None` if no question is known.
    pub accuracy: Option<f64>,
    /// Per cent of questions that are known.
    pub coverage: f64,
}

impl Section {
    fn new(section: &str, questions: usize, known: usize, right: usize) -> Self {
        let percent = |part: usize, of: usize| 100.0 * part as f64 / of as f64;
        Section {
            section: section.to_owned(),
            questions,
            known,
            right,
            accuracy: (known > 0).then(|| percent(right, known)),
            coverage: if questions > 0 { percent(known, questions) } else { 0.0 },
        }
    }

    fn sum<'a>(name: &str, sections: impl Iterator<Item = &'a Section> + Clone) -> Self {
        let sum = |number: fn(&Section) -> usize| sections.clone().map(number).sum();
        Section::new(name, sum(|s| s.questions), sum(|s| s.known), sum(|s| s.right))
    }
}

/// Accuracy on word analogies.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Analogy {
    /// The results of each section.
    pub sections: Vec<Section>,
    /// Sections whose names do not begin with `gram`: those that are not about grammar.
    pub semantic: Section,
    /// Sections whose names begin with `gram`.
    pub syntactic: Section,
    /// All sections.
    pub total: Section,
    /// Number of words that are zero vectors, which are never an answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub zero_words: usize,
}

/// Answers every known question by 3CosAdd: the word `d`, other than `a`, `b` and `c`, with the largest
/// `cos(d, b - a + c)` of unit vectors.
pub fn analogy(words: Words, analogies: &Analogies, observer: &dyn Observer) -> Result<Analogy> {
    let find = |question: &Question| -> Option<[usize; 4]> {
        let found: Option<Vec<usize>> = question.iter().map(|word| words.find(word)).collect();
        found.and_then(|found| found.try_into().ok())
    };
    let known: Vec<Vec<[usize; 4]>> =
        analogies.sections.iter().map(|(_, questions)| questions.iter().filter_map(find).collect()).collect();
    let asked: Vec<[usize; 4]> = known.iter().flatten().copied().collect();
    if asked.is_empty() {
        let problem = "no question has vectors for all four words; check the view, the language and the casing";
        return Err(Error::NotEnoughData(problem.to_owned()));
    }
    let (is_right, zero_words) = answer(words, &asked, observer)?;
    let mut answers = is_right.into_iter();
    let sections: Vec<Section> = (analogies.sections.iter().zip(&known))
        .map(|((name, questions), known)| {
            let right = answers.by_ref().take(known.len()).filter(|&right| right).count();
            Section::new(name, questions.len(), known.len(), right)
        })
        .collect();
    let is_syntactic = |section: &&Section| section.section.starts_with("gram");
    Ok(Analogy {
        semantic: Section::sum("semantic", sections.iter().filter(|section| !is_syntactic(section))),
        syntactic: Section::sum("syntactic", sections.iter().filter(is_syntactic)),
        total: Section::sum("total", sections.iter()),
        zero_words,
        sections,
    })
}

/// Whether each question is answered correctly, and the number of zero vectors among the candidates.
fn answer(words: Words, asked: &[[usize; 4]], observer: &dyn Observer) -> Result<(Vec<bool>, usize)> {
    let embeddings = words.embeddings;
    let unit = |index: usize| {
        let vector = embeddings.vector(index);
        let length = norm(vector);
        vector.iter().map(move |&x| if length > 0.0 { f64::from(x) / length } else { 0.0 })
    };
    let query = |&[a, b, c, _]: &[usize; 4]| unit(a).zip(unit(b)).zip(unit(c)).map(|((a, b), c)| (b - a + c) as f32);
    let queries = Matrix::new(asked.iter().flat_map(query).collect(), embeddings.dim());
    let rows = embeddings.matrix();
    // Four candidates, because the three words of the question may be the nearest ones.
    let retriever = Retriever::new(rows.clone(), rows.clone(), Criterion::Nn, observer)?;
    let hits = retriever.rank(&queries, 4, observer)?;
    let is_right = |(hits, [given @ .., d]): (Vec<crate::retrieve::Hit>, &[usize; 4])| {
        hits.iter().map(|hit| hit.index).find(|index| !given.contains(index)) == Some(*d)
    };
    Ok((hits.into_iter().zip(asked).map(is_right).collect(), retriever.zero_targets()))
}
