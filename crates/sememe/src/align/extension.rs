//! A view that is fitted to a space: to all entries, to parts of them, and at the shrinkage that held-out ones choose.

use super::folds::{Folds, Project, Rows, Split};
use super::held_out::{self, Gains, SHRINKAGE_FOR_CHANCE};
use super::held_out_pair::{QUERIES, ranks_of, some_of};
use super::known::{Known, known_rows};
use super::short_fit;
use crate::error::{Error, Result};
use crate::lexicon::Tuples;
use crate::linalg::{Cholesky, times_vector};
use crate::model::new_view::{self, Group, NewView};
use crate::model::{self, FitOptions, Method, Model, Shrinkage, ViewModel};
use crate::moments::{Moments, PatternMoments, Shape};
use crate::observe::Observer;
use crate::vectors::{Matrix, View};

/// Likelihood evaluations of the fits that shrinkage is chosen by.
const EVALUATIONS: usize = 5;

/// A fitted model, the latent vectors of its views, and the view to be added.
pub(super) struct Extension<'a> {
    pub(super) model: &'a Model,
    pub(super) latent: &'a [Option<View>],
    pub(super) view: &'a View,
    /// The dimensions of the new view outside of its span, if these are coordinates of it.
    pub(super) outside: usize,
}

impl Extension<'_> {
    fn shape(&self) -> Shape {
        Shape { name: self.view.name().to_owned(), dim: self.view.dim(), outside: self.outside }
    }

    /// The known views, with the new one, between which held-out entries are found no better than chance, and the number of
    /// these entries.
    pub(super) fn at_chance(&self, tuples: &Tuples, options: &FitOptions) -> Vec<([usize; 2], usize)> {
        let mut options = short_fit(options);
        if is_generative(self.model.method) {
            options.shrinkage = Shrinkage::By(SHRINKAGE_FOR_CHANCE);
        }
        let mut gains = Gains::default();
        let [one, other] = tuples.halves();
        for (seen, held_out) in [(&one, &other), (&other, &one)] {
            // A half may be too small to fit a model.
            let Ok(fitted) = self.fit(seen, &options, &()) else { continue };
            for (known, latent) in self.latent.iter().enumerate() {
                let pairs = some_of(&held_out.pairs_of(known, self.latent.len()));
                let (Some(latent), false) = (latent, pairs.is_empty()) else { continue };
                let (old, new): (Vec<usize>, Vec<usize>) = pairs.iter().copied().unzip();
                let Ok(new) = fitted.model.project(&self.view.rows().select(&new)) else { continue };
                gains.add([known, self.latent.len()], &ranks_of(latent.rows().select(&old), new, &pairs));
            }
        }
        gains.at_chance()
    }

    /// Fits the parameters of the new view to tuples by the method of the space.
    pub(super) fn fit(&self, tuples: &Tuples, options: &FitOptions, observer: &dyn Observer) -> Result<NewView> {
        match self.model.method {
            Method::Ibfa | Method::Mbfa => {
                let groups = self.groups(&self.known(tuples)?)?;
                new_view::fit(&self.shape(), &groups, options, observer)
            }
            method @ (Method::Svd | Method::LeastSquares) => {
                map_to_latent(method, self.shape(), (self.model.latent(), self.mean_pairs(tuples)?), options)
            }
            method @ (Method::Cca | Method::CcaNipals | Method::Rcsls) => Err(not_extendable(method)),
        }
    }

    /// Fits of the new view to parts of the tuples, to be retrieved from and by each known view.
    pub(super) fn folds<'b>(
        &'b self,
        splits: &'b [Split],
        tuples: &'b Tuples,
        options: &FitOptions,
        observer: &dyn Observer,
    ) -> Result<Folds<'b>> {
        let new = self.latent.len();
        let options = short_fit(options);
        let names = self.model.views.iter().map(|view| view.name.as_str()).chain([self.view.name()]);
        let known = self.latent.iter().map(|known| known.as_ref().map(View::rows));
        let rows: Rows = known.chain([Some(self.view.rows())]).collect();
        // Entries may connect known views as well, which are calibrated already.
        let pairs = tuples.connected_views().into_iter().filter(|pair| pair[1] == new).collect();
        Folds::new(names.map(str::to_owned).collect(), (rows, pairs), (splits, tuples), observer, |split| {
            let fitted = self.fit(&split.seen(), &options, &())?;
            let mut extended = self.model.clone();
            extended.views.push(fitted.model.clone());
            extended.shrinkage.push(fitted.shrinkage);
            Ok((extended, self.project(fitted.model)))
        })
    }

    /// Projects rows of the new view. The vectors of known views are latent vectors already.
    pub(super) fn project(&self, fitted: ViewModel) -> Project<'static> {
        let new = self.latent.len();
        Box::new(move |view, rows, _| if view == new { fitted.project(rows) } else { Ok(rows.clone()) })
    }

    /// The tuples by their known views, with what these say of `z`.
    fn known(&self, tuples: &Tuples) -> Result<Vec<Known>> {
        let model = self.model;
        let mut all = Vec::new();
        for (known, rows) in known_rows(self.latent, tuples)? {
            let covariance = model.posterior_covariance(&known)?;
            let mut mean = vec![0.0_f64; rows.tuples.len() * model.latent()];
            for (place, &view) in known.iter().enumerate() {
                if !model.projects_posterior_means(view)? {
                    let expected = "its latent vectors are reweighted; align again without an exponent and dewhitening";
                    return Err(Error::argument("space to be extended", "not of posterior means", expected));
                }
                let own = Cholesky::new(&model.posterior_covariance(&[view])?, "a posterior covariance")?;
                // M_O M_i⁻¹; the identity if the view is the only one.
                let weight = own.solve(&covariance).transpose().to_owned();
                let own_rows = rows.latent(&self.latent[view], place);
                for (row, mean) in mean.chunks_exact_mut(model.latent()).enumerate() {
                    let z: Vec<f64> = own_rows.row(row).iter().map(|&x| f64::from(x)).collect();
                    mean.iter_mut().zip(times_vector(&weight, &z)).for_each(|(mean, part)| *mean += part);
                }
            }
            let mean = Matrix::new(mean.into_iter().map(|x| x as f32).collect(), model.latent());
            let pairs = rows.tuples.iter().map(|tuple| (tuple[0], tuple[tuple.len() - 1])).collect();
            all.push(Known { covariance, mean, pairs, weights: rows.weights });
        }
        Ok(all)
    }

    fn groups(&self, known: &[Known]) -> Result<Vec<Group>> {
        known.iter().map(|known| known.group(self.view.rows())).collect()
    }

    /// The shrinkage with the best retrieval of held-out tuples, as for a whole space.
    pub(super) fn held_out_shrinkage(&self, tuples: &Tuples) -> Shrinkage {
        let new = self.view.rows();
        let [train, test] = tuples.halves().map(|half| self.known(&half));
        // A half may be too small to fit a model.
        let (Ok(train), Ok(test)) = (train, test) else { return Shrinkage::Auto };
        let Ok(groups) = self.groups(&train) else { return Shrinkage::Auto };
        let score = |by: f64| -> Result<f64> {
            let mut options = FitOptions { shrinkage: Shrinkage::By(by), ..Default::default() };
            options.mbfa.evaluations = EVALUATIONS;
            let view = new_view::fit(&self.shape(), &groups, &options, &())?.model;
            let log_ranks = |known: &Known| -> Result<f64> {
                let some: Vec<usize> =
                    (0..known.pairs.len()).step_by(known.pairs.len().div_ceil(QUERIES).max(1)).collect();
                let pairs: Vec<(usize, usize)> = some.iter().map(|&at| known.pairs[at]).collect();
                let new = view.project(&known.new_rows(new).select(&some))?;
                Ok(ranks_of(known.mean.select(&some), new, &pairs).iter().map(|rank| rank.log).sum())
            };
            test.iter().map(log_ranks).sum()
        };
        let best = held_out::best(|by| Ok(score(by).unwrap_or(f64::INFINITY)));
        best.ok().flatten().map_or(Shrinkage::Auto, Shrinkage::By)
    }

    /// Moments of the new vectors with the mean of the known latent vectors, for methods without densities.
    fn mean_pairs(&self, tuples: &Tuples) -> Result<PatternMoments> {
        let size = self.model.latent();
        let mut all: Option<PatternMoments> = None;
        for (known, rows) in known_rows(self.latent, tuples)? {
            let mut mean = vec![0.0_f32; rows.tuples.len() * size];
            for (place, &view) in known.iter().enumerate() {
                let own_rows = rows.latent(&self.latent[view], place);
                mean.iter_mut().zip(own_rows.as_slice()).for_each(|(mean, x)| *mean += x / known.len() as f32);
            }
            let pairs =
                PatternMoments::of_rows(&rows.new_rows(self.view.rows()), &Matrix::new(mean, size), &rows.weights);
            match &mut all {
                Some(all) => all.merge(&pairs),
                None => all = Some(pairs),
            }
        }
        Ok(all.expect("there are at least two pairs"))
    }
}

/// Maps the new view to the latent space by a direct method, with the latent space as pivot.
fn map_to_latent(
    method: Method,
    x: Shape,
    (latent, pairs): (usize, PatternMoments),
    options: &FitOptions,
) -> Result<NewView> {
    let z = Shape { name: "the latent space".to_owned(), dim: latent, outside: 0 };
    let options = FitOptions { method: Some(method), ..options.clone() };
    let (mut mapped, warnings) = model::fit(&Moments::of_pairs(&[x, z], [0, 1], pairs), &options, &())?;
    let shrinkage = mapped.shrinkage.swap_remove(0);
    Ok(NewView { model: mapped.views.swap_remove(0), shrinkage, added: 0.0, warnings })
}

/// Whether models of this method have densities, and take a new view as one of multiple-battery factor analysis.
pub(super) fn is_generative(method: Method) -> bool {
    matches!(method, Method::Ibfa | Method::Mbfa)
}

pub(super) fn not_extendable(method: Method) -> Error {
    let expected = "only spaces of ibfa, mbfa, svd and least-squares can be extended";
    Error::argument("method of the space", method, expected)
}
