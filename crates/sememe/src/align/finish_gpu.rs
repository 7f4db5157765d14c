//! Gradients of the finish on a GPU. They differ from those of the CPU in the last digits.

use sememe_cuda::{Finishing, Vectors};

use super::finish::{Finisher, Maps};
use crate::device::{card, fell_back};

/// Products of all words and a map that a step takes the time of, on both sides.
const PRODUCTS: usize = 2;

/// The words and pairs of a finisher on a GPU, if one is to be used and does not fail.
pub(super) struct OnGpu(Option<Finishing>);

impl OnGpu {
    pub(super) fn of(finisher: &Finisher, steps: usize) -> Self {
        let words: usize = finisher.words.iter().map(|words| words.as_slice().len() * words.cols()).sum();
        // A device that cannot be used has been an error before.
        let card = card((PRODUCTS * steps * words) as u64).ok().flatten();
        let finishing = card.and_then(|card| {
            let vectors = [0, 1].map(|side| {
                let words = &finisher.words[side];
                Vectors { values: words.as_slice(), dim: words.cols() }
            });
            let pairs: Vec<[u32; 2]> = finisher.compared.iter().map(|rows| rows.map(|row| row as u32)).collect();
            card.finishing(vectors, &pairs).map_err(fell_back).ok()
        });
        OnGpu(finishing)
    }

    /// The gradient of the mean loss for both maps; none if the CPU has to compute it.
    pub(super) fn gradients(&mut self, finisher: &Finisher, maps: &Maps) -> Option<Maps> {
        let finishing = self.0.as_mut()?;
        let gradients = finishing.cosines(maps.each_ref().map(|map| &map[..])).and_then(|cosines| {
            let gradients = finishing.gradients(&finisher.slopes(&cosines))?;
            Ok(gradients.map(|gradient| gradient.into_iter().map(|x| x as f32).collect()))
        });
        match gradients {
            Ok(gradients) => Some(gradients),
            Err(fault) => {
                fell_back(fault);
                self.0 = None;
                None
            }
        }
    }
}
