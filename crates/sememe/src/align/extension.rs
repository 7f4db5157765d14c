//! Adding a view to a fitted space while everything else stays as it is.
//!
//! What the known views `O` of a tuple say is `z | x_O ~ N(m, M_O)`, and `m` and `M_O` follow from the latent vectors of the
//! space: with `M_i` the posterior covariance from view `i` alone, `M_O⁻¹ = I + Σ (M_i⁻¹ - I)` and `m = M_O Σ M_i⁻¹ E[z|x_i]`.
//! The vectors that the space was fitted on are not needed.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::evidence::Source;
use crate::latent::LatentView;
use crate::lexicon::Tuples;
use crate::linalg::{Cholesky, symmetric, times_vector};
use crate::model::extension::{self, Group};
use crate::model::{self, Alignment, FitWarning, Method, Model};
use crate::moments::{Moments, PatternMoments, Shape};
use crate::normalize::Normalizer;
use crate::vectors::{Embeddings, Matrix};

/// What came out.
#[derive(Debug)]
pub struct Extended {
    /// The former alignment with the new view at the end.
    pub alignment: Alignment,
    /// The words of the new view where they lie in the latent space.
    pub latent: LatentView,
    /// What should be known about the fit.
    pub warnings: Vec<FitWarning>,
}

/// Adds a view. `latent` are the words of the former views with their latent vectors, where the space has them; `tuples`
/// are over the former views and the new one, which comes last. The casing of the new words must follow the alignment's.
pub fn extend(
    alignment: &Alignment,
    latent: &[Option<Embeddings>],
    (name, mut embeddings): (String, Embeddings),
    tuples: &Tuples,
    options: &model::Options,
) -> Result<Extended> {
    if alignment.model.view_index(&name).is_ok() {
        return Err(Error::argument("view", &name, "the space has a view of that name already; choose another"));
    }
    let source = Source::of(&embeddings);
    let mut extended = alignment.clone();
    extended.sources.lexicon.merge(&Source::of_tuples(tuples, |view, word| match latent.get(view) {
        Some(known) => known.as_ref().map_or("", |known| known.word(word)),
        None => embeddings.word(word),
    }));
    extended.sources.views.push(source);
    extended.preparation.normalizers.push(Normalizer::fit_apply(&alignment.preparation.steps, &mut embeddings));

    let (view, shrinkage, warnings) = match alignment.model.method {
        Method::Ibfa | Method::Mbfa => {
            let groups = groups(&alignment.model, latent, &embeddings, tuples)?;
            extension::fit(&name, embeddings.dim(), &groups, options)?
        }
        method @ (Method::Svd | Method::LeastSquares) => {
            let pairs = mean_pairs(alignment.model.latent(), latent, &embeddings, tuples)?;
            map_to_latent(method, &name, (alignment.model.latent(), pairs), options)?
        }
        method @ (Method::Cca | Method::CcaNipals) => return Err(Error::NoDensity { method: method.name() }),
    };
    extended.model.views.push(view);
    extended.model.shrinkage.push(shrinkage);
    let latent = extended.model.latent_view(alignment.model.views.len(), &embeddings)?;
    Ok(Extended { alignment: extended, latent, warnings })
}

/// The rows of the known views and of the new one, by which views are known.
fn known_rows(latent: &[Option<Embeddings>], tuples: &Tuples) -> Result<BTreeMap<Vec<usize>, Vec<Vec<usize>>>> {
    let mut groups: BTreeMap<Vec<usize>, Vec<Vec<usize>>> = BTreeMap::new();
    for tuple in tuples.iter() {
        let known: Vec<usize> = (0..latent.len()).filter(|&view| tuple[view].is_some()).collect();
        if tuple[latent.len()].is_some() && !known.is_empty() {
            groups.entry(known).or_default().push(tuple.into_iter().flatten().collect());
        }
    }
    if groups.values().map(Vec::len).sum::<usize>() < 2 {
        let problem = "the lexicon gives fewer than two pairs of the new view and the space".to_owned();
        return Err(Error::NotEnoughData(problem));
    }
    Ok(groups)
}

/// The latent vectors of one view for a number of tuples.
fn latent_rows(latent: &[Option<Embeddings>], view: usize, tuples: &[Vec<usize>], place: usize) -> Matrix {
    let rows: Vec<usize> = tuples.iter().map(|tuple| tuple[place]).collect();
    latent[view].as_ref().expect("tuples are over words of the space").matrix().select(&rows)
}

fn new_rows(embeddings: &Embeddings, tuples: &[Vec<usize>]) -> Matrix {
    embeddings.matrix().select(&tuples.iter().map(|tuple| tuple[tuple.len() - 1]).collect::<Vec<_>>())
}

/// For each set of known views the precision of `z` that they give, and the moments of `m` and the new vectors.
fn groups(
    model: &Model,
    latent: &[Option<Embeddings>],
    embeddings: &Embeddings,
    tuples: &Tuples,
) -> Result<Vec<Group>> {
    let mut groups = Vec::new();
    for (known, tuples) in known_rows(latent, tuples)? {
        if !known.iter().try_fold(true, |all, &view| Ok::<_, Error>(all && model.projects_posterior_means(view)?))? {
            let expected = "its latent vectors are weighted otherwise; align again without --exponent and --dewhiten";
            return Err(Error::argument("space to be extended", "not of posterior means", expected));
        }
        let covariance = model.posterior_covariance(&known)?;
        let mut mean = vec![0.0_f64; tuples.len() * model.latent()];
        for (place, &view) in known.iter().enumerate() {
            let own = Cholesky::new(&model.posterior_covariance(&[view])?, "a posterior covariance")?;
            // M_O M_i⁻¹; the identity when the view is the only one.
            let weight = own.solve(&covariance).transpose().to_owned();
            let rows = latent_rows(latent, view, &tuples, place);
            for (row, mean) in mean.chunks_exact_mut(model.latent()).enumerate() {
                let z: Vec<f64> = rows.row(row).iter().map(|&x| f64::from(x)).collect();
                mean.iter_mut().zip(times_vector(&weight, &z)).for_each(|(mean, part)| *mean += part);
            }
        }
        let mean = Matrix::new(mean.into_iter().map(|x| x as f32).collect(), model.latent());
        let precision = Cholesky::new(&covariance, "a posterior covariance")?.inverse();
        let moments = PatternMoments::of_rows(&mean, &new_rows(embeddings, &tuples));
        groups.push(Group { precision: symmetric(&precision), covariance, moments });
    }
    Ok(groups)
}

/// Moments of the new vectors and the mean of the known latent vectors, for methods without densities.
fn mean_pairs(
    size: usize,
    latent: &[Option<Embeddings>],
    embeddings: &Embeddings,
    tuples: &Tuples,
) -> Result<PatternMoments> {
    let mut all: Option<PatternMoments> = None;
    for (known, tuples) in known_rows(latent, tuples)? {
        let mut mean = vec![0.0_f32; tuples.len() * size];
        for (place, &view) in known.iter().enumerate() {
            let rows = latent_rows(latent, view, &tuples, place);
            mean.iter_mut().zip(rows.as_slice()).for_each(|(mean, x)| *mean += x / known.len() as f32);
        }
        let pairs = PatternMoments::of_rows(&new_rows(embeddings, &tuples), &Matrix::new(mean, size));
        match &mut all {
            Some(all) => all.merge(&pairs),
            None => all = Some(pairs),
        }
    }
    Ok(all.expect("there are at least two pairs"))
}

/// The new view mapped by a direct method to the latent space, as to a pivot.
fn map_to_latent(
    method: Method,
    name: &str,
    (latent, pairs): (usize, PatternMoments),
    options: &model::Options,
) -> Result<(model::View, f64, Vec<FitWarning>)> {
    let x = Shape { name: name.to_owned(), dim: pairs.mean.len() - latent };
    let z = Shape { name: "the latent space".to_owned(), dim: latent };
    let options = model::Options { method: Some(method), ..options.clone() };
    let (mut mapped, warnings) = model::fit(&Moments::of_pairs([x, z], pairs), &options)?;
    Ok((mapped.views.swap_remove(0), mapped.shrinkage.swap_remove(0), warnings))
}
