//! `sememe migrate`: another embedding model, the index kept.

mod adapt;
mod evaluate;
mod fit;
mod plan;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sememe::files::{check_readable, check_writable};
use sememe::migrate::{self, MigrationMap, Side, StreamOptions};
use sememe::vectors::{self, Matrix, ReadOptions};
use serde_json::json;

use crate::arguments::{BadUsage, Global, Migrate, MigrateApply, MigrateExport, MigrateMonitor, Named};
use crate::output::{self, count};
use crate::progress::{Bar, Stopwatch};

pub fn run(step: &Migrate, global: &Global) -> anyhow::Result<()> {
    match step {
        Migrate::Fit(arguments) => fit::run(arguments, global),
        Migrate::Adapt(arguments) => adapt::run(arguments, global),
        Migrate::Apply(arguments) => apply(arguments, global),
        Migrate::Evaluate(arguments) => evaluate::run(arguments, global),
        Migrate::Plan(arguments) => plan::run(arguments, global),
        Migrate::Monitor(arguments) => monitor(arguments, global),
        Migrate::Export(arguments) => export(arguments, global),
    }
}

/// The files of both sides, `[old, new]`, in whatever order they were given.
fn both_sides(vectors: &[Named]) -> anyhow::Result<[PathBuf; 2]> {
    let find = |side: Side| {
        let mut of_side = vectors.iter().filter(|named| named.name == side.to_string());
        match (of_side.next(), of_side.next()) {
            (Some(named), None) => Ok(named.path.clone()),
            _ => Err(BadUsage(format!("give the vectors of each model once: old=FILE new=FILE ({side} is missing)"))),
        }
    };
    let sides = [find(Side::Old)?, find(Side::New)?];
    sides.iter().try_for_each(|path| check_readable(path))?;
    Ok(sides)
}

fn side_of(named: &Named) -> anyhow::Result<Side> {
    let unknown = |_| BadUsage(format!("{:?} is no side of a map: name it old, new or latent", named.name));
    Ok(named.name.parse::<Side>().map_err(unknown)?)
}

fn read_options(columns: Option<Vec<String>>) -> ReadOptions {
    ReadOptions::default().with_mmap(true).with_columns(columns)
}

/// The vectors of both models, `[old, new]`, whose rows belong together.
fn read_both([old, new]: [&Path; 2], columns: Option<Vec<String>>, global: &Global) -> anyhow::Result<[Matrix; 2]> {
    let bar = Bar::new(global, "reading");
    let rows = migrate::read_both(old, new, &read_options(columns), &*bar);
    bar.finish();
    Ok(rows?)
}

fn read(path: &Path, columns: Option<Vec<String>>, global: &Global) -> anyhow::Result<Matrix> {
    let bar = Bar::reading(global, path);
    let matrix = vectors::read_matrix(path, &read_options(columns), &*bar);
    bar.finish();
    Ok(matrix?)
}

fn apply(arguments: &MigrateApply, global: &Global) -> anyhow::Result<()> {
    let map = MigrationMap::open(&arguments.map)?;
    let from = side_of(&arguments.vectors)?;
    let to = match (arguments.to, from) {
        (Some(to), _) => to,
        (None, Side::New) => Side::Old,
        (None, Side::Old) => Side::New,
        (None, _) => return Err(BadUsage("say where latent vectors go: --to old or --to new".to_owned()).into()),
    };
    let options = StreamOptions::new(from, to)
        .with_precision(arguments.precision)
        .with_columns(arguments.column.names())
        .with_force(arguments.force)
        .with_model(arguments.model.clone());
    let index = index_to_ask(&map, arguments, (from, to), global)?;
    let mut stopwatch = Stopwatch::start(global);
    let bar = Bar::new(global, "mapping");
    let streamed = map.apply_file(&arguments.vectors.path, &arguments.output, &options, &*bar);
    bar.finish();
    let streamed = streamed?;
    stopwatch.finished("mapping");
    if streamed.resumed > 0 {
        output::note(global, format_args!("{} rows were there from an interrupted run", count(streamed.resumed)));
    }
    let trusted = match &index {
        Some((index, table)) => Some(trust(&map, arguments, index, table, global)?),
        None => None,
    };
    let mut json = serde_json::to_value(&streamed)?;
    json["file"] = json!(arguments.output);
    json["from"] = json!(from);
    json["to"] = json!(to);
    if let Some(Trusted { queries, of_old }) = trusted {
        json["asked"] = json!({ "old": of_old, "new": queries - of_old });
    }
    output::result(global, json, || {
        let shape = format!("{} rows x {} as {}", count(streamed.rows), streamed.dimension, streamed.precision);
        let written = format!("wrote {shape} to {}\nBLAKE3 {}", arguments.output.display(), streamed.checksum);
        match trusted {
            None => written,
            Some(Trusted { queries, of_old }) => {
                let others = count(queries - of_old);
                format!("{written}\n{} queries for the old index, {others} for the new one", count(of_old))
            }
        }
    })
}

/// Number of queries, and of those that the old index may be asked.
#[derive(Clone, Copy)]
struct Trusted {
    queries: usize,
    of_old: usize,
}

/// The old index and the table to write, if confidences are asked for. What is wrong with them is said before anything is
/// mapped.
fn index_to_ask<'a>(
    map: &MigrationMap,
    arguments: &'a MigrateApply,
    route: (Side, Side),
    global: &Global,
) -> anyhow::Result<Option<(Matrix, &'a Path)>> {
    let (Some(table), Some(index)) = (&arguments.trust.confidence, &arguments.trust.index) else {
        return Ok(None);
    };
    if route != (Side::New, Side::Old) {
        return Err(BadUsage("confidences are those of queries for the old index: new=FILE".to_owned()).into());
    }
    check_writable(table)?;
    let index = read(index, arguments.column.names(), global)?;
    if !arguments.force {
        map.check_model(Side::Old, &index)?;
    }
    Ok(Some((index, table)))
}

/// Writes the confidences in the answers of the old index.
fn trust(
    map: &MigrationMap,
    arguments: &MigrateApply,
    index: &Matrix,
    table: &Path,
    global: &Global,
) -> anyhow::Result<Trusted> {
    let queries = read(&arguments.vectors.path, arguments.column.names(), global)?;
    let bar = Bar::new(global, "asking");
    let confident = map.confidences(index, &queries, None, &*bar);
    bar.finish();
    let confident = confident?;
    let is_trusted = |one: &migrate::Confident| one.confidence >= arguments.trust.min_confidence;
    let mut rows = String::from("row\tconfidence\task\n");
    for (row, one) in confident.iter().enumerate() {
        let ask = if is_trusted(one) { Side::Old } else { Side::New };
        writeln!(rows, "{row}\t{:.4}\t{ask}", one.confidence)?;
    }
    sememe::files::write(table, rows.as_bytes())?;
    let of_old = confident.iter().filter(|one| is_trusted(one)).count();
    Ok(Trusted { queries: confident.len(), of_old })
}

fn monitor(arguments: &MigrateMonitor, global: &Global) -> anyhow::Result<()> {
    let map = MigrationMap::open(&arguments.map)?;
    let mut sides: [Option<Matrix>; 2] = [None, None];
    for named in &arguments.vectors {
        let place = match side_of(named)? {
            Side::Old => 0,
            Side::New => 1,
            _ => {
                return Err(BadUsage(
                    "latent vectors are not monitored; give new=FILE, or old=FILE new=FILE".to_owned(),
                )
                .into());
            }
        };
        sides[place] = Some(read(&named.path, arguments.column.names(), global)?);
    }
    let [old, new] = &sides;
    let Some(new) = new else {
        return Err(BadUsage("give fresh vectors of the new model: new=FILE".to_owned()).into());
    };
    let report = map.monitor(new, old.as_ref(), arguments.false_alarms)?;
    output::result(global, serde_json::to_value(&report)?, || {
        let row = |check: &migrate::Check| {
            vec![
                check.name.clone(),
                format!("{:.4}", check.mean),
                format!("{:.4}", check.usual),
                format!("{:.1}", check.standard_errors),
                format!("{:.1}", check.limit),
                (if check.rings { "rings" } else { "quiet" }).to_owned(),
            ]
        };
        let rows = report.checks.iter().map(row).collect();
        output::table(&["check", "mean", "usual", "standard errors", "limit", "alarm"], rows, true)
    })?;
    match report.rings {
        true => Err(anyhow::anyhow!("these vectors are not like those of the fit: {}", report.rung().join(", "))),
        false => Ok(()),
    }
}

fn export(arguments: &MigrateExport, global: &Global) -> anyhow::Result<()> {
    let map = MigrationMap::open(&arguments.map)?;
    let route = map.route(arguments.from, arguments.to)?;
    sememe::files::write(&arguments.onnx, &route.to_onnx()?)?;
    let json = json!({
        "file": arguments.onnx,
        "from": arguments.from,
        "to": arguments.to,
        "opset": 17,
        "input": { "name": "vectors", "dimension": route.from_dim() },
        "output": { "name": "mapped", "dimension": route.to_dim() },
    });
    output::result_beside(&arguments.onnx, global, json, || {
        let (from, to) = (route.from_dim(), route.to_dim());
        format!("wrote {} ({from} → {to} numbers a row, opset 17)", arguments.onnx.display())
    })
}
