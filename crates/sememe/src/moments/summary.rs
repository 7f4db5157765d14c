//! Serialisable summaries of moments and evidence.

use serde::Serialize;

use super::{Evidence, Moments, Shape, Sources};
use crate::names::serialize_count;
use crate::prepare::{Casing, Step};

/// The number of tuples that have the same views.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TupleGroup {
    /// The views.
    pub views: Vec<String>,
    /// Number of tuples, or the sum of their weights.
    #[serde(serialize_with = "serialize_count")]
    pub tuples: f64,
}

impl Moments {
    /// The tuples, grouped by the views that they have.
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

/// A summary of evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EvidenceSummary {
    /// The views.
    pub views: Vec<Shape>,
    /// The tuples, grouped by the views that they have.
    pub groups: Vec<TupleGroup>,
    /// The casing policy of words.
    pub casing: Casing,
    /// The normalisation steps of the vectors.
    pub normalize: Vec<Step>,
    /// Fingerprints of vectors and tuples.
    pub sources: Sources,
}

impl Evidence {
    /// A summary of the evidence.
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
