//! `sememe align`: vectors and dictionaries, or their moments, in; a space out.

mod learning;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use sememe::align::{self, AlignSummary, Aligned, Alignment, FinishedPair, Fitted};
use sememe::gather::{LexiconRead, ViewRead};
use sememe::model::{FinishSteps, FitWarning, Model, SpellingUse};
use sememe::moments::Evidence;
use sememe::space::Space;
use serde_json::{Value, json};

use super::gather::{folder_beside, gather, read_views};
use crate::arguments::{Align, BadUsage, Global, Learning, READING};
use crate::output::{self, count};
use crate::progress::{Interruption, Rounds, Stopwatch};

pub fn run(arguments: &Align, global: &Global, interruption: &Arc<Interruption>) -> anyhow::Result<()> {
    Space::check_writable(&arguments.output)?;
    let rounds = Rounds::new(global, interruption);
    let options = align::AlignOptions::default()
        .with_evidence(arguments.gathering.evidence_options())
        .with_fit(arguments.fitting.options(global.seed))
        .with_criterion(arguments.fitting.criterion)
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
    let (outcome, mut json) = result?;
    let warnings = outcome.warnings().to_vec();
    output::warn_of_fit(global, &warnings);
    rounds.warn_if_stopped(global, outcome.alignment());
    let about = outcome.about();
    let mut stopwatch = Stopwatch::start(global);
    let spinner = Rounds::waiting(global, "writing the space");
    let written = outcome.write(&arguments.output);
    spinner.finish();
    written?;
    stopwatch.finished("writing");
    json["space"] = json!(arguments.output.display().to_string());
    output::result(global, json, || format!("{about}\nwrote {}", arguments.output.display()))?;
    output::fail_at_chance(&warnings)
}

/// A fit whose views are projected while they are written, or that was projected before.
enum Outcome {
    Fitted(Fitted),
    Projected(Aligned),
}

impl Outcome {
    fn warnings(&self) -> &[FitWarning] {
        match self {
            Outcome::Fitted(fitted) => &fitted.warnings,
            Outcome::Projected(aligned) => &aligned.warnings,
        }
    }

    fn alignment(&self) -> &Alignment {
        match self {
            Outcome::Fitted(fitted) => &fitted.alignment,
            Outcome::Projected(aligned) => &aligned.alignment,
        }
    }

    /// The result, for people.
    fn about(&self) -> String {
        match self {
            Outcome::Fitted(fitted) => describe(&fitted.alignment.model, &fitted.summary()),
            Outcome::Projected(aligned) => summary(aligned),
        }
    }

    fn write(self, path: &Path) -> sememe::Result<()> {
        match self {
            Outcome::Fitted(fitted) => Space::write_fitted(path, fitted),
            Outcome::Projected(aligned) => Space::write(path, &aligned.alignment, &aligned.latent),
        }
    }
}

fn from_vectors(
    arguments: &Align,
    options: &align::AlignOptions,
    global: &Global,
    rounds: &Rounds,
) -> anyhow::Result<(Outcome, Value)> {
    let mut stopwatch = Stopwatch::start(global);
    let spill = Some(folder_beside(&arguments.output));
    let gathered = gather(&arguments.views, &arguments.gathering, &arguments.reading, spill, global)?;
    stopwatch.finished("reading");
    rounds.stage("fitting");
    let fitted = align::fit(gathered.views, &gathered.tuples, options, rounds)?;
    stopwatch.finished("fitting");
    let json = describe_with(&fitted.summary(), &gathered.lexicons_read, &gathered.views_read);
    Ok((Outcome::Fitted(fitted), json))
}

/// The result as JSON.
fn describe_with(summary: &AlignSummary, lexicons_read: &[LexiconRead], views_read: &[ViewRead]) -> Value {
    let mut json = json!(summary);
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
) -> anyhow::Result<(Outcome, Value)> {
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
    let needed = "it needs the words and vectors of training pairs, which moments do not have";
    if arguments.fitting.finish == FinishSteps::Auto {
        global.refuse(&["finish"], needed)?;
    }
    if arguments.fitting.spelling == SpellingUse::Auto {
        global.refuse(&["spelling"], needed)?;
    }
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
    Ok((Outcome::Projected(aligned), json))
}

/// The result, for people.
pub fn summary(aligned: &Aligned) -> String {
    describe(&aligned.alignment.model, &aligned.summary())
}

fn describe(model: &Model, summary: &AlignSummary) -> String {
    let rows = (summary.views.iter())
        .map(|view| {
            let shrinkage = format!("{:.4}", view.shrinkage);
            vec![view.name.clone(), count(view.words), view.dimension.to_string(), shrinkage]
        })
        .collect();
    let table = output::table(&["view", "words", "dimension", "shrinkage"], rows, true);
    let mut about = format!(
        "{} on {} tuples: {} latent dimensions",
        model.method.to_string().to_uppercase(),
        count(model.tuples as usize),
        model.factors()
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
        about += &format!("\nShrinkage: {}", summary.shrinkage_rule);
    }
    if !model.finishes.is_empty() {
        about += &format!("\nFinish: {}", finishes(&summary.finishes));
    }
    if let Some(criterion) = summary.criterion {
        about += &format!("\nCriterion: {criterion}, chosen by retrieval of held-out entries");
    }
    format!("{table}\n{about}\n")
}

/// The finishes of a model, for people.
pub fn finishes(pairs: &[FinishedPair]) -> String {
    pairs.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
