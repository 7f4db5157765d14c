//! `sememe migrate fit`: a map between two models.

use std::path::Path;

use sememe::files::check_writable;
use sememe::migrate::{self, MigrateOptions, MigrationMap, Pairs, Side};
use serde_json::{Value, json};

use super::{both_sides, read, read_both};
use crate::arguments::{Global, MigrateFit};
use crate::output::{self, count};
use crate::progress::{Bar, Stopwatch};

pub fn run(arguments: &MigrateFit, global: &Global) -> anyhow::Result<()> {
    let [old, new] = both_sides(&arguments.vectors)?;
    check_writable(&arguments.output)?;
    let mut stopwatch = Stopwatch::start(global);
    let [old, new] = match arguments.unsupervised {
        true => [read(&old, arguments.column.names(), global)?, read(&new, arguments.column.names(), global)?],
        false => read_both([&old, &new], arguments.column.names(), global)?,
    };
    stopwatch.finished("reading");
    let pairs = match &arguments.rows {
        Some(path) => {
            let rows = migrate::read_rows(path, old.rows())?;
            Pairs::new(old.select(&rows), new.select(&rows))?
        }
        None if arguments.unsupervised => {
            let bar = Bar::new(global, "learning");
            let pairs = migrate::learn_pairs(&old, &new, global.seed, &*bar);
            bar.finish();
            let pairs = pairs?;
            stopwatch.finished("learning");
            output::note(global, format_args!("{} pairs were learned without supervision", count(pairs.len())));
            pairs
        }
        None => Pairs::new(old.clone(), new)?,
    };
    if pairs.duplicates() > 0 {
        let why = "occur again and count once";
        output::warn(global, format_args!("{} pairs {why}", count(pairs.duplicates())));
    }
    let options = MigrateOptions::default()
        .with_old_model(arguments.old_model.clone())
        .with_new_model(arguments.new_model.clone())
        .with_method(arguments.method)
        .with_seed(global.seed);
    let bar = Bar::new(global, "fitting");
    let map = migrate::fit(&pairs, Some(&old), &options, &*bar);
    bar.finish();
    let map = map?;
    stopwatch.finished("fitting");
    map.write(&arguments.output)?;

    output::result_beside(&arguments.output, global, described(&map, &arguments.output), || {
        let row = |score: &migrate::CandidateScore| {
            let to = format!("{} → {}", if score.to == Side::Old { Side::New } else { Side::Old }, score.to);
            vec![format!("{to}: {}", score.method), score.parameters.clone(), format!("{:.1}", score.agreement)]
        };
        let scores = map.held_out.iter().map(row).collect();
        let table = output::table(&["candidate", "parameters", "agreement on held-out clusters"], scores, true);
        let chosen = format!("queries by {}, the index by {}", map.queries.method, map.index.method);
        format!("{table}\n{} pairs; {chosen}; wrote {}", count(map.pairs), arguments.output.display())
    })?;
    // Said last and as a failure, whatever is silenced: such a map looks like any other.
    match map.warning() {
        Some(warning) => Err(anyhow::anyhow!(warning)),
        None => Ok(()),
    }
}

fn described(map: &MigrationMap, path: &Path) -> Value {
    let card = |card: &migrate::ModelCard| json!({ "name": card.name, "dimension": card.dim(), "fingerprint": card.fingerprint });
    json!({
        "map": path,
        "pairs": map.pairs,
        "fingerprint": map.fingerprint,
        "old": card(&map.old),
        "new": card(&map.new),
        "latent": map.latent_dim(),
        "queries": map.queries.method,
        "index": map.index.method,
        "shrinkage": map.shrinkage,
        "held_out": map.held_out,
        "at_chance": map.at_chance.is_some(),
    })
}
