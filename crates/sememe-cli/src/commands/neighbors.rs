//! `sememe neighbors`: exact nearest neighbours between any two files of vectors.

use std::path::Path;

use sememe::files::check_writable;
use sememe::retrieve::{self, Criterion, Retriever};
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
    let files = retrieve::hits_files(&arguments.output);
    files.iter().try_for_each(|file| check_writable(file))?;
    let mut stopwatch = Stopwatch::start(global);
    let (queries, targets) = (read(&arguments.queries, global)?, read(&arguments.targets, global)?);
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
    retrieve::write_hits(&hits, k, &arguments.output)?;
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
        format!(
            "wrote the {k} nearest of {} rows to each of {} to {} and {}",
            count(targets.rows()),
            count(queries.rows()),
            files[0].display(),
            files[1].display()
        )
    })
}

fn read(path: &Path, global: &Global) -> anyhow::Result<Matrix> {
    let bar = Bar::reading(global, path);
    let matrix = vectors::read_matrix(path, &ReadOptions::default().with_mmap(true), &*bar);
    bar.finish();
    Ok(matrix?)
}
