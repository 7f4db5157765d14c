//! Pairs of two models that have no text in common that anybody knows of.

use super::Pairs;
use super::adapt::mutual_best;
use super::pairs::check_directions;
use crate::align::AlignOptions;
use crate::error::{Error, Result};
use crate::learn::{LearnOptions, learn};
use crate::lexicon::Tuples;
use crate::model::{FinishSteps, FitOptions};
use crate::observe::Observer;
use crate::prepare::scale_to_unit;
use crate::random::Random;
use crate::vectors::{Matrix, View};

/// Rows of each model that are looked at.
const ROWS: usize = 20_000;

/// Learns which rows of two models belong together, from the vectors alone. Nothing has to correspond by position; the
/// texts must be of the same kind, and best the same texts. The pairs are mutual best neighbours by CSLS in the
/// space that [`learn`](crate::learn::learn()) finds without supervision. An alignment that is no better than those
/// from random starts is an error ([`Error::NoBetterThanChance`]).
pub fn learn_pairs(old: &Matrix, new: &Matrix, seed: u64, observer: &dyn Observer) -> Result<Pairs> {
    check_directions(old, "old")?;
    check_directions(new, "new")?;
    let mut random = Random::new(seed);
    // Learning looks at the first rows most, and files are often sorted.
    let mut drawn = |rows: &Matrix| {
        let mut order: Vec<usize> = (0..rows.rows()).collect();
        random.shuffle(&mut order);
        order.truncate(ROWS);
        rows.select(&order)
    };
    let (old, new) = (drawn(old), drawn(new));
    let views = vec![View::new("old", old.clone()), View::new("new", new.clone())];
    let fit = FitOptions::default().with_finish(FinishSteps::None);
    let options = LearnOptions::default()
        .with_align(AlignOptions::default().with_fit(fit))
        .with_unsupervised(true)
        .with_seed(seed);
    let learned = learn(views, &Tuples::new(2), &options, observer)?;
    let aligned = learned.fitted.project()?;
    let latent = |view: usize| -> Result<Matrix> {
        let vectors = aligned.latent[view].as_ref().map(|latent| latent.view.rows().clone());
        let mut vectors = vectors.ok_or_else(|| Error::NotEnoughData("a model has no vectors".to_owned()))?;
        scale_to_unit(&mut vectors);
        Ok(vectors)
    };
    let (rows, queries): (Vec<usize>, Vec<usize>) =
        mutual_best(&latent(0)?, &latent(1)?, None).into_iter().map(|(query, row)| (row, query)).unzip();
    Pairs::new(old.select(&rows), new.select(&queries))
}
