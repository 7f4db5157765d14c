//! Sums of exponentials on the stand-in, with the operations of the CPU in their order.

use crate::StandIn;
use crate::card::Fault;
use crate::exponentials::{Exponentials, LEAST, SOURCES_OF_BLOCK};

/// `exp(x)` for `x` up to 0, as `kernel.rs` of the library has it.
fn exponential(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    let x = x.max(-87.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = x - whole * 0.693_359_4 - whole * -2.121_944_4e-4;
    let terms = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let power = terms.iter().fold(0.0, |power: f32, term| power * rest + term);
    power * f32::from_bits((rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127)) << 23)
}

impl Exponentials for StandIn {
    type Sums = (Vec<f32>, Vec<f64>);

    fn sums(&self, count: usize) -> Result<Self::Sums, Fault> {
        Ok((vec![LEAST; count], vec![0.0; count]))
    }

    fn add_exponentials(
        &self,
        sources: &Vec<f32>,
        targets: &Vec<f32>,
        factors: &Vec<f32>,
        dim: usize,
        (largest, sums): &mut Self::Sums,
    ) -> Result<(), Fault> {
        // Products are in memory at a time.
        let _allocation = self.allocate(4 * factors.len() * (sources.len() / dim))?;
        for (at, (target, factor)) in targets.chunks_exact(dim).zip(factors).enumerate() {
            for block in sources.chunks(SOURCES_OF_BLOCK * dim) {
                let product =
                    |source: &[f32]| source.iter().zip(target).fold(0.0, |sum: f32, (x, y)| x.mul_add(*y, sum));
                let scores: Vec<f32> = block.chunks_exact(dim).map(|source| product(source) * factor).collect();
                let before = largest[at];
                largest[at] = scores.iter().copied().fold(before, f32::max);
                let of_block = scores.iter().fold(0.0, |sum: f32, score| sum + exponential(score - largest[at]));
                sums[at] = sums[at] * f64::from(exponential(before - largest[at])) + f64::from(of_block);
            }
        }
        Ok(())
    }

    fn fetch_sums(&self, sums: Self::Sums) -> Result<Self::Sums, Fault> {
        Ok(sums)
    }
}
