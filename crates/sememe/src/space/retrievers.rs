//! The retrievers of a space: prepared once, shared, and kept as long as they are used.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::Space;
use super::open_view::OpenView;
use super::terms::Cache;
use crate::error::Result;
use crate::observe::Observer;
use crate::retrieve::{Criterion, Generative, PairCoordinates, Retriever, Side, get_or_compute};

/// Retrievers that are kept for each pair of views, and for a space as a whole: enough for the usual criteria. Parameters
/// of criteria are numbers, and a program that answers to anybody must not keep what it once prepared for each of them.
const KEPT_PER_PAIR: usize = 4;
const KEPT: usize = 16;

/// Views and the name of the criterion.
type Key = (usize, usize, String);

/// The retrievers that were used last.
#[derive(Default)]
pub(super) struct Kept {
    /// Each with the time of its last use.
    retrievers: HashMap<Key, (Retriever, u64)>,
    time: u64,
}

impl Kept {
    fn get(&mut self, key: &Key) -> Option<Retriever> {
        self.time += 1;
        let (retriever, used) = self.retrievers.get_mut(key)?;
        *used = self.time;
        Some(retriever.clone())
    }

    fn insert(&mut self, key: Key, retriever: Retriever, most: usize) {
        self.time += 1;
        self.retrievers.insert(key, (retriever, self.time));
        if self.retrievers.len() > most {
            let oldest = self.retrievers.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            oldest.and_then(|key| self.retrievers.remove(&key));
        }
    }
}

/// The coordinates in which two views are compared by cosines, if they have some of their own, and the target in them.
pub(super) type Pair = Option<(PairCoordinates, Arc<Side>)>;

impl Space {
    /// Returns a retriever from words of the view `from` to words of the view `to`. It is prepared once, and kept while
    /// it is among those used last. Expensive terms are also cached in the folder of the space.
    pub fn retriever(&self, from: &str, to: &str, criterion: Criterion, observer: &dyn Observer) -> Result<Retriever> {
        let model = &self.alignment.model;
        let (source, target) = (model.view_index(from)?, model.view_index(to)?);
        let key = (source, target, criterion.to_string());
        if let Some(known) = self.kept().get(&key) {
            return Ok(known);
        }
        let (from_view, to_view) = rayon::join(|| self.open_view(from), || self.open_view(to));
        let (from_view, to_view) = (from_view?, to_view?);
        let mut builder = Retriever::between(from_view.side(), to_view.side(), criterion);
        let mut depends_on_model = criterion.is_generative();
        if criterion.is_generative() {
            builder = builder.generative(Generative::new(model, source, target, self.log_density(to)?)?);
        }
        if criterion.uses_cosines()
            && let Some((pair, compared)) = self.pair(source, target, to_view)?
        {
            depends_on_model = true;
            builder = builder.compared(pair.clone(), compared.clone());
        }
        let cache = Cache::of(self, (from, from_view), (to, to_view), criterion, depends_on_model)?;
        let terms = cache.as_ref().and_then(|cache| cache.read(to_view.embeddings().len()));
        let is_computed = terms.is_none();
        let builder = match terms {
            Some(terms) => builder.terms(terms),
            None => builder,
        };
        let retriever = builder.build(observer)?;
        let may_write = self.cached.as_ref().is_none_or(|cached| cached.contains(&criterion));
        if let Some(cache) = cache.filter(|_| is_computed && may_write) {
            cache.write(criterion, retriever.terms());
        }
        let most = KEPT + KEPT_PER_PAIR * model.views.len().pow(2);
        self.kept().insert(key, retriever.clone(), most);
        Ok(retriever)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.retrievers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The coordinates of a pair of views, shared by all criteria.
    fn pair(&self, source: usize, target: usize, to: &OpenView) -> Result<&Pair> {
        get_or_compute(&self.pairs[source][target], || {
            let pair = PairCoordinates::of(&self.alignment.model, source, target)?;
            Ok(pair.map(|pair| {
                let compared = Side::new(pair.of_targets(to.embeddings().matrix()));
                (pair, compared)
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::Matrix;

    #[test]
    fn those_used_last_are_kept() {
        let rows = Matrix::new(vec![1.0, 0.0], 2);
        let retriever = Retriever::new(rows.clone(), rows, Criterion::Nn, &()).unwrap();
        let mut kept = Kept::default();
        let key = |number: usize| (0, 1, number.to_string());
        (0..3).for_each(|number| kept.insert(key(number), retriever.clone(), 3));
        assert!(kept.get(&key(0)).is_some());
        kept.insert(key(3), retriever, 3);
        let found: Vec<bool> = (0..4).map(|number| kept.get(&key(number)).is_some()).collect();
        assert_eq!(found, [true, false, true, true]);
    }
}
