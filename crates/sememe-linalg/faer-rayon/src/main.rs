//! Stands for a program in which another crate switches on faer's `rayon` feature and sets its global parallelism.
//!
//! Prints what the example `bits` of sememe-linalg prints, after checking that faer's global parallelism does not matter.
//! `scripts/test` compares the output with that of the example, which is built without the feature.

#[path = "../../examples/bits.rs"]
#[allow(dead_code)]
mod bits;

use faer::Par;

fn main() {
    faer::set_global_parallelism(Par::Seq);
    let sequential = bits::all();
    faer::set_global_parallelism(Par::rayon(4));
    assert_eq!(bits::all(), sequential, "faer's global parallelism changes bits");

    // faer panics when it is asked for a global parallelism that is disabled, as its own operators do.
    faer::disable_global_parallelism();
    let identity = faer::Mat::<f64>::identity(2, 2);
    std::panic::catch_unwind(|| &identity * &identity).expect_err("faer's operators use the global parallelism");
    assert_eq!(bits::all(), sequential);

    for (computation, hash) in sequential {
        println!("{computation} {hash:016x}");
    }
}
