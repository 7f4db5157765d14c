//! Adding a view to a fitted space without changing the other views.
//!
//! The known views `O` of a tuple determine the posterior `z | x_O ~ N(m, M_O)`. It follows from the latent vectors of
//! the space: with `M_i` the posterior covariance given view `i` alone, `M_O⁻¹ = I + Σ (M_i⁻¹ - I)` and
//! `m = M_O Σ M_i⁻¹ E[z|x_i]`. The vectors that the space was fitted on are not needed.

use super::comparing::Started;
use super::extension::{Extension, is_generative, not_extendable};
use super::folds::{MOST_PAIRS, Splits};
use super::span::{Span, is_shrunk};
use super::{Alignment, Confidences, ShrinkageRule};
use crate::error::{Error, Result};
use crate::lexicon::{TrainedPairs, TrainedRows, Tuples};
use crate::model::new_view::NewView;
use crate::model::{Exponent, FitOptions, FitWarning, LatentView, Method, Shrinkage};
use crate::moments::Source;
use crate::observe::{Observer, Remembering};
use crate::vectors::{Label, View};

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
    let is_spanned = is_generative(alignment.model.method) && is_shrunk(options.shrinkage);
    let span = if is_spanned { Span::of_view(&view, tuples.rows_of(latent.len()))? } else { None };
    let coordinates = span.as_ref().map(|span| span.coordinates_of(&view)).transpose()?;
    let outside = span.as_ref().map_or(0, Span::outside);
    let extension = Extension { model: &alignment.model, latent, view: coordinates.as_ref().unwrap_or(&view), outside };
    let mut shrinkage_rule = ShrinkageRule::Given;
    if is_generative(alignment.model.method) && options.shrinkage == Shrinkage::Auto {
        options.shrinkage = extension.held_out_shrinkage(tuples);
        shrinkage_rule = ShrinkageRule::of_choice(options.shrinkage);
    }
    let at_chance = extension.at_chance(tuples, &options);
    let NewView { model: fitted, shrinkage, added, mut warnings } = extension.fit(tuples, &options, observer)?;
    extended.words.push(0);
    extended.file_hashes.push(None);
    let of_all_dimensions = span.as_ref().map(|span| span.lifted(&fitted, added));
    extended.model.views.push(of_all_dimensions.unwrap_or_else(|| fitted.clone()));
    extended.model.shrinkage.push(shrinkage);
    let splits = match alignment.model.views.len() > MOST_PAIRS {
        true => Splits::of_very_many(tuples),
        false => Splits::of(tuples),
    };
    let folds = |splits| extension.folds(splits, tuples, &options, observer);
    let project = extension.project(fitted);
    let finish = options.finish_for(alignment.model.method, alignment.model.latent());
    let (choosing, calibrating) = (folds(&splits.choosing), folds(&splits.calibrating));
    let started = Started::new(choosing, calibrating, (Exponent::PosteriorMean, finish), observer)?;
    let choices = (None, Confidences::Calibrated);
    let compared = started.map(|started| {
        started.finish_and_calibrate(&extended.model, (&project, tuples, tuples), choices, None, observer)
    });
    let compared = compared.transpose()?.unwrap_or_default();
    extended.model.finishes.extend(compared.finishes);
    extended.calibrations.extend(compared.calibrations);
    let named = |view: usize| extended.model.views[view].name.clone();
    let at_chance = at_chance.into_iter().map(|(views, entries)| (views.map(named), entries));
    warnings.extend(at_chance.map(|(views, entries)| FitWarning::Chance { views, entries }));
    let latent = extended.model.latent_view(alignment.model.views.len(), view)?;
    Ok(Extended { alignment: extended, latent, shrinkage_rule, warnings })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::{AlignOptions, align};
    use crate::linalg::{Mat, product_of_rows};
    use crate::random::Random;
    use crate::vectors::Matrix;

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

    #[test]
    fn a_view_with_fewer_entries_than_dimensions_is_fitted_in_their_span() {
        let (alignment, latent, new) = space_and_new_view();
        let mut random = Random::new(2);
        let mix: Vec<f32> = (0..6 * 50).map(|_| random.normal() as f32).collect();
        let mut values = vec![0.0; ROWS * 50];
        product_of_rows(new.rows().as_slice(), &mix, 6, &mut values);
        values.iter_mut().for_each(|value| *value += 0.5 * random.normal() as f32);
        let new = View::new("new", Matrix::new(values, 50));
        let mut tuples = Tuples::new(4);
        (0..30).for_each(|row| assert!(tuples.add(&[Some(row), Some(row), None, Some(row)])));
        let mut options = shrunk_by(0.3);
        options.mbfa.tolerance = 1e-10;
        options.mbfa.evaluations = 1000;
        let in_all = Extension { model: &alignment.model, latent: &latent, view: &new, outside: 0 };
        let expected = in_all.fit(&tuples, &options, &()).unwrap().model;
        let found = extend(&alignment, &latent, new, &tuples, &options, &()).unwrap().alignment.model;
        // An iteration ends a little before or after.
        let near = |a: &Mat, b: &Mat| (a - b).norm_max() < 1e-3 * b.norm_max();
        assert!(near(&found.views[3].projection, &expected.projection));
        let [found, expected] = [&found.views[3], &expected].map(|view| view.emission.as_ref().unwrap());
        assert!(near(&found.w, &expected.w) && near(&found.psi, &expected.psi));
    }
}
