//! `sememe extend`: a space and one more view in, the larger space out.

use std::path::Path;
use std::sync::Arc;

use sememe::align::{self, Extended, FinishedPair};
use sememe::files::check_readable;
use sememe::gather::{self, Dictionary, GatherOptions, ViewFile};
use sememe::lexicon::Shared;
use sememe::model::{FinishSteps, FitOptions, Method};
use sememe::space::Space;
use sememe::vectors::{View, Vocabulary};
use serde_json::json;

use super::gather::{folder_beside, read_files, report_lexicons};
use crate::arguments::{BadUsage, Extend, Global};
use crate::output::{self, count};
use crate::progress::{Interruption, Rounds, Stopwatch};

pub fn run(arguments: &Extend, global: &Global, interruption: &Arc<Interruption>) -> anyhow::Result<()> {
    let mut stopwatch = Stopwatch::start(global);
    let space = Space::open(&arguments.space)?;
    let alignment = space.alignment();
    let new = &arguments.view.name;
    let names: Vec<&str> = alignment.model.views.iter().map(|view| view.name.as_str()).chain([new.as_str()]).collect();
    if names[..names.len() - 1].contains(&new.as_str()) {
        return Err(BadUsage(format!("the space has a view named {new:?} already; choose another name")).into());
    }
    alignment.check_extension(global.given())?;
    let method = alignment.model.method;
    if arguments.finish == FinishSteps::Auto && !matches!(method, Method::Ibfa | Method::Mbfa) {
        global.refuse(&["finish"], format_args!("auto chooses none for {method}; give a number of steps"))?;
    }
    let reservation = space.reserve(new, arguments.output.as_deref())?;
    if let Some(file) = reservation.left_behind() {
        let file = file.display();
        output::warn(global, format_args!("{file} was left by an extension that did not finish: it is replaced"));
    }
    let dictionaries =
        arguments.lexicon.iter().map(|text| Dictionary::parse(text, &names)).collect::<Result<Vec<_>, _>>()?;
    dictionaries.iter().filter_map(Dictionary::path).try_for_each(check_readable)?;
    if dictionaries.is_empty() && arguments.identical.is_none() {
        return Err(BadUsage("which words mean the same? give --lexicon A-B=FILE, or --identical".to_owned()).into());
    }
    if let Some(dictionary) = dictionaries.iter().find(|dictionary| !dictionary.may_have(new)) {
        let file = dictionary.path().unwrap_or(Path::new("a dictionary")).display();
        return Err(BadUsage(format!("{file} is for two views of the space: it must have words of {new:?}")).into());
    }
    let latent = space.latent_views()?;
    if let Some(empty) = names.iter().zip(&latent).find_map(|(name, view)| view.is_none().then_some(name)) {
        output::warn(global, format_args!("the space has no words of view {empty:?}, so none can be looked up"));
    }
    let mut options = GatherOptions::default();
    options.read = arguments.reading.options(None);
    options.casing = alignment.preparation.casing;
    options.identical = arguments.identical.map(Shared::from);
    options.spill = Some(arguments.output.as_deref().map_or_else(|| arguments.space.clone(), folder_beside));
    let mut file = ViewFile::new(new.as_str(), &*arguments.view.path);
    file.words = arguments.words.clone();
    let (mut read, read_reports) = read_files(&[file], &options, global)?;
    let view = read.remove(0);

    let none = Vocabulary::new();
    let views = latent.iter().map(Option::as_ref).chain([Some(&view)]);
    let known = views.map(|view| view.and_then(View::words).unwrap_or(&none));
    let vocabularies: Vec<(&str, &Vocabulary)> = names.iter().copied().zip(known).collect();
    let (tuples, lexicons) = gather::tuples(&vocabularies, &dictionaries, &options)?;
    report_lexicons(&lexicons, global);
    stopwatch.finished("reading");

    let rounds = Rounds::new(global, interruption);
    let mut options = FitOptions::for_new_view().with_shrinkage(arguments.shrinkage).with_finish(arguments.finish);
    options.mbfa.evaluations = arguments.iterations;
    options.mbfa.tolerance = arguments.tolerance;
    rounds.stage("fitting the new view");
    let extended = align::extend(alignment, &latent, view, &tuples, &options, &rounds);
    rounds.finish();
    let Extended { alignment, latent, shrinkage_rule, warnings, .. } = extended?;
    stopwatch.finished("fitting");
    output::warn_of_fit(global, &warnings);
    rounds.warn_if_stopped(global, &alignment);
    space.extend(&alignment, &latent, reservation)?;
    stopwatch.finished("writing");

    let written = arguments.output.as_deref().unwrap_or(space.path()).display().to_string();
    let words = latent.view.len();
    let shrinkage = alignment.model.shrinkage.last().copied().unwrap_or_default();
    let mut finishes = FinishedPair::of(&alignment.model);
    finishes.retain(|pair| pair.views.contains(new));
    let json = json!({
        "space": written,
        "view": { "name": new, "words": words, "shrinkage": shrinkage, "read": read_reports[0] },
        "shrinkage_rule": shrinkage_rule,
        "finishes": finishes,
        "views": names,
        "lexicons": lexicons,
        "warnings": warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    output::result(global, json, || {
        let mut about = format!("added {} words of {new} to {written}", count(words));
        if shrinkage > 0.0 {
            about += &format!("\nShrinkage: {shrinkage:.4}, {shrinkage_rule}");
        }
        if !finishes.is_empty() {
            about += &format!("\nFinish: {}", super::align::finishes(&finishes));
        }
        about
    })?;
    output::fail_at_chance(&warnings)
}
