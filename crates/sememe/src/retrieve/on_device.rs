//! Searches of rows that are on a GPU already, with the bits of [`Retriever`](super::Retriever).

use sememe_cuda::{Cuda, Fault, Found, Ranking, Resident, RowsOnGpu, Wanted, means_of_both, nearest};

use super::gpu::{Progress, result};
use super::{Criterion, Hit};
use crate::device::opened_for;
use crate::error::{Error, Result};
use crate::observe::{Observer, Stage};
use crate::vectors::Matrix;

/// Rows of float32 that another library keeps on a GPU, copied there.
pub struct DeviceRows {
    card: Cuda,
    values: RowsOnGpu,
}

impl DeviceRows {
    /// Copies `count` rows of `dim` numbers from an address of the GPU with this number, or of the one that has the address.
    ///
    /// # Safety
    /// There must be so many numbers in single precision, row after row, which nothing changes meanwhile.
    pub unsafe fn copy_of(address: u64, (count, dim): (usize, usize), gpu: Option<usize>) -> Result<Self> {
        let failed = |fault: Fault| Error::argument("rows on a GPU", format!("{count} x {dim}"), fault.to_string());
        let number = gpu.map_or_else(|| Cuda::number_of(address).map_err(failed), Ok)?;
        let card = opened_for(number)?;
        // SAFETY: as the caller says.
        let values = unsafe { card.copy_of(address, count, dim) }.map_err(failed)?;
        Ok(DeviceRows { card, values })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.card.shape(&self.values).0
    }

    /// The rows in the memory of the computer.
    pub fn to_matrix(&self) -> Result<Matrix> {
        let failed = |fault: Fault| Error::argument("rows on a GPU", "unreadable", fault.to_string());
        let values = self.card.values_of(&self.values).map_err(failed)?;
        Ok(Matrix::new(values, self.card.shape(&self.values).1))
    }

    /// The `k` nearest of these rows to each of the queries, and the number of zero rows, if the GPU that has both finds all of
    /// them: by the criteria `nn`, `csls` and `dot`, and unless some rows cannot be told apart.
    pub fn nearest(
        &self,
        queries: &DeviceRows,
        k: usize,
        criterion: Criterion,
        observer: &dyn Observer,
    ) -> Result<Option<(Vec<Vec<Hit>>, usize)>> {
        match self.card.is_same(&queries.card) {
            true => nearest_of(&self.card, [&queries.values, &self.values], k, criterion, observer),
            false => Ok(None),
        }
    }
}

/// Rows with their squared lengths.
struct Measured<'a, C: Resident> {
    values: &'a C::Values,
    squares: Vec<f64>,
}

impl<C: Resident> Measured<'_, C> {
    /// Unit vectors times a length; zero rows stay zero.
    fn directions(&self, card: &C, length: f64) -> std::result::Result<C::Rows, Fault> {
        let factor = |&square: &f64| if square > 0.0 { length / square.sqrt() } else { 0.0 };
        card.prepared(self.values, &self.squares.iter().map(factor).collect::<Vec<_>>())
    }

    fn plain(&self, card: &C) -> std::result::Result<C::Rows, Fault> {
        card.prepared(self.values, &vec![1.0; self.squares.len()])
    }

    /// Zero, and minus infinity for rows without a direction.
    fn unbiased(&self) -> Vec<f64> {
        self.squares.iter().map(|&square| if square > 0.0 { 0.0 } else { f64::NEG_INFINITY }).collect()
    }

    /// Whether every row without a result is one without a direction.
    fn has_all(&self, found: &Found) -> bool {
        found.unresolved.iter().all(|&row| self.squares[row as usize] == 0.0)
    }
}

/// [`DeviceRows::nearest`] on any card.
fn nearest_of<C: Resident>(
    card: &C,
    [queries, targets]: [&C::Values; 2],
    k: usize,
    criterion: Criterion,
    observer: &dyn Observer,
) -> Result<Option<(Vec<Vec<Hit>>, usize)>> {
    let is_possible = matches!(criterion, Criterion::Nn | Criterion::Dot | Criterion::Csls { words: None, .. });
    let (of_queries, of_targets) = (card.shape(queries), card.shape(targets));
    if !is_possible || of_queries.1 != of_targets.1 || of_queries.0 == 0 || of_targets.0 == 0 {
        return Ok(None);
    }
    let progress = Progress::new(observer, Stage::Searching, of_queries.0);
    let search = || -> std::result::Result<_, Fault> {
        let measured = |values| Ok::<_, Fault>(Measured::<C> { values, squares: card.squares(values)? });
        let (queries, targets) = (measured(queries)?, measured(targets)?);
        if !queries.squares.iter().chain(&targets.squares).all(|square| square.is_finite()) {
            return Ok(None);
        }
        let found = |queries: &C::Rows, targets: &C::Rows, ranking: &Ranking| {
            nearest(card, queries, targets, ranking, Wanted::Targets, &|done| progress.proceed(done))
        };
        let plain = Ranking { scale: 1.0, bias: &vec![0.0; of_targets.0], k, among: usize::MAX };
        if criterion == Criterion::Dot {
            let found = found(&queries.plain(card)?, &targets.plain(card)?, &plain)?;
            return Ok(found.unresolved.is_empty().then(|| (hits(&found, None, of_queries.0), 0)));
        }
        let zeros = targets.squares.iter().filter(|&&square| square == 0.0).count();
        let (unit, unbiased) = (targets.directions(card, 1.0)?, targets.unbiased());
        let Criterion::Csls { k: neighbours, .. } = criterion else {
            let found = found(&queries.directions(card, 1.0)?, &unit, &Ranking { bias: &unbiased, ..plain })?;
            return Ok(queries.has_all(&found).then(|| (hits(&found, None, of_queries.0), zeros)));
        };
        let sources = queries.directions(card, 1.0)?;
        let biases = [&queries.unbiased()[..], &unbiased];
        let [of_sources, terms] = means_of_both(card, [&sources, &unit], biases, neighbours, &|_| true)?;
        if !targets.has_all(&terms) || !queries.has_all(&of_sources) {
            return Ok(None);
        }
        let bias: Vec<f64> = terms.means().iter().zip(&unbiased).map(|(mean, unbiased)| unbiased - mean).collect();
        let found = found(&queries.directions(card, 2.0)?, &unit, &Ranking { bias: &bias, ..plain })?;
        Ok(queries.has_all(&found).then(|| (hits(&found, Some(of_sources.means()), of_queries.0), zeros)))
    };
    Ok(result(search())?.flatten())
}

/// What was found for each query, less its own mean cosine to its neighbours if there is one.
fn hits(found: &Found, means: Option<&[f64]>, queries: usize) -> Vec<Vec<Hit>> {
    let of_query = |query: usize| {
        let own = means.map_or(0.0, |means| -means[query]);
        found.of(query).map(|(index, score)| Hit { index, score: (score + own) as f32 }).collect()
    };
    (0..queries).map(of_query).collect()
}

#[cfg(test)]
mod tests {
    use sememe_cuda::StandIn;

    use super::*;
    use crate::random::Random;
    use crate::retrieve::Retriever;

    #[test]
    fn rows_on_a_card_have_the_results_of_those_in_memory_or_are_left_to_them() {
        let mut random = Random::new(8);
        let mut rows = |count: usize, zero: usize| {
            let values = (0..count * 9).map(|at| if at / 9 == zero { 0.0 } else { random.normal() as f32 }).collect();
            Matrix::new(values, 9)
        };
        let (queries, targets) = (rows(40, 3), rows(300, 7));
        let card = StandIn::new(1 << 30);
        for criterion in ["nn", "csls", "csls:k=3", "dot", "isf", "l2", "csls:k=5,words=9"] {
            let criterion: Criterion = criterion.parse().unwrap();
            let retriever = Retriever::new(queries.clone(), targets.clone(), criterion, &()).unwrap();
            let expected = (retriever.nearest(&queries, 6, &()).unwrap(), retriever.zero_targets());
            let on_card = [&queries, &targets].map(|rows| (rows.as_slice().to_vec(), rows.cols()));
            match nearest_of(&card, [&on_card[0], &on_card[1]], 6, criterion, &()).unwrap() {
                Some(found) => assert_eq!(found, expected, "{criterion}"),
                None => {
                    assert!(!matches!(criterion, Criterion::Nn | Criterion::Csls { words: None, .. }), "{criterion}")
                }
            }
        }
        // Numbers that are not finite are left to the engine, which says which row has them.
        let wrong = (vec![f32::NAN; 9], 9);
        let right = (targets.as_slice().to_vec(), 9);
        assert!(nearest_of(&card, [&wrong, &right], 1, Criterion::Nn, &()).unwrap().is_none());
    }
}
