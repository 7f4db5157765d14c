//! `sememe evaluate`: how good a space is.

use sememe::evaluate;
use sememe::lexicon;
use sememe::preparation::Casing;
use sememe::retrieve::Views;
use sememe::space::Space;

use super::gather::report_read;
use crate::arguments::{EvaluateTranslation, Global};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn translation(arguments: &EvaluateTranslation, global: &Global) -> anyhow::Result<()> {
    let space = Space::open(&arguments.space)?;
    let views = Views::open(&space, &arguments.from, &arguments.to)?;
    let read = lexicon::read_pairs(&arguments.gold, &arguments.from, &arguments.to, &Default::default())?;
    let gold_report = report_read(&arguments.gold.display().to_string(), &read, global);
    let casing = space.alignment().preparation.casing;
    let gold = casing.of_lexicon(read.lexicon);
    let bar = Bar::new(global, "comparing words");
    let result = views
        .retriever(arguments.ranking.criterion, &*bar)
        .and_then(|retriever| evaluate::translation(&views.source, &views.target, &gold, &retriever));
    bar.finish();
    let result = result?;

    let mut json = serde_json::to_value(&result)?;
    json["from"] = arguments.from.clone().into();
    json["to"] = arguments.to.clone().into();
    json["casing"] = serde_json::to_value(casing)?;
    json["coverage"] = (100.0 * result.queries as f64 / result.gold_words as f64).into();
    json["gold"] = gold_report;
    output::result(global, json, || {
        let header: Vec<String> = result.precision.keys().map(|rank| format!("P@{rank}")).collect();
        let header: Vec<&str> = std::iter::once("").chain(header.iter().map(String::as_str)).collect();
        let name = format!("{} → {}, {}", arguments.from, arguments.to, result.criterion);
        let row = std::iter::once(name).chain(result.precision.values().map(|p| format!("{p:.2}"))).collect();
        let case = if casing == Casing::Lower { "lower-cased" } else { "case kept" };
        format!(
            "{}\n{} of {} gold words were translated ({} have no vector, {} no translation with a vector), {case}",
            output::table(&header, vec![row], true),
            count(result.queries),
            count(result.gold_words),
            count(result.unknown_words),
            count(result.without_known_translation),
        )
    })
}
