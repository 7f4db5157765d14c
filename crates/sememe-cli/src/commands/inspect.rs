//! `sememe inspect`: what is in a file of vectors or in a space, in words and numbers.

use std::path::Path;

use rayon::prelude::*;
use sememe::preparation::Casing;
use sememe::space::Space;
use sememe::vectors::Embeddings;
use serde_json::json;

use super::{describe_read, read_vectors};
use crate::arguments::{Global, Inspect};
use crate::output::{self, count, facts};

/// How many words are shown from each end of a vocabulary.
const SHOWN: usize = 8;

pub fn run(arguments: &Inspect, global: &Global) -> anyhow::Result<()> {
    match arguments.what.is_dir() {
        true => space(&arguments.what, global),
        false => vectors(arguments, global),
    }
}

fn vectors(arguments: &Inspect, global: &Global) -> anyhow::Result<()> {
    let read = read_vectors(&arguments.what, arguments.words.clone(), &arguments.reading, global)?;
    let embeddings = &read.embeddings;
    let lengths = Lengths::of(embeddings);
    let mut json = describe_read(&read);
    json["subwords"] = json!(embeddings.subwords().is_some());
    json["length"] = json!({ "mean": lengths.mean, "smallest": lengths.smallest, "largest": lengths.largest });
    json["first_words"] = json!(first_words(embeddings));
    output::result(global, json, || {
        let subwords = if embeddings.subwords().is_some() { ", composes unknown words from n-grams" } else { "" };
        facts(vec![
            ("format", format!("{}{subwords}", read.format)),
            ("words", count(embeddings.len())),
            ("dimension", embeddings.dim().to_string()),
            (
                "vector length",
                format!("mean {:.3}, from {:.3} to {:.3}", lengths.mean, lengths.smallest, lengths.largest),
            ),
            ("skipped", if read.skipped.total() == 0 { "nothing".to_owned() } else { read.skipped.to_string() }),
            ("first words", first_words(embeddings).join("  ")),
        ])
    })
}

fn space(path: &Path, global: &Global) -> anyhow::Result<()> {
    let space = Space::open(path)?;
    let alignment = space.alignment();
    let model = &alignment.model;
    let steps: Vec<String> = alignment.preparation.steps.iter().map(ToString::to_string).collect();
    let mut views = Vec::new();
    let mut rows = Vec::new();
    let latent = space.latent_views()?;
    for (number, ((view, source), shrinkage)) in
        model.views.iter().zip(&alignment.sources.views).zip(&model.shrinkage).enumerate()
    {
        let latent = &latent[number];
        let words = latent.as_ref().map_or(0, Embeddings::len);
        let first = latent.as_ref().map_or_else(Vec::new, first_words);
        views.push(json!({
            "name": view.name,
            "words": words,
            "dimension": view.dim(),
            "shrinkage": shrinkage,
            "fingerprint": source.fingerprint,
            "first_words": first,
        }));
        rows.push(vec![
            view.name.clone(),
            count(words),
            view.dim().to_string(),
            format!("{shrinkage:.4}"),
            first.join("  "),
        ]);
    }
    let json = json!({
        "method": model.method,
        "latent": model.latent(),
        "casing": alignment.preparation.casing,
        "normalize": steps,
        "tuples": output::number(model.tuples),
        "log_likelihood": model.log_likelihood,
        "canonical_correlations": model.rho,
        "views": views,
        "lexicon": alignment.sources.lexicon,
        "temperatures": alignment.temperatures,
    });
    output::result(global, json, || {
        let table = output::table(&["view", "words", "dimension", "shrinkage", "first words"], rows, false);
        let likelihood = model
            .log_likelihood
            .map_or(String::new(), |total| format!(", log-likelihood {:.3} nats a tuple", total / model.tuples));
        let casing = match alignment.preparation.casing {
            Casing::Kept => "kept",
            Casing::Lower => "all lower",
        };
        let facts = facts(vec![
            ("method", model.method.to_string()),
            ("latent dimensions", model.latent().to_string()),
            ("fitted on", format!("{} tuples{likelihood}", count(model.tuples as usize))),
            ("correlations", spectrum(&model.rho)),
            ("case", casing.to_owned()),
            ("prepared by", if steps.is_empty() { "nothing".to_owned() } else { steps.join(", ") }),
        ]);
        format!("{facts}\n{table}")
    })
}

/// The canonical correlations at a few places, as a line and as bars.
fn spectrum(rho: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if rho.is_empty() {
        return "none: this method has no canonical correlations".to_owned();
    }
    let places = rho.len().min(40);
    let at = |i: usize| rho[i * (rho.len() - 1) / (places - 1).max(1)];
    let bars: String = (0..places).map(|i| BARS[((at(i) * 8.0) as usize).min(7)]).collect();
    format!("{:.3} (1st) to {:.3} (last)  {bars}", rho[0], rho[rho.len() - 1])
}

fn first_words(embeddings: &Embeddings) -> Vec<&str> {
    embeddings.vocabulary().iter().take(SHOWN).collect()
}

struct Lengths {
    mean: f64,
    smallest: f64,
    largest: f64,
}

impl Lengths {
    fn of(embeddings: &Embeddings) -> Self {
        let length = |row| embeddings.vector(row).iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        let all: Vec<f64> = (0..embeddings.len()).into_par_iter().map(length).collect();
        Lengths {
            mean: all.iter().sum::<f64>() / all.len() as f64,
            smallest: all.iter().copied().fold(f64::INFINITY, f64::min),
            largest: all.iter().copied().fold(0.0, f64::max),
        }
    }
}
