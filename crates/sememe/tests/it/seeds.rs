//! Seeds of tests that hold for any data: fresh in every run, so that properties are no tables.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use proptest::test_runner::{Config, RngSeed};

/// The variable that repeats a run.
const VARIABLE: &str = "SEMEME_TEST_SEED";

/// The seed of this run. What a failing test prints says how to run it again.
pub(crate) fn seed() -> u64 {
    static SEED: LazyLock<u64> = LazyLock::new(|| match std::env::var(VARIABLE) {
        Ok(seed) => seed.parse().unwrap_or_else(|_| panic!("{VARIABLE} is {seed:?}: it must be a whole number")),
        Err(_) => RandomState::new().hash_one(VARIABLE),
    });
    println!("to run this again: {VARIABLE}={}", *SEED);
    *SEED
}

/// So many cases of a property.
pub(crate) fn cases(count: u32) -> Config {
    Config { cases: count, rng_seed: RngSeed::Fixed(seed()), failure_persistence: None, ..Config::default() }
}
