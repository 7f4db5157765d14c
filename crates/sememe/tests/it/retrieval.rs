//! Every criterion against its definition, and what is asked that makes no sense.

use std::collections::BTreeMap;

use sememe::Error;
use sememe::model::{self, Method, Model, Shrinkage};
use sememe::retrieve::{Criterion, Export, Generative, Metric, Pair, Retriever, nearest};
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
    let log_density = Some(&problem.log_density[..]);
    let generative = Generative { model: &model, from: 0, to: 1, log_density };
    assert_eq!(problem.criteria.len(), 10);
    for (name, expected) in &problem.criteria {
        let criterion: Criterion = name.parse().unwrap();
        let pair = match criterion.is_generative() {
            true => Pair { generative: Some(generative), ..Pair::new(&latent[0], &latent[1]) },
            false => Pair::new(x.matrix(), y.matrix()),
        };
        let retriever = Retriever::new(pair, criterion).unwrap();
        let found = retriever.nearest(pair.source, expected.ids[0].len()).unwrap();
        for ((found, ids), scores) in found.iter().zip(&expected.ids).zip(&expected.scores) {
            assert_eq!(found.iter().map(|hit| hit.index).collect::<Vec<_>>(), *ids, "{name}");
            for (hit, score) in found.iter().zip(scores) {
                assert!((f64::from(hit.score) - score).abs() < 1e-5 * score.abs().max(1.0), "{name}: {hit:?} {score}");
            }
        }
        // The terms of one retriever serve another.
        let again = Retriever::with_terms(pair, criterion, retriever.terms().to_vec()).unwrap();
        assert_eq!(again.nearest(pair.source, 7).unwrap(), retriever.nearest(pair.source, 7).unwrap(), "{name}");
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
    let generative = Generative { model: &model, from: 0, to: 1, log_density: Some(&problem.log_density) };
    for (name, expected) in &problem.criteria {
        let criterion: Criterion = name.parse().unwrap();
        let pair = match criterion.is_generative() {
            true => Pair { generative: Some(generative), ..Pair::new(&latent[0], &latent[1]) },
            false => Pair::new(x.matrix(), y.matrix()),
        };
        let retriever = Retriever::new(pair, criterion).unwrap();
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
            let queries = export.queries(pair.source).unwrap();
            assert_eq!(found_by_index(metric, &queries, export.targets(), 7), expected.ids, "{name} by {metric}");
        }
    }
}

/// Checks PMI from latent vectors against the densities of the vectors themselves.
fn check_pmi(model: &Model, (from, x): (usize, &Embeddings), (to, y): (usize, &Embeddings)) {
    let latent = [(from, x), (to, y)].map(|(view, rows)| model.views[view].project(rows.matrix()).unwrap());
    let generative = Generative { model, from, to, log_density: None };
    let pair = Pair { generative: Some(generative), ..Pair::new(&latent[0], &latent[1]) };
    let found = Retriever::new(pair, Criterion::Pmi).unwrap().nearest(&latent[0], 3).unwrap();
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
    for (exponent, dewhiten, latent) in [(None, false, 4), (Some(1.0), false, 4), (Some(0.0), true, 4), (None, true, 3)]
    {
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
    let generative = Generative { model: &model, from: 0, to: 1, log_density: None };
    let pair = Pair { generative: Some(generative), ..Pair::new(&z[0], &z[1]) };
    let found = Retriever::new(pair, Criterion::Pmi).unwrap().nearest(&z[0], 90).unwrap();
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
        let retriever = Retriever::new(Pair::new(&source, &target), criterion.parse().unwrap()).unwrap();
        retriever.nearest(&query, 1).unwrap()[0][0].index
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
    let zero = Matrix::new(vec![1.0, 2.0, 0.0, 0.0], 2);
    for criterion in ["nn", "csls", "isf", "corrected"] {
        let refused = said(nearest(&zero, &zero, 1, criterion.parse().unwrap()));
        assert!(refused.contains("zero in row 2: that has no direction"), "{refused}");
    }
    assert_eq!(nearest(&zero, &zero, 1, Criterion::L2).unwrap()[1][0].index, 1);
    let terms = Retriever::with_terms(Pair::new(x, x), Criterion::CSLS, vec![0.0]);
    assert!(terms.is_err_and(|error| error.to_string().contains("there are 20 targets")));
}

#[test]
fn only_generative_models_have_likelihoods() {
    let (x, y) = two_views(60, 3, 3, 1);
    let refused = |method, criterion| {
        let options = model::FitOptions::default().with_method(Some(method));
        let (model, _) = model::fit(&paired_moments(&x, &y), &options, &()).unwrap();
        let generative = Generative { model: &model, from: 0, to: 1, log_density: None };
        let pair = Pair { generative: Some(generative), ..Pair::new(x.matrix(), y.matrix()) };
        Retriever::new(pair, criterion).map(|_| ()).unwrap_err()
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
