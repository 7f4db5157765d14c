//! Times of the search on a GPU: `measure ROWS COLUMNS DIM K [REPEAT [1 for portable instructions]]`. Prints a line of JSON.

use std::time::Instant;

use sememe_cuda::{Card, Cuda, HostRows, Ranking, Wanted, means_of_both, nearest};

/// Clustered rows of unit length.
fn rows(count: usize, dim: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
    };
    let centres: Vec<f32> = (0..1000 * dim).map(|_| uniform()).collect();
    let mut values = Vec::with_capacity(count * dim);
    for row in 0..count {
        let centre = &centres[row * 7919 % 1000 * dim..][..dim];
        values.extend(centre.iter().map(|x| x + 1.5 * uniform()));
    }
    values
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|number| number.parse().expect("a number")).collect();
    let &[count, others, dim, k, ref rest @ ..] = &numbers[..] else { panic!("measure ROWS COLUMNS DIM K [REPEAT]") };
    let repeat = rest.first().copied().unwrap_or(5);
    let card = if rest.get(1) == Some(&1) { Cuda::portable(0) } else { Cuda::new(0) }.expect("a GPU");
    let sides = [(count, 1), (others, 2)].map(|(count, seed)| {
        let values = rows(count, dim, seed);
        let factors: Vec<f64> = values
            .chunks_exact(dim)
            .map(|row| 1.0 / row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt())
            .collect();
        (values, factors)
    });
    let since = Instant::now();
    let [a, b] = [0, 1].map(|side| {
        let (values, factors): &(Vec<f32>, Vec<f64>) = &sides[side];
        card.upload(HostRows { values, dim, factors }).expect("room")
    });
    card.synchronize().expect("no fault");
    let upload = since.elapsed().as_secs_f64();
    let bias = [count, others].map(|count| vec![0.0; count]);
    let timed = |work: &dyn Fn() -> usize| {
        let unresolved = work();
        let times = (0..repeat).map(|_| {
            let since = Instant::now();
            work();
            since.elapsed().as_secs_f64()
        });
        (median(times.collect()), unresolved)
    };
    let (both, unresolved) = timed(&|| {
        let found = means_of_both(&card, [&a, &b], [&bias[0], &bias[1]], k, &|_| true).expect("no fault");
        found.iter().map(|found| found.unresolved.len()).sum()
    });
    let ranking = Ranking { scale: 1.0, bias: &bias[1], k, among: usize::MAX };
    let (one, of_one) =
        timed(&|| nearest(&card, &a, &b, &ranking, Wanted::Targets, &|_| true).expect("no fault").unresolved.len());
    let flop = 2.0 * count as f64 * others as f64 * dim as f64;
    println!(
        "{{\"card\": {:?}, \"rows\": {count}, \"columns\": {others}, \"dim\": {dim}, \"k\": {k}, \"upload\": {upload:.3}, \"both\": {both:.4}, \"one\": {one:.4}, \"unresolved\": [{unresolved}, {of_one}], \"tflops_both\": {:.0}}}",
        card.name(),
        flop / both / 1e12,
    );
}
