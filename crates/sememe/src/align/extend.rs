//! Adding a view to a fitted space while everything else stays as it is.
//!
//! What the known views `O` of a tuple say is `z | x_O ~ N(m, M_O)`, and `m` and `M_O` follow from the latent vectors of the
//! space: with `M_i` the posterior covariance from view `i` alone, `M_O⁻¹ = I + Σ (M_i⁻¹ - I)` and `m = M_O Σ M_i⁻¹ E[z|x_i]`.
//! The vectors that the space was fitted on are not needed.

use std::collections::BTreeMap;

use super::{Alignment, held_out};
use crate::error::{Error, Result};
use crate::lexicon::{TrainedPairs, Tuples};
use crate::linalg::{Cholesky, Mat, symmetric, times_vector};
use crate::model::new_view::{self, Group};
use crate::model::{self, FitOptions, FitWarning, LatentView, Method, Model, Shrinkage};
use crate::moments::{Moments, PatternMoments, Shape, Source};
use crate::observe::Observer;
use crate::prepare::Normalizer;
use crate::vectors::{Label, Matrix, View};

/// How far the fits go that shrinkage is chosen by.
const EVALUATIONS: usize = 5;

/// What came out.
#[derive(Debug)]
pub struct Extended {
    /// The former alignment with the new view at the end.
    pub alignment: Alignment,
    /// The rows of the new view where they lie in the latent space.
    pub latent: LatentView,
    /// What should be known about the fit.
    pub warnings: Vec<FitWarning>,
}

/// How a view is added unless somebody asks for something else: a new view has few parameters, so that few evaluations do.
pub fn extend_options() -> FitOptions {
    let mut options = FitOptions::default();
    options.mbfa.evaluations = 50;
    options.mbfa.tolerance = 1e-6;
    options
}

/// Adds a view. `latent` are the former views with their latent vectors, where the space has them; `tuples` are over the
/// former views and the new one, which comes last. The casing of the new words must follow the alignment's.
pub fn extend(
    alignment: &Alignment,
    latent: &[Option<View>],
    mut view: View,
    tuples: &Tuples,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<Extended> {
    let name = view.name().to_owned();
    if alignment.model.view_index(&name).is_ok() {
        return Err(Error::argument("view", &name, "the space has a view of that name already; choose another"));
    }
    let source = Source::of(&view);
    let mut extended = alignment.clone();
    let word = |place: usize, row: usize| match latent.get(place) {
        Some(known) => known.as_ref().map_or(Label::Word(""), |known| known.label(row)),
        None => view.label(row),
    };
    extended.sources.lexicon.merge(&Source::of_tuples(tuples, word));
    // Of a space that does not know its own pairs, those of the new view alone would say too little.
    extended.trained = alignment.trained.as_ref().map(|trained| {
        let former = alignment.model.views.iter().map(|view| view.name.as_str());
        trained.merged(&TrainedPairs::of(tuples, &former.chain([name.as_str()]).collect::<Vec<_>>(), word))
    });
    extended.sources.views.push(source);
    extended.preparation.normalizers.push(Normalizer::fit_apply(&alignment.preparation.steps, view.rows_mut()));

    let (fitted, shrinkage, warnings) = match alignment.model.method {
        Method::Ibfa | Method::Mbfa => {
            let known = what_is_known(&alignment.model, latent, tuples)?;
            let mut options = options.clone();
            if options.shrinkage == Shrinkage::Auto {
                options.shrinkage = held_out_shrinkage(&alignment.model, latent, view.rows(), tuples);
            }
            new_view::fit(&name, view.dim(), &groups(&known, view.rows())?, &options, observer)?
        }
        method @ (Method::Svd | Method::LeastSquares) => {
            let pairs = mean_pairs(alignment.model.latent(), latent, view.rows(), tuples)?;
            map_to_latent(method, &name, (alignment.model.latent(), pairs), options)?
        }
        method @ (Method::Cca | Method::CcaNipals) => {
            let expected = "only spaces of ibfa, mbfa, svd and least-squares can be extended";
            return Err(Error::argument("method of the space", method, expected));
        }
    };
    extended.model.views.push(fitted);
    extended.model.shrinkage.push(shrinkage);
    let latent = extended.model.latent_view(alignment.model.views.len(), &view)?;
    Ok(Extended { alignment: extended, latent, warnings })
}

/// The rows of the known views and of the new one, by which views are known.
fn known_rows(latent: &[Option<View>], tuples: &Tuples) -> Result<BTreeMap<Vec<usize>, Vec<Vec<usize>>>> {
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
fn latent_rows(latent: &[Option<View>], view: usize, tuples: &[Vec<usize>], place: usize) -> Matrix {
    let rows: Vec<usize> = tuples.iter().map(|tuple| tuple[place]).collect();
    latent[view].as_ref().expect("tuples are over rows of the space").rows().select(&rows)
}

fn new_rows(new: &Matrix, tuples: &[Vec<usize>]) -> Matrix {
    new.select(&tuples.iter().map(|tuple| tuple[tuple.len() - 1]).collect::<Vec<_>>())
}

/// Tuples of which the same views are known, and what these say of `z` in each: `N(m, M)`.
struct Known {
    covariance: Mat,
    mean: Matrix,
    /// The first known word and the new one of each tuple.
    pairs: Vec<(usize, usize)>,
}

impl Known {
    fn new_rows(&self, new: &Matrix) -> Matrix {
        new.select(&self.pairs.iter().map(|pair| pair.1).collect::<Vec<_>>())
    }

    fn group(&self, new: &Matrix) -> Result<Group> {
        let precision = Cholesky::new(&self.covariance, "a posterior covariance")?.inverse();
        let moments = PatternMoments::of_rows(&self.mean, &self.new_rows(new));
        Ok(Group { precision: symmetric(&precision), covariance: self.covariance.clone(), moments })
    }
}

fn what_is_known(model: &Model, latent: &[Option<View>], tuples: &Tuples) -> Result<Vec<Known>> {
    let mut all = Vec::new();
    for (known, tuples) in known_rows(latent, tuples)? {
        let covariance = model.posterior_covariance(&known)?;
        let mut mean = vec![0.0_f64; tuples.len() * model.latent()];
        for (place, &view) in known.iter().enumerate() {
            if !model.projects_posterior_means(view)? {
                let expected =
                    "its latent vectors are weighted otherwise; align again without --exponent and --dewhiten";
                return Err(Error::argument("space to be extended", "not of posterior means", expected));
            }
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
        let pairs = tuples.iter().map(|tuple| (tuple[0], tuple[tuple.len() - 1])).collect();
        all.push(Known { covariance, mean, pairs });
    }
    Ok(all)
}

fn groups(known: &[Known], new: &Matrix) -> Result<Vec<Group>> {
    known.iter().map(|known| known.group(new)).collect()
}

/// The shrinkage that is best for finding held-out tuples, as for a whole space.
fn held_out_shrinkage(model: &Model, latent: &[Option<View>], new: &Matrix, tuples: &Tuples) -> Shrinkage {
    if tuples.len() as f64 >= held_out::MANY * new.cols() as f64 {
        return Shrinkage::Auto;
    }
    let [train, test] = tuples.halves().map(|half| what_is_known(model, latent, &half));
    // A half may be too little to fit anything to.
    let (Ok(train), Ok(test)) = (train, test) else { return Shrinkage::Auto };
    let Ok(groups) = groups(&train, new) else { return Shrinkage::Auto };
    let score = |by: f64| -> Result<f64> {
        let mut options = FitOptions { shrinkage: Shrinkage::By(by), ..Default::default() };
        options.mbfa.evaluations = EVALUATIONS;
        let (view, ..) = new_view::fit("new", new.cols(), &groups, &options, &())?;
        let log_ranks = |known: &Known| -> Result<f64> {
            let some: Vec<usize> =
                (0..known.pairs.len()).step_by(known.pairs.len().div_ceil(held_out::QUERIES).max(1)).collect();
            let pairs: Vec<(usize, usize)> = some.iter().map(|&at| known.pairs[at]).collect();
            let new = view.project(&known.new_rows(new).select(&some))?;
            Ok(held_out::sum_of_log_ranks(known.mean.select(&some), new, &pairs))
        };
        test.iter().map(log_ranks).sum()
    };
    match held_out::best(|by| score(by).unwrap_or(f64::INFINITY)) {
        Some(by) => Shrinkage::By(by),
        None => Shrinkage::Auto,
    }
}

/// Moments of the new vectors and the mean of the known latent vectors, for methods without densities.
fn mean_pairs(size: usize, latent: &[Option<View>], new: &Matrix, tuples: &Tuples) -> Result<PatternMoments> {
    let mut all: Option<PatternMoments> = None;
    for (known, tuples) in known_rows(latent, tuples)? {
        let mut mean = vec![0.0_f32; tuples.len() * size];
        for (place, &view) in known.iter().enumerate() {
            let rows = latent_rows(latent, view, &tuples, place);
            mean.iter_mut().zip(rows.as_slice()).for_each(|(mean, x)| *mean += x / known.len() as f32);
        }
        let pairs = PatternMoments::of_rows(&new_rows(new, &tuples), &Matrix::new(mean, size));
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
    options: &FitOptions,
) -> Result<(model::ViewModel, f64, Vec<FitWarning>)> {
    let x = Shape { name: name.to_owned(), dim: pairs.mean.len() - latent };
    let z = Shape { name: "the latent space".to_owned(), dim: latent };
    let options = FitOptions { method: Some(method), ..options.clone() };
    let (mut mapped, warnings) = model::fit(&Moments::of_pairs(&[x, z], [0, 1], pairs), &options, &())?;
    Ok((mapped.views.swap_remove(0), mapped.shrinkage.swap_remove(0), warnings))
}
