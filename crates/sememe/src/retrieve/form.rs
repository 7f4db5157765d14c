//! How vectors enter the inner product of a criterion.

use super::generative::{Generative, Pmi};
use super::rows::{Role, Scaled};
use super::{Criterion, PairCoordinates};
use crate::error::{Error, Result};
use crate::vectors::Matrix;

/// How vectors enter the inner product.
#[derive(Clone)]
pub(super) enum Form {
    /// Unit vectors, with queries scaled to this length, perhaps after a map to the coordinates of the pair.
    Cosine { length: f64, pair: Option<PairCoordinates> },
    /// Vectors unchanged, with queries multiplied by this factor.
    Product { factor: f64 },
    /// Queries mapped by the generative model.
    Pmi(Pmi),
}

impl Form {
    pub(super) fn of(
        criterion: Criterion,
        generative: Option<&Generative>,
        pair: Option<PairCoordinates>,
    ) -> Result<Self> {
        Ok(match criterion {
            Criterion::Nn | Criterion::Corrected { .. } => Form::Cosine { length: 1.0, pair },
            Criterion::Csls { .. } => Form::Cosine { length: 2.0, pair },
            Criterion::Isf { beta, .. } => Form::Cosine { length: beta, pair },
            Criterion::Dot => Form::Product { factor: 1.0 },
            Criterion::L2 => Form::Product { factor: 2.0 },
            Criterion::Pmi | Criterion::Logp => {
                let needed = "it takes the model that made the vectors: use it on a space";
                let generative = generative.ok_or_else(|| Error::argument("criterion", criterion, needed))?;
                if criterion == Criterion::Logp && generative.log_density.is_none() {
                    let missing = "this space was written without log densities; align again";
                    return Err(Error::argument("criterion", criterion, missing));
                }
                Form::Pmi(generative.pmi.clone())
            }
        })
    }

    /// Queries and the factor of each.
    pub(super) fn scaled(&self, queries: &Matrix) -> Result<Scaled> {
        match self {
            Form::Cosine { length, pair } => {
                let queries = pair.as_ref().map_or_else(|| queries.clone(), |pair| pair.of_queries(queries));
                Scaled::directions(queries, *length, Role::Queries)
            }
            Form::Product { factor } => Scaled::times(queries.clone(), *factor, Role::Queries),
            Form::Pmi(pmi) => Scaled::times(pmi.queries(queries), 1.0, Role::Queries),
        }
    }

    /// Queries as they enter the inner product. Zero rows are an error where the criterion uses cosines.
    pub(super) fn of_queries(&self, queries: &Matrix) -> Result<Matrix> {
        let scaled = self.scaled(queries)?;
        scaled.check_directions(Role::Queries)?;
        let rows = scaled.rows();
        Ok(Matrix::new((0..rows.len()).flat_map(|query| rows.scaled(query)).collect(), queries.cols()))
    }
}
