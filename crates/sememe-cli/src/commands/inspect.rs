//! `sememe inspect`: what is in a file of vectors or moments, or in a space, in words and numbers.

use rayon::prelude::*;
use sememe::files::{self, check_readable};
use sememe::gather::ViewRead;
use sememe::moments::Evidence;
use sememe::prepare::Casing;
use sememe::space::Space;
use sememe::vectors::{Embeddings, View, Vocabulary};
use sememe_report::plots;
use serde_json::json;

use super::moments::Groups;
use super::read_vectors;
use crate::arguments::{BadUsage, Global, Inspect};
use crate::output::{self, count, facts};

/// How many words are shown from each end of a vocabulary.
const SHOWN: usize = 8;

pub fn run(arguments: &Inspect, global: &Global) -> anyhow::Result<()> {
    let is_folder = arguments.what.is_dir();
    if !is_folder {
        check_readable(&arguments.what)?;
    }
    match is_folder {
        true => space(arguments, global),
        false if arguments.curve.is_some() => {
            Err(BadUsage("--curve draws how a space was fitted; give a space".to_owned()).into())
        }
        false => match Evidence::read(&arguments.what) {
            Ok(evidence) => moments(&evidence, global),
            Err(_) => vectors(arguments, global),
        },
    }
}

fn vectors(arguments: &Inspect, global: &Global) -> anyhow::Result<()> {
    let read = read_vectors(&arguments.what, arguments.words.clone(), &arguments.reading, global)?;
    let embeddings = &read.embeddings;
    let lengths = Lengths::of(embeddings);
    let mut json = serde_json::to_value(ViewRead::new(&read))?;
    json["subwords"] = json!(embeddings.subwords().is_some());
    json["length"] = json!({ "mean": lengths.mean, "smallest": lengths.smallest, "largest": lengths.largest });
    json["first_words"] = json!(first_words(embeddings.vocabulary()));
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
            ("first words", first_words(embeddings.vocabulary()).join("  ")),
        ])
    })
}

/// What `sememe moments` wrote.
fn moments(evidence: &Evidence, global: &Global) -> anyhow::Result<()> {
    let views = evidence.moments.views();
    let steps: Vec<String> = evidence.preparation.steps.iter().map(ToString::to_string).collect();
    let groups = Groups::of(evidence);
    let json = json!({
        "format": "moments",
        "views": views,
        "groups": groups.json(),
        "casing": evidence.preparation.casing,
        "normalize": steps,
        "sources": evidence.sources,
    });
    output::result(global, json, || {
        let names: Vec<String> = views.iter().map(|view| format!("{} ({})", view.name, view.dim)).collect();
        let facts = facts(vec![
            ("format", "moments, for sememe align --moments".to_owned()),
            ("views (dimensions)", names.join(", ")),
            ("case", case(evidence.preparation.casing).to_owned()),
            ("prepared by", if steps.is_empty() { "nothing".to_owned() } else { steps.join(", ") }),
        ]);
        format!("{facts}\n{}", groups.table())
    })
}

fn case(casing: Casing) -> &'static str {
    match casing {
        Casing::Kept => "kept",
        Casing::Lower => "all lower",
    }
}

fn space(arguments: &Inspect, global: &Global) -> anyhow::Result<()> {
    let space = Space::open(&arguments.what)?;
    let alignment = space.alignment();
    let model = &alignment.model;
    if let Some(file) = &arguments.curve {
        let Some(trace) = &model.trace else {
            return Err(BadUsage(format!("{} is no iteration and has no learning curve", model.method)).into());
        };
        let curve = plots::learning_curve(&[(model.method.name(), &trace.negative_log_likelihoods)], 0)?;
        files::write(file, curve.document().as_bytes())?;
    }
    let steps: Vec<String> = alignment.preparation.steps.iter().map(ToString::to_string).collect();
    let mut views = Vec::new();
    let mut rows = Vec::new();
    let latent = space.latent_views()?;
    for (number, ((view, source), shrinkage)) in
        model.views.iter().zip(&alignment.sources.views).zip(&model.shrinkage).enumerate()
    {
        let latent = &latent[number];
        let words = latent.as_ref().map_or(0, View::len);
        let first = latent.as_ref().and_then(View::words).map_or_else(Vec::new, first_words);
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
        "trace": model.trace,
        "views": views,
        "lexicon": alignment.sources.lexicon,
        "temperatures": alignment.temperatures,
    });
    output::result(global, json, || {
        let table = output::table(&["view", "words", "dimension", "shrinkage", "first words"], rows, false);
        let likelihood = model
            .log_likelihood
            .map_or(String::new(), |total| format!(", log-likelihood {:.3} nats a tuple", total / model.tuples));
        let facts = facts(vec![
            ("method", model.method.to_string()),
            ("latent dimensions", model.latent().to_string()),
            ("fitted on", format!("{} tuples{likelihood}", count(model.tuples as usize))),
            ("correlations", spectrum(&model.rho)),
            ("case", case(alignment.preparation.casing).to_owned()),
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

fn first_words(words: &Vocabulary) -> Vec<&str> {
    words.iter().take(SHOWN).collect()
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
