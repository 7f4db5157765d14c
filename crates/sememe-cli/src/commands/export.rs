//! `sememe export`: the aligned vectors of all views, or one view as vectors with which any index ranks as a criterion does.

use sememe::files::check_writable;
use sememe::retrieve;
use sememe::space::Space;
use sememe::vectors::{self, Format};
use serde_json::json;

use crate::arguments::{BadUsage, Export, Global};
use crate::output::{self, count};
use crate::progress::{Bar, Rounds};

pub fn run(arguments: &Export, global: &Global) -> anyhow::Result<()> {
    match (arguments.format, &arguments.view) {
        (Some(format), _) => all_views(arguments, format, global),
        (None, Some(view)) => for_index(arguments, view, global),
        (None, None) => Err(BadUsage("give --format for all views, or --view for one".to_owned()).into()),
    }
}

fn all_views(arguments: &Export, format: Format, global: &Global) -> anyhow::Result<()> {
    let space = Space::open(&arguments.space)?;
    let spinner = Rounds::waiting(global, "writing vectors");
    let files = space.export(&arguments.output, format);
    spinner.finish();
    let files = files?;
    let views: Vec<&str> = space.alignment().model.views.iter().map(|view| view.name.as_str()).collect();
    let json =
        json!({ "views": views, "format": format, "dimension": space.alignment().model.latent(), "files": files });
    output::result(global, json, || {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        format!("wrote {}", names.join(", "))
    })
}

fn for_index(arguments: &Export, view: &str, global: &Global) -> anyhow::Result<()> {
    let outputs: Vec<_> = std::iter::once(&arguments.output).chain(&arguments.queries).collect();
    let formats = outputs.iter().map(|path| Format::of_name(path)).collect::<Result<Vec<_>, _>>()?;
    let files: Vec<_> =
        outputs.iter().zip(&formats).flat_map(|(path, &format)| vectors::files_written(path, format)).collect();
    files.iter().try_for_each(|file| check_writable(file))?;
    let space = Space::open(&arguments.space)?;
    let from = source(arguments, view, &space)?;
    let bar = Bar::new(global, "comparing words");
    let retriever = space.retriever(from, view, arguments.criterion, &*bar);
    bar.finish();
    let retriever = retriever?;
    let export = retrieve::Export::new(&retriever, arguments.metric)?;
    let dimension = export.targets().cols();
    let (source, target) = (space.view(from)?, space.view(view)?);
    let targets = target.with_matrix(export.targets().clone());
    vectors::write(&targets, outputs[0], formats[0])?;
    if let Some(path) = &arguments.queries {
        vectors::write(&source.with_matrix(export.queries(source.matrix())?), path, formats[1])?;
    }

    let json = json!({
        "view": view,
        "from": from,
        "criterion": arguments.criterion,
        "metric": arguments.metric.to_string(),
        "words": targets.len(),
        "dimension": dimension,
        "files": files,
    });
    output::result(global, json, || {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        format!("wrote {} words x {dimension} of {} to {}", count(targets.len()), view, names.join(", "))
    })
}

/// The view that queries are of: the one named, or the other one of two.
fn source<'a>(arguments: &'a Export, view: &str, space: &'a Space) -> anyhow::Result<&'a str> {
    let others = space.alignment().model.views.iter().map(|view| view.name.as_str());
    let others: Vec<&str> = others.filter(|&name| name != view).collect();
    match (&arguments.from, &others[..]) {
        (Some(from), _) => Ok(from),
        (None, &[other]) => Ok(other),
        (None, _) => Err(BadUsage(format!("name the view that queries are of: --from {}", others.join(" or "))).into()),
    }
}
