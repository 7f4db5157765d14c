//! `sememe neighbors`: exact nearest neighbours between any two files of vectors.

use std::path::Path;

use sememe::files::check_writable;
use sememe::retrieve::{self, Criterion, Retriever};
use sememe::tables::{TableFormat, write_neighbors};
use sememe::vectors::{self, Matrix, ReadOptions};
use serde_json::json;

use crate::arguments::{BadUsage, Global, Neighbors};
use crate::output::{self, count};
use crate::progress::{Bar, Stopwatch};

pub fn run(arguments: &Neighbors, global: &Global) -> anyhow::Result<()> {
    let criterion = arguments.criterion;
    if !matches!(criterion, Criterion::Nn | Criterion::Csls { .. } | Criterion::Dot | Criterion::L2) {
        return Err(BadUsage(format!("neighbors can be nearest by nn, csls, dot or l2, not by {criterion}")).into());
    }
    let table = TableFormat::of_name(&arguments.output);
    let files = match table {
        Some(_) => vec![arguments.output.clone()],
        None => retrieve::hits_files(&arguments.output).to_vec(),
    };
    files.iter().try_for_each(|file| check_writable(file))?;
    let mut stopwatch = Stopwatch::start(global);
    let [queries, targets] = [&arguments.queries, &arguments.targets].map(|path| read(path, arguments, global));
    let (queries, targets) = (queries?, targets?);
    stopwatch.finished("reading");
    let k = arguments.k.get();
    if k > targets.rows() {
        return Err(BadUsage(format!("there are only {} targets to be the {k} nearest", targets.rows())).into());
    }
    let bar = Bar::new(global, "comparing rows");
    let found = Retriever::new(queries.clone(), targets.clone(), criterion, &*bar).and_then(|retriever| {
        let hits = retriever.nearest(&queries, k, &*bar)?;
        Ok((hits, retriever.zero_targets()))
    });
    bar.finish();
    let (hits, zero_targets) = found?;
    stopwatch.finished("searching");
    output::warn_of_zeros(global, zero_targets, "targets");
    output::warn_of_zeros(global, hits.iter().filter(|hits| hits.is_empty()).count(), "queries");
    match table {
        Some(format) => {
            let (ids, scores) = retrieve::hits_arrays(&hits, k);
            write_neighbors(&ids, &scores, k, &criterion.to_string(), &arguments.output, format)?;
        }
        None => retrieve::write_hits(&hits, k, &arguments.output)?,
    }
    stopwatch.finished("writing");

    let json = json!({
        "queries": queries.rows(),
        "targets": targets.rows(),
        "dimension": targets.cols(),
        "k": k,
        "criterion": criterion,
        "files": files,
    });
    output::result(global, json, || {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let (targets, queries) = (count(targets.rows()), count(queries.rows()));
        format!("wrote the {k} nearest of {targets} rows to each of {queries} to {}", names.join(" and "))
    })
}

fn read(path: &Path, arguments: &Neighbors, global: &Global) -> anyhow::Result<Matrix> {
    let columns = arguments.columns.clone().map(|vector| vec![vector]);
    let bar = Bar::reading(global, path);
    let matrix = vectors::read_matrix(path, &ReadOptions::default().with_mmap(true).with_columns(columns), &*bar);
    bar.finish();
    Ok(matrix?)
}
