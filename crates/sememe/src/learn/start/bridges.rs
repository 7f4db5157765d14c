//! Connections of all views without supervision: each view by one that is connected already.

use crate::error::{Error, Result};

/// Searches for an alignment of every view with one that is connected: the first view, or, where this is no better than
/// chance, another one as a bridge. The result are the aligned pairs of views and what was found for each. A view that no
/// other one leads to is an error, that of its search with the first view.
pub fn connected<T>(views: usize, mut search: impl FnMut([usize; 2]) -> Result<T>) -> Result<Vec<([usize; 2], T)>> {
    let mut found = Vec::new();
    let mut connected = vec![0];
    let mut missing: Vec<(usize, Option<Error>)> = (1..views).map(|view| (view, None)).collect();
    let mut next = 0;
    while let Some(&bridge) = connected.get(next).filter(|_| !missing.is_empty()) {
        let mut still_missing = Vec::new();
        for (view, refused) in missing {
            match search([bridge, view]) {
                Ok(alignment) => {
                    found.push(([bridge, view], alignment));
                    connected.push(view);
                }
                Err(chance @ Error::NoBetterThanChance { .. }) => {
                    still_missing.push((view, Some(refused.unwrap_or(chance))));
                }
                Err(error) => return Err(error),
            }
        }
        missing = still_missing;
        next += 1;
    }
    match missing.into_iter().find_map(|(_, refused)| refused) {
        Some(error) => Err(error),
        None => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connects views of which only these pairs can be aligned; also lists the pairs that were tried.
    fn tried(views: usize, possible: &[[usize; 2]]) -> (Result<Vec<[usize; 2]>>, Vec<[usize; 2]>) {
        let mut tried = Vec::new();
        let found = connected(views, |pair| {
            tried.push(pair);
            let names = pair.map(|view| view.to_string());
            let chance = Error::NoBetterThanChance { views: names, objective: 0.1, chance: 0.1 };
            if possible.contains(&pair) { Ok(()) } else { Err(chance) }
        });
        (found.map(|found| found.into_iter().map(|(pair, ())| pair).collect()), tried)
    }

    #[test]
    fn a_view_that_the_first_one_does_not_lead_to_is_reached_over_another_one() {
        let (found, all) = tried(4, &[[0, 2], [2, 1], [1, 3]]);
        assert_eq!(found.unwrap(), [[0, 2], [2, 1], [1, 3]]);
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [2, 1], [2, 3], [1, 3]]);
        let (found, all) = tried(3, &[[0, 1], [0, 2]]);
        assert_eq!((found.unwrap(), all), (vec![[0, 1], [0, 2]], vec![[0, 1], [0, 2]]));
    }

    #[test]
    fn a_view_that_no_other_one_leads_to_is_an_error_and_so_is_any_other_failure() {
        let (found, all) = tried(3, &[[0, 1]]);
        assert!(matches!(found, Err(Error::NoBetterThanChance { views, .. }) if views == ["0", "2"]));
        assert_eq!(all, [[0, 1], [0, 2], [1, 2]]);
        assert!(matches!(connected(3, |_| Err::<(), _>(Error::Stopped)), Err(Error::Stopped)));
    }
}
