//! Work side by side, where there are threads enough for it.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_results_are_those_of_their_work_on_any_number_of_threads() {
        for threads in [1, MANY] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| side_by_side(|| 1, || "two")), (1, "two"));
            assert_eq!(pool.install(are_many), threads == MANY);
        }
    }
}
