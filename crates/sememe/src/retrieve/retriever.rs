//! A criterion made ready for a pair of views: what belongs to the targets is computed once.

use std::borrow::Cow;
use std::collections::HashSet;

use super::best::Scored;
use super::engine::Search;
use super::generative::Pmi;
use super::rows::{Rows, Vectors};
use super::terms::{log_sums, mean_cosines};
use super::{Criterion, Hit, corrected};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::observe::Observer;
use crate::vectors::Matrix;

/// Where words are looked for: the vectors of two views in one space, and what is known of how they came about.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    /// All words of the view that queries are of.
    pub source: &'a Matrix,
    /// The words that are looked for.
    pub target: &'a Matrix,
    /// The model that made these vectors; `pmi` and `logp` need it.
    pub generative: Option<Generative<'a>>,
    /// Told how far long work is.
    pub observer: &'a dyn Observer,
}

/// The model that latent vectors come from.
#[derive(Clone, Copy)]
pub struct Generative<'a> {
    /// The model.
    pub model: &'a Model,
    /// Place of the view of the source.
    pub from: usize,
    /// Place of the view of the targets.
    pub to: usize,
    /// `log p(y)` of every target; `logp` needs it.
    pub log_density: Option<&'a [f64]>,
}

impl<'a> Pair<'a> {
    /// Vectors of which nothing else is known.
    pub fn new(source: &'a Matrix, target: &'a Matrix) -> Self {
        Pair { source, target, generative: None, observer: &() }
    }
}

/// Finds the nearest targets by a criterion.
///
/// ```
/// use sememe::{retrieve::{Criterion, Pair, Retriever}, vectors::Matrix};
///
/// // The first target is the nearest to every word of the source, but less so to the query than others are to it.
/// let source = Matrix::new(vec![1.0, 0.0, 0.8, 0.6, 0.6, 0.8], 2);
/// let target = Matrix::new(vec![0.8, 0.6, 0.7, -0.7], 2);
/// let query = Matrix::new(vec![1.0, 0.0], 2);
/// let best = |criterion| Ok::<_, sememe::Error>(
///     Retriever::new(Pair::new(&source, &target), criterion)?.nearest(&query, 1)?[0][0].index);
/// assert_eq!((best(Criterion::Nn)?, best("csls:k=3".parse()?)?), (0, 1));
/// # Ok::<(), sememe::Error>(())
/// ```
pub struct Retriever<'a> {
    pair: Pair<'a>,
    criterion: Criterion,
    form: Form,
    targets: Rows<'a>,
    terms: Vec<f64>,
}

/// What is multiplied.
#[derive(Clone)]
pub(super) enum Form {
    /// Directions, that of the query with this length.
    Cosine { length: f64 },
    /// Vectors as they are, but for a factor of the query.
    Product { factor: f64 },
    /// Vectors as a generative model relates them.
    Pmi(Pmi),
}

impl Form {
    fn of(pair: &Pair, criterion: Criterion) -> Result<Self> {
        Ok(match criterion {
            Criterion::Nn | Criterion::Corrected { .. } => Form::Cosine { length: 1.0 },
            Criterion::Csls { .. } => Form::Cosine { length: 2.0 },
            Criterion::Isf { beta, .. } => Form::Cosine { length: beta },
            Criterion::Dot => Form::Product { factor: 1.0 },
            Criterion::L2 => Form::Product { factor: 2.0 },
            Criterion::Pmi | Criterion::Logp => {
                let needed = "it takes the model that made the vectors: use it on a space";
                let generative = pair.generative.ok_or_else(|| Error::argument("criterion", criterion, needed))?;
                if criterion == Criterion::Logp && generative.log_density.is_none() {
                    let missing = "this space was written without log densities; align again";
                    return Err(Error::argument("criterion", criterion, missing));
                }
                Form::Pmi(Pmi::of(generative.model, generative.from, generative.to)?)
            }
        })
    }

    /// Queries as they are multiplied.
    pub(super) fn of_queries(&self, queries: &Matrix) -> Result<Matrix> {
        let scaled =
            |rows: Rows| Matrix::new((0..rows.len()).flat_map(|query| rows.scaled(query)).collect(), queries.cols());
        let vectors = Vectors::queries(queries);
        Ok(match self {
            Form::Cosine { length } => scaled(vectors.of_length(*length)?),
            Form::Product { factor } => scaled(vectors.times(*factor)?),
            Form::Pmi(pmi) => pmi.queries(queries),
        })
    }
}

impl<'a> Retriever<'a> {
    /// Computes what the criterion needs of the targets: for CSLS and inverted softmax that is a look at all words of
    /// the source, for every target.
    pub fn new(pair: Pair<'a>, criterion: Criterion) -> Result<Self> {
        let mut retriever = Self::without_terms(pair, criterion)?;
        retriever.terms = retriever.compute_terms()?;
        Ok(retriever)
    }

    /// [`Retriever::new`] with the [terms](Retriever::terms) of an earlier one for the same pair and criterion.
    pub fn with_terms(pair: Pair<'a>, criterion: Criterion, terms: Vec<f64>) -> Result<Self> {
        if terms.len() != pair.target.rows() {
            let expected = format!("there are {} targets", pair.target.rows());
            return Err(Error::argument("number of terms", terms.len(), expected));
        }
        Ok(Retriever { terms, ..Self::without_terms(pair, criterion)? })
    }

    fn without_terms(pair: Pair<'a>, criterion: Criterion) -> Result<Self> {
        check_dimensions(pair.source, pair.target)?;
        let form = Form::of(&pair, criterion)?;
        let targets = Vectors::targets(pair.target);
        let targets = match form {
            Form::Cosine { .. } => targets.of_length(1.0)?,
            Form::Product { .. } | Form::Pmi(_) => targets.times(1.0)?,
        };
        Ok(Retriever { pair, criterion, form, targets, terms: Vec::new() })
    }

    /// What a target's score has in common for all queries: `-r(t)` of CSLS, minus the logarithm of the denominator of
    /// inverted softmax, the quadratic form of PMI.
    pub fn terms(&self) -> &[f64] {
        &self.terms
    }

    /// What targets are ranked by.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// For each query the `k` nearest targets, nearest first, equal scores by the lower row; fewer if there are not `k`.
    pub fn nearest(&self, queries: &Matrix, k: usize) -> Result<Vec<Vec<Hit>>> {
        check_dimensions(queries, self.pair.target)?;
        if k == 0 {
            return Err(Error::argument("k", k, "at least one neighbour must be asked for"));
        }
        let vectors = Vectors::queries(queries);
        let found = match (&self.form, self.criterion) {
            (_, Criterion::Corrected { pool }) => {
                let pool = without(self.pair.source, pool, queries);
                let pool = Vectors::sources(&pool).of_length(1.0)?;
                corrected::nearest(&vectors.of_length(1.0)?, &pool, &self.targets, k)
            }
            (Form::Cosine { length }, _) => self.search(&vectors.of_length(*length)?, k)?,
            (Form::Product { factor }, _) => self.search(&vectors.times(*factor)?, k)?,
            (Form::Pmi(pmi), _) => self.search(&Vectors::queries(&pmi.queries(queries)).times(1.0)?, k)?,
        };
        let hits = |(found, own): (Vec<Scored>, f64)| {
            found.into_iter().map(|Scored { index, score }| Hit { index, score: (score + own) as f32 }).collect()
        };
        Ok(found.into_iter().zip(self.terms_of_queries(queries)?).map(hits).collect())
    }

    fn search(&self, queries: &Rows, k: usize) -> Result<Vec<Vec<Scored>>> {
        let Retriever { targets, pair: Pair { observer, .. }, .. } = self;
        Search { queries, targets, bias: &self.bias(), observer: *observer }.nearest(k)
    }

    /// All of a target's score that is no product.
    pub(super) fn bias(&self) -> Cow<'_, [f64]> {
        let log_density = match self.criterion {
            Criterion::Logp => self.pair.generative.and_then(|generative| generative.log_density),
            _ => None,
        };
        match log_density {
            Some(density) => self.terms.iter().zip(density).map(|(term, density)| term + density).collect(),
            None => Cow::Borrowed(&self.terms),
        }
    }

    /// Targets as they are multiplied.
    pub(super) fn targets(&self) -> &Rows<'a> {
        &self.targets
    }

    /// What is multiplied.
    pub(super) fn form(&self) -> &Form {
        &self.form
    }

    fn compute_terms(&self) -> Result<Vec<f64>> {
        let (sources, targets) = (Vectors::sources(self.pair.source), Vectors::targets(self.pair.target));
        let observer = self.pair.observer;
        Ok(match (&self.form, self.criterion) {
            (Form::Pmi(pmi), _) => pmi.of_targets(self.pair.target),
            (_, Criterion::L2) => negated(targets.squares()?),
            (_, Criterion::Csls { k, words }) => negated(mean_cosines(targets, sources.first(words), k, observer)?),
            (_, Criterion::Isf { beta, sample: None }) => negated(log_sums(targets, sources, beta, observer)?),
            (_, Criterion::Isf { beta, sample: Some(sample) }) => {
                let sample = evenly_spaced(self.pair.source, sample);
                negated(log_sums(targets, Vectors::sources(&sample), beta, observer)?)
            }
            _ => vec![0.0; self.targets.len()],
        })
    }

    /// What belongs to a query alone: it changes no order, but makes the score what the criterion defines.
    fn terms_of_queries(&self, queries: &Matrix) -> Result<Vec<f64>> {
        let vectors = Vectors::queries(queries);
        Ok(match (&self.form, self.criterion) {
            (Form::Pmi(pmi), _) => pmi.of_queries(queries),
            (_, Criterion::L2) => negated(vectors.squares()?),
            (_, Criterion::Csls { k, words }) => {
                negated(mean_cosines(vectors, Vectors::targets(self.pair.target).first(words), k, &())?)
            }
            _ => vec![0.0; queries.rows()],
        })
    }
}

fn negated(terms: Vec<f64>) -> Vec<f64> {
    terms.into_iter().map(|term| -term).collect()
}

fn check_dimensions(queries: &Matrix, targets: &Matrix) -> Result<()> {
    if queries.cols() == targets.cols() {
        return Ok(());
    }
    let expected = format!("the targets have vectors of length {}", targets.cols());
    Err(Error::argument("length of the queries", queries.cols(), expected))
}

/// So many rows from all over the matrix.
fn evenly_spaced(matrix: &Matrix, count: usize) -> Matrix {
    let count = count.min(matrix.rows());
    matrix.select(&(0..count).map(|at| at * matrix.rows() / count).collect::<Vec<_>>())
}

/// So many rows from the beginning of the matrix, without those that are queries already.
fn without(matrix: &Matrix, count: usize, queries: &Matrix) -> Matrix {
    let bits = |row: &[f32]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let known: HashSet<Vec<u32>> = (0..queries.rows()).map(|row| bits(queries.row(row))).collect();
    let is_new = |row: &usize| !known.contains(&bits(matrix.row(*row)));
    matrix.select(&(0..count.min(matrix.rows())).filter(is_new).collect::<Vec<_>>())
}
