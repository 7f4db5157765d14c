//! Precision by the size of the dictionary, with and without self-learning.

use std::ops::ControlFlow;

use sememe::evaluate::noise::fewer;
use sememe::learn;
use sememe::lexicon::{Lexicon, Tuples};
use sememe::model::{FitOptions, Method, Model};
use sememe::observe::Event;
use sememe::retrieve::Criterion;
use sememe::vectors::Embeddings;

use super::{LANGUAGES, TEST, concepts};
use crate::error::Result;
use crate::experiment::{Experiment, latent, learned, select, translate};
use crate::plots::{self, Curve, Lines};
use crate::report::{Figure, Section};
use crate::text::count;

/// English and French.
const PLACES: [usize; 2] = [0, 1];
/// Numbers of dictionary entries; all entries are a further, last point.
const SIZES: [usize; 2] = [25, 100];
/// Number of frequent words besides those of the dictionary, and of rounds with a dictionary. Larger numbers take long and
/// hardly improve the precision here.
const WORDS: usize = 2000;
const ROUNDS: usize = 10;

/// Ends learning after some rounds.
fn few_rounds(event: Event) -> ControlFlow<()> {
    match event {
        Event::Round(round) if round.number >= ROUNDS => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

/// A paragraph and a curve: precision by the size of the dictionary.
pub fn section(prepared: &[Embeddings], tuples: &Tuples, seed: u64) -> Result<Section> {
    let [source, target] = PLACES.map(|place| &LANGUAGES[place]);
    let study = Study {
        names: [source.code, target.code],
        views: PLACES.map(|place| &prepared[place]),
        gold: concepts("concepts.test.tsv", TEST)?.restricted(&[source.code, target.code])?,
        seed,
    };
    let mut pairs = Tuples::new(2);
    for (a, b) in tuples.pairs_of(PLACES[0], PLACES[1]) {
        pairs.add(&[Some(a), Some(b)]);
    }
    // Without entries there is only the unsupervised model.
    let from_nothing = study.unsupervised()?.map(|model| study.precision(&model)).transpose()?;
    let mut plain = vec![(0.0, 0.0)];
    let mut refined: Vec<(f64, f64)> = from_nothing.map(|precision| (0.0, precision)).into_iter().collect();
    for size in SIZES.into_iter().filter(|&size| size < pairs.len()).chain([pairs.len()]) {
        let given = fewer(&pairs, size, seed);
        plain.push((size as f64, study.precision(&study.plain(&given)?)?));
        refined.push((size as f64, study.precision(&study.refined(&given)?)?));
    }
    let with_nothing = match from_nothing {
        Some(precision) => format!("with no entry at all, as by “sememe align --unsupervised”, {precision:.0} %"),
        None => "with no entry at all it finds nothing better than chance".to_owned(),
    };
    let compared = |(size, plain): (f64, f64)| {
        let refined = refined.iter().find(|point| point.0 == size).map_or(0.0, |point| point.1);
        format!("{refined:.0} % from {} entries, where these alone give {plain:.0} %", count(size as usize))
    };
    let mut section = Section::new("dictionary-size", "With a small dictionary");
    section.say(format!(
        "From {} to {}, how often is the first candidate (CSLS) right when the model is given fewer entries? Without refinement \
         it knows these entries alone. With refinement, as by “sememe align --refine”, it goes on to learn pairs from the {} \
         most frequent words: {with_nothing}; {}; {}.",
        source.name,
        target.name,
        count(WORDS),
        compared(plain[1]),
        compared(plain[plain.len() - 1]),
    ));
    let curve = |name: &str, colour, points| Curve { name: name.to_owned(), colour, points };
    let lines = Lines {
        title: format!("{}–{}: precision by size of the dictionary", source.name, target.name),
        x: "entries of the dictionary".to_owned(),
        y: "P@1, %".to_owned(),
        is_logarithmic: true,
        from_zero: true,
        curves: vec![curve("with refinement", 0, refined), curve("without", 1, plain)],
    };
    if let Some(svg) = lines.draw(plots::WIDE) {
        let caption =
            "Precision at 1 on unseen words by the number of entries that the model is given, drawn at random.";
        section.add(Figure::new("dictionary-size", caption, &lines.curves, svg));
    }
    Ok(section)
}

struct Study<'a> {
    names: [&'static str; 2],
    views: [&'a Embeddings; 2],
    gold: Lexicon,
    seed: u64,
}

impl Study<'_> {
    fn plain(&self, given: &Tuples) -> sememe::Result<Model> {
        Experiment::new(&[0, 1].map(|side| (self.names[side], self.views[side])), given.clone())?.fit(&fit(), &())
    }

    /// Unsupervised self-learning on frequent words; `None` if it is no better than chance.
    fn unsupervised(&self) -> sememe::Result<Option<Model>> {
        let mut options = learn::LearnOptions::default().with_unsupervised(true).with_seed(self.seed);
        options.align.fit = fit();
        let frequent = self.views.map(|view| select(view, &(0..WORDS.min(view.len())).collect::<Vec<_>>()));
        let found = learned(&[0, 1].map(|side| (self.names[side], &frequent[side])), &Tuples::new(2), options, &());
        match found {
            Ok(model) => Ok(Some(model)),
            Err(sememe::Error::NoBetterThanChance { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Self-learning on frequent words and the words of the dictionary.
    fn refined(&self, given: &Tuples) -> sememe::Result<Model> {
        let pairs = given.pairs_of(0, 1);
        let rows = [0, 1].map(|side| {
            let of_dictionary = pairs.iter().map(|pair| if side == 0 { pair.0 } else { pair.1 });
            let mut rows: Vec<usize> = (0..WORDS.min(self.views[side].len())).chain(of_dictionary).collect();
            rows.sort_unstable();
            rows.dedup();
            rows
        });
        let chosen = [0, 1].map(|side| select(self.views[side], &rows[side]));
        let place = |side: usize, row: usize| rows[side].binary_search(&row).ok();
        let mut tuples = Tuples::new(2);
        for (a, b) in pairs {
            tuples.add(&[place(0, a), place(1, b)]);
        }
        let mut options = learn::LearnOptions::default().with_seed(self.seed);
        options.align.fit = fit();
        learned(&[0, 1].map(|side| (self.names[side], &chosen[side])), &tuples, options, &few_rounds)
    }

    /// In per cent, among all words.
    fn precision(&self, model: &Model) -> sememe::Result<f64> {
        let (source, target) = (latent(model, 0, self.views[0])?, latent(model, 1, self.views[1])?);
        Ok(translate(&source, &target, &self.gold, Criterion::CSLS, self.seed)?.at[0].value)
    }
}

fn fit() -> FitOptions {
    FitOptions::default().with_method(Some(Method::Ibfa))
}
