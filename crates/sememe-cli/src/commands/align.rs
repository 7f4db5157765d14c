//! `sememe align`: vectors and dictionaries in, a space out.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use sememe::align::{self, Aligned};
use sememe::lexicon::{self, Matched, Tuples};
use sememe::model::Casing;
use sememe::space::Space;
use sememe::vectors::{Embeddings, Vocabulary};
use serde_json::{Value, json};

use super::{describe_read, read_vectors};
use crate::arguments::{Align, BadUsage, Global, Which};
use crate::output::{self, count};
use crate::progress::{Interruption, Iterations, Stopwatch};

pub fn run(arguments: &Align, global: &Global, interruption: &Arc<Interruption>) -> anyhow::Result<()> {
    Space::check_writable(&arguments.output)?;
    let names: Vec<&str> = arguments.views.iter().map(|view| view.name.as_str()).collect();
    if names.len() < 2 {
        return Err(
            BadUsage("one view cannot be aligned with itself: give at least two, NAME=FILE each".to_owned()).into()
        );
    }
    if let Some(twice) = names.iter().enumerate().find_map(|(i, name)| names[..i].contains(name).then_some(name)) {
        return Err(BadUsage(format!("two views are named {twice:?}; each needs a name of its own")).into());
    }
    let dictionaries =
        arguments.lexicon.iter().map(|text| Dictionary::parse(text, &names)).collect::<anyhow::Result<Vec<_>>>()?;
    if dictionaries.is_empty() && arguments.identical.is_none() {
        return Err(BadUsage("which words mean the same? give --lexicon A-B=FILE, or --identical".to_owned()).into());
    }
    if let Some(unknown) = arguments.words.iter().find(|words| !names.contains(&words.name.as_str())) {
        return Err(BadUsage(format!("--words names the view {:?}, which is not given", unknown.name)).into());
    }

    let mut stopwatch = Stopwatch::start(global);
    let casing = if arguments.lower { Casing::Lower } else { Casing::Kept };
    let mut views = Vec::new();
    let mut reports = Vec::new();
    for view in &arguments.views {
        let words = arguments.words.iter().find(|words| words.name == view.name).map(|words| words.path.clone());
        let read = read_vectors(&view.path, words, &arguments.reading, global)
            .with_context(|| format!("view {:?}", view.name))?;
        reports.push(describe_read(&read));
        views.push((view.name.clone(), casing.of_embeddings(read.embeddings)));
    }
    let (tuples, matches) = gather_tuples(arguments, &dictionaries, &views, casing, global)?;
    stopwatch.finished("reading");

    let observer = Iterations::new(global, interruption);
    let options = align::Options {
        casing,
        normalize: arguments.normalize.0.clone(),
        fit: arguments.fitting.options(global.seed, observer.clone()),
    };
    let aligned = align::align(views, &tuples, &options);
    observer.finish();
    let aligned = aligned?;
    stopwatch.finished("fitting");
    for warning in &aligned.warnings {
        output::warn(global, warning);
    }
    Space::write(&arguments.output, &aligned.alignment, &aligned.latent)?;
    stopwatch.finished("writing");

    let mut json = describe(&aligned);
    json["space"] = json!(arguments.output.display().to_string());
    json["lexicons"] = json!(matches);
    for (view, report) in json["views"].as_array_mut().into_iter().flatten().zip(reports) {
        view["read"] = report;
    }
    output::result(global, json, || format!("{}\nwrote {}", summary(&aligned), arguments.output.display()))
}

/// What was fitted, for machines.
fn describe(aligned: &Aligned) -> Value {
    let model = &aligned.alignment.model;
    let views: Vec<Value> = (model.views.iter().zip(&aligned.latent).zip(&model.shrinkage))
        .map(|((view, latent), shrinkage)| {
            json!({ "name": view.name, "words": latent.len(), "dimension": view.dim(), "shrinkage": shrinkage })
        })
        .collect();
    json!({
        "method": model.method,
        "latent": model.latent(),
        "tuples": output::number(model.tuples),
        "log_likelihood": model.log_likelihood,
        "log_likelihood_per_tuple": model.log_likelihood.map(|total| total / model.tuples),
        "evaluations": model.trace.as_ref().map(|trace| trace.evaluations),
        "converged": model.trace.as_ref().map(|trace| trace.converged),
        "certificate": model.trace.as_ref().and_then(|trace| trace.certificate),
        "views": views,
        "warnings": aligned.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// What was fitted, for people.
pub fn summary(aligned: &Aligned) -> String {
    let model = &aligned.alignment.model;
    let rows = (model.views.iter().zip(&aligned.latent).zip(&model.shrinkage))
        .map(|((view, latent), shrinkage)| {
            vec![view.name.clone(), count(latent.len()), view.dim().to_string(), format!("{shrinkage:.4}")]
        })
        .collect();
    let table = output::table(&["view", "words", "dimension", "shrinkage"], rows, true);
    let mut about = format!(
        "{} on {} tuples: {} latent dimensions",
        model.method.to_string().to_uppercase(),
        count(model.tuples as usize),
        model.latent()
    );
    if let Some(largest) = model.rho.first() {
        let strong = model.rho.iter().filter(|&&rho| rho > 0.5).count();
        about += &format!(", {strong} with a correlation over 0.5 (largest {largest:.3})");
    }
    if let Some(total) = model.log_likelihood {
        about += &format!("; log-likelihood {:.3} nats a tuple", total / model.tuples);
    }
    if let Some(trace) = &model.trace {
        let state = if trace.converged { "converged" } else { "stopped" };
        about += &format!("; {state} after {} evaluations", trace.evaluations);
        if let Some(certificate) = trace.certificate {
            about += &format!(", covariances reproduced to {certificate:.1e}");
        }
    }
    format!("{table}\n{about}\n")
}

/// A dictionary file and the views it is for; tuples say it in their header.
struct Dictionary<'a> {
    path: &'a Path,
    pair: Option<(&'a str, &'a str)>,
}

impl<'a> Dictionary<'a> {
    /// `A-B=FILE` or `FILE`. View names may themselves contain `-`, so every split is tried.
    fn parse(text: &'a str, views: &[&str]) -> anyhow::Result<Self> {
        let Some((pair, path)) = text.split_once('=') else {
            return Ok(Dictionary { path: Path::new(text), pair: None });
        };
        let splits: Vec<(&str, &str)> = pair
            .match_indices('-')
            .map(|(at, _)| (&pair[..at], &pair[at + 1..]))
            .filter(|(from, to)| views.contains(from) && views.contains(to))
            .collect();
        let different: Vec<&(&str, &str)> = splits.iter().filter(|(from, to)| from != to).collect();
        let problem = match (&different[..], &splits[..]) {
            ([pair], _) => return Ok(Dictionary { path: Path::new(path), pair: Some(**pair) }),
            ([], []) if Path::new(text).exists() => return Ok(Dictionary { path: Path::new(text), pair: None }),
            ([], []) => format!("{pair:?} does not name two of the views {}", views.join(", ")),
            ([], [(view, _), ..]) => {
                format!("a dictionary needs two different views of {}, not {view:?} twice", views.join(", "))
            }
            _ => format!("{pair:?} can be read in several ways; rename the views"),
        };
        Err(BadUsage(format!("--lexicon {text}: {problem}")).into())
    }

    /// Of tuples over more views than there are, the columns of these views.
    fn read(&self, views: &[(&str, &Vocabulary)], strict: bool) -> sememe::Result<lexicon::Read> {
        let names = views.iter().map(|(name, _)| (*name).to_owned()).collect();
        let options = lexicon::ReadOptions { strict, views: Some(names) };
        match self.pair {
            Some((from, to)) => lexicon::read_pairs(self.path, from, to, &options),
            None => lexicon::read_tuples(self.path, &options),
        }
    }
}

fn gather_tuples(
    arguments: &Align,
    dictionaries: &[Dictionary],
    views: &[(String, Embeddings)],
    casing: Casing,
    global: &Global,
) -> anyhow::Result<(Tuples, Vec<Value>)> {
    let vocabularies: Vec<(&str, &Vocabulary)> =
        views.iter().map(|(name, embeddings)| (name.as_str(), embeddings.vocabulary())).collect();
    let mut tuples = match arguments.identical {
        Some(which) => lexicon::identical(
            &vocabularies.iter().map(|(_, vocabulary)| *vocabulary).collect::<Vec<_>>(),
            which.into(),
        ),
        None => Tuples::new(views.len()),
    };
    let mut reports = Vec::new();
    if arguments.identical.is_some() {
        output::note(global, format_args!("identical strings: {} pairs", count(tuples.len())));
        reports.push(json!({ "identical": tuples.len() }));
    }
    for dictionary in dictionaries {
        let read = dictionary.read(&vocabularies, arguments.reading.strict)?;
        let name = dictionary.path.display().to_string();
        let mut report = report_read(&name, &read, global);
        let lexicon = casing.of_lexicon(read.lexicon);
        let matched = tuples.add_lexicon(&lexicon, &vocabularies).with_context(|| name.clone())?;
        report_matches(&name, &lexicon, &matched, global);
        let unknown: serde_json::Map<String, Value> = lexicon
            .views()
            .iter()
            .zip(&matched.unknown)
            .map(|(view, words)| (view.clone(), json!(words.len())))
            .collect();
        report["entries"] = json!(lexicon.entries().len());
        report["matched"] = json!(matched.entries);
        report["duplicates"] = json!(lexicon.duplicates());
        report["unknown_words"] = json!(unknown);
        reports.push(report);
    }
    if arguments.tuples == Which::Complete {
        tuples = tuples.complete();
        output::note(global, format_args!("complete tuples: {}", count(tuples.len())));
        if tuples.is_empty() {
            return Err(
                BadUsage("the dictionaries make no tuple that has all views; use --tuples holes".to_owned()).into()
            );
        }
    }
    Ok((tuples, reports))
}

/// Says what of a dictionary file did not become entries, to people now and to machines in what it returns.
pub fn report_read(name: &str, read: &lexicon::Read, global: &Global) -> Value {
    if read.skipped.total() > 0 {
        output::warn(global, format_args!("{name}: skipped {}", read.skipped));
    }
    if !read.ignored_views.is_empty() {
        let views = read.ignored_views.join(", ");
        output::note(global, format_args!("{name}: ignored the columns of views that are not given: {views}"));
    }
    if read.ignored_columns {
        output::note(global, format_args!("{name}: ignored the columns after the second"));
    }
    if read.single_cells > 0 {
        let rows = count(read.single_cells);
        output::note(global, format_args!("{name}: {rows} rows have fewer than two words of the views"));
    }
    if read.comments > 0 {
        output::detail(global, || format!("{name}: {} comment lines", count(read.comments)));
    }
    json!({
        "file": name,
        "skipped": read.skipped,
        "comments": read.comments,
        "single_cells": read.single_cells,
        "ignored_views": read.ignored_views,
        "ignored_columns": read.ignored_columns,
    })
}

fn report_matches(name: &str, lexicon: &lexicon::Lexicon, matched: &Matched, global: &Global) {
    let sides: Vec<String> = lexicon
        .views()
        .iter()
        .zip(&matched.unknown)
        .map(|(view, words)| format!("{} unknown in {view}", count(words.len())))
        .collect();
    let (found, all) = (count(matched.entries), count(lexicon.entries().len()));
    output::note(global, format_args!("{name}: {found} of {all} entries found ({})", sides.join(", ")));
    for (view, words) in lexicon.views().iter().zip(&matched.unknown) {
        if !words.is_empty() {
            output::detail(global, || format!("  not in {view}: {}", words.join(", ")));
        }
    }
}
