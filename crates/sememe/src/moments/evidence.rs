//! Evidence: moments, how their vectors were prepared, and where they came from.
//!
//! Evidence is all that a fit needs. It is small, does not reveal the vectors, and can be written, merged and fitted
//! elsewhere.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::hash_sum::HashSum;
use super::{KIND, Metadata as MomentsMetadata, Moments, VERSION, check_rows};
use crate::error::{Error, Result};
use crate::files::Input;
use crate::lexicon::Tuples;
use crate::names::setters;
use crate::prepare::{Casing, Policy, Preparation, Step};
use crate::tensors::{self, Contents, TensorFile};
use crate::vectors::View;

/// The provenance of vectors or tuples. After a merge both fields are sums over the parts, so that neither the order of
/// merges nor their nesting shows: vectors that take part in two parts count twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Source {
    /// Number of words or tuples.
    pub count: usize,
    /// A hash of the content, independent of the file format.
    pub fingerprint: String,
}

impl Source {
    /// The fingerprint of a view's labels and vectors.
    pub fn of(view: &View) -> Self {
        Source { count: view.len(), fingerprint: view.fingerprint() }
    }

    /// The fingerprint of the words and weights of all tuples; `word` finds words by view and index.
    pub(crate) fn of_tuples<W: AsRef<str>>(tuples: &Tuples, word: impl Fn(usize, usize) -> W) -> Self {
        let mut hasher = blake3::Hasher::new();
        for (tuple, weight) in tuples.iter_weighted() {
            for (view, index) in tuple.into_iter().enumerate() {
                if let Some(index) = index {
                    hasher.update(word(view, index).as_ref().as_bytes());
                }
                hasher.update(b"\t");
            }
            // Unweighted entries hash as in earlier versions, which had no weights.
            if weight != 1.0 {
                hasher.update(&weight.to_le_bytes());
            }
            hasher.update(b"\n");
        }
        Source { count: tuples.len(), fingerprint: hasher.finalize().to_hex().to_string() }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        // Counts come from files, so they may overflow.
        self.count = self.count.saturating_add(other.count);
        let mut sum = HashSum::read(&self.fingerprint);
        sum.add(&HashSum::read(&other.fingerprint));
        self.fingerprint = sum.to_string();
    }
}

/// The sources of moments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Sources {
    /// The vectors of each view.
    pub views: Vec<Source>,
    /// The tuples.
    pub lexicon: Source,
}

/// Options of [`Evidence::gather`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EvidenceOptions {
    /// The casing policy; the given vectors and tuples must already follow it.
    pub casing: Casing,
    /// Normalisation steps of the vectors.
    pub normalize: Vec<Step>,
    /// Weight of every word as a monolingual tuple of its own view, relative to a tuple's 1; `None` for none.
    pub monolingual: Option<f64>,
}

impl EvidenceOptions {
    /// Defaults of the command, and of Python for words: vectors scaled to unit length, words as they are spelled.
    pub fn usual() -> Self {
        EvidenceOptions { normalize: vec![Step::Unit], ..Default::default() }
    }
}

/// Moments with their preparation and sources.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Evidence {
    /// The moments of the prepared vectors.
    pub moments: Moments,
    /// How the vectors were prepared.
    pub preparation: Preparation,
    /// Where they came from.
    pub sources: Sources,
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    #[serde(flatten)]
    moments: MomentsMetadata,
    #[serde(flatten)]
    policy: Policy,
    sources: Sources,
}

impl Evidence {
    /// Prepares the views and sums over the tuples. Also returns the prepared views.
    pub fn gather(views: Vec<View>, tuples: &Tuples, options: &EvidenceOptions) -> Result<(Self, Vec<View>)> {
        let (preparation, sources, views) = Self::prepare(views, tuples, options)?;
        let moments = Self::moments_of(&views, tuples, options)?;
        Ok((Evidence { moments, preparation, sources }, views))
    }

    /// The moments of prepared views, with their monolingual rows if these are asked for.
    pub(crate) fn moments_of(views: &[View], tuples: &Tuples, options: &EvidenceOptions) -> Result<Moments> {
        let mut moments = Moments::of(views, tuples)?;
        if let Some(weight) = options.monolingual {
            if !(weight > 0.0 && weight.is_finite()) {
                return Err(Error::argument("monolingual weight", weight, "it must be a positive number"));
            }
            moments.merge(&Moments::of_every_row(views).weighted(weight))?;
        }
        Ok(moments)
    }

    /// The preparation, the sources and the prepared views.
    pub(crate) fn prepare(
        mut views: Vec<View>,
        tuples: &Tuples,
        options: &EvidenceOptions,
    ) -> Result<(Preparation, Sources, Vec<View>)> {
        let is_taken = |(place, view): (usize, &View)| views[..place].iter().any(|other| other.name() == view.name());
        if let Some(twice) = views.iter().enumerate().find(|view| is_taken(*view)) {
            return Err(Error::argument("view", twice.1.name(), "each view needs a name of its own"));
        }
        check_rows(&views, tuples)?;
        let lexicon = Source::of_tuples(tuples, |view, index| views[view].label(index));
        let mut sources = Sources { views: Vec::new(), lexicon };
        let mut preparation = Preparation::new(options.casing, &options.normalize);
        for view in &mut views {
            sources.views.push(Source::of(view));
            preparation.fit_apply(view.rows_mut())?;
        }
        Ok((preparation, sources, views))
    }

    /// Merges evidence. The result does not depend on the order of the parts: if their views differ, the views are
    /// sorted by name. Equal parts are accepted, as different tuples may have equal vectors; see
    /// [`Evidence::check_distinct`].
    pub fn merged(mut parts: Vec<Evidence>) -> Result<Self> {
        parts.sort_by_cached_key(Evidence::identity);
        let are_alike = parts.windows(2).all(|two| two[0].moments.views() == two[1].moments.views());
        let mut parts = parts.into_iter();
        let mut merged = parts.next().ok_or_else(|| Error::NotEnoughData("no moments are given".to_owned()))?;
        for part in parts {
            merged.merge(part)?;
        }
        let mut names: Vec<String> = merged.moments.views().iter().map(|view| view.name.clone()).collect();
        if !are_alike {
            names.sort();
        }
        Ok(merged.in_order(&names))
    }

    /// Returns an error if two parts are of the same vectors and tuples, for callers whose parts must not overlap.
    pub fn check_distinct(parts: &[Evidence]) -> Result<()> {
        let mut known = HashSet::new();
        match parts.iter().all(|part| known.insert(part.identity())) {
            true => Ok(()),
            false => Err(Error::argument("moments", "given twice", "the same tuples must not be counted again")),
        }
    }

    /// The fingerprints and names, for finding duplicates and a fixed order.
    fn identity(&self) -> Vec<String> {
        let views = self.moments.views().iter().zip(&self.sources.views);
        let of_views = views.map(|(view, source)| format!("{} {}", source.fingerprint, view.name));
        std::iter::once(self.sources.lexicon.fingerprint.clone()).chain(of_views).collect()
    }

    fn merge(&mut self, other: Evidence) -> Result<()> {
        self.preparation.check_same_policy(&other.preparation)?;
        let known: Vec<String> = self.moments.views().iter().map(|view| view.name.clone()).collect();
        self.moments.merge(&other.moments)?;
        let theirs = other.moments.views().iter().zip(other.preparation.normalizers).zip(&other.sources.views);
        for ((view, normalizer), source) in theirs {
            let Some(place) = known.iter().position(|name| *name == view.name) else {
                self.preparation.normalizers.push(normalizer);
                self.sources.views.push(source.clone());
                continue;
            };
            if self.preparation.normalizers[place] != normalizer {
                let expected = "its steps learned other numbers before, as other words were given; \
                                steps that learn nothing, such as unit, do not have this problem";
                return Err(Error::argument("preparation of a view", &view.name, expected));
            }
            self.sources.views[place].merge(source);
        }
        self.sources.lexicon.merge(&other.sources.lexicon);
        Ok(())
    }

    /// Reorders the views by these names.
    pub(crate) fn in_order(self, names: &[String]) -> Self {
        let place = |name: &String| self.moments.views().iter().position(|view| view.name == *name);
        let places: Vec<usize> = names.iter().filter_map(place).collect();
        let Preparation { casing, steps, normalizers } = self.preparation;
        let Sources { views, lexicon } = self.sources;
        Evidence {
            preparation: Preparation {
                casing,
                steps,
                normalizers: places.iter().map(|&place| normalizers[place].clone()).collect(),
            },
            sources: Sources { views: places.iter().map(|&place| views[place].clone()).collect(), lexicon },
            moments: self.moments.in_order(&places),
        }
    }

    /// Writes a safetensors file.
    pub fn write(&self, path: &Path) -> Result<()> {
        self.contents().write(path)
    }

    /// The bytes that [`Evidence::write`] writes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.contents().into_bytes()
    }

    fn contents(&self) -> Contents<'static, Metadata> {
        let metadata = Metadata {
            moments: self.moments.metadata(),
            policy: self.preparation.policy(),
            sources: self.sources.clone(),
        };
        let tensors = self.moments.tensors().into_iter().chain(self.preparation.tensors());
        Contents { metadata, tensors: tensors.collect() }
    }

    /// Whether a file holds moments. Only its beginning is read and decompressed.
    pub fn is_in(input: &Input) -> Result<bool> {
        Ok(tensors::kind(input)?.is_some_and(|kind| kind == KIND))
    }

    /// Reads a file written by [`Evidence::write`].
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_input(&Input::open(path)?)
    }

    /// [`Evidence::read`] from bytes in memory.
    pub fn read_input(input: &Input) -> Result<Self> {
        let file = TensorFile::read(input)?;
        let Metadata { moments, policy, sources } = file.metadata(KIND, VERSION)?;
        let moments = Moments::from_file(&file, moments)?;
        let dims: Vec<usize> = moments.views().iter().map(|view| view.dim).collect();
        if sources.views.len() != dims.len() {
            return Err(file.error(format!("names {} sources for {} views", sources.views.len(), dims.len())));
        }
        Ok(Evidence { preparation: Preparation::read(&file, policy, &dims)?, sources, moments })
    }
}

setters!(EvidenceOptions {
    /// Sets [`EvidenceOptions::casing`].
    with_casing: casing = Casing,
    /// Sets [`EvidenceOptions::normalize`].
    with_normalize: normalize = Vec<Step>,
    /// Sets [`EvidenceOptions::monolingual`].
    with_monolingual: monolingual = Option<f64>,
});
