//! What moments were summed over, in a form that serialises.

use serde::Serialize;

use super::{Evidence, Moments, Shape, Sources};
use crate::names::serialize_count;
use crate::prepare::{Casing, Step};

/// Tuples that have the same views.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TupleGroup {
    /// The views.
    pub views: Vec<String>,
    /// How many tuples, or what they weigh.
    #[serde(serialize_with = "serialize_count")]
    pub tuples: f64,
}

impl Moments {
    /// The tuples by the views that they have.
    ///
    /// ```
    /// use sememe::{lexicon::Tuples, moments::Moments, vectors::{Matrix, View}};
    ///
    /// let view = |name| View::new(name, Matrix::new(vec![1.0, 2.0, 3.0, 5.0], 2));
    /// let mut tuples = Tuples::new(3);
    /// tuples.add(&[Some(0), Some(1), None]);
    /// tuples.add(&[Some(1), Some(0), None]);
    /// let groups = Moments::of(&[view("en"), view("fr"), view("ru")], &tuples)?.groups();
    /// assert_eq!((groups[0].views.join(" "), groups[0].tuples), ("en fr".to_owned(), 2.0));
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn groups(&self) -> Vec<TupleGroup> {
        let names = |pattern: &[usize]| pattern.iter().map(|&view| self.views()[view].name.clone()).collect();
        let group = |(pattern, moments): (&Vec<usize>, &super::PatternMoments)| TupleGroup {
            views: names(pattern),
            tuples: moments.n,
        };
        self.patterns().iter().map(group).collect()
    }
}

/// What evidence was gathered from.
///
/// ```
/// use sememe::{lexicon::Tuples, moments::{Evidence, EvidenceOptions}, vectors::{Matrix, View}};
///
/// let view = |name| View::new(name, Matrix::new(vec![1.0, 2.0, 3.0, 5.0], 2));
/// let mut tuples = Tuples::new(2);
/// tuples.add(&[Some(0), Some(1)]);
/// let views = vec![view("en"), view("fr")];
/// let (evidence, _) = Evidence::gather(views, &tuples, &EvidenceOptions::default())?;
/// assert_eq!(evidence.summary().groups[0].tuples, 1.0);
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EvidenceSummary {
    /// The views.
    pub views: Vec<Shape>,
    /// The tuples by the views that they have.
    pub groups: Vec<TupleGroup>,
    /// Whether words are told apart by their case.
    pub casing: Casing,
    /// What was done to the vectors first.
    pub normalize: Vec<Step>,
    /// Hashes of vectors and tuples.
    pub sources: Sources,
}

impl Evidence {
    /// What it was gathered from.
    pub fn summary(&self) -> EvidenceSummary {
        EvidenceSummary {
            views: self.moments.views().to_vec(),
            groups: self.moments.groups(),
            casing: self.preparation.casing,
            normalize: self.preparation.steps.clone(),
            sources: self.sources.clone(),
        }
    }
}
