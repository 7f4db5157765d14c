//! `sememe export`: a view as vectors for an external index, which then ranks by a criterion.

use sememe::files::check_writable;
use sememe::retrieve;
use sememe::space::Space;
use sememe::vectors::{self, Format};
use serde_json::json;

use crate::arguments::{BadUsage, Export, Global};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn run(arguments: &Export, global: &Global) -> anyhow::Result<()> {
    let outputs: Vec<_> = std::iter::once(&arguments.output).chain(&arguments.queries).collect();
    let formats = outputs.iter().map(|path| Format::of_name(path)).collect::<Result<Vec<_>, _>>()?;
    let files: Vec<_> =
        outputs.iter().zip(&formats).flat_map(|(path, &format)| vectors::files_written(path, format)).collect();
    files.iter().try_for_each(|file| check_writable(file))?;
    let space = Space::open(&arguments.space)?;
    let from = source(arguments, &space)?;
    let bar = Bar::new(global, "comparing words");
    let retriever = space.retriever(from, &arguments.view, arguments.criterion, &*bar);
    bar.finish();
    let retriever = retriever?;
    let export = retrieve::Export::new(&retriever, arguments.metric)?;
    let dimension = export.targets().cols();
    let (source, target) = (space.view(from)?, space.view(&arguments.view)?);
    let targets = target.with_matrix(export.targets().clone());
    vectors::write(&targets, outputs[0], formats[0])?;
    if let Some(path) = &arguments.queries {
        vectors::write(&source.with_matrix(export.queries(source.matrix())?), path, formats[1])?;
    }

    let json = json!({
        "view": arguments.view,
        "from": from,
        "criterion": arguments.criterion,
        "metric": arguments.metric.to_string(),
        "words": targets.len(),
        "dimension": dimension,
        "files": files,
    });
    output::result(global, json, || {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        format!("wrote {} words x {dimension} of {} to {}", count(targets.len()), arguments.view, names.join(", "))
    })
}

/// The source view: the one named, or the other one of two views.
fn source<'a>(arguments: &'a Export, space: &'a Space) -> anyhow::Result<&'a str> {
    let others = space.alignment().model.views.iter().map(|view| view.name.as_str());
    let others: Vec<&str> = others.filter(|&name| name != arguments.view).collect();
    match (&arguments.from, &others[..]) {
        (Some(from), _) => Ok(from),
        (None, &[other]) => Ok(other),
        (None, _) => Err(BadUsage(format!("name the view that queries are of: --from {}", others.join(" or "))).into()),
    }
}
