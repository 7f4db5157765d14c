//! Complete tuples from pairs: one word of every view, where every two words are translations of each other.

use std::collections::{BTreeSet, HashMap};

use super::Tuples;

/// For two views: the translations of each word of the first.
type Relation = HashMap<usize, BTreeSet<usize>>;

impl Tuples {
    /// The tuples that have all views and whose words, two by two, occur together in these tuples. Pairs of views that
    /// no tuple has are not required: from dictionaries of English with French and with Russian, words with the same
    /// English translation make triples.
    ///
    /// The paper makes its training triples in this way from six dictionaries.
    pub fn complete(&self) -> Tuples {
        let relations = self.relations();
        let mut complete = Tuples::new(self.views());
        let Some(order) = self.connected_order(&relations) else { return complete };
        let first_relations = relations.iter().filter(|((from, _), _)| *from == order[0]);
        let first: BTreeSet<usize> = first_relations.flat_map(|(_, relation)| relation.keys().copied()).collect();
        for word in first {
            let mut tuple = vec![None; self.views()];
            tuple[order[0]] = Some(word);
            extend(&relations, &order[1..], &mut tuple, &mut complete);
        }
        complete
    }

    fn relations(&self) -> HashMap<(usize, usize), Relation> {
        let mut relations: HashMap<(usize, usize), Relation> = HashMap::new();
        for cells in self.cells() {
            let known: Vec<(usize, usize)> = cells.iter().collect();
            for &(a, x) in &known {
                for &(b, y) in known.iter().filter(|(b, _)| *b != a) {
                    relations.entry((a, b)).or_default().entry(x).or_default().insert(y);
                }
            }
        }
        relations
    }

    /// An order of the views in which each is related to an earlier one; `None` if the views are not connected.
    fn connected_order(&self, relations: &HashMap<(usize, usize), Relation>) -> Option<Vec<usize>> {
        let mut order = vec![0];
        while order.len() < self.views() {
            let is_next = |view: &usize| {
                !order.contains(view) && order.iter().any(|&known| relations.contains_key(&(known, *view)))
            };
            order.push((0..self.views()).find(is_next)?);
        }
        Some(order)
    }
}

/// Fills in the remaining views in every way that agrees with all earlier ones.
fn extend(
    relations: &HashMap<(usize, usize), Relation>,
    remaining: &[usize],
    tuple: &mut Vec<Option<usize>>,
    complete: &mut Tuples,
) {
    let Some((&view, later)) = remaining.split_first() else {
        complete.add(tuple);
        return;
    };
    let mut candidates: Option<BTreeSet<usize>> = None;
    for (known, word) in tuple.iter().enumerate().filter_map(|(known, word)| word.map(|word| (known, word))) {
        let Some(relation) = relations.get(&(known, view)) else { continue };
        let fitting = relation.get(&word).cloned().unwrap_or_default();
        candidates = Some(match candidates {
            None => fitting,
            Some(before) => before.intersection(&fitting).copied().collect(),
        });
    }
    for word in candidates.unwrap_or_default() {
        tuple[view] = Some(word);
        extend(relations, later, tuple, complete);
    }
    tuple[view] = None;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuples(views: usize, given: &[&[Option<usize>]]) -> Tuples {
        let mut tuples = Tuples::new(views);
        given.iter().for_each(|tuple| assert!(tuples.add(tuple)));
        tuples
    }

    #[test]
    fn every_two_words_must_be_a_pair() {
        let given = tuples(
            3,
            &[
                &[Some(1), Some(10), None],
                &[Some(1), None, Some(100)],
                &[None, Some(10), Some(100)],
                // 2-20 and 2-200 are pairs, 20-200 is not.
                &[Some(2), Some(20), None],
                &[Some(2), None, Some(200)],
            ],
        );
        assert_eq!(given.complete().iter().collect::<Vec<_>>(), [[Some(1), Some(10), Some(100)]]);
    }

    #[test]
    fn views_without_a_dictionary_of_their_own_are_joined_through_others() {
        let given = tuples(3, &[&[Some(1), Some(10), None], &[Some(1), Some(11), None], &[Some(1), None, Some(100)]]);
        let expected = [[Some(1), Some(10), Some(100)], [Some(1), Some(11), Some(100)]];
        assert_eq!(given.complete().iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn views_that_fall_apart_have_no_complete_tuple() {
        assert!(tuples(3, &[&[Some(1), Some(10), None]]).complete().is_empty());
    }
}
