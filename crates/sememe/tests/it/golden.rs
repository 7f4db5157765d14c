//! Numbers and files made by other software; `scripts/golden` says how.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sememe::linalg::Mat;
use sememe::model::{FitOptions, LatentSize, Shrinkage, ibfa};
use sememe::vectors::{self, Format, Matrix};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::samples;

type Rows = Vec<Vec<f64>>;

#[derive(Deserialize)]
struct IbfaProblem {
    x: Rows,
    y: Rows,
    latent: usize,
    shrinkage: [f64; 2],
    rho: Vec<f64>,
    mean: Vec<f64>,
    sigma: Rows,
    psi_x: Rows,
    log_likelihood: f64,
    gram_xx: Rows,
    gram_xy: Rows,
    posterior_variances: Vec<f64>,
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

pub fn read_json<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_str(&std::fs::read_to_string(golden(name)).unwrap()).unwrap()
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-8 * expected.abs().max(1.0), "{what}: {found} instead of {expected}");
}

fn assert_matrix(found: &Mat, expected: &Rows, what: &str) {
    for (i, row) in expected.iter().enumerate() {
        row.iter().enumerate().for_each(|(j, &value)| assert_close(found[(i, j)], value, what));
    }
}

fn assert_gram(a: &Matrix, b: &Matrix, expected: &Rows, what: &str) {
    for (i, row) in expected.iter().enumerate() {
        for (j, expected) in row.iter().enumerate() {
            let found: f64 = a.row(i).iter().zip(b.row(j)).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
            // Latent vectors are stored as f32.
            assert!((found - expected).abs() < 1e-5, "{what}: {found} instead of {expected}");
        }
    }
}

#[test]
fn ibfa_agrees_with_numpy_and_scipy() {
    let problems: Vec<IbfaProblem> = read_json("ibfa.json");
    assert!(problems.len() >= 4);
    for problem in problems {
        let (x, y) = (samples::embeddings_of_rows(&problem.x), samples::embeddings_of_rows(&problem.y));
        let moments = samples::paired_moments(&x, &y);
        let shrinkage = match problem.shrinkage[0] {
            0.0 => Shrinkage::None,
            by => Shrinkage::By(by),
        };
        let options = FitOptions::default().with_latent(LatentSize::Of(problem.latent)).with_shrinkage(shrinkage);
        let (model, _) = ibfa::fit(&moments, &options).unwrap();

        model.rho.iter().zip(&problem.rho).for_each(|(&found, &expected)| assert_close(found, expected, "rho"));
        let mu: Vec<f64> = model.views.iter().flat_map(|view| view.mu.clone()).collect();
        mu.iter().zip(&problem.mean).for_each(|(&found, &expected)| assert_close(found, expected, "mean"));
        assert_matrix(&samples::sigma(&model), &problem.sigma, "sigma");
        let emission = model.views[0].emission.as_ref().unwrap();
        assert_matrix(&emission.psi, &problem.psi_x, "psi");
        assert_close(model.log_likelihood.unwrap(), problem.log_likelihood, "log-likelihood");
        assert_close(model.log_likelihood_of(&moments).unwrap(), problem.log_likelihood, "log-likelihood of moments");

        let zx = model.views[0].project(x.matrix()).unwrap();
        let zy = model.views[1].project(y.matrix()).unwrap();
        assert_gram(&zx, &zx, &problem.gram_xx, "inner products of projections");
        assert_gram(&zx, &zy, &problem.gram_xy, "inner products across views");

        let posterior = model.posterior_covariance(&[0]).unwrap();
        for (i, &expected) in problem.posterior_variances.iter().enumerate() {
            assert_close(posterior[(i, i)], expected, "posterior variance");
        }
    }
}

#[cfg(feature = "fasttext")]
#[test]
fn fasttext_words_and_composed_words_agree_with_fasttext() {
    #[derive(Deserialize)]
    struct Expected {
        words: Vec<String>,
        known: BTreeMap<String, Vec<f32>>,
        unknown: BTreeMap<String, Vec<f32>>,
    }
    let expected: Expected = read_json("subwords.json");
    let read = vectors::read(&golden("subwords.fasttext.bin"), &Default::default(), &()).unwrap();
    assert_eq!(read.format, Format::FastText);
    assert_eq!(read.embeddings.vocabulary().iter().collect::<Vec<_>>(), expected.words);
    let (composed, missing) = read.embeddings.select(expected.unknown.keys().map(String::as_str));
    assert!(missing.is_empty());
    let close = |found: &[f32], expected: &[f32]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
    for (word, vector) in &expected.known {
        assert!(close(read.embeddings.get(word).unwrap(), vector), "{word}");
    }
    for (word, vector) in &expected.unknown {
        assert!(read.embeddings.get(word).is_none() && close(composed.get(word).unwrap(), vector), "{word}");
    }
}

#[cfg(feature = "fasttext")]
#[test]
fn words_of_a_fasttext_model_that_were_not_read_are_not_unknown() {
    let path = golden("subwords.fasttext.bin");
    let all = vectors::read(&path, &Default::default(), &()).unwrap().embeddings;
    let two = vectors::read(&path, &vectors::ReadOptions::default().with_max_words(Some(2)), &()).unwrap().embeddings;
    let last = all.word(all.len() - 1);
    assert_eq!(two.len(), 2);
    assert_eq!(two.select([last]).0.get(last), all.get(last));
}

#[test]
fn word2vec_binary_of_gensim_is_read() {
    let expected: BTreeMap<String, Vec<f32>> = read_json("gensim.word2vec.json");
    let read = vectors::read(&golden("gensim.word2vec.bin"), &Default::default(), &()).unwrap();
    assert_eq!(read.format, Format::Word2vec);
    assert_eq!(read.embeddings.len(), expected.len());
    for (word, vector) in &expected {
        assert_eq!(read.embeddings.get(word).unwrap(), vector, "{word}");
    }
}
