//! `sememe export`: the aligned vectors of all views, or one view as vectors with which any index ranks as a criterion does.

#[cfg(feature = "pgvector")]
mod pgvector;

use std::path::Path;

use sememe::files::check_writable;
use sememe::retrieve;
use sememe::space::Space;
use sememe::vectors::{self, Embeddings, Format};
use serde_json::{Value, json};

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
    let store = arguments.to.as_deref().map(Store::parse).transpose()?;
    let outputs: Vec<&Path> =
        std::iter::once(&arguments.output).chain(&arguments.queries).map(|path| path.as_path()).collect();
    let mut sink = match store {
        Some(store) => store.open(&outputs)?,
        None => Sink::files(&outputs)?,
    };
    let space = Space::open(&arguments.space)?;
    let from = source(arguments, view, &space)?;
    let bar = Bar::new(global, "comparing words");
    let retriever = space.retriever(from, view, arguments.criterion, &*bar);
    bar.finish();
    let retriever = retriever?;
    let export = retrieve::Export::new(&retriever, arguments.metric)?;
    let dimension = export.targets().cols();
    let (source, target) = (space.view(from)?, space.view(view)?);
    let mut written = vec![target.with_matrix(export.targets().clone())];
    if arguments.queries.is_some() {
        written.push(source.with_matrix(export.queries(source.matrix())?));
    }
    let spinner = Rounds::waiting(global, "writing vectors");
    let names = sink.write(&outputs, &written);
    spinner.finish();
    let (kind, names) = names?;

    let mut json = json!({
        "view": view,
        "from": from,
        "criterion": arguments.criterion,
        "metric": arguments.metric.to_string(),
        "words": target.len(),
        "dimension": dimension,
    });
    json[kind] = names.iter().map(|name| Value::from(name.as_str())).collect();
    output::result(global, json, || {
        format!("wrote {} words x {dimension} of {} to {}", count(target.len()), view, names.join(", "))
    })
}

/// A database that vectors are written to.
enum Store {
    /// PostgreSQL with the extension pgvector, by its connection string.
    Pgvector(String),
}

impl Store {
    fn parse(to: &[String]) -> anyhow::Result<Self> {
        match to {
            [store, address] if store == "pgvector" => Ok(Store::Pgvector(address.clone())),
            [store, _] if store == "lance" => {
                let instead = "LanceDB loads a Parquet file in one line: leave --to out and write -o FILE.parquet";
                Err(BadUsage(format!("--to lance: {instead}")).into())
            }
            _ => Err(BadUsage("--to takes a store and its address: --to pgvector DSN".to_owned()).into()),
        }
    }

    /// Connects, and checks that the tables can be written. Call it before long computations.
    #[cfg(feature = "pgvector")]
    fn open(self, tables: &[&Path]) -> anyhow::Result<Sink> {
        let Store::Pgvector(address) = self;
        Ok(Sink::Tables(Box::new(pgvector::Database::connect(&address, tables)?)))
    }

    #[cfg(not(feature = "pgvector"))]
    fn open(self, _tables: &[&Path]) -> anyhow::Result<Sink> {
        let Store::Pgvector(_) = self;
        Err(BadUsage("this build has no --to pgvector: build it with the Cargo feature `pgvector`".to_owned()).into())
    }
}

/// What is written to.
enum Sink {
    Files(Vec<Format>),
    #[cfg(feature = "pgvector")]
    Tables(Box<pgvector::Database>),
}

impl Sink {
    fn files(paths: &[&Path]) -> anyhow::Result<Self> {
        let formats = paths.iter().map(|path| Format::of_name(path)).collect::<Result<Vec<_>, _>>()?;
        files_written(paths, &formats).iter().try_for_each(|file| check_writable(Path::new(file)))?;
        Ok(Sink::Files(formats))
    }

    /// Writes vectors, and returns what was written: its kind and the names.
    fn write(&mut self, outputs: &[&Path], vectors: &[Embeddings]) -> anyhow::Result<(&'static str, Vec<String>)> {
        match self {
            Sink::Files(formats) => {
                for ((path, vectors), &format) in outputs.iter().zip(vectors).zip(&*formats) {
                    vectors::write(vectors, path, format)?;
                }
                Ok(("files", files_written(outputs, formats)))
            }
            #[cfg(feature = "pgvector")]
            Sink::Tables(database) => Ok(("tables", database.write(vectors)?)),
        }
    }
}

fn files_written(paths: &[&Path], formats: &[Format]) -> Vec<String> {
    let files = paths.iter().zip(formats).flat_map(|(path, &format)| vectors::files_written(path, format));
    files.map(|file| file.display().to_string()).collect()
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
