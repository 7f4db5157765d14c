//! `sememe align`: vectors and dictionaries, or their moments, in; a space out.

mod learning;

use std::sync::Arc;

use anyhow::{Context, anyhow};
use sememe::align::{self, Aligned, FinishedPair};
use sememe::gather::{LexiconRead, ViewRead};
use sememe::model::{FitWarning, LatentView};
use sememe::moments::Evidence;
use sememe::space::Space;
use serde_json::{Value, json};

use super::gather::{gather, read_views};
use crate::arguments::{Align, BadUsage, Global, Learning, READING};
use crate::output::{self, count};
use crate::progress::{Interruption, Rounds, Stopwatch};

pub fn run(arguments: &Align, global: &Global, interruption: &Arc<Interruption>) -> anyhow::Result<()> {
    Space::check_writable(&arguments.output)?;
    let rounds = Rounds::new(global, interruption);
    let options = align::AlignOptions::default()
        .with_evidence(arguments.gathering.evidence_options())
        .with_fit(arguments.fitting.options(global.seed))
        .with_resume(match arguments.resume {
            true => Some(Space::open(&arguments.output).context("nothing to resume")?.alignment().clone()),
            false => None,
        });
    if arguments.moments.is_empty() {
        // Checked before the vectors are read. Moments name their views themselves, and are read quickly.
        options.check(&arguments.views.iter().map(|view| view.name.as_str()).collect::<Vec<_>>(), &global.given())?;
    }
    let result = match &arguments.learning {
        Learning { refine: false, unsupervised: false, .. } if arguments.moments.is_empty() => {
            from_vectors(arguments, &options, global, &rounds)
        }
        Learning { refine: false, unsupervised: false, .. } => from_moments(arguments, &options, global, &rounds),
        _ => learning::from_vectors(arguments, &options, global, &rounds),
    };
    rounds.finish();
    let (aligned, mut json) = result?;
    let (at_chance, warnings): (Vec<_>, Vec<_>) =
        aligned.warnings.iter().partition(|warning| matches!(warning, FitWarning::Chance { .. }));
    for warning in warnings {
        output::warn_of_fit(global, warning);
    }
    let mut stopwatch = Stopwatch::start(global);
    let spinner = Rounds::waiting(global, "writing the space");
    let written = Space::write(&arguments.output, &aligned.alignment, &aligned.latent);
    spinner.finish();
    written?;
    stopwatch.finished("writing");
    json["space"] = json!(arguments.output.display().to_string());
    output::result(global, json, || format!("{}\nwrote {}", summary(&aligned), arguments.output.display()))?;
    // Said last and as a failure, whatever is silenced: such a space looks like any other.
    match at_chance.first() {
        Some(warning) => Err(anyhow!("{warning}")),
        None => Ok(()),
    }
}

fn from_vectors(
    arguments: &Align,
    options: &align::AlignOptions,
    global: &Global,
    rounds: &Rounds,
) -> anyhow::Result<(Aligned, Value)> {
    let mut stopwatch = Stopwatch::start(global);
    let gathered = gather(&arguments.views, &arguments.gathering, &arguments.reading, global)?;
    stopwatch.finished("reading");
    rounds.stage("fitting");
    let fitted = align::fit(gathered.views, &gathered.tuples, options, rounds)?;
    stopwatch.finished("fitting");
    rounds.stage("projecting all words");
    let aligned = fitted.project()?;
    stopwatch.finished("projecting");
    let json = describe_with(&aligned, &gathered.lexicons_read, &gathered.views_read);
    Ok((aligned, json))
}

/// The result as JSON.
fn describe_with(aligned: &Aligned, lexicons_read: &[LexiconRead], views_read: &[ViewRead]) -> Value {
    let mut json = json!(aligned.summary());
    json["lexicons"] = json!(lexicons_read);
    for (view, report) in json["views"].as_array_mut().into_iter().flatten().zip(views_read) {
        view["read"] = json!(report);
    }
    json
}

/// Fits to moments. Views that are given are projected; the other views of the space have no words.
fn from_moments(
    arguments: &Align,
    options: &align::AlignOptions,
    global: &Global,
    rounds: &Rounds,
) -> anyhow::Result<(Aligned, Value)> {
    let mut stopwatch = Stopwatch::start(global);
    let read = |path| match Evidence::read(path) {
        Ok(evidence) => Ok(evidence),
        Err(_) if !path.exists() && path.to_string_lossy().contains('=') => {
            Err(BadUsage(format!("{} follows --moments; put views first", path.display())).into())
        }
        Err(error) => Err(anyhow::Error::from(error)),
    };
    let parts = arguments.moments.iter().map(|path| read(path.as_path())).collect::<anyhow::Result<Vec<Evidence>>>()?;
    Evidence::check_distinct(&parts)?;
    let evidence = Evidence::merged(parts)?;
    let known = evidence.moments.views().iter().map(|view| view.name.as_str());
    options.check(&known.collect::<Vec<_>>(), &global.given())?;
    if arguments.views.is_empty() {
        global.refuse(&READING, "no vectors are read, as --moments has no views beside it")?;
    }
    for view in &arguments.views {
        let known: Vec<String> = evidence.moments.views().iter().map(|view| view.name.clone()).collect();
        if !known.contains(&view.name) {
            return Err(sememe::Error::UnknownView { name: view.name.clone(), known }.into());
        }
    }
    let views = read_views(&arguments.views, &arguments.gathering, &arguments.reading, global)?;
    stopwatch.finished("reading");
    rounds.stage("fitting and projecting");
    let aligned = align::align_evidence(evidence, views, options, rounds)?;
    stopwatch.finished("fitting and projecting");
    let mut json = json!(aligned.summary());
    json["moments"] = json!(arguments.moments);
    Ok((aligned, json))
}

/// The result, for people.
pub fn summary(aligned: &Aligned) -> String {
    let model = &aligned.alignment.model;
    let rows = (model.views.iter().zip(&aligned.latent).zip(&model.shrinkage))
        .map(|((view, latent), shrinkage)| {
            vec![view.name.clone(), count(words(latent)), view.dim().to_string(), format!("{shrinkage:.4}")]
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
        if let Some(rise) = trace.rise {
            about += &format!(", the last of which raised it by a fraction of {rise:.1e}");
        }
        about += &match trace.certificate {
            Some(certificate) => format!("; covariances reproduced to {certificate:.1e}"),
            None => format!("; another step would change noise by {:.1e}", trace.residual),
        };
    }
    if model.shrinkage.iter().any(|&by| by > 0.0) {
        about += &format!("\nShrinkage: {}", aligned.shrinkage_rule);
    }
    if !model.finishes.is_empty() {
        about += &format!("\nFinish: {}", finishes(&FinishedPair::of(model)));
    }
    format!("{table}\n{about}\n")
}

/// The finishes of a model, for people.
pub fn finishes(pairs: &[FinishedPair]) -> String {
    pairs.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn words(latent: &Option<LatentView>) -> usize {
    latent.as_ref().map_or(0, |latent| latent.view.len())
}
