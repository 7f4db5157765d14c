//! Every criterion against its definition, and what is asked that makes no sense.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use sememe::Error;
use sememe::model::{self, Exponent, Method, Model, Shrinkage};
use sememe::observe::{Event, Observer, Stage};
use sememe::retrieve::{Criterion, Export, Generative, Hit, Metric, Retriever, hits_arrays, nearest};
use sememe::vectors::{Embeddings, Matrix};
use serde::Deserialize;

use crate::golden::read_json;
use crate::samples::{embeddings_of_rows, many_views, moments_of_complete, paired_moments, two_views};

#[derive(Deserialize)]
struct Problem {
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    log_density: Vec<f64>,
    criteria: BTreeMap<String, Nearest>,
}

#[derive(Deserialize)]
struct Nearest {
    ids: Vec<Vec<usize>>,
    scores: Vec<Vec<f64>>,
}

#[test]
fn every_criterion_agrees_with_numpy() {
    let problem: Problem = read_json("retrieval.json");
    let (x, y) = (embeddings_of_rows(&problem.x), embeddings_of_rows(&problem.y));
    let options = model::FitOptions::default().with_shrinkage(Shrinkage::None);
    let (model, _) = model::fit(&paired_moments(&x, &y), &options, &()).unwrap();
    let latent = [(0, &x), (1, &y)].map(|(view, rows)| model.views[view].project(rows.matrix()).unwrap());
    let generative = Generative::new(&model, 0, 1, Some(problem.log_density.as_slice().into())).unwrap();
    assert_eq!(problem.criteria.len(), 10);
    for (name, expected) in &problem.criteria {
        let criterion: Criterion = name.parse().unwrap();
        let source = if criterion.is_generative() { &latent[0] } else { x.matrix() };
        let builder = || match criterion.is_generative() {
            true => Retriever::builder(latent[0].clone(), latent[1].clone(), criterion).generative(generative.clone()),
            false => Retriever::builder(x.matrix().clone(), y.matrix().clone(), criterion),
        };
        let retriever = builder().build(&()).unwrap();
        let found = retriever.nearest(source, expected.ids[0].len(), &()).unwrap();
        for ((found, ids), scores) in found.iter().zip(&expected.ids).zip(&expected.scores) {
            assert_eq!(found.iter().map(|hit| hit.index).collect::<Vec<_>>(), *ids, "{name}");
            for (hit, score) in found.iter().zip(scores) {
                assert!((f64::from(hit.score) - score).abs() < 1e-5 * score.abs().max(1.0), "{name}: {hit:?} {score}");
            }
        }
        // The terms of one retriever serve another.
        let again = builder().terms(retriever.terms().to_vec()).build(&()).unwrap();
        assert_eq!(again.nearest(source, 7, &()).unwrap(), retriever.nearest(source, 7, &()).unwrap(), "{name}");
        // Without what belongs to a query alone the order is the same.
        let order = |hits: Vec<Vec<Hit>>| -> Vec<Vec<usize>> {
            hits.iter().map(|hits| hits.iter().map(|hit| hit.index).collect()).collect()
        };
        assert_eq!(order(retriever.rank(source, 7, &()).unwrap()), order(found), "{name}");
    }
}

/// The places of the nearest targets to the first queries, as an index of vectors finds them.
fn found_by_index(metric: Metric, queries: &Matrix, targets: &Matrix, k: usize) -> Vec<Vec<usize>> {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    let nearness = |q: &[f32], t: &[f32]| match metric {
        Metric::Ip => dot(q, t),
        Metric::L2 => 2.0 * dot(q, t) - dot(q, q) - dot(t, t),
        _ => dot(q, t) / (dot(q, q) * dot(t, t)).sqrt(),
    };
    let of_query = |query: usize| {
        let mut order: Vec<usize> = (0..targets.rows()).collect();
        let score = |target: &usize| nearness(queries.row(query), targets.row(*target));
        order.sort_by(|a, b| score(b).total_cmp(&score(a)));
        order.truncate(k);
        order
    };
    (0..25).map(of_query).collect()
}

#[test]
fn any_index_of_exported_vectors_ranks_like_the_criterion() {
    let problem: Problem = read_json("retrieval.json");
    let (x, y) = (embeddings_of_rows(&problem.x), embeddings_of_rows(&problem.y));
    let options = model::FitOptions::default().with_shrinkage(Shrinkage::None);
    let (model, _) = model::fit(&paired_moments(&x, &y), &options, &()).unwrap();
    let latent = [(0, &x), (1, &y)].map(|(view, rows)| model.views[view].project(rows.matrix()).unwrap());
    let generative = Generative::new(&model, 0, 1, Some(problem.log_density.as_slice().into())).unwrap();
    for (name, expected) in &problem.criteria {
        let criterion: Criterion = name.parse().unwrap();
        let [source, target] = match criterion.is_generative() {
            true => [&latent[0], &latent[1]],
            false => [x.matrix(), y.matrix()],
        };
        let builder = Retriever::builder(source.clone(), target.clone(), criterion).generative(generative.clone());
        let retriever = builder.build(&()).unwrap();
        for (_, metric) in Metric::ALL {
            if name == "corrected" {
                assert!(Export::new(&retriever, metric).is_err());
                continue;
            }
            let export = Export::new(&retriever, metric).unwrap();
            let coordinates = match (name.as_str(), metric) {
                ("nn", _) | ("dot", Metric::Ip) => 6,
                ("dot", _) | (_, Metric::Ip) => 7,
                _ => 8,
            };
            assert_eq!(export.targets().cols(), coordinates, "{name} by {metric}");
            let queries = export.queries(source).unwrap();
            assert_eq!(found_by_index(metric, &queries, export.targets(), 7), expected.ids, "{name} by {metric}");
        }
    }
}

fn by_pmi(model: &Model, (from, x): (usize, &Matrix), (to, y): (usize, &Matrix)) -> Retriever {
    let generative = Generative::new(model, from, to, None).unwrap();
    Retriever::builder(x.clone(), y.clone(), Criterion::Pmi).generative(generative).build(&()).unwrap()
}

/// Checks PMI from latent vectors against the densities of the vectors themselves.
fn check_pmi(model: &Model, (from, x): (usize, &Embeddings), (to, y): (usize, &Embeddings)) {
    let latent = [(from, x), (to, y)].map(|(view, rows)| model.views[view].project(rows.matrix()).unwrap());
    let found = by_pmi(model, (from, &latent[0]), (to, &latent[1])).nearest(&latent[0], 3, &()).unwrap();
    for (query, hits) in found.iter().enumerate().take(8) {
        for hit in hits {
            let expected = model.pmi((from, x.vector(query)), (to, y.vector(hit.index))).unwrap();
            assert!((f64::from(hit.score) - expected).abs() < 1e-4, "{} instead of {expected}", hit.score);
        }
    }
}

#[test]
fn pmi_follows_from_latent_vectors_however_they_are_weighted() {
    let (x, y) = two_views(90, 4, 5, 8);
    let (usual, one, zero) = (Exponent::PosteriorMean, Exponent::Of(1.0), Exponent::Of(0.0));
    for (exponent, dewhiten, latent) in [(usual, false, 4), (one, false, 4), (zero, true, 4), (usual, true, 3)] {
        let latent = model::LatentSize::Of(latent);
        let options = model::FitOptions::default().with_exponent(exponent).with_dewhiten(dewhiten).with_latent(latent);
        let (model, _) = model::fit(&paired_moments(&x, &y), &options, &()).unwrap();
        check_pmi(&model, (0, &x), (1, &y));
        check_pmi(&model, (1, &y), (0, &x));
    }
    let views = many_views(90, &[3, 4, 5], 2);
    let (model, _) = model::fit(&moments_of_complete(&views), &Default::default(), &()).unwrap();
    assert_eq!(model.method, Method::Mbfa);
    check_pmi(&model, (2, &views[2]), (0, &views[0]));
}

#[test]
fn pmi_of_ibfa_is_the_formula_in_canonical_coordinates() {
    let (x, y) = two_views(90, 4, 5, 8);
    let (model, _) = model::fit(&paired_moments(&x, &y), &Default::default(), &()).unwrap();
    let z = [(0, &x), (1, &y)].map(|(view, rows)| model.views[view].project(rows.matrix()).unwrap());
    let found = by_pmi(&model, (0, &z[0]), (1, &z[1])).nearest(&z[0], 90, &()).unwrap();
    for hit in &found[5] {
        let canonical = |side: usize, row: usize, j: usize| f64::from(z[side].row(row)[j]) / model.rho[j].sqrt();
        let expected: f64 = (0..4)
            .map(|j| {
                let (rho, u, w) = (model.rho[j], canonical(0, 5, j), canonical(1, hit.index, j));
                let open = 1.0 - rho * rho;
                -0.5 * open.ln() + (rho * u * w - 0.5 * rho * rho * (u * u + w * w)) / open
            })
            .sum();
        assert!((f64::from(hit.score) - expected).abs() < 1e-4, "{} instead of {expected}", hit.score);
    }
}

#[test]
fn an_extra_pool_of_queries_lowers_ranks() {
    let source = Matrix::new(vec![1.0, 0.1, 1.0, 0.0, 0.0, 1.0], 2);
    let target = Matrix::new(vec![1.0, 0.0, 1.0, 1.0], 2);
    let query = Matrix::new(vec![1.0, 0.1], 2);
    let best = |criterion: &str| {
        let retriever = Retriever::new(source.clone(), target.clone(), criterion.parse().unwrap(), &()).unwrap();
        retriever.nearest(&query, 1, &()).unwrap()[0][0].index
    };
    // Alone it is the first for both targets. With the pool, to which it belongs itself, the second word is nearer to the
    // first target.
    assert_eq!((best("corrected"), best("corrected:pool=3")), (0, 1));
}

#[test]
fn requests_that_make_no_sense_are_errors() {
    let (x, y) = two_views(20, 3, 4, 1);
    let (x, y) = (x.matrix(), y.matrix());
    let said =
        |result: sememe::Result<Vec<_>>| result.map(|_: Vec<Vec<sememe::retrieve::Hit>>| ()).unwrap_err().to_string();
    assert!(said(nearest(x, y, 1, Criterion::Nn)).contains("length of the queries is 3"));
    assert!(said(nearest(x, x, 0, Criterion::Nn)).contains("at least one neighbour"));
    assert!(said(nearest(x, x, 1, Criterion::Pmi)).contains("use it on a space"));
    let mut values = x.as_slice().to_vec();
    values[3 * 4 + 1] = f32::NAN;
    let broken = Matrix::new(values, 3);
    for criterion in ["nn", "dot", "l2", "csls", "isf", "corrected"] {
        let criterion: Criterion = criterion.parse().unwrap();
        assert!(said(nearest(&broken, x, 1, criterion)).contains("not finite in row 5"), "{criterion}");
        assert!(said(nearest(x, &broken, 1, criterion)).contains("not finite in row 5"), "{criterion}");
    }
    let terms = Retriever::builder(x.clone(), x.clone(), Criterion::CSLS).terms(vec![0.0]).build(&());
    assert!(terms.is_err_and(|error| error.to_string().contains("there are 20 targets")));
}

#[test]
fn only_generative_models_have_likelihoods() {
    let (x, y) = two_views(60, 3, 3, 1);
    let refused = |method, criterion| {
        let options = model::FitOptions::default().with_method(Some(method));
        let (model, _) = model::fit(&paired_moments(&x, &y), &options, &()).unwrap();
        let builder = Retriever::builder(x.matrix().clone(), y.matrix().clone(), criterion);
        let built =
            Generative::new(&model, 0, 1, None).and_then(|generative| builder.generative(generative).build(&()));
        built.map(|_| ()).unwrap_err()
    };
    assert!(matches!(refused(Method::Svd, Criterion::Pmi), Error::NoDensity { .. }));
    assert!(refused(Method::Ibfa, Criterion::Logp).to_string().contains("without log densities"));
}

#[test]
fn empty_sides_and_large_k_give_what_there_is() {
    let (x, none) = (Matrix::new(vec![1.0, 2.0, 0.0, 1.0], 2), Matrix::new(Vec::new(), 2));
    for criterion in ["nn", "dot", "l2", "csls", "isf", "corrected"] {
        let criterion: Criterion = criterion.parse().unwrap();
        assert!(nearest(&none, &x, 3, criterion).unwrap().is_empty(), "{criterion}");
        assert_eq!(nearest(&x, &none, 3, criterion).unwrap(), [vec![], vec![]], "{criterion}");
        let found = nearest(&x, &x, usize::MAX, criterion).unwrap();
        assert!(
            found.iter().all(|hits| hits.len() == 2 && hits.iter().all(|hit| hit.score.is_finite())),
            "{criterion}"
        );
    }
}

const BY_COSINE: [&str; 4] = ["nn", "csls", "isf", "corrected"];

#[test]
fn zero_rows_are_left_out_and_counted_where_directions_are_compared() {
    // Few queries are looked at one by one, many are screened.
    for count in [4, 60] {
        let (x, y) = two_views(count, 3, 3, 1);
        let with_zeros = |rows: &Matrix, at: [usize; 2]| {
            let mut values = rows.as_slice().to_vec();
            at.iter().for_each(|row| values[3 * row..3 * (row + 1)].fill(0.0));
            Matrix::new(values, 3)
        };
        let (queries, targets) = ([1, 3], [0, 2]);
        let (x, y) = (with_zeros(x.matrix(), queries), with_zeros(y.matrix(), targets));
        let kept = |zeros: [usize; 2]| (0..count).filter(|row| !zeros.contains(row)).collect::<Vec<_>>();
        let (kept_x, kept_y) = (kept(queries), kept(targets));
        for criterion in BY_COSINE {
            let criterion: Criterion = criterion.parse().unwrap();
            let retriever = Retriever::new(x.clone(), y.clone(), criterion, &()).unwrap();
            assert_eq!(retriever.zero_targets(), 2, "{criterion}");
            let found = retriever.nearest(&x, count, &()).unwrap();
            assert!(queries.iter().all(|&query| found[query].is_empty()), "{criterion}");
            // The others find what they find where there are no zero rows.
            let expected = nearest(&x.select(&kept_x), &y.select(&kept_y), count, criterion).unwrap();
            for (&query, expected) in kept_x.iter().zip(expected) {
                assert_eq!(found[query].len(), expected.len(), "{criterion}");
                for (hit, expected) in found[query].iter().zip(expected) {
                    assert_eq!(hit.index, kept_y[expected.index], "{criterion}");
                    assert!((hit.score - expected.score).abs() < 1e-5, "{criterion}: {hit:?} {expected:?}");
                }
            }
            let (ids, scores) = hits_arrays(&found, count);
            assert_eq!(ids.len(), count * count);
            let missing = ids.iter().zip(&scores).filter(|(id, score)| **id == -1 && score.is_nan()).count();
            assert_eq!(missing, 2 * count + 2 * (count - 2));
        }
        // A zero row has a length and a product.
        for criterion in [Criterion::Dot, Criterion::L2] {
            let retriever = Retriever::new(x.clone(), y.clone(), criterion, &()).unwrap();
            assert_eq!(retriever.zero_targets(), 0);
            assert!(retriever.nearest(&x, count, &()).unwrap().iter().all(|hits| hits.len() == count));
        }
        let retriever = Retriever::new(x.clone(), y.clone(), Criterion::Nn, &()).unwrap();
        let refused = Export::new(&retriever, Metric::Ip).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("zero in row 1: that has no direction"), "{refused}");
    }
}

/// Counts how often rows are made ready for a search of many queries.
#[derive(Default)]
struct Preparations(AtomicUsize);

impl Observer for Preparations {
    fn observe(&self, event: Event) -> ControlFlow<()> {
        if let Event::Progress { stage: Stage::Preparing, done, total } = event {
            self.0.fetch_add(usize::from(done == total), Ordering::Relaxed);
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_retriever_is_prepared_once_and_any_batch_gives_the_same_bits() {
    fn can_be_shared<T: Send + Sync + Clone>(_: &T) {}
    let (x, y) = two_views(300, 5, 5, 2);
    let (x, y) = (x.matrix(), y.matrix());
    for criterion in ["nn", "csls:k=3", "csls:words=40", "isf", "dot", "l2"] {
        let preparations = Preparations::default();
        let retriever = Retriever::new(x.clone(), y.clone(), criterion.parse().unwrap(), &preparations).unwrap();
        can_be_shared(&retriever);
        let all = retriever.nearest(x, 4, &preparations).unwrap();
        let after_one = preparations.0.load(Ordering::Relaxed);
        let rows = |range: std::ops::Range<usize>| x.select(&range.collect::<Vec<_>>());
        let shared = retriever.clone();
        let (first, second) = (rows(0..100), rows(100..300));
        let batch = std::thread::spawn(move || shared.nearest(&second, 4, &()).unwrap());
        let mut found = retriever.nearest(&first, 4, &preparations).unwrap();
        found.extend(batch.join().unwrap());
        assert_eq!(found, all, "{criterion}");
        // Single queries are looked up without a screen.
        for query in [0, 150, 299] {
            assert_eq!(retriever.nearest(&x.select(&[query]), 4, &()).unwrap()[0], all[query], "{criterion}");
        }
        assert_eq!(preparations.0.load(Ordering::Relaxed), after_one, "{criterion}: prepared again");
        assert!(after_one >= 1, "{criterion}");
    }
}
