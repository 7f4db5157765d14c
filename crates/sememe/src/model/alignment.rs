//! A model together with how its input was prepared and where it came from: what `model.safetensors` holds.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::mbfa::Trace;
use super::{Emission, Method, Model, View};
use crate::error::Result;
use crate::files::Input;
use crate::lexicon::Lexicon;
use crate::normalize::{Normalizer, Step};
use crate::tensors::{self, Tensor, TensorFile};
use crate::vectors::Embeddings;

const KIND: &str = "model";
const VERSION: u64 = 1;

/// Whether words are told apart by their case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Casing {
    /// As they are written.
    #[default]
    Kept,
    /// All lower case; of words that become equal the first is kept.
    Lower,
}

impl Casing {
    /// The vectors under this policy.
    pub fn of_embeddings(self, embeddings: Embeddings) -> Embeddings {
        match self {
            Casing::Kept => embeddings,
            Casing::Lower => embeddings.lowercased(),
        }
    }

    /// The dictionary under this policy.
    pub fn of_lexicon(self, lexicon: Lexicon) -> Lexicon {
        match self {
            Casing::Kept => lexicon,
            Casing::Lower => lexicon.lowercased(),
        }
    }

    /// A word under this policy.
    pub fn of_word(self, word: &str) -> String {
        match self {
            Casing::Kept => word.to_owned(),
            Casing::Lower => word.to_lowercase(),
        }
    }
}

/// Something a model was fitted on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// How many words or tuples were used.
    pub count: usize,
    /// A hash of what was used, independent of the file format.
    pub fingerprint: String,
}

/// All that a model was fitted on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// The vectors of each view.
    pub views: Vec<Source>,
    /// The tuples.
    pub lexicon: Source,
}

/// A fitted model that can be applied to vectors as they come.
#[derive(Debug, Clone)]
pub struct Alignment {
    /// The model.
    pub model: Model,
    /// The policy for words.
    pub casing: Casing,
    /// What is done to the vectors of each view before they are projected.
    pub normalizers: Vec<Normalizer>,
    /// What the model was fitted on.
    pub sources: Sources,
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    kind: String,
    version: u64,
    method: Method,
    latent: usize,
    casing: Casing,
    normalize: Vec<Step>,
    views: Vec<ViewMetadata>,
    tuples: f64,
    log_likelihood: Option<f64>,
    trace: Option<Trace>,
    sources: Sources,
}

#[derive(Serialize, Deserialize)]
struct ViewMetadata {
    name: String,
    dim: usize,
    shrinkage: f64,
}

impl Alignment {
    /// Prepares and projects vectors of a view: their words under the casing policy, each with its `E[z|x]`.
    pub fn project(&self, view: usize, embeddings: Embeddings) -> Result<Embeddings> {
        let mut prepared = self.casing.of_embeddings(embeddings);
        // Before the preparation, which assumes the dimension.
        self.model.views[view].check_dimension(prepared.dim())?;
        self.normalizers[view].apply(&mut prepared);
        let latent = self.model.views[view].project(prepared.matrix())?;
        Ok(Embeddings::new(prepared.vocabulary().clone(), latent))
    }

    /// Writes a safetensors file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let Model { method, views, tuples, log_likelihood, rho, shrinkage, trace } = &self.model;
        let mut tensors = Vec::new();
        if !rho.is_empty() {
            tensors.push(("rho".to_owned(), Tensor::f64s(rho)));
        }
        for (number, (view, normalizer)) in views.iter().zip(&self.normalizers).enumerate() {
            let mut add = |name: &str, tensor| tensors.push((format!("{number}.{name}"), tensor));
            add("mu", Tensor::f64s(&view.mu));
            add("projection", Tensor::matrix(&view.projection));
            if let Some(Emission { w, psi }) = &view.emission {
                add("w", Tensor::matrix(w));
                add("psi", Tensor::matrix(psi));
            }
            for (step, (_, learned)) in normalizer.parts().iter().enumerate() {
                let learned: Vec<f64> = learned.iter().map(|&x| f64::from(x)).collect();
                add(&format!("normalize.{step}"), Tensor::f64s(&learned));
            }
        }
        let steps = self.normalizers.first().map(|n| n.parts().iter().map(|(step, _)| *step).collect());
        let metadata = Metadata {
            kind: KIND.to_owned(),
            version: VERSION,
            method: *method,
            latent: self.model.latent(),
            casing: self.casing,
            normalize: steps.unwrap_or_default(),
            views: (views.iter().zip(shrinkage))
                .map(|(view, &shrinkage)| ViewMetadata { name: view.name.clone(), dim: view.dim(), shrinkage })
                .collect(),
            tuples: *tuples,
            log_likelihood: *log_likelihood,
            trace: trace.clone(),
            sources: self.sources.clone(),
        };
        tensors::write(path, &metadata, tensors)
    }

    /// Reads what [`Alignment::write`] wrote.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_input(&Input::open(path)?)
    }

    /// [`Alignment::read`] on bytes that are already at hand.
    pub fn read_input(input: &Input) -> Result<Self> {
        let file = TensorFile::read(input)?;
        let metadata: Metadata = file.metadata(KIND, VERSION)?;
        let latent = metadata.latent;
        if metadata.views.len() < 2 || latent == 0 || metadata.sources.views.len() != metadata.views.len() {
            return Err(file.error("describes no model: at least two views and one latent dimension are needed"));
        }
        let mut views = Vec::new();
        let mut normalizers = Vec::new();
        for (number, ViewMetadata { name, dim, .. }) in metadata.views.iter().enumerate() {
            let array = |what: &str| format!("{number}.{what}");
            views.push(View {
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
            let fitted = metadata.normalize.iter().enumerate().map(|(at, &step)| {
                let len = if step == Step::Unit { 0 } else { *dim };
                let name = array(&format!("normalize.{at}"));
                let learned: Vec<f32> = file.f64s(&name, len)?.into_iter().map(|x| x as f32).collect();
                if !learned.iter().all(|&x| x.is_finite() && (x > 0.0 || step != Step::Standardize)) {
                    return Err(file.error(format!("the array {name:?} is nothing that the step {step} can learn")));
                }
                Ok((step, learned))
            });
            normalizers.push(Normalizer::from_parts(fitted.collect::<Result<_>>()?));
        }
        let model = Model {
            method: metadata.method,
            views,
            tuples: metadata.tuples,
            log_likelihood: metadata.log_likelihood,
            rho: if file.has("rho") { file.f64s("rho", latent)? } else { Vec::new() },
            shrinkage: metadata.views.iter().map(|view| view.shrinkage).collect(),
            trace: metadata.trace,
        };
        Ok(Alignment { model, casing: metadata.casing, normalizers, sources: metadata.sources })
    }
}
