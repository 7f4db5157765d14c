//! The retriever: a criterion prepared for a pair of views.

use std::sync::Arc;

use super::bounds::Bias;
use super::engine::{Found, Ranking, Search};
use super::form::Form;
use super::generative::Generative;
use super::ranked::Scores;
use super::rows::{Role, Rows, Scaled, squares};
use super::side::{Indexed, Side};
use super::terms::{log_sums, mean_cosines};
use super::{Criterion, Hit, PairCoordinates, csls};
use crate::error::{Error, Result};
use crate::observe::{Observer, Stage};
use crate::vectors::Matrix;

/// Finds the nearest targets by a criterion. It is prepared once and then answers any number of batches and single
/// queries, from any number of threads. Clones share the prepared data.
///
/// ```
/// use sememe::{retrieve::{Criterion, Retriever}, vectors::Matrix};
///
/// // The first target is the nearest to every word of the source, but less so to the query than others are to it.
/// let source = Matrix::new(vec![1.0, 0.0, 0.8, 0.6, 0.6, 0.8], 2);
/// let target = Matrix::new(vec![0.8, 0.6, 0.7, -0.7], 2);
/// let query = Matrix::new(vec![1.0, 0.0], 2);
/// let best = |criterion| Ok::<_, sememe::Error>(
///     Retriever::new(source.clone(), target.clone(), criterion, &())?.nearest(&query, 1, &())?[0][0].index);
/// assert_eq!((best(Criterion::Nn)?, best("csls:k=3".parse()?)?), (0, 1));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Clone)]
pub struct Retriever {
    pub(super) prepared: Arc<Prepared>,
}

pub(super) struct Prepared {
    pub(super) criterion: Criterion,
    pub(super) form: Form,
    /// The words of the source, where the criterion ranks queries among them.
    pub(super) source: Option<Arc<Side>>,
    pub(super) targets: Arc<Indexed>,
    terms: Vec<f64>,
    /// The part of a target's score that is no inner product.
    pub(super) bias: Bias,
}

/// Builds a [`Retriever`].
pub struct Builder {
    source: Arc<Side>,
    target: Arc<Side>,
    criterion: Criterion,
    generative: Option<Generative>,
    pair: Option<PairCoordinates>,
    /// The target in the coordinates of the pair, if they were computed before.
    compared: Option<Arc<Side>>,
    terms: Option<Vec<f64>>,
}

impl Builder {
    /// Compares the vectors in the coordinates of their pair of views, where the criterion uses cosines.
    pub fn pair(self, pair: Option<PairCoordinates>) -> Self {
        Builder { pair, ..self }
    }

    /// [`Builder::pair`] with the target in these coordinates already, which retrievers by several criteria share.
    pub(crate) fn compared(self, pair: PairCoordinates, target: Arc<Side>) -> Self {
        Builder { pair: Some(pair), compared: Some(target), ..self }
    }

    /// Sets the generative model of the vectors; `pmi` and `logp` need it.
    pub fn generative(self, generative: Generative) -> Self {
        Builder { generative: Some(generative), ..self }
    }

    /// Reuses the [terms](Retriever::terms) of an earlier retriever of the same pair and criterion instead of computing
    /// them.
    pub fn terms(self, terms: Vec<f64>) -> Self {
        Builder { terms: Some(terms), ..self }
    }

    /// Computes the terms of the targets. CSLS and inverted softmax compare every target with all words of the source.
    pub fn build(self, observer: &dyn Observer) -> Result<Retriever> {
        let Builder { mut source, mut target, criterion, generative, pair, compared, terms } = self;
        check_dimensions(source.matrix(), target.matrix())?;
        let form = Form::of(criterion, generative.as_ref(), pair)?;
        if let Form::Cosine { pair: Some(pair), .. } = &form {
            target = compared.unwrap_or_else(|| Side::new(pair.of_targets(target.matrix())));
            // Terms are the only thing that most criteria compare with the words of the source.
            if terms.is_none() || matches!(criterion, Criterion::Corrected { .. }) {
                source = Side::new(pair.of_queries(source.matrix()));
            }
        }
        let targets = match form {
            Form::Cosine { .. } => target.directions(Role::Targets)?,
            Form::Product { .. } | Form::Pmi(_) => target.plain(Role::Targets)?,
        };
        let terms = match terms {
            Some(terms) if terms.len() != target.matrix().rows() => {
                let expected = format!("there are {} targets", target.matrix().rows());
                return Err(Error::argument("number of terms", terms.len(), expected));
            }
            Some(terms) => terms,
            None => terms_of_targets(&form, criterion, &source, targets, observer)?,
        };
        let density = generative.and_then(|generative| generative.log_density);
        let bias = match density.filter(|_| criterion == Criterion::Logp) {
            Some(density) => terms.iter().zip(&density[..]).map(|(term, density)| term + density).collect(),
            None => terms.clone(),
        };
        let (targets, bias) = (targets.clone(), targets.biased(bias));
        let source = matches!(criterion, Criterion::Corrected { .. }).then_some(source);
        Ok(Retriever { prepared: Arc::new(Prepared { criterion, form, source, targets, terms, bias }) })
    }
}

impl Retriever {
    /// Ranks rows of `target` for queries that are rows of `source` or of the same distribution. Clones of matrices
    /// share their numbers.
    pub fn new(source: Matrix, target: Matrix, criterion: Criterion, observer: &dyn Observer) -> Result<Self> {
        Self::builder(source, target, criterion).build(observer)
    }

    /// Returns a builder: [`Retriever::new`] with more options.
    pub fn builder(source: Matrix, target: Matrix, criterion: Criterion) -> Builder {
        Self::between(&Side::new(source), &Side::new(target), criterion)
    }

    /// A retriever between sides that share their prepared data with other retrievers.
    pub(crate) fn between(source: &Arc<Side>, target: &Arc<Side>, criterion: Criterion) -> Builder {
        let (source, target) = (source.clone(), target.clone());
        Builder { source, target, criterion, generative: None, pair: None, compared: None, terms: None }
    }

    /// The terms of the targets, which are the same for all queries: `-r(t)` for CSLS, minus the log-denominator for
    /// inverted softmax, the quadratic form for PMI.
    pub fn terms(&self) -> &[f64] {
        &self.prepared.terms
    }

    /// The criterion that targets are ranked by.
    pub fn criterion(&self) -> Criterion {
        self.prepared.criterion
    }

    /// Number of zero targets, which are never found where the criterion uses cosines.
    pub fn zero_targets(&self) -> usize {
        self.prepared.targets.scaled().zeros()
    }

    /// Returns the `k` nearest targets of each query, nearest first, ties by lower row; fewer if there are fewer
    /// targets, and none for a zero query where the criterion uses cosines.
    pub fn nearest(&self, queries: &Matrix, k: usize, observer: &dyn Observer) -> Result<Vec<Vec<Hit>>> {
        self.find(queries, k, Scores::AsDefined, observer)
    }

    /// Like [`Retriever::nearest`], where only the order matters. Scores lack the terms that depend on the query only,
    /// such as `r(q)` of CSLS, which costs a second ranking.
    pub fn rank(&self, queries: &Matrix, k: usize, observer: &dyn Observer) -> Result<Vec<Vec<Hit>>> {
        self.find(queries, k, Scores::WithoutQueryTerm, observer)
    }

    /// The score of every target for every query, in the order of the targets: minus infinity for zero targets where the
    /// criterion uses cosines, and nothing at all for zero queries. Rounded, they are the scores of [`Retriever::nearest`].
    ///
    /// ```
    /// use sememe::{retrieve::{Criterion, Retriever}, vectors::Matrix};
    ///
    /// let rows = Matrix::new(vec![1.0, 0.0, 0.6, 0.8, 0.0, 1.0], 2);
    /// let retriever = Retriever::new(rows.clone(), rows.clone(), Criterion::Nn, &())?;
    /// let scores = &retriever.scores(&rows.select(&[0]), &())?[0];
    /// assert_eq!(scores.iter().map(|&score| score as f32).collect::<Vec<_>>(), [1.0, 0.6, 0.0]);
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn scores(&self, queries: &Matrix, observer: &dyn Observer) -> Result<Vec<Vec<f64>>> {
        let Prepared { criterion, form, targets, bias, .. } = &*self.prepared;
        check_dimensions(queries, targets.scaled().matrix())?;
        if matches!(criterion, Criterion::Corrected { .. }) {
            let problem = "it ranks queries, and has no score of all targets; use another criterion";
            return Err(Error::argument("criterion", criterion, problem));
        }
        let scaled = form.scaled(queries)?;
        let search = |rankings: &[Ranking], all: bool| {
            let search =
                Search { queries: scaled.rows(), targets, rankings, known: &[], observer, stage: Stage::Searching };
            if all { search.all() } else { Ok(vec![means(only(search.run()?))]) }
        };
        let scores = search(&[Ranking { scale: 1.0, bias, k: 1, among: usize::MAX }], true)?;
        let own = match (form, *criterion) {
            (Form::Cosine { length, .. }, Criterion::Csls { k, words }) => {
                let near = search(&[neighbours(*length, targets, k, words)], false)?;
                negated(near.into_iter().flatten())
            }
            (Form::Pmi(pmi), _) => pmi.of_queries(queries),
            (_, Criterion::L2) => negated(squares(queries, Role::Queries)?.into_iter()),
            _ => vec![0.0; scores.len()],
        };
        let complete = |(query, (scores, own)): (usize, (Vec<f64>, f64))| match scaled.is_zero(query) {
            true => Vec::new(),
            false => scores.into_iter().map(|score| score + own).collect(),
        };
        Ok(scores.into_iter().zip(own).enumerate().map(complete).collect())
    }

    /// The part of every target's score that is no inner product.
    pub(super) fn bias(&self) -> &[f64] {
        self.prepared.bias.exact()
    }

    /// Targets as they enter the inner product. Zero rows are an error where the criterion uses cosines.
    pub(super) fn targets_with_directions(&self) -> Result<Rows<'_>> {
        let scaled = self.prepared.targets.scaled();
        scaled.check_directions(Role::Targets)?;
        Ok(scaled.rows())
    }

    /// How vectors enter the inner product.
    pub(super) fn form(&self) -> &Form {
        &self.prepared.form
    }
}

pub(super) fn only(found: Vec<Found>) -> Found {
    found.into_iter().next().expect("what one ranking found")
}

/// The ranking that gives `r(q)` of CSLS: by the same products, with queries of length 1 and without a bias.
pub(super) fn neighbours(length: f64, targets: &Indexed, k: usize, words: Option<usize>) -> Ranking<'_> {
    Ranking { scale: 1.0 / length, bias: targets.unbiased(), k, among: words.unwrap_or(usize::MAX) }
}

/// The mean score of what was found for each query.
fn means(found: Found) -> Vec<f64> {
    found.iter().map(|near| csls::mean(near.iter().map(|near| near.score))).collect()
}

fn terms_of_targets(
    form: &Form,
    criterion: Criterion,
    source: &Side,
    targets: &Indexed,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let sources = |matrix: Matrix, beta: f64| Scaled::directions(matrix, beta, Role::Sources);
    Ok(match (form, criterion) {
        (Form::Pmi(pmi), _) => pmi.of_targets(targets.scaled().matrix()),
        (_, Criterion::L2) => negated(squares(targets.scaled().matrix(), Role::Targets)?.into_iter()),
        (_, Criterion::Csls { k, words }) => {
            let among = (&**source.directions(Role::Sources)?, words);
            negated(mean_cosines(targets.scaled(), among, k, observer)?.into_iter())
        }
        (_, Criterion::Isf { beta, sample }) => {
            let sources = match sample {
                None => sources(source.matrix().clone(), beta)?,
                Some(sample) => sources(evenly_spaced(source.matrix(), sample), beta)?,
            };
            negated(log_sums(targets.rows(), &sources, observer)?.into_iter())
        }
        _ => vec![0.0; targets.rows().len()],
    })
}

pub(super) fn negated(terms: impl Iterator<Item = f64>) -> Vec<f64> {
    terms.map(|term| -term).collect()
}

pub(super) fn check_dimensions(queries: &Matrix, targets: &Matrix) -> Result<()> {
    if queries.cols() == targets.cols() {
        return Ok(());
    }
    let expected = format!("the targets have vectors of length {}", targets.cols());
    Err(Error::argument("length of the queries", queries.cols(), expected))
}

/// `count` rows, evenly spaced.
fn evenly_spaced(matrix: &Matrix, count: usize) -> Matrix {
    let count = count.min(matrix.rows());
    matrix.select(&(0..count).map(|at| at * matrix.rows() / count).collect::<Vec<_>>())
}
