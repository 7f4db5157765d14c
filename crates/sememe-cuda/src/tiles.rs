//! Work that begins again with less memory where a card has not enough.

use crate::card::{Card, Fault};

/// How often work is tried, each time with half of the memory.
const TRIES: usize = 4;

/// Does something with half of the free memory, and with less if that is too much.
pub(crate) fn with_memory<C: Card, T>(card: &C, work: impl FnMut(usize) -> Result<T, Fault>) -> Result<T, Fault> {
    with_less(card.free_bytes()? / 2, work)
}

/// Does something with so many bytes or rows at a time, and with half of them if that is too much.
pub(crate) fn with_less<T>(most: usize, mut work: impl FnMut(usize) -> Result<T, Fault>) -> Result<T, Fault> {
    for halvings in 0..TRIES {
        match work(most >> halvings) {
            Err(Fault::OutOfMemory) => {}
            result => return result,
        }
    }
    Err(Fault::OutOfMemory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_tried_with_less_until_it_fits_or_fails_otherwise() {
        let fitting = |room: usize| {
            let mut tried = Vec::new();
            let result = with_less(100, |size| {
                tried.push(size);
                if size <= room { Ok(size) } else { Err(Fault::OutOfMemory) }
            });
            (result.ok(), tried)
        };
        assert_eq!(fitting(100), (Some(100), vec![100]));
        assert_eq!(fitting(30), (Some(25), vec![100, 50, 25]));
        assert_eq!(fitting(10), (None, vec![100, 50, 25, 12]));
        let stopped =
            with_less(100, |size| if size > 50 { Err(Fault::OutOfMemory) } else { Err::<(), _>(Fault::Stopped) });
        assert!(matches!(stopped, Err(Fault::Stopped)));
    }
}
