//! The nearest neighbours by CSLS of all rows of two sides, in both directions.
//!
//! Each direction needs the terms of the other one, which are means of the largest cosines. The search of one direction gives
//! them for the other, so that three searches do the work of four. What an earlier search found, in other coordinates of
//! the same rows, spares most of the work of finding it again.

use std::sync::Arc;

use super::csls::{self, NEIGHBOURS};
use super::engine::{Found, Ranking, Search};
use super::ranked::{Ranked, Scores};
use super::retriever::negated;
use super::rows::Role;
use super::{Criterion, Hit, Retriever, Side};
use crate::error::Result;
use crate::observe::{Observer, Stage};

/// The nearest rows of the second side to each row of the first, and of the first to each row of the second. Scores of the
/// second direction lack `r(q)`, which does not change the order.
pub(crate) struct BothWays {
    pub(crate) forth: Vec<Vec<Hit>>,
    pub(crate) back: Vec<Vec<Hit>>,
}

impl BothWays {
    /// The `k` nearest of all rows. `known` is what was found before for these rows in other coordinates.
    pub(crate) fn find(
        x: &Arc<Side>,
        y: &Arc<Side>,
        k: usize,
        known: Option<&BothWays>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let [forth, back] = [Retriever::between(x, y, Criterion::CSLS), Retriever::between(y, x, Criterion::CSLS)];
        let [of_x, of_y] = [x, y].map(|side| k.min(side.matrix().rows()));
        #[cfg(feature = "cuda")]
        {
            let sides = [x.directions(Role::Sources)?, y.directions(Role::Targets)?];
            let both = super::gpu::mean_cosines_of_both(sides.map(|side| &**side), NEIGHBOURS, observer)?;
            if let Some([terms_of_x, terms_of_y]) = both.map(|both| both.map(|means| negated(means.into_iter()))) {
                let forth = forth.terms(terms_of_y).build(observer)?.nearest(x.matrix(), of_y, observer)?;
                let back = back.terms(terms_of_x).build(observer)?.rank(y.matrix(), of_x, observer)?;
                return Ok(BothWays { forth, back });
            }
        }
        let [known_forth, known_back] = match known {
            Some(known) => [indices(&known.forth), indices(&known.back)],
            None => [Vec::new(), Vec::new()],
        };
        let near_y = nearest_cosines(y, x, &known_back, observer)?;
        let terms_of_y = near_y.iter().map(|near| csls::mean(near.iter().map(|near| near.score)));
        let forth = forth.terms(negated(terms_of_y)).build(observer)?;
        let forth = forth.ranked(x.matrix(), of_y, (Scores::AsDefined, &known_forth), observer)?;
        let back = back.terms(negated(forth.iter().map(Ranked::mean_of_near))).build(observer)?;
        // Words that are near by cosine are so by CSLS, too.
        let known_back: Vec<Vec<usize>> =
            near_y.into_iter().map(|near| near.into_iter().map(|near| near.index).collect()).collect();
        let back = back.ranked(y.matrix(), of_x, (Scores::WithoutQueryTerm, &known_back), observer)?;
        let hits = |ranked: Vec<Ranked>| ranked.into_iter().map(Ranked::into_hits).collect();
        Ok(BothWays { forth: hits(forth), back: hits(back) })
    }
}

fn indices(hits: &[Vec<Hit>]) -> Vec<Vec<usize>> {
    hits.iter().map(|hits| hits.iter().map(|hit| hit.index).collect()).collect()
}

/// The neighbours of every row of one side by cosine that terms of CSLS average over.
fn nearest_cosines(of: &Side, among: &Side, known: &[Vec<usize>], observer: &dyn Observer) -> Result<Found> {
    let (of, targets) = (of.directions(Role::Targets)?, among.directions(Role::Sources)?);
    let ranking = Ranking { scale: 1.0, bias: targets.unbiased(), k: NEIGHBOURS, among: usize::MAX };
    let search = Search { queries: of.rows(), targets, rankings: &[ranking], known, observer, stage: Stage::Preparing };
    Ok(search.run()?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::vectors::Matrix;

    #[test]
    fn both_ways_at_once_are_each_way_by_itself_whatever_was_known() {
        let mut random = Random::new(4);
        let mut rows = |count: usize| {
            let values = (0..count * 12).map(|at| if at / 12 == 5 { 0.0 } else { random.normal() as f32 }).collect();
            Side::new(Matrix::new(values, 12))
        };
        let (x, y, other) = (rows(300), rows(40), rows(300));
        let of = |from, to| Retriever::between(from, to, Criterion::CSLS).build(&()).unwrap();
        let expected = [of(&x, &y).nearest(x.matrix(), 20, &()), of(&y, &x).rank(y.matrix(), 20, &())];
        let expected = expected.map(Result::unwrap);
        let unrelated = BothWays::find(&other, &y, 20, None, &()).unwrap();
        let same = BothWays::find(&x, &y, 20, None, &()).unwrap();
        for known in [None, Some(&unrelated), Some(&same)] {
            let BothWays { forth, back } = BothWays::find(&x, &y, 20, known, &()).unwrap();
            assert_eq!([forth, back], expected);
        }
        assert!(same.forth[5].is_empty() && same.forth[6].len() == 20);
    }
}
