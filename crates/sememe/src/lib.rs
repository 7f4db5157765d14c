//! sememe aligns word vectors of several languages, or any vector spaces with known pairs, in one latent space.
//!
//! A word and its translations are views of one latent vector `z`: `x_i = W_i z + mu_i + e_i` (*Multilingual Factor
//! Analysis*, ACL 2019). The pipeline, one module a step:
//!
//! [`vectors`] + [`lexicon`] → [`moments`] → [`model`] → [`latent`](model::ViewModel::project) [`space`] → [`retrieve`]
//! → [`evaluate`]. Without a usable lexicon, [`learn`] induces one by self-learning.
//!
//! ```
//! use sememe::{lexicon::Tuples, model::ibfa, moments::Moments, retrieve, vectors::{Matrix, View}};
//!
//! # fn main() -> sememe::Result<()> {
//! // Two tiny "languages": the second is the first turned by 90 degrees.
//! let en = View::new("en", Matrix::new(vec![1.0, 0.1, 0.2, 1.0, -1.0, 0.3, 0.4, -0.9], 2));
//! let fr = View::new("fr", Matrix::new(vec![-0.1, 1.0, -1.0, 0.2, -0.3, -1.0, 0.9, 0.4], 2));
//! let mut tuples = Tuples::new(2);
//! for i in 0..3 {
//!     tuples.add(&[Some(i), Some(i)]);
//! }
//!
//! let moments = Moments::of(&[en.clone(), fr.clone()], &tuples)?;
//! let (model, _) = ibfa::fit(&moments, &Default::default())?;
//! let (z_en, z_fr) = (model.views[0].project(en.rows())?, model.views[1].project(fr.rows())?);
//! let nearest = retrieve::nearest(&z_en, &z_fr, 1, Default::default())?;
//! assert_eq!(nearest[3][0].index, 3); // a pair that the model never saw
//! # Ok(())
//! # }
//! ```

pub mod align;
#[cfg(feature = "parquet")]
pub mod batches;
pub mod device;
pub mod error;
pub mod evaluate;
pub mod files;
pub mod gather;
pub mod learn;
pub mod lexicon;
pub mod migrate;
pub mod model;
pub mod moments;
mod names;
pub mod observe;
pub mod prepare;
mod random;
mod regression;
pub mod retrieve;
pub mod sample;
#[cfg(test)]
#[path = "../tests/it/seeds.rs"]
mod seeds;
pub mod space;
#[cfg(feature = "parquet")]
pub mod tables;
mod tensors;
mod threads;
pub mod translate;
pub mod vectors;

pub use error::{Error, Result};
pub use sememe_linalg as linalg;
