//! The plan of a migration to another embedding model, as a report.

use sememe::migrate::{MigrationPlan, PlanCosts, PlanPoint, Recall};

use crate::plots::{self, Curve, Lines};
use crate::report::{Cell, Column, Figure, Report, Row, Section, Table};
use crate::text::count;

/// The report of a plan: recall by number of pairs, every way of asking, and what it takes.
pub fn report(plan: &MigrationPlan) -> Report {
    let mut sections = vec![of_pairs(plan), of_ways(plan)];
    sections.extend(plan.costs.as_ref().map(of_costs));
    let mut lead = format!("An index of an old embedding model, asked with queries of a new one. {}", advice(plan));
    if let Some(warning) = &plan.warning {
        lead = format!("{warning}. {lead}");
    }
    Report::new("Migration to another embedding model", lead, sections)
}

/// What was asked, in a sentence.
pub fn asked(plan: &MigrationPlan) -> String {
    let questions = count(plan.expected.questions);
    match plan.is_labelled {
        true => format!("{questions} labelled questions; per cent, with 95 % intervals."),
        false => format!(
            "{questions} texts of held-out clusters, asked for what the new model finds first; per cent, with 95 % intervals."
        ),
    }
}

/// Whether more pairs help, in a sentence.
pub fn enough(plan: &MigrationPlan) -> String {
    let last = plan.curve.last().map_or(0, |point| point.pairs);
    match plan.enough {
        Some(pairs) => format!(
            "{} pairs are enough: twice as many add no more than a point of recall@10, up to the {} there are.",
            count(pairs),
            count(last)
        ),
        None => format!("More than {} pairs help: recall@10 has not flattened yet.", count(last)),
    }
}

/// The way of asking that is advised, in a sentence.
pub fn advice(plan: &MigrationPlan) -> String {
    let way = match plan.advised {
        "bulk" => "Map the whole index to the new model's space (`bulk`)",
        "latent" => "Map queries and the index to the latent space (`latent`)",
        "indexed" => "Map the index once to the latent space, adapted to queries (`indexed`)",
        _ => "Map queries and leave the index as it is (`mapped`)",
    };
    let expected = &plan.expected;
    let of_advised = expected.ways().into_iter().find(|(name, _)| *name == plan.advised);
    let recall = of_advised.map_or(0.0, |(_, recall)| recall.at(10));
    format!(
        "{way}: recall@10 is {recall:.1}, where the old model has {:.1} and the new one {:.1}.",
        expected.old.at(10),
        expected.new.at(10)
    )
}

/// What the migration takes: names and values.
pub fn costs(costs: &PlanCosts) -> Vec<(String, String)> {
    let mut rows = vec![
        ("fit a map".to_owned(), duration(costs.fit_seconds)),
        ("map a query".to_owned(), format!("{:.1} µs", costs.query_microseconds)),
        (format!("map {} rows of the index", count(costs.rows)), duration(costs.index_seconds)),
        ("size of the mapped index, single precision".to_owned(), format!("{:.1} GB", costs.index_bytes as f64 / 1e9)),
    ];
    let again = format!("embed {} rows again", count(costs.rows));
    rows.extend(costs.embedding_seconds.map(|seconds| (again.clone(), duration(seconds))));
    rows.extend(costs.embedding_price.map(|price| (format!("price to {again}"), format!("{price:.2}"))));
    rows
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.1} s"),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

/// Recall and its interval.
pub fn with_interval(recall: &Recall, at: usize) -> String {
    let [low, high] = recall.intervals.get(&at).copied().unwrap_or_default();
    format!("{:.1} ({low:.1}–{high:.1})", recall.at(at))
}

fn cell(recall: &Recall, at: usize) -> Cell {
    Cell::text(with_interval(recall, at))
}

fn of_pairs(plan: &MigrationPlan) -> Section {
    let mut section = Section::new("pairs", "How many pairs are needed");
    section.say(enough(plan));
    let curve = |colour: usize, name: &str, of: &dyn Fn(&PlanPoint) -> f64| Curve {
        name: name.to_owned(),
        colour,
        points: plan.curve.iter().map(|point| (point.pairs as f64, of(point))).collect(),
    };
    let curves = vec![
        curve(0, "mapped, recall@1", &|point| point.mapped.at(1)),
        curve(1, "mapped, recall@10", &|point| point.mapped.at(10)),
        curve(2, "latent, recall@10", &|point| point.latent.at(10)),
    ];
    let lines = Lines {
        title: "Recall by number of pairs".to_owned(),
        x: "pairs".to_owned(),
        y: "recall, %".to_owned(),
        is_logarithmic: true,
        from_zero: true,
        curves,
    };
    if let Some(svg) = lines.draw(plots::WIDE) {
        section.add(Figure::new("pairs", "One sample of each size.", &lines.curves, svg));
    }
    let columns = ["mapped, recall@1", "mapped, recall@10", "latent, recall@10"].map(Column::new).to_vec();
    let mut table = Table::new("Recall with 95 % intervals", "pairs", columns);
    table.marks_best = false;
    let row = |point: &PlanPoint| {
        Row::new(count(point.pairs), vec![cell(&point.mapped, 1), cell(&point.mapped, 10), cell(&point.latent, 10)])
    };
    table.rows = plan.curve.iter().map(row).collect();
    section.add(table);
    section
}

fn of_ways(plan: &MigrationPlan) -> Section {
    let mut section = Section::new("ways", "What to expect");
    section.say(format!("{} {}", asked(plan), advice(plan)));
    let columns = ["recall@1", "recall@10", "MRR"].map(Column::new).to_vec();
    let mut table = Table::new("Every way of asking, with all pairs", "way", columns);
    table.marks_best = false;
    let row = |(name, recall): (&str, &Recall)| {
        Row::new(name, vec![cell(recall, 1), cell(recall, 10), Cell::text(format!("{:.1}", recall.mrr))])
    };
    table.rows = plan.expected.ways().into_iter().map(row).collect();
    section.add(table);
    section
}

fn of_costs(of_plan: &PlanCosts) -> Section {
    let mut section = Section::new("costs", "What it takes");
    section.say("Measured on this machine, without reading and writing files.");
    let mut table = Table::new("Time and size", "what", vec![Column::new("here")]);
    table.marks_best = false;
    table.rows = costs(of_plan).into_iter().map(|(what, value)| Row::new(what, vec![Cell::text(value)])).collect();
    section.add(table);
    section
}
