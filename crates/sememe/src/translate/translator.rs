//! Translation of single words: the best translations of words of one view in others.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::closest_spellings;
use crate::align::Alignment;
use crate::error::Result;
use crate::lexicon::find_word;
use crate::names::setters;
use crate::observe::Observer;
use crate::retrieve::{Calibration, Criterion, Hit, Retriever};
use crate::space::Space;
use crate::vectors::{Embeddings, Matrix};

/// Number of spelling suggestions for an unknown word.
const SUGGESTIONS: usize = 3;
/// Unknown words that get suggestions, each of which takes a look at all words of the view. Nobody reads those of more.
const SUGGESTED: usize = 100;

/// Options of translation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TranslateOptions {
    /// The criterion that ranks candidates.
    pub criterion: Criterion,
    /// Number of candidates per word and target view, at least one.
    pub candidates: usize,
    /// A translation counts as unknown if the confidence of its first candidate is lower than this.
    pub min_confidence: f64,
}

impl Default for TranslateOptions {
    fn default() -> Self {
        TranslateOptions { criterion: Criterion::AUTO, candidates: 5, min_confidence: 0.05 }
    }
}

setters!(TranslateOptions {
    /// Sets [`TranslateOptions::criterion`].
    with_criterion: criterion = Criterion,
    /// Sets [`TranslateOptions::candidates`].
    with_candidates: candidates = usize,
    /// Sets [`TranslateOptions::min_confidence`].
    with_min_confidence: min_confidence = f64,
});

/// Translates words of one view of a space to others, any number of times. Clones share words, vectors and prepared
/// data.
#[derive(Clone)]
pub struct Translator {
    alignment: Arc<Alignment>,
    from: String,
    /// Index of the view in the model.
    view: usize,
    source: Embeddings,
    /// Original vectors for words that are not in the space.
    further: Option<Embeddings>,
    targets: Vec<Target>,
    options: TranslateOptions,
}

/// One view to translate to.
#[derive(Clone)]
struct Target {
    name: String,
    words: Embeddings,
    retriever: Retriever,
    calibration: Option<Calibration>,
}

/// Words that were looked up, and what is asked about them. [`Translator::answer`] answers many at once.
#[derive(Debug, Clone)]
pub struct Question {
    /// Words with a vector, as they were given, and their rows.
    known: Vec<(String, usize)>,
    /// Their latent vectors, one after the other.
    vectors: Vec<f32>,
    unknown: Vec<String>,
    suggestions: BTreeMap<String, Vec<String>>,
    candidates: usize,
    min_confidence: f64,
}

/// Translations of some words. It serialises to the JSON of `sememe translate --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Translations {
    /// The view of the words.
    pub from: String,
    /// The views that the words were translated to.
    pub to: Vec<String>,
    /// The criterion that ranked the candidates.
    pub criterion: Criterion,
    /// A translation counts as unknown if the confidence of its first candidate is lower than this.
    pub min_confidence: f64,
    /// For every word with a vector, in order, one translation per target view.
    pub translations: Vec<WordTranslation>,
    /// Out-of-vocabulary words.
    pub unknown: Vec<String>,
    /// Spelling suggestions for out-of-vocabulary words, of very many for the first ones.
    pub suggestions: BTreeMap<String, Vec<String>>,
}

/// The candidates for one word in one view.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WordTranslation {
    /// The word as it was given.
    pub word: String,
    /// The view of the candidates.
    pub to: String,
    /// Whether the confidence of the first candidate is high enough.
    pub known: bool,
    /// Candidates, best first; empty for a zero vector where the criterion uses cosines.
    pub candidates: Vec<Candidate>,
}

/// A candidate translation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The word.
    pub word: String,
    /// Its score by the criterion.
    pub score: f32,
    /// The calibrated probability that it is right, if the space is calibrated.
    pub confidence: Option<f64>,
}

impl Translator {
    /// Prepares to translate words of the view `from` to other views.
    pub fn open(
        space: &Space,
        from: &str,
        to: &[impl AsRef<str>],
        options: &TranslateOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let alignment = space.shared_alignment();
        let view = alignment.model.view_index(from)?;
        let mut targets = Vec::new();
        for name in to.iter().map(AsRef::as_ref) {
            let retriever = space.retriever(from, name, options.criterion, observer)?;
            let words = space.view(name)?;
            let calibration = alignment.calibration(view, alignment.model.view_index(name)?, options.criterion);
            targets.push(Target { name: name.to_owned(), words, retriever, calibration });
        }
        let source = space.view(from)?;
        Ok(Translator {
            alignment,
            from: from.to_owned(),
            view,
            source,
            further: None,
            targets,
            options: options.clone(),
        })
    }

    /// Sets a fallback for words that are not in the space: their original vectors, which are preprocessed and
    /// projected. A fastText model composes vectors of out-of-vocabulary words from n-grams.
    pub fn with_vectors(self, further: Embeddings) -> Result<Self> {
        self.alignment.model.views[self.view].check_dimension(further.dim())?;
        Ok(Translator { further: Some(further), ..self })
    }

    /// Whether translations to every view come with confidences. A space that was aligned without held-out words for
    /// calibration has none, and criteria with unusual parameters have none.
    pub fn has_confidences(&self) -> bool {
        self.targets.iter().all(|target| target.calibration.is_some())
    }

    /// Number of zero targets of each view, which are never found where the criterion uses cosines.
    pub fn zero_targets(&self) -> impl Iterator<Item = (&str, usize)> {
        self.targets.iter().map(|target| (target.name.as_str(), target.retriever.zero_targets()))
    }

    /// The best translations of words as people write them: the casing of the space is applied, and expressions may be
    /// written with spaces or underscores. The first hundred unknown words get spelling suggestions.
    pub fn translate(&self, words: &[impl AsRef<str>], observer: &dyn Observer) -> Result<Translations> {
        let mut answers = self.answer(&[self.question(words, SUGGESTED)?], observer)?;
        Ok(answers.pop().expect("an answer to each question"))
    }

    /// Looks words up, and asks for their translations by the options of this translator. The first `most_suggested`
    /// unknown words get spelling suggestions, each of which takes a look at all words.
    pub fn question(&self, words: &[impl AsRef<str>], most_suggested: usize) -> Result<Question> {
        let TranslateOptions { candidates, min_confidence, .. } = self.options;
        let mut question = Question {
            known: Vec::new(),
            vectors: Vec::new(),
            unknown: Vec::new(),
            suggestions: BTreeMap::new(),
            candidates,
            min_confidence,
        };
        for word in words.iter().map(AsRef::as_ref) {
            let spelled = self.alignment.preparation.casing.of_word(word);
            match self.vector(&spelled)? {
                Some((row, vector)) => {
                    question.vectors.extend(vector);
                    question.known.push((word.to_owned(), row));
                }
                None => {
                    if question.suggestions.len() < most_suggested {
                        let close = closest_spellings(self.source.vocabulary(), &spelled, SUGGESTIONS);
                        let close = close.into_iter().map(str::to_owned).collect();
                        question.suggestions.insert(word.to_owned(), close);
                    }
                    question.unknown.push(word.to_owned());
                }
            }
        }
        Ok(question)
    }

    /// Answers several questions to this translator, or to one with other numbers of candidates and confidences, in one
    /// search. Each answer is the one that the question has by itself.
    pub fn answer(&self, questions: &[Question], observer: &dyn Observer) -> Result<Vec<Translations>> {
        // Corrected retrieval ranks queries against each other, which is not to depend on who else asks.
        let is_corrected = matches!(self.options.criterion, Criterion::Corrected { .. });
        let together = if is_corrected { 1 } else { questions.len().max(1) };
        let answers = questions.chunks(together).map(|questions| self.answer_together(questions, observer));
        Ok(answers.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn answer_together(&self, questions: &[Question], observer: &dyn Observer) -> Result<Vec<Translations>> {
        let queries = questions.iter().flat_map(|question| &question.vectors).copied().collect();
        let queries = Matrix::new(queries, self.source.dim());
        let most = questions.iter().map(|question| question.candidates).max().unwrap_or(0);
        let found = self.targets.iter().map(|target| {
            let hits = target.retriever.nearest(&queries, most.max(Calibration::CANDIDATES), observer)?;
            Ok(hits.into_iter())
        });
        let mut found = found.collect::<Result<Vec<_>>>()?;
        let answer = |question: &Question| {
            let mut translations = Vec::with_capacity(question.known.len() * self.targets.len());
            for (word, row) in &question.known {
                for (target, found) in self.targets.iter().zip(&mut found) {
                    let mut hits = found.next().unwrap_or_default();
                    hits.truncate(question.candidates.max(Calibration::CANDIDATES));
                    let candidates = target.candidates(*row, hits, question.candidates);
                    let (word, to) = (word.clone(), target.name.clone());
                    translations.push(WordTranslation { word, to, known: question.is_known(&candidates), candidates });
                }
            }
            Translations {
                from: self.from.clone(),
                to: self.targets.iter().map(|target| target.name.clone()).collect(),
                criterion: self.options.criterion,
                min_confidence: question.min_confidence,
                translations,
                unknown: question.unknown.clone(),
                suggestions: question.suggestions.clone(),
            }
        };
        Ok(questions.iter().map(answer).collect())
    }

    /// The row and the latent vector of a word, from the space or from the fallback vectors. The words of the space are
    /// the most frequent ones, so the row of another word is after all of them.
    fn vector(&self, spelled: &str) -> Result<Option<(usize, Vec<f32>)>> {
        if let Some(row) = find_word(self.source.vocabulary(), spelled) {
            return Ok(Some((row, self.source.vector(row).to_vec())));
        }
        let Some(further) = &self.further else { return Ok(None) };
        let (found, _) = further.select([spelled]);
        if found.is_empty() {
            return Ok(None);
        }
        let prepared = self.alignment.prepare(self.view, found.into_matrix())?;
        let mut latent = self.alignment.model.views[self.view].project(&prepared)?;
        self.alignment.model.spell(self.view, &mut latent, |_| spelled);
        Ok(Some((self.source.len(), latent.into_vec())))
    }
}

impl Question {
    /// Asks for so many candidates, and for this confidence; see [`TranslateOptions`].
    pub fn asking_for(self, candidates: usize, min_confidence: f64) -> Self {
        Question { candidates, min_confidence, ..self }
    }

    /// Number of out-of-vocabulary words.
    pub fn unknown(&self) -> usize {
        self.unknown.len()
    }

    /// Number of words with a vector, which take part in the search.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none of the words has a vector.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether the confidence of the first candidate is high enough.
    fn is_known(&self, candidates: &[Candidate]) -> bool {
        let is_sure = |confidence| confidence >= self.min_confidence;
        candidates.first().is_some_and(|first| first.confidence.is_none_or(is_sure))
    }
}

impl Target {
    /// The first candidates for the word of a row, with their confidences.
    fn candidates(&self, row: usize, hits: Vec<Hit>, count: usize) -> Vec<Candidate> {
        let scores: Vec<f32> = hits.iter().map(|hit| hit.score).collect();
        let confidences = self.calibration.map(|calibration| calibration.confidences(&scores, Some(row)));
        let candidate = |(rank, hit): (usize, Hit)| Candidate {
            word: self.words.word(hit.index).to_owned(),
            score: hit.score,
            confidence: confidences.as_ref().map(|confidences| confidences[rank]),
        };
        hits.into_iter().take(count).enumerate().map(candidate).collect()
    }
}

impl Translations {
    /// A message about an out-of-vocabulary word, with spelling suggestions.
    pub fn about_unknown(&self, word: &str) -> String {
        let spelled = self.suggestions.get(word).map_or(&[][..], Vec::as_slice);
        let spelled: Vec<String> = spelled.iter().map(|word| format!("{word:?}")).collect();
        let suggestion = match spelled.split_last() {
            None => String::new(),
            Some((only, [])) => format!("; did you mean {only}?"),
            Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
        };
        format!("{word:?} is not in the vocabulary of {}{suggestion}", self.from)
    }
}
