//! Word translation: the task, and its complete result, which serialises to the JSON of the command.

use serde::Serialize;

use super::{
    Bootstrap, Comparison, ConfidenceEvaluation, Detail, Gold, Intervals, Oov, Overlap, Translation, Unseen, compare,
    translation, translation_in_detail,
};
use crate::error::Result;
use crate::lexicon::{Lexicon, LexiconReport};
use crate::observe::Observer;
use crate::prepare::Casing;
use crate::retrieve::{Criterion, Retriever};
use crate::space::Space;
use crate::vectors::Embeddings;

/// A word translation task: the gold dictionary and the evaluation protocol.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TranslationTask<'a> {
    /// The view of the source language.
    pub from: &'a str,
    /// The view of the target language.
    pub to: &'a str,
    /// The gold dictionary, source language first. The casing of the evaluated space is applied to it.
    pub gold: &'a Lexicon,
    /// The criterion that ranks candidates.
    pub criterion: Criterion,
    /// The policy for out-of-vocabulary words.
    pub oov: Oov,
    /// The bootstrap for confidence intervals.
    pub bootstrap: Bootstrap,
    /// Whether the candidates of every gold word are kept.
    pub details: bool,
}

impl<'a> TranslationTask<'a> {
    /// The protocol of MUSE with CSLS.
    pub fn new(from: &'a str, to: &'a str, gold: &'a Lexicon) -> Self {
        let (oov, bootstrap) = (Oov::default(), Bootstrap::default());
        TranslationTask { from, to, gold, criterion: Criterion::CSLS, oov, bootstrap, details: false }
    }
}

impl TranslationTask<'_> {
    fn translate(
        &self,
        [source, target]: [&Embeddings; 2],
        gold: &Lexicon,
        retriever: &Retriever,
        observer: &dyn Observer,
    ) -> Result<(Translation, Vec<Detail>)> {
        match self.details {
            true => translation_in_detail(source, target, gold, retriever, observer),
            false => Ok((translation(source, target, gold, retriever, observer)?, Vec::new())),
        }
    }
}

/// Word translation with confidence intervals, coverage, and overlap of the gold dictionary with the training data.
///
/// ```
/// use sememe::evaluate::{TranslationEvaluation, TranslationTask};
/// use sememe::{lexicon::Lexicon, prepare::Casing, vectors::{Embeddings, Matrix}};
///
/// let rows = || Matrix::new(vec![1.0, 0.0, 0.0, 1.0, 0.6, 0.8], 2);
/// let en = Embeddings::new(["dog", "cat", "bird"].into_iter().collect(), rows());
/// let fr = Embeddings::new(["chien", "chat", "oiseau"].into_iter().collect(), rows());
/// let mut gold = Lexicon::new(vec!["en".to_owned(), "fr".to_owned()]);
/// gold.add([(0, "dog"), (1, "chien")].into_iter().collect());
/// gold.add([(0, "cow"), (1, "vache")].into_iter().collect());
/// let task = TranslationTask::new("en", "fr", &gold);
/// let evaluation = TranslationEvaluation::of_vectors([&en, &fr], Casing::Kept, &task, &())?;
/// assert_eq!((evaluation.translation.precision[&1], evaluation.coverage), (100.0, 50.0));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TranslationEvaluation {
    /// Precision and mean reciprocal rank (MRR).
    #[serde(flatten)]
    pub translation: Translation,
    /// 95 % confidence intervals.
    pub intervals: Intervals,
    /// The view of the source language.
    pub from: String,
    /// The view of the target language.
    pub to: String,
    /// Whether words keep their case.
    pub casing: Casing,
    /// Per cent of gold words that have a vector and a gold translation with a vector.
    pub coverage: f64,
    /// Calibration of the confidences; `None` if the space has none for the criterion.
    pub confidence: Option<ConfidenceEvaluation>,
    /// Gold pairs that the model was trained on; `None` if the training pairs are unknown.
    pub overlap: Option<Overlap>,
    /// Results on gold words without a pair in the training data.
    pub unseen: Option<Unseen>,
    /// Comparison with another space on the same queries.
    pub comparison: Option<Comparison>,
    /// Report on reading the gold dictionary, if it came from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gold: Option<LexiconReport>,
    /// Whether the gold dictionary is one of the other direction, read backwards.
    pub gold_reversed: bool,
    /// The candidates of every gold word, if they are asked for.
    #[serde(skip)]
    pub details: Vec<Detail>,
}

impl TranslationEvaluation {
    /// Evaluates translation from one view of a space to another.
    pub fn in_space(space: &Space, task: &TranslationTask, observer: &dyn Observer) -> Result<Self> {
        let alignment = space.alignment();
        let gold = alignment.preparation.casing.of_lexicon(task.gold.clone());
        let (source, target) = (space.view(task.from)?, space.view(task.to)?);
        let retriever = space.retriever(task.from, task.to, task.criterion, observer)?;
        let found = task.translate([&source, &target], &gold, &retriever, observer)?;
        let trained = alignment.trained.as_ref();
        let overlap = trained.map(|trained| Overlap::of(trained, &gold, &source, &target));
        let [from, to] = [task.from, task.to].map(|view| alignment.model.view_index(view));
        let calibration = alignment.calibration(from?, to?, task.criterion);
        let confidence = calibration.and_then(|calibration| ConfidenceEvaluation::of(&found.0.outcomes, &calibration));
        Ok(TranslationEvaluation { confidence, ..Self::new(found, overlap, alignment.preparation.casing, task) })
    }

    /// Evaluates translation between vectors of two languages in a common space. Their words must already follow
    /// `casing`.
    pub fn of_vectors(
        [source, target]: [&Embeddings; 2],
        casing: Casing,
        task: &TranslationTask,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let gold = casing.of_lexicon(task.gold.clone());
        let (x, y) = (source.matrix().clone(), target.matrix().clone());
        let retriever = Retriever::new(x, y, task.criterion, observer)?;
        let found = task.translate([source, target], &gold, &retriever, observer)?;
        Ok(Self::new(found, None, casing, task))
    }

    fn new(
        (translation, details): (Translation, Vec<Detail>),
        overlap: Option<Overlap>,
        casing: Casing,
        task: &TranslationTask,
    ) -> Self {
        let translation = translation.under(task.oov);
        TranslationEvaluation {
            intervals: translation.intervals(&task.bootstrap),
            from: task.from.to_owned(),
            to: task.to.to_owned(),
            casing,
            coverage: 100.0 * translation.queries as f64 / translation.gold_words as f64,
            confidence: None,
            unseen: overlap.as_ref().and_then(|overlap| translation.unseen(overlap)),
            overlap,
            comparison: None,
            gold: None,
            gold_reversed: false,
            details,
            translation,
        }
    }

    /// Adds where the gold dictionary came from.
    pub fn with_gold(self, gold: &Gold) -> Self {
        TranslationEvaluation { gold: Some(gold.report.clone()), gold_reversed: gold.is_reversed, ..self }
    }

    /// Adds a comparison with the results of another space on the same task.
    pub fn compare_with(&mut self, other: &Self, bootstrap: &Bootstrap) -> Result<()> {
        self.comparison = Some(compare(&self.translation, &other.translation, bootstrap)?);
        Ok(())
    }
}
