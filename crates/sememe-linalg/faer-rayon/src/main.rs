//! Stands for a program in which another crate switches on faer's `rayon` feature and sets its global parallelism.
//!
//! Prints what the example `bits` of sememe-linalg prints, after checking that faer's global parallelism does not matter.
//! `scripts/test` compares the output with that of the example, which is built without the feature.

#[path = "../../examples/bits.rs"]
#[allow(dead_code)]
mod bits;

use std::panic;

use faer::Par;

fn main() {
    faer::set_global_parallelism(Par::Seq);
    let sequential = bits::all();
    faer::set_global_parallelism(Par::rayon(4));
    assert_eq!(bits::all(), sequential, "faer's global parallelism changes bits");

    // Whatever asks faer for its global parallelism panics while that is disabled. faer's own operators ask for it.
    faer::disable_global_parallelism();
    let identity = faer::Mat::<f64>::identity(2, 2);
    let report = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let product = panic::catch_unwind(|| &identity * &identity);
    panic::set_hook(report);
    product.expect_err("the check has no teeth: faer's operators did not ask for the global parallelism");
    assert_eq!(bits::all(), sequential);

    for (computation, hash) in sequential {
        println!("{computation} {hash:016x}");
    }
}
