//! `sememe migrate adapt`: the latent space of a map, adapted to unlabelled queries.

use sememe::files::check_writable;
use sememe::migrate::{MigrationMap, Side};
use serde_json::json;

use super::{both_sides, read};
use crate::arguments::{Global, MigrateAdapt};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn run(arguments: &MigrateAdapt, global: &Global) -> anyhow::Result<()> {
    let map = MigrationMap::open(&arguments.map)?;
    let [index, queries] = both_sides(&arguments.vectors)?;
    check_writable(&arguments.output)?;
    let index = read(&index, arguments.column.names(), global)?;
    let queries = read(&queries, arguments.column.names(), global)?;
    if !arguments.force {
        map.check_model(Side::Old, &index)?;
        map.check_model(Side::New, &queries)?;
    }
    let bar = Bar::new(global, "adapting");
    let adapted = map.adapted(&index, &queries, &*bar);
    bar.finish();
    let (adapted, learned) = adapted?;
    adapted.write(&arguments.output)?;
    let json = json!({
        "map": arguments.output,
        "rows": index.rows(),
        "queries": queries.rows(),
        "learned": learned,
        "dimension": adapted.latent_dim() + 1,
    });
    output::result_beside(&arguments.output, global, json, || {
        let (learned, queries) = (count(learned), count(queries.rows()));
        format!("{learned} of {queries} queries were paired with rows; wrote {}", arguments.output.display())
    })
}
