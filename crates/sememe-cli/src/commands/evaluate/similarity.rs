//! `sememe evaluate similarity`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use sememe::evaluate::{ScoredPairs, Similarity, similarity};
use serde_json::json;

use super::subject::View;
use super::{case, files_of};
use crate::arguments::{BadUsage, EvaluateSimilarity, Global};
use crate::output::{self, count};

pub fn run(arguments: &EvaluateSimilarity, global: &Global) -> anyhow::Result<()> {
    let names: Vec<&str> = arguments.view.iter().map(String::as_str).collect();
    if names.len() > 2 {
        return Err(BadUsage(format!("a pair has two words, so of two views at most, not of {}", names.len())).into());
    }
    let beginning: String = names.iter().map(|name| format!("{name}_")).collect();
    let files = files_of(
        &arguments.sets,
        |folder| sets_in(folder, &beginning),
        &format!("whose name begins with {:?} and ends with .txt", beginning.to_uppercase()),
    )?;
    let sets = files.iter().map(|file| ScoredPairs::read(file)).collect::<Result<Vec<_>, _>>()?;
    for (file, set) in files.iter().zip(&sets) {
        if let Some(header) = &set.header {
            output::note(global, format_args!("{}: the first line is a header ({header})", file.display()));
        }
    }
    let open_two =
        |names| View::open_two(&arguments.what, names, arguments.with.as_deref(), &arguments.vectors, global);
    let views = match (&names[..], &arguments.with) {
        (&[first, second], _) => Vec::from(open_two([Some(first), Some(second)])?),
        (_, Some(_)) => Vec::from(open_two([names.first().copied(), None])?),
        _ => vec![View::open(&arguments.what, names.first().copied(), &arguments.vectors, global)?],
    };
    let words = [views[0].words(), views[views.len() - 1].words()];
    let mut results: Vec<Similarity> = Vec::new();
    let mut failures = Vec::new();
    for (file, set) in files.iter().zip(&sets) {
        match similarity(words, set).with_context(|| file.display().to_string()) {
            Ok(result) => results.push(result),
            Err(error) => failures.push(error),
        }
    }
    if results.is_empty() {
        return Err(failures.swap_remove(0));
    }
    failures.iter().for_each(|error| output::warn(global, format_args!("{error:#}")));

    let json = json!({
        "views": names,
        "casing": views[0].casing,
        "sets": results,
        "failed": failures.iter().map(|error| format!("{error:#}")).collect::<Vec<_>>(),
    });
    output::result(global, json, || {
        let row = |result: &Similarity| {
            vec![
                result.set.clone(),
                format!("{:.2}", 100.0 * result.spearman),
                format!("{:.2}", 100.0 * result.pearson),
                count(result.known),
                count(result.pairs),
                format!("{:.1} %", result.coverage),
            ]
        };
        let rows = results.iter().map(row).collect();
        let table = output::table(&["set", "Spearman", "Pearson", "known", "pairs", "coverage"], rows, true);
        format!("{table}\ncorrelations times 100, {}", case(views[0].casing))
    })
}

/// The text files of a folder whose names begin so, in capitals or not, sorted by name.
fn sets_in(folder: &Path, beginning: &str) -> anyhow::Result<Vec<PathBuf>> {
    if beginning.is_empty() {
        let problem = format!("which files of {} are meant? --view en takes those called EN_*.txt", folder.display());
        return Err(BadUsage(problem).into());
    }
    let beginning = beginning.to_lowercase();
    let is_set = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.starts_with(&beginning) && name.ends_with(".txt")
    };
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_set).collect();
    found.sort();
    Ok(found)
}
