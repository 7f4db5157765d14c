//! A model with its preparation and sources: the content of `model.safetensors`.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::files::Input;
use crate::lexicon::{TrainedPairs, TrainedRows};
use crate::model::mbfa::Trace;
use crate::model::{Emission, Finish, LatentView, Method, Model, Spelling, ViewModel};
use crate::moments::Sources;
use crate::prepare::{Policy, Preparation};
use crate::retrieve::{Calibration, Criterion, PairCoordinates};
use crate::tensors::{Contents, Tensor, TensorFile};
use crate::vectors::{Embeddings, Matrix, View};

const KIND: &str = "model";
const VERSION: u64 = 2;
/// The array with the hashes of the training pairs.
const TRAINED: &str = "trained_pairs";
/// The array with the rows of the training tuples.
const TRAINED_ROWS: &str = "trained_rows";

/// A fitted model that can be applied to unprepared vectors.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Alignment {
    /// The model.
    pub model: Model,
    /// How words and vectors are prepared before they are projected.
    pub preparation: Preparation,
    /// What the model was fitted on.
    pub sources: Sources,
    /// Number of words of each view in the space; filled in when the space is written.
    pub words: Vec<usize>,
    /// A hash of each view's file in the space, by which a file of another space is noticed; filled in when the space is
    /// written. `None` for views without words, and in spaces written before hashes were recorded.
    pub file_hashes: Vec<Option<String>>,
    /// Calibrated confidences, for pairs of views with enough held-out tuples.
    pub calibrations: Vec<PairCalibration>,
    /// The criterion whose parameter held-out translations chose, if that was asked for.
    pub criterion: Option<Criterion>,
    /// The training pairs, so that evaluations can tell whether a query was trained on. `None` for models fitted from
    /// moments, which have no words.
    pub trained: Option<TrainedPairs>,
    /// The rows of the training tuples, so that they can be shown. `None` for models fitted from moments, and in files written
    /// before they were recorded.
    pub trained_rows: Option<TrainedRows>,
}

/// The calibrated confidences of a criterion from one view to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PairCalibration {
    /// The names of the view of queries and of that of their translations. Spaces of earlier versions have one entry for
    /// both directions.
    pub views: [String; 2],
    /// The criterion that ranks translations.
    pub criterion: Criterion,
    /// The parameters.
    #[serde(flatten)]
    pub calibration: Calibration,
}

/// The array with the map of one side of a finish.
fn finish_array(number: usize, side: usize) -> String {
    format!("finish.{number}.{side}")
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    kind: String,
    version: u64,
    method: Method,
    latent: usize,
    #[serde(flatten)]
    policy: Policy,
    views: Vec<ViewMetadata>,
    tuples: f64,
    log_likelihood: Option<f64>,
    trace: Option<Trace>,
    sources: Sources,
    /// Empty for models fitted from moments, and in files written before confidences were calibrated by criterion.
    #[serde(default)]
    calibrations: Vec<PairCalibration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    criterion: Option<Criterion>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    finishes: Vec<FinishMetadata>,
    /// Number of the last latent columns that are of spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spelling: Option<usize>,
}

/// A pair of views whose maps the file has.
#[derive(Serialize, Deserialize)]
struct FinishMetadata {
    views: [usize; 2],
    steps: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exponent: Option<f64>,
    #[serde(default)]
    spelling: f64,
}

#[derive(Serialize, Deserialize)]
struct ViewMetadata {
    name: String,
    dim: usize,
    #[serde(default)]
    words: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file_hash: Option<String>,
    shrinkage: f64,
}

impl Alignment {
    /// Prepares and projects words of a view. Words are spelled by the casing policy; each gets its `E[z|x]`.
    pub fn project(&self, view: usize, embeddings: Embeddings) -> Result<LatentView> {
        let name = self.model.views[view].name.as_str();
        let spelled = View::from_embeddings(name, self.preparation.casing.of_embeddings(embeddings));
        self.model.latent_view(view, spelled.map_rows(|rows| self.prepare(view, rows))?)
    }

    /// Prepares rows of a view for the model.
    pub fn prepare(&self, view: usize, rows: Matrix) -> Result<Matrix> {
        // Checked first: the preparation assumes the dimension.
        self.model.views[view].check_dimension(rows.cols())?;
        Ok(self.preparation.apply(view, rows))
    }

    /// Latent vectors of a view in the coordinates in which they are compared by cosines with those of another view,
    /// which the calibrations are for. For a model of two views without a finish they are the latent vectors.
    pub fn compared_with(&self, view: usize, other: usize, latent: Matrix) -> Result<Matrix> {
        // Both sides must come from the same decomposition.
        Ok(match PairCoordinates::of(&self.model, view.min(other), view.max(other))? {
            Some(pair) if view < other => pair.of_queries(&latent),
            Some(pair) => pair.of_targets(&latent),
            None => latent,
        })
    }

    /// The criterion for those who do not choose one: the one that was chosen with the space, or [`Criterion::AUTO`].
    pub fn usual_criterion(&self) -> Criterion {
        self.criterion.unwrap_or(Criterion::AUTO)
    }

    /// The criterion of this spelling; `auto` is [`Alignment::usual_criterion`].
    pub fn criterion_called(&self, spelled: &str) -> Result<Criterion> {
        match spelled.trim().eq_ignore_ascii_case("auto") {
            true => Ok(self.usual_criterion()),
            false => spelled.parse(),
        }
    }

    /// The calibrated confidences of a criterion from one view to another. The fallback for a pair with too few shared tuples
    /// is the mean over the other pairs, which differ little. `None` if no pair was calibrated for this criterion.
    pub fn calibration(&self, from: usize, to: usize, criterion: Criterion) -> Option<Calibration> {
        let of_criterion = || self.calibrations.iter().filter(|pair| pair.criterion == criterion);
        let of = |views: [usize; 2]| {
            let names = views.map(|view| self.model.views[view].name.as_str());
            of_criterion().find(|pair| pair.views.each_ref().map(String::as_str) == names)
        };
        let own = of([from, to]).or_else(|| of([to, from]));
        own.map(|pair| pair.calibration)
            .or_else(|| Calibration::mean(&of_criterion().map(|pair| pair.calibration).collect::<Vec<_>>()))
    }

    /// Writes a safetensors file.
    pub fn write(&self, path: &Path) -> Result<()> {
        self.contents().write(path)
    }

    /// The bytes that [`Alignment::write`] writes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.contents().into_bytes()
    }

    fn contents(&self) -> Contents<'static, Metadata> {
        let Model { method, views, tuples, log_likelihood, rho, shrinkage, trace, finishes, spelling } = &self.model;
        let mut tensors = self.preparation.tensors();
        if !rho.is_empty() {
            tensors.push(("rho".to_owned(), Tensor::f64s(rho)));
        }
        if let Some(trained) = &self.trained {
            tensors.push((TRAINED.to_owned(), Tensor::u64s(trained.hashes())));
        }
        if let Some(rows) = &self.trained_rows {
            tensors.push((TRAINED_ROWS.to_owned(), Tensor::u64s(rows.cells())));
        }
        for (number, view) in views.iter().enumerate() {
            let mut add = |name: &str, tensor| tensors.push((format!("{number}.{name}"), tensor));
            add("mu", Tensor::f64s(&view.mu));
            add("projection", Tensor::matrix(&view.projection));
            if let Some(Emission { w, psi }) = &view.emission {
                add("w", Tensor::matrix(w));
                add("psi", Tensor::matrix(psi));
            }
        }
        for (number, finish) in finishes.iter().enumerate() {
            for (side, map) in finish.maps.iter().enumerate() {
                tensors.push((finish_array(number, side), Tensor::matrix(map)));
            }
        }
        if let Some(spelling) = spelling {
            tensors.extend(spelling.tensors());
        }
        let metadata = Metadata {
            kind: KIND.to_owned(),
            version: VERSION,
            method: *method,
            latent: self.model.latent(),
            policy: self.preparation.policy(),
            views: (views.iter().zip(shrinkage).zip(&self.words).zip(&self.file_hashes))
                .map(|(((view, &shrinkage), &words), file_hash)| ViewMetadata {
                    name: view.name.clone(),
                    dim: view.dim(),
                    words,
                    file_hash: file_hash.clone(),
                    shrinkage,
                })
                .collect(),
            tuples: *tuples,
            log_likelihood: *log_likelihood,
            trace: trace.clone(),
            sources: self.sources.clone(),
            calibrations: self.calibrations.clone(),
            criterion: self.criterion,
            finishes: (finishes.iter())
                .map(|&Finish { views, steps, exponent, spelling, .. }| FinishMetadata {
                    views,
                    steps,
                    exponent,
                    spelling,
                })
                .collect(),
            spelling: spelling.as_ref().map(|spelling| spelling.columns),
        };
        Contents { metadata, tensors }
    }

    /// Reads a file written by [`Alignment::write`].
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_input(&Input::open(path)?)
    }

    /// [`Alignment::read`] from bytes in memory.
    pub fn read_input(input: &Input) -> Result<Self> {
        Self::read_file(&TensorFile::read(input)?)
    }

    pub(crate) fn read_file(file: &TensorFile) -> Result<Self> {
        let metadata: Metadata = file.metadata(KIND, VERSION)?;
        let latent = metadata.latent;
        if metadata.views.len() < 2 || latent == 0 || metadata.sources.views.len() != metadata.views.len() {
            return Err(file.error("describes no model: at least two views and one latent dimension are needed"));
        }
        let names: HashSet<&str> = metadata.views.iter().map(|view| view.name.as_str()).collect();
        if names.len() < metadata.views.len() {
            return Err(file.error("has two views of one name"));
        }
        if !metadata.calibrations.iter().all(|pair| pair.calibration.is_valid()) {
            return Err(file.error("has an impossible calibration of confidences"));
        }
        let mut views = Vec::new();
        for (number, ViewMetadata { name, dim, .. }) in metadata.views.iter().enumerate() {
            let array = |what: &str| format!("{number}.{what}");
            views.push(ViewModel {
                name: name.clone(),
                mu: file.f64s(&array("mu"), *dim)?,
                projection: file.matrix(&array("projection"), latent, *dim)?,
                emission: match file.has(&array("w")) {
                    true => Some(Emission {
                        w: file.matrix(&array("w"), *dim, latent)?,
                        psi: file.matrix(&array("psi"), *dim, *dim)?,
                    }),
                    false => None,
                },
            });
        }
        let mut finishes = Vec::new();
        for (number, &FinishMetadata { views: [a, b], steps, exponent, spelling }) in
            metadata.finishes.iter().enumerate()
        {
            if !(a < b && b < views.len()) {
                return Err(file.error("has a finish of views that are none of its own"));
            }
            let map = |side: usize| file.matrix(&finish_array(number, side), latent, latent).map(Arc::new);
            finishes.push(Finish { views: [a, b], maps: [map(0)?, map(1)?], steps, exponent, spelling });
        }
        let spelling = match metadata.spelling {
            Some(columns) if columns == 0 || columns >= latent => {
                return Err(file.error("has an impossible number of columns of spelling"));
            }
            Some(columns) => Some(Spelling::read(file, columns, views.len())?),
            None => None,
        };
        let factors = latent - spelling.as_ref().map_or(0, |spelling| spelling.columns);
        let dims: Vec<usize> = metadata.views.iter().map(|view| view.dim).collect();
        let preparation = Preparation::read(file, metadata.policy, &dims)?;
        let model = Model {
            method: metadata.method,
            views,
            tuples: metadata.tuples,
            log_likelihood: metadata.log_likelihood,
            rho: if file.has("rho") { file.f64s("rho", factors)? } else { Vec::new() },
            shrinkage: metadata.views.iter().map(|view| view.shrinkage).collect(),
            trace: metadata.trace,
            finishes,
            spelling,
        };
        let words = metadata.views.iter().map(|view| view.words).collect();
        let file_hashes = metadata.views.iter().map(|view| view.file_hash.clone()).collect();
        let trained = match file.has(TRAINED) {
            true => Some(
                TrainedPairs::from_hashes(file.u64s(TRAINED)?)
                    .ok_or_else(|| file.error(format!("the array {TRAINED:?} does not ascend: the file is damaged")))?,
            ),
            false => None,
        };
        let trained_rows = match file.has(TRAINED_ROWS) {
            true => {
                Some(TrainedRows::from_cells(file.u64s(TRAINED_ROWS)?, model.views.len()).ok_or_else(|| {
                    file.error(format!("the array {TRAINED_ROWS:?} has no tuples: the file is damaged"))
                })?)
            }
            false => None,
        };
        let Metadata { sources, calibrations, criterion, .. } = metadata;
        Ok(Alignment {
            model,
            preparation,
            sources,
            words,
            file_hashes,
            calibrations,
            criterion,
            trained,
            trained_rows,
        })
    }
}
