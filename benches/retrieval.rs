//! The engine by itself: `cargo bench -p sememe-benches`. Comparisons with rivals on real sizes are in `scripts/bench`.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion as Harness, Throughput, criterion_group, criterion_main};
use sememe::retrieve::{Criterion, Retriever};
use sememe_benches::rows;

const TARGETS: usize = 20_000;
const NEIGHBOURS: usize = 10;

fn retrieval(harness: &mut Harness) {
    let targets = rows(TARGETS, 1);
    let mut group = harness.benchmark_group("nearest");
    group.sample_size(10);
    // One query is looked up among all targets, several are screened.
    for count in [1, 100, 1_000] {
        let queries = rows(count, 2);
        let retriever = Retriever::new(queries.clone(), targets.clone(), Criterion::Nn, &()).expect("rows are finite");
        group.throughput(Throughput::Elements((count * TARGETS) as u64));
        group.bench_function(BenchmarkId::new("nn", count), |bencher| {
            bencher.iter(|| retriever.nearest(black_box(&queries), NEIGHBOURS, &()).expect("rows are finite"));
        });
    }
    let sources = rows(2_000, 3);
    group.throughput(Throughput::Elements((sources.rows() * TARGETS) as u64));
    for criterion in ["csls", "isf"] {
        let criterion: Criterion = criterion.parse().expect("a criterion");
        group.bench_function(BenchmarkId::new("terms", criterion), |bencher| {
            bencher.iter(|| {
                let sources = black_box(&sources).clone();
                Retriever::new(sources, targets.clone(), criterion, &()).expect("finite").terms().len()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, retrieval);
criterion_main!(benches);
