//! `sememe migrate plan`: what to expect before a map is put to use.

use sememe::migrate::{self, MigrationPlan, PlanCosts, PlanOptions, PlanPoint};
use sememe_report::migration::with_interval;
use sememe_report::{check_writable, migration};

use super::evaluate::ways_table;
use super::{both_sides, read_both};
use crate::arguments::{Global, MigratePlan};
use crate::output::{self, count};
use crate::progress::{Bar, Stopwatch};

pub fn run(arguments: &MigratePlan, global: &Global) -> anyhow::Result<()> {
    let [old, new] = both_sides(&arguments.vectors)?;
    if let Some(folder) = &arguments.report {
        check_writable(folder)?;
    }
    let mut stopwatch = Stopwatch::start(global);
    let [old, new] = read_both([&old, &new], arguments.column.names(), global)?;
    stopwatch.finished("reading");
    let rows = arguments.rows.as_ref().map(|path| migrate::read_rows(path, old.rows())).transpose()?;
    let questions = arguments.queries.as_ref().map(|path| migrate::read_questions(path, old.rows())).transpose()?;
    let options = PlanOptions::default()
        .with_rows(rows)
        .with_rows_to_migrate(arguments.rows_to_migrate.map(|rows| rows.get()))
        .with_rows_per_second(arguments.rows_per_second)
        .with_price_per_million(arguments.price_per_million)
        .with_seed(global.seed);
    let bar = Bar::new(global, "planning");
    let plan = migrate::plan(&old, &new, questions.as_deref(), &options, &*bar);
    bar.finish();
    let plan = plan?;
    stopwatch.finished("planning");
    let page = arguments.report.as_ref().map(|folder| migration::report(&plan).write(folder)).transpose()?;
    output::result(global, serde_json::to_value(&plan)?, || {
        let written = page.map(|page| format!("\nwrote {}", page.display())).unwrap_or_default();
        format!("{}{written}", described(&plan))
    })?;
    // Said last and as a failure, like by `fit`.
    match plan.warning {
        Some(warning) => Err(anyhow::anyhow!(warning)),
        None => Ok(()),
    }
}

fn described(plan: &MigrationPlan) -> String {
    let row = |point: &PlanPoint| {
        let cell = |at: usize| with_interval(&point.mapped, at);
        vec![count(point.pairs), cell(1), cell(10), with_interval(&point.latent, 10)]
    };
    let heads = ["pairs", "mapped: recall@1", "recall@10", "latent: recall@10"];
    let curve = output::table(&heads, plan.curve.iter().map(row).collect(), true);
    let mut text = format!("{curve}\n{}\n\n{}\n", migration::enough(plan), ways_table(&plan.expected));
    text += &format!("{}\n{}", migration::asked(plan), migration::advice(plan));
    if let Some(costs) = &plan.costs {
        text += &format!("\n\n{}", of_costs(costs));
    }
    text
}

fn of_costs(costs: &PlanCosts) -> String {
    let rows = migration::costs(costs).into_iter().map(|(what, value)| vec![what, value]).collect();
    output::table(&["what it takes", "here"], rows, true)
}
