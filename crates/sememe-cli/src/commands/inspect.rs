//! `sememe inspect`: a description of a file of vectors or moments, or of a space.

use rayon::prelude::*;
use sememe::files::{self, Input, check_readable};
use sememe::gather::ViewRead;
use sememe::moments::Evidence;
use sememe::prepare::{Casing, Step};
use sememe::space::{Space, SpaceView};
use sememe::vectors::{Embeddings, Vocabulary};
use sememe_report::plots;
use serde_json::json;

use super::moments::groups_table;
use super::read_input;
use crate::arguments::{BadUsage, Global, Inspect};
use crate::output::{self, count, facts};

/// Number of words shown from each end of a vocabulary.
const SHOWN: usize = 8;

pub fn run(arguments: &Inspect, global: &Global) -> anyhow::Result<()> {
    let is_folder = arguments.what.is_dir();
    if !is_folder {
        check_readable(&arguments.what)?;
    }
    let of_vectors = ["words", "max_words", "format", "strict"];
    match is_folder {
        true => {
            global.refuse(&of_vectors, "it is for vectors, and this is a folder")?;
            space(arguments, global)
        }
        false if arguments.curve.is_some() => {
            Err(BadUsage("--curve draws how a space was fitted; give a space".to_owned()).into())
        }
        false => {
            let input = Input::open_with(&arguments.what, true)?;
            match Evidence::is_in(&input)? {
                true => {
                    global.refuse(&of_vectors, "it is for vectors, and this is a file of moments")?;
                    moments(&Evidence::read_input(&input)?, global)
                }
                false => vectors(&input, arguments, global),
            }
        }
    }
}

fn vectors(input: &Input, arguments: &Inspect, global: &Global) -> anyhow::Result<()> {
    let read = read_input(input, arguments.words.clone(), &arguments.reading, global)?;
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

/// A description of a file of moments.
fn moments(evidence: &Evidence, global: &Global) -> anyhow::Result<()> {
    let summary = evidence.summary();
    let mut json = json!(summary);
    json["format"] = json!("moments");
    output::result(global, json, || {
        let names: Vec<String> = summary.views.iter().map(|view| format!("{} ({})", view.name, view.dim)).collect();
        let facts = facts(vec![
            ("format", "moments, for sememe align --moments".to_owned()),
            ("views (dimensions)", names.join(", ")),
            ("case", case(summary.casing).to_owned()),
            ("prepared by", steps(&summary.normalize)),
        ]);
        format!("{facts}\n{}", groups_table(&summary.groups))
    })
}

fn steps(steps: &[Step]) -> String {
    let names: Vec<String> = steps.iter().map(ToString::to_string).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn case(casing: Casing) -> &'static str {
    match casing {
        Casing::Kept => "kept",
        Casing::Lower => "all lower",
    }
}

fn space(arguments: &Inspect, global: &Global) -> anyhow::Result<()> {
    let space = Space::open(&arguments.what)?;
    let model = &space.alignment().model;
    let mut drawn = Ok(());
    if let Some(file) = &arguments.curve {
        let Some(trace) = &model.trace else {
            return Err(BadUsage(format!("{} is no iteration and has no learning curve", model.method)).into());
        };
        let curve = plots::learning_curve(&[(model.method.name(), &trace.negative_log_likelihoods)], 0)?;
        // A curve that cannot be written must not lose the description.
        drawn = files::write(file, curve.document().as_bytes());
    }
    let summary = space.summary()?;
    output::result(global, json!(summary), || {
        let row = |view: &SpaceView| {
            vec![
                view.name.clone(),
                count(view.words),
                view.dimension.to_string(),
                format!("{:.4}", view.shrinkage),
                view.first_words.join("  "),
            ]
        };
        let rows = summary.views.iter().map(row).collect();
        let table = output::table(&["view", "words", "dimension", "shrinkage", "first words"], rows, false);
        let likelihood = summary
            .log_likelihood
            .map_or(String::new(), |total| format!(", log-likelihood {:.3} nats a tuple", total / summary.tuples));
        let finishes = match summary.finishes.is_empty() {
            true => "none".to_owned(),
            false => super::align::finishes(&summary.finishes),
        };
        let spelling = match summary.spelling_columns {
            0 => String::new(),
            columns => format!(", and {columns} columns of spelling"),
        };
        let facts = facts(vec![
            ("method", summary.method.to_string()),
            ("latent dimensions", format!("{}{spelling}", summary.latent)),
            ("fitted on", format!("{} tuples{likelihood}", count(summary.tuples as usize))),
            ("correlations", spectrum(&summary.canonical_correlations)),
            ("finish", finishes),
            ("criterion", summary.criterion.to_string()),
            ("case", case(summary.casing).to_owned()),
            ("prepared by", steps(&summary.normalize)),
        ]);
        format!("{facts}\n{table}")
    })?;
    Ok(drawn?)
}

/// Some of the canonical correlations, as numbers and as bars.
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
