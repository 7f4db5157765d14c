//! Adding a view to a fitted space without changing the other views.
//!
//! The known views `O` of a tuple determine the posterior `z | x_O ~ N(m, M_O)`. It follows from the latent vectors of
//! the space: with `M_i` the posterior covariance given view `i` alone, `M_O⁻¹ = I + Σ (M_i⁻¹ - I)` and
//! `m = M_O Σ M_i⁻¹ E[z|x_i]`. The vectors that the space was fitted on are not needed.

use super::folds::{ENOUGH_OF_VERY_MANY, Folds, MOST_PAIRS, Project, Rows, Split, splits, splits_until};
use super::held_out::{Gains, SHRINKAGE_FOR_CHANCE};
use super::held_out_pair::{QUERIES, ranks_of, some_of};
use super::known::{Known, known_rows};
use super::{Alignment, Confidences, ShrinkageRule, finish_and_calibrate, held_out, short_fit};
use crate::error::{Error, Result};
use crate::lexicon::{TrainedPairs, TrainedRows, Tuples};
use crate::linalg::{Cholesky, times_vector};
use crate::model::new_view::{self, Group};
use crate::model::{self, FitOptions, FitWarning, LatentView, Method, Model, Shrinkage};
use crate::moments::{Moments, PatternMoments, Shape, Source};
use crate::observe::{Observer, Remembering};
use crate::vectors::{Label, Matrix, View};

/// Likelihood evaluations of the fits that shrinkage is chosen by.
const EVALUATIONS: usize = 5;

/// The result of [`extend`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Extended {
    /// The earlier alignment with the new view at the end.
    pub alignment: Alignment,
    /// The latent vectors of the new view.
    pub latent: LatentView,
    /// How the shrinkage of the new view was chosen.
    pub shrinkage_rule: ShrinkageRule,
    /// Warnings about the fit.
    pub warnings: Vec<FitWarning>,
}

/// Adds a view. `latent` are the latent vectors of the existing views, where the space has them. `tuples` are over the
/// existing views and the new one, which comes last. The casing of the new words must follow the alignment's policy.
pub fn extend(
    alignment: &Alignment,
    latent: &[Option<View>],
    view: View,
    tuples: &Tuples,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<Extended> {
    let Some(mut spelling) = alignment.model.spelling.clone() else {
        return extend_meanings(alignment, latent, view, tuples, options, observer);
    };
    // The spelling of the new view is not compared with that of others.
    let mut without = alignment.clone();
    without.model = without.model.without_spelling();
    let columns = |view: &View, count: usize| Ok(view.with_rows(view.rows().with_columns(count)?));
    let cut = |known: &Option<View>| known.as_ref().map(|known| columns(known, without.model.latent())).transpose();
    let cut = latent.iter().map(cut).collect::<Result<Vec<Option<View>>>>()?;
    let mut extended = extend_meanings(&without, &cut, view, tuples, options, observer)?;
    spelling.views.push(None);
    extended.alignment.model = extended.alignment.model.with_spelling(spelling);
    extended.latent.view = columns(&extended.latent.view, alignment.model.latent())?;
    Ok(extended)
}

/// [`extend`] for a model without spelling.
fn extend_meanings(
    alignment: &Alignment,
    latent: &[Option<View>],
    mut view: View,
    tuples: &Tuples,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<Extended> {
    let observer = &Remembering::new(observer);
    let name = view.name().to_owned();
    if alignment.model.view_index(&name).is_ok() {
        return Err(Error::argument("view", &name, "the space has a view of that name already; choose another"));
    }
    alignment.check_extension(options.asked_shrinkage())?;
    let source = Source::of(&view);
    let mut extended = alignment.clone();
    let word = |place: usize, row: usize| match latent.get(place) {
        Some(known) => known.as_ref().map_or(Label::Word(""), |known| known.label(row)),
        None => view.label(row),
    };
    extended.sources.lexicon.merge(&Source::of_tuples(tuples, word));
    // If the training pairs of the space are unknown, those of the new view alone would be misleading.
    extended.trained = alignment.trained.as_ref().map(|trained| {
        let former = alignment.model.views.iter().map(|view| view.name.as_str());
        trained.merged(&TrainedPairs::of(tuples, &former.chain([name.as_str()]).collect::<Vec<_>>(), word))
    });
    extended.trained_rows = alignment.trained_rows.as_ref().map(|rows| rows.merged(&TrainedRows::of(tuples)));
    extended.sources.views.push(source);
    extended.preparation.fit_apply(view.rows_mut())?;

    let mut options = options.clone();
    let extension = Extension { model: &alignment.model, latent, view: &view };
    let mut shrinkage_rule = ShrinkageRule::Given;
    if extension.is_generative() && options.shrinkage == Shrinkage::Auto {
        options.shrinkage = extension.held_out_shrinkage(tuples);
        shrinkage_rule = ShrinkageRule::of_choice(options.shrinkage);
    }
    let at_chance = extension.at_chance(tuples, &options);
    let NewView { model: fitted, shrinkage, mut warnings } = extension.fit(tuples, &options, observer)?;
    extended.words.push(0);
    extended.file_hashes.push(None);
    extended.model.views.push(fitted.clone());
    extended.model.shrinkage.push(shrinkage);
    let splits = match alignment.model.views.len() > MOST_PAIRS {
        true => splits_until(tuples, ENOUGH_OF_VERY_MANY),
        false => splits(tuples),
    };
    let folds = extension.folds(&splits, tuples, &options, observer);
    let project = extension.project(fitted);
    let finish = options.finish_for(alignment.model.method, alignment.model.latent());
    let wanted = (finish, Confidences::Calibrated);
    let compared = finish_and_calibrate(folds, &extended.model, (&project, tuples), wanted, None, observer)?;
    extended.model.finishes.extend(compared.finishes);
    extended.calibrations.extend(compared.calibrations);
    let named = |view: usize| extended.model.views[view].name.clone();
    let at_chance = at_chance.into_iter().map(|(views, entries)| (views.map(named), entries));
    warnings.extend(at_chance.map(|(views, entries)| FitWarning::Chance { views, entries }));
    let latent = extended.model.latent_view(alignment.model.views.len(), view)?;
    Ok(Extended { alignment: extended, latent, shrinkage_rule, warnings })
}

/// A fitted model, the latent vectors of its views, and the view to be added.
struct Extension<'a> {
    model: &'a Model,
    latent: &'a [Option<View>],
    view: &'a View,
}

/// A view that was fitted to a space.
struct NewView {
    model: model::ViewModel,
    shrinkage: f64,
    warnings: Vec<FitWarning>,
}

impl Extension<'_> {
    fn is_generative(&self) -> bool {
        matches!(self.model.method, Method::Ibfa | Method::Mbfa)
    }

    /// The known views, with the new one, between which held-out entries are found no better than chance, and the number of
    /// these entries.
    fn at_chance(&self, tuples: &Tuples, options: &FitOptions) -> Vec<([usize; 2], usize)> {
        let mut options = short_fit(options);
        if self.is_generative() {
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
    fn fit(&self, tuples: &Tuples, options: &FitOptions, observer: &dyn Observer) -> Result<NewView> {
        let (name, dim) = (self.view.name(), self.view.dim());
        match self.model.method {
            Method::Ibfa | Method::Mbfa => {
                let groups = self.groups(&self.known(tuples)?)?;
                let (model, shrinkage, warnings) = new_view::fit(name, dim, &groups, options, observer)?;
                Ok(NewView { model, shrinkage, warnings })
            }
            method @ (Method::Svd | Method::LeastSquares) => {
                map_to_latent(method, name, (self.model.latent(), self.mean_pairs(tuples)?), options)
            }
            method @ (Method::Cca | Method::CcaNipals | Method::Rcsls) => Err(not_extendable(method)),
        }
    }

    /// Fits of the new view to parts of the tuples, to be retrieved from and by each known view.
    fn folds<'b>(
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
    fn project(&self, fitted: model::ViewModel) -> Project<'static> {
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
    fn held_out_shrinkage(&self, tuples: &Tuples) -> Shrinkage {
        let new = self.view.rows();
        let [train, test] = tuples.halves().map(|half| self.known(&half));
        // A half may be too small to fit a model.
        let (Ok(train), Ok(test)) = (train, test) else { return Shrinkage::Auto };
        let Ok(groups) = self.groups(&train) else { return Shrinkage::Auto };
        let score = |by: f64| -> Result<f64> {
            let mut options = FitOptions { shrinkage: Shrinkage::By(by), ..Default::default() };
            options.mbfa.evaluations = EVALUATIONS;
            let (view, ..) = new_view::fit("new", new.cols(), &groups, &options, &())?;
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

impl Alignment {
    /// Checks that a view can be added, and that adding it uses all of the options with these names, as the command
    /// spells them.
    pub fn check_extension<'a>(&self, options: impl IntoIterator<Item = &'a str>) -> Result<()> {
        match self.model.method {
            // The new view of a generative model is fitted as one of multiple-battery factor analysis.
            Method::Ibfa | Method::Mbfa => Method::Mbfa.check_uses(options),
            method @ (Method::Svd | Method::LeastSquares) => method.check_uses(options),
            method @ (Method::Cca | Method::CcaNipals | Method::Rcsls) => Err(not_extendable(method)),
        }
    }
}

fn not_extendable(method: Method) -> Error {
    let expected = "only spaces of ibfa, mbfa, svd and least-squares can be extended";
    Error::argument("method of the space", method, expected)
}

/// Maps the new view to the latent space by a direct method, with the latent space as pivot.
fn map_to_latent(
    method: Method,
    name: &str,
    (latent, pairs): (usize, PatternMoments),
    options: &FitOptions,
) -> Result<NewView> {
    let x = Shape { name: name.to_owned(), dim: pairs.mean.len() - latent, outside: 0 };
    let z = Shape { name: "the latent space".to_owned(), dim: latent, outside: 0 };
    let options = FitOptions { method: Some(method), ..options.clone() };
    let (mut mapped, warnings) = model::fit(&Moments::of_pairs(&[x, z], [0, 1], pairs), &options, &())?;
    Ok(NewView { model: mapped.views.swap_remove(0), shrinkage: mapped.shrinkage.swap_remove(0), warnings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::{AlignOptions, align};
    use crate::random::Random;

    const ROWS: usize = 120;

    /// Noisy linear images of the same latent rows.
    fn views(names: &[&str]) -> Vec<View> {
        let (latent, dim) = (4, 6);
        let mut random = Random::new(11);
        let hidden: Vec<f64> = (0..ROWS * latent).map(|_| random.normal()).collect();
        let mut view = |name: &&str| {
            let loadings: Vec<f64> = (0..latent * dim).map(|_| random.normal()).collect();
            let value = |row: usize, col: usize| -> f64 {
                (0..latent).map(|k| hidden[row * latent + k] * loadings[k * dim + col]).sum()
            };
            let rows = (0..ROWS).flat_map(|row| (0..dim).map(move |col| (row, col)));
            let values = rows.map(|(row, col)| (value(row, col) + 0.3 * random.normal()) as f32).collect();
            View::new(*name, Matrix::new(values, dim))
        };
        names.iter().map(&mut view).collect()
    }

    fn space_and_new_view() -> (Alignment, Vec<Option<View>>, View) {
        let mut views = views(&["a", "b", "c", "new"]);
        let new = views.pop().expect("four views");
        let mut tuples = Tuples::new(3);
        (0..ROWS).for_each(|row| assert!(tuples.add(&[Some(row); 3])));
        let aligned = align(views, &tuples, &AlignOptions::default(), &()).unwrap();
        let latent = aligned.latent.into_iter().map(|latent| latent.map(|latent| latent.view)).collect();
        (aligned.alignment, latent, new)
    }

    fn shrunk_by(by: f64) -> FitOptions {
        FitOptions { shrinkage: Shrinkage::By(by), ..FitOptions::for_new_view() }
    }

    #[test]
    fn one_tuple_of_a_pattern_is_enough() {
        let (alignment, latent, new) = space_and_new_view();
        let mut tuples = Tuples::new(4);
        // Every set of known views once, and one of them often.
        for pattern in 1..8 {
            let mut tuple = vec![None; 4];
            (0..3).filter(|view| pattern >> view & 1 == 1).for_each(|view| tuple[view] = Some(pattern));
            tuple[3] = Some(pattern);
            tuples.add(&tuple);
        }
        (8..20).for_each(|row| assert!(tuples.add(&[Some(row), None, None, Some(row)])));
        for by in [0.02, 0.3, 0.9] {
            let extended = extend(&alignment, &latent, new.clone(), &tuples, &shrunk_by(by), &()).unwrap();
            assert!(extended.latent.view.rows().as_slice().iter().all(|x| x.is_finite()), "{by}");
        }
    }

    #[test]
    fn tuples_count_as_much_as_they_weigh() {
        let (alignment, latent, new) = space_and_new_view();
        let [mut weighted, mut few] = [Tuples::new(4), Tuples::new(4)];
        for row in 0..ROWS {
            let (known, weight) = if row < 60 { (row, 1.0) } else { (ROWS - 1 - row, 0.0) };
            let tuple = [Some(known), Some(known), None, Some(row)];
            weighted.add_weighted(&tuple, weight).unwrap();
            if weight > 0.0 {
                few.add(&tuple);
            }
        }
        let project = |tuples: &Tuples| {
            let extended = extend(&alignment, &latent, new.clone(), tuples, &shrunk_by(0.1), &()).unwrap();
            extended.alignment.model.views[3].projection.clone()
        };
        assert_eq!(project(&weighted), project(&few));
    }

    #[test]
    fn accelerated_em_converges_to_a_tight_tolerance() {
        let (alignment, latent, new) = space_and_new_view();
        let mut tuples = Tuples::new(4);
        (0..ROWS).for_each(|row| assert!(tuples.add(&[(row % 3 > 0).then_some(row), Some(row), None, Some(row)])));
        let mut options = shrunk_by(0.1);
        options.mbfa.tolerance = 1e-9;
        options.mbfa.evaluations = 10_000;
        let extended = extend(&alignment, &latent, new, &tuples, &options, &()).unwrap();
        assert!(extended.warnings.is_empty(), "{:?}", extended.warnings);
    }
}
