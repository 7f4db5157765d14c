//! `sememe project`: a fitted model applied to other vectors.

use sememe::files::check_writable;
use sememe::gather::ViewRead;
use sememe::space::Space;
use sememe::vectors::{self, Format};
use serde_json::json;

use super::read_to_change;
use crate::arguments::{BadUsage, Global, Project};
use crate::output::{self, count};
use crate::progress::{Rounds, Stopwatch};

pub fn run(arguments: &Project, global: &Global) -> anyhow::Result<()> {
    let format = arguments.to.map_or_else(|| Format::of_name(&arguments.output), Ok)?;
    let files = vectors::files_written(&arguments.output, format);
    files.iter().try_for_each(|file| check_writable(file))?;
    let mut stopwatch = Stopwatch::start(global);
    let space = Space::open(&arguments.space)?;
    let view = space.alignment().model.view_index(&arguments.vectors.name)?;
    let other = arguments.compared_with.as_deref().map(|name| space.alignment().model.view_index(name)).transpose()?;
    if other == Some(view) {
        return Err(BadUsage("--compared-with must name another view".to_owned()).into());
    }
    let read = read_to_change(&arguments.vectors.path, arguments.words.clone(), &arguments.reading, global)?;
    let report = ViewRead::new(&read);
    stopwatch.finished("reading");
    let spinner = Rounds::waiting(global, "projecting");
    let projected = space.alignment().project(view, read.embeddings).and_then(|projected| {
        let latent = projected.view.named();
        let Some(other) = other else { return Ok(latent) };
        Ok(latent.with_matrix(space.alignment().compared_with(view, other, latent.matrix().clone())?))
    });
    stopwatch.finished("projecting");
    spinner.stage("writing");
    let written = projected.and_then(|projected| {
        vectors::write(&projected, &arguments.output, format)?;
        Ok(projected)
    });
    spinner.finish();
    let projected = written?;
    stopwatch.finished("writing");

    let json = json!({
        "view": arguments.vectors.name,
        "words": projected.len(),
        "latent": projected.dim(),
        "read": report,
        "files": files,
    });
    output::result_beside(&arguments.output, global, json, || {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        format!("wrote {} words x {} to {}", count(projected.len()), projected.dim(), names.join(" and "))
    })
}
