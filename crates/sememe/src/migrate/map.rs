//! The fitted map between two models, and its file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::geometry::{Geometry, Reference};
use super::pair_moments::PairMoments;
use super::{Affine, Confidence, MapMethod, Route};
use crate::error::{Error, Result};
use crate::linalg::Mat;
use crate::names::{self, serde_as_spelled};
use crate::tensors::{Contents, Tensor, TensorFile};
use crate::vectors::Matrix;

const KIND: &str = "migration map";
const VERSION: u64 = 3;

/// Whose vectors: the old model's, the new model's, or those of the latent space of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Side {
    /// The model of the index.
    Old,
    /// The model of the queries.
    New,
    /// The latent space, in which vectors of both models are compared.
    Latent,
    /// The latent space of an adapted map with a coordinate against hubs, in which inner products are compared.
    Indexed,
}

impl Side {
    /// All sides by name.
    pub const ALL: [(&'static str, Side); 4] =
        [("old", Side::Old), ("new", Side::New), ("latent", Side::Latent), ("indexed", Side::Indexed)];
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(names::of(self, &Side::ALL))
    }
}

impl FromStr for Side {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        names::find("side", name, &Side::ALL)
    }
}

serde_as_spelled!(Side);

/// What a map knows of one of its models.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelCard {
    /// Its name, if it was given.
    pub name: Option<String>,
    /// What its vectors look like.
    pub geometry: Geometry,
    /// A hash of its vectors of the pairs: the same texts embedded by the same model have the same.
    pub fingerprint: String,
}

/// A map from one side to another, and how it was fitted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Chosen {
    /// The map.
    pub map: Affine,
    /// The method that it was fitted by.
    pub method: MapMethod,
}

/// What a candidate reached on held-out clusters of texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CandidateScore {
    /// Where the queries were mapped to.
    pub to: Side,
    /// The candidate.
    pub method: MapMethod,
    /// Its parameters, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parameters: String,
    /// The mean of `100 / rank` of the rows that both models by themselves find nearest.
    pub agreement: f64,
}

/// A fitted map between the vectors of an old and a new model.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MigrationMap {
    /// The old model.
    pub old: ModelCard,
    /// The new model.
    pub new: ModelCard,
    /// New vectors → queries for the old index as it is.
    pub queries: Chosen,
    /// Old vectors → the new model's space, for whole indexes.
    pub index: Chosen,
    /// Old and new vectors → the latent space.
    pub latent: [Affine; 2],
    /// Latent vectors → the old and the new model's space.
    pub back: [Affine; 2],
    /// The candidates that every map is compared with, from new vectors to the old index.
    pub baselines: BTreeMap<MapMethod, Affine>,
    /// What all candidates reached on held-out clusters.
    pub held_out: Vec<CandidateScore>,
    /// Number of held-out pairs, if a map of the others finds their rows no better than at random: such a map is worthless.
    pub at_chance: Option<usize>,
    /// How far answers to mapped queries can be trusted.
    pub confidence: Confidence,
    /// The shrinkage of the covariances of the latent space.
    pub shrinkage: f64,
    /// The moments of the pairs, which the latent space is adapted with.
    pub(super) moments: PairMoments,
    /// Of an adapted map, latent vectors of the queries that it was adapted to.
    pub(super) asked: Option<Matrix>,
    /// One minus the cosine of a mapped query to the old vector of the same text, for held-out pairs.
    pub residual: Reference,
    /// Number of pairs of the fit.
    pub pairs: usize,
    /// A hash of the pairs of the fit.
    pub fingerprint: String,
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    kind: String,
    version: u64,
    old: CardMetadata,
    new: CardMetadata,
    latent: usize,
    queries: MapMethod,
    index: MapMethod,
    baselines: Vec<MapMethod>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<usize>,
    held_out: Vec<CandidateScore>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_chance: Option<usize>,
    confidence: Confidence,
    shrinkage: f64,
    residual: Reference,
    pairs: usize,
    fingerprint: String,
}

#[derive(Serialize, Deserialize)]
struct CardMetadata {
    name: Option<String>,
    dim: usize,
    fingerprint: String,
    surprise: Reference,
}

impl ModelCard {
    /// Length of the model's vectors.
    pub fn dim(&self) -> usize {
        self.geometry.parts().0.len()
    }

    fn metadata(&self) -> CardMetadata {
        CardMetadata {
            name: self.name.clone(),
            dim: self.dim(),
            fingerprint: self.fingerprint.clone(),
            surprise: self.geometry.reference(),
        }
    }

    fn tensors(&self, side: Side) -> [(String, Tensor<'_>); 2] {
        let (mean, whitener) = self.geometry.parts();
        [
            (format!("{side}.mean"), Tensor::f32s(mean, 1, mean.len())),
            (format!("{side}.whitener"), Tensor::f32s(whitener.as_slice(), whitener.rows(), whitener.cols())),
        ]
    }

    fn read(file: &TensorFile, side: Side, about: CardMetadata) -> Result<Self> {
        let mean = file.f32s(&format!("{side}.mean"), 1, about.dim)?;
        let whitener = file.f32s(&format!("{side}.whitener"), about.dim, about.dim)?;
        let geometry = Geometry::from_parts(mean, Matrix::new(whitener, about.dim), about.surprise);
        Ok(ModelCard { name: about.name, geometry, fingerprint: about.fingerprint })
    }
}

impl MigrationMap {
    /// Length of latent vectors.
    pub fn latent_dim(&self) -> usize {
        self.latent[0].to_dim()
    }

    /// The way from the vectors of one side to those of another.
    pub fn route(&self, from: Side, to: Side) -> Result<Route<'_>> {
        let asked = || {
            self.asked.as_ref().ok_or_else(|| {
                Error::argument("to", to, "the map was not adapted to queries; adapt it first, or map to latent")
            })
        };
        Ok(match (from, to) {
            (Side::New, Side::Old) => Route::plain(&self.queries.map),
            (Side::Old, Side::New) => Route::plain(&self.index.map),
            (Side::Old, Side::Latent) => Route::plain(&self.latent[0]),
            (Side::New, Side::Latent) => Route::plain(&self.latent[1]),
            (Side::Latent, Side::Old) => Route::plain(&self.back[0]),
            (Side::Latent, Side::New) => Route::plain(&self.back[1]),
            (Side::Old, Side::Indexed) => Route::of_index(&self.latent[0], asked()?, None),
            (Side::New, Side::Indexed) => asked().map(|_| Route::of_queries(&self.latent[1]))?,
            (Side::Indexed, _) => {
                return Err(Error::argument("from", from, "such rows are asked as they are; map them from old or new"));
            }
            _ => return Err(Error::argument("to", to, "vectors of that side are there already; name another side")),
        })
    }

    /// Whether the map was adapted to queries, so that indexes can be mapped to [`Side::Indexed`].
    pub fn is_adapted(&self) -> bool {
        self.asked.is_some()
    }

    /// Returns an error unless the model of a side has this name.
    pub fn check_name(&self, side: Side, name: &str) -> Result<()> {
        let known = self.card(side).and_then(|card| card.name.as_deref());
        match known {
            Some(known) if known == name => Ok(()),
            Some(known) => Err(Error::argument("model", name, format!("the {side} model of this map is {known:?}"))),
            None => Err(Error::argument("model", name, format!("this map does not know the name of its {side} model"))),
        }
    }

    /// The map of a baseline, from new vectors to the old index.
    pub fn baseline(&self, method: MapMethod) -> Result<&Affine> {
        self.baselines.get(&method).ok_or_else(|| {
            Error::argument("method", method, "the map has no such baseline; procrustes and ridge are always there")
        })
    }

    /// Maps vectors of one side to another, as unit vectors. Nothing is checked but their length and that they are
    /// finite; see [`MigrationMap::check_model`].
    pub fn apply(&self, from: Side, to: Side, rows: &Matrix) -> Result<Matrix> {
        self.route(from, to)?.apply(rows)
    }

    /// What is known of a side's model; the latent space has none.
    pub fn card(&self, side: Side) -> Option<&ModelCard> {
        match side {
            Side::Old => Some(&self.old),
            Side::New => Some(&self.new),
            Side::Latent | Side::Indexed => None,
        }
    }

    /// Returns an error if rows do not look like vectors of this side's model: another model may have vectors of the same
    /// length. Latent vectors are not checked.
    pub fn check_model(&self, side: Side, rows: &Matrix) -> Result<()> {
        self.card(side).map_or(Ok(()), |card| card.geometry.check(rows, side))
    }

    /// What should be known before the map is used: that it is no better than chance.
    pub fn warning(&self) -> Option<String> {
        self.at_chance.map(|pairs| {
            format!(
                "NO BETTER THAN CHANCE: maps of the other pairs find the rows of {pairs} held-out texts no better than at random; \
                 check that row by row both files are of the same texts, and that there are enough pairs"
            )
        })
    }

    /// Writes the map: a safetensors file. It appears under its name only when it is complete.
    pub fn write(&self, path: &Path) -> Result<()> {
        let metadata = Metadata {
            kind: KIND.to_owned(),
            version: VERSION,
            old: self.old.metadata(),
            new: self.new.metadata(),
            latent: self.latent_dim(),
            queries: self.queries.method,
            index: self.index.method,
            baselines: self.baselines.keys().copied().collect(),
            asked: self.asked.as_ref().map(Matrix::rows),
            held_out: self.held_out.clone(),
            at_chance: self.at_chance,
            confidence: self.confidence,
            shrinkage: self.shrinkage,
            residual: self.residual,
            pairs: self.pairs,
            fingerprint: self.fingerprint.clone(),
        };
        let mut tensors: Vec<(String, Tensor)> = Vec::new();
        tensors.extend(self.old.tensors(Side::Old));
        tensors.extend(self.new.tensors(Side::New));
        for (name, map) in self.maps() {
            let matrix = map.matrix();
            tensors.push((name.clone(), Tensor::f32s(matrix.as_slice(), matrix.rows(), matrix.cols())));
            let further = [(OFFSET, map.offset()), (SHIFT, map.shift())];
            let further = further.into_iter().filter_map(|(part, values)| Some((format!("{name}.{part}"), values?)));
            tensors.extend(further.map(|(name, values)| (name, Tensor::f32s(values, 1, values.len()))));
        }
        if let Some(asked) = &self.asked {
            tensors.push((ASKED.to_owned(), Tensor::f32s(asked.as_slice(), asked.rows(), asked.cols())));
        }
        let PairMoments { means, oo, on, nn, .. } = &self.moments;
        for (name, mean) in MEANS.into_iter().zip(means) {
            tensors.push((name.to_owned(), Tensor::f64s(mean)));
        }
        let covariances = [("moments.old_old", oo), ("moments.old_new", on), ("moments.new_new", nn)];
        tensors.extend(covariances.map(|(name, covariance)| (name.to_owned(), Tensor::matrix(covariance))));
        Contents { metadata, tensors }.write(path)
    }

    /// Reads a map that [`MigrationMap::write`] wrote.
    pub fn open(path: &Path) -> Result<Self> {
        let file = TensorFile::open(path)?;
        let about: Metadata = file.metadata(KIND, VERSION)?;
        let (old, new, latent) = (about.old.dim, about.new.dim, about.latent);
        let map = |name: &str, to: usize, from: usize| -> Result<Affine> {
            let matrix = Matrix::new(file.f32s(name, to, from)?, from);
            let further = |part: &str| -> Result<Option<Vec<f32>>> {
                let name = format!("{name}.{part}");
                file.has(&name).then(|| file.f32s(&name, 1, to)).transpose()
            };
            Affine::new(matrix, further(OFFSET)?)?.with_shift(further(SHIFT)?)
        };
        let baseline = |&method: &MapMethod| Ok((method, map(&baseline_array(method), old, new)?));
        let baselines = about.baselines.iter().map(baseline).collect::<Result<_>>()?;
        let asked = |rows: usize| -> Result<Matrix> { Ok(Matrix::new(file.f32s(ASKED, rows, latent)?, latent)) };
        Ok(MigrationMap {
            queries: Chosen { map: map(QUERIES, old, new)?, method: about.queries },
            index: Chosen { map: map(INDEX, new, old)?, method: about.index },
            latent: [map(LATENT[0], latent, old)?, map(LATENT[1], latent, new)?],
            back: [map(BACK[0], old, latent)?, map(BACK[1], new, latent)?],
            baselines,
            asked: about.asked.map(asked).transpose()?,
            old: ModelCard::read(&file, Side::Old, about.old)?,
            new: ModelCard::read(&file, Side::New, about.new)?,
            held_out: about.held_out,
            at_chance: about.at_chance,
            confidence: about.confidence,
            shrinkage: about.shrinkage,
            moments: read_moments(&file, about.pairs, old, new)?,
            residual: about.residual,
            pairs: about.pairs,
            fingerprint: about.fingerprint,
        })
    }

    /// All maps with the names of their arrays.
    fn maps(&self) -> Vec<(String, &Affine)> {
        let named = |name: &str, map| (name.to_owned(), map);
        let mut maps = vec![
            named(QUERIES, &self.queries.map),
            named(INDEX, &self.index.map),
            named(LATENT[0], &self.latent[0]),
            named(LATENT[1], &self.latent[1]),
            named(BACK[0], &self.back[0]),
            named(BACK[1], &self.back[1]),
        ];
        maps.extend(self.baselines.iter().map(|(&method, map)| (baseline_array(method), map)));
        maps
    }
}

const QUERIES: &str = "new_to_old";
const INDEX: &str = "old_to_new";
const LATENT: [&str; 2] = ["old_to_latent", "new_to_latent"];
const BACK: [&str; 2] = ["latent_to_old", "latent_to_new"];

fn baseline_array(method: MapMethod) -> String {
    format!("baseline.{method}")
}

/// The arrays of the further parts of a map.
const OFFSET: &str = "offset";
const SHIFT: &str = "shift";
const ASKED: &str = "asked";
const MEANS: [&str; 2] = ["moments.old_mean", "moments.new_mean"];

fn read_moments(file: &TensorFile, pairs: usize, old: usize, new: usize) -> Result<PairMoments> {
    let covariance = |name: &str, rows: usize, cols: usize| -> Result<Mat> { file.matrix(name, rows, cols) };
    Ok(PairMoments {
        n: pairs as f64,
        means: [file.f64s(MEANS[0], old)?, file.f64s(MEANS[1], new)?],
        oo: covariance("moments.old_old", old, old)?,
        on: covariance("moments.old_new", old, new)?,
        nn: covariance("moments.new_new", new, new)?,
    })
}
