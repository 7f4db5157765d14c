//! Work side by side, where there are threads enough for it.

use crate::error::Result;

/// From so many threads on, large pieces of work that do not depend on each other run side by side. Fewer threads are busy
/// with one of them, and several would only take more memory.
const MANY: usize = 8;

/// Whether there are threads enough for large work side by side.
pub(crate) fn are_many() -> bool {
    rayon::current_num_threads() >= MANY
}

/// Both results: of work side by side on many threads, else of one after the other.
pub(crate) fn side_by_side<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if are_many() { rayon::join(first, second) } else { (first(), second()) }
}

/// [`side_by_side`] for work that may fail. On few threads the second work is not begun once the first has failed.
pub(crate) fn both_side_by_side<A: Send, B: Send>(
    first: impl FnOnce() -> Result<A> + Send,
    second: impl FnOnce() -> Result<B> + Send,
) -> Result<(A, B)> {
    if are_many() {
        let (first, second) = rayon::join(first, second);
        Ok((first?, second?))
    } else {
        Ok((first()?, second()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn both_results_are_those_of_their_work_on_any_number_of_threads() {
        for threads in [1, MANY] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| side_by_side(|| 1, || "two")), (1, "two"));
            assert_eq!(pool.install(|| both_side_by_side(|| Ok(1), || Ok("two"))).unwrap(), (1, "two"));
            assert!(pool.install(|| both_side_by_side(|| Ok(1), || Err::<(), _>(Error::Stopped))).is_err());
            assert_eq!(pool.install(are_many), threads == MANY);
        }
    }
}
