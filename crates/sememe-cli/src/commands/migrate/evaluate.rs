//! `sememe migrate evaluate`: every way of asking, with its recall.

use std::collections::BTreeMap;

use sememe::evaluate::Bootstrap;
use sememe::migrate::{self, MigrationEvaluation, MigrationMap, Recall};
use sememe_report::migration::with_interval;

use super::{both_sides, read};
use crate::arguments::{Global, MigrateEvaluate};
use crate::output::{self, count};
use crate::progress::{Bar, Stopwatch};

pub fn run(arguments: &MigrateEvaluate, global: &Global) -> anyhow::Result<()> {
    let map = MigrationMap::open(&arguments.map)?;
    let [old, new] = both_sides(&arguments.vectors)?;
    let mut stopwatch = Stopwatch::start(global);
    let (old, new) = (read(&old, arguments.column.names(), global)?, read(&new, arguments.column.names(), global)?);
    stopwatch.finished("reading");
    let bar = Bar::new(global, "asking");
    let evaluated = (|| -> Result<_, sememe::Error> {
        let questions = match (&arguments.queries, arguments.sample) {
            (Some(path), _) => migrate::read_questions(path, old.rows())?,
            (None, sample) => {
                MigrationMap::agreement_questions(&new, sample.map_or(1000, |sample| sample.get()), &*bar)?
            }
        };
        map.evaluate(&old, &new, &questions, &Bootstrap { seed: global.seed, ..Bootstrap::default() }, &*bar)
    })();
    bar.finish();
    let evaluated = evaluated?;
    stopwatch.finished("asking");
    output::result(global, serde_json::to_value(&evaluated)?, || {
        let table = ways_table(&evaluated);
        let trust = &evaluated.confidence;
        let level = |level: &migrate::TrustLevel| {
            let recall =
                |of: &BTreeMap<usize, f64>| of.values().map(|x| format!("{x:.1}")).collect::<Vec<_>>().join(" / ");
            let least = format!("{:.2}", level.min_confidence);
            vec![least, format!("{:.1}", level.kept), recall(&level.of_kept), recall(&level.of_all)]
        };
        let heads = [
            "least confidence",
            "asked of the old index",
            "recall@1 / @10 of these",
            "with the others asked of the new",
        ];
        let levels = output::table(&heads, trust.levels.iter().map(level).collect(), true);
        let agreed = format!(
            "{:.1} of queries find first what the new model finds; {:.1} were expected",
            trust.agreement, trust.expected
        );
        format!(
            "{table}\n{} questions; per cent, with 95 % intervals\n\n{levels}\n{agreed}",
            count(evaluated.questions)
        )
    })
}

/// A table of every way of asking.
pub fn ways_table(evaluated: &MigrationEvaluation) -> String {
    let row = |(name, recall): (&str, &Recall)| {
        vec![name.to_owned(), with_interval(recall, 1), with_interval(recall, 10), format!("{:.1}", recall.mrr)]
    };
    let rows = evaluated.ways().into_iter().map(row).collect();
    output::table(&["way of asking", "recall@1", "recall@10", "MRR"], rows, true)
}
