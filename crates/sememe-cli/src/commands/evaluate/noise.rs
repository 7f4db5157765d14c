//! `sememe evaluate noise`: robustness, the precision on degraded input.

use sememe::evaluate::Overlap;
use sememe::files::{self, check_readable, check_writable};
use sememe::lexicon::{self, LexiconReport, TrainedPairs};
use sememe_report::noise::{self, Degradation, Outcome, Panel, Study};
use serde_json::json;

use crate::arguments::{BadUsage, EvaluateNoise, Global};
use crate::commands::gather::{gather, report_lexicon};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn run(arguments: &EvaluateNoise, global: &Global) -> anyhow::Result<()> {
    if let Some(file) = &arguments.plot {
        check_writable(file)?;
    }
    check_readable(&arguments.gold)?;
    global.refuse(&["monolingual"], "the methods are compared on the dictionary alone")?;
    if !arguments.methods.iter().any(|method| method.check_uses(["shrinkage"]).is_ok()) {
        global.refuse(&["shrinkage"], "none of the methods shrinks covariances")?;
    }
    let gathered = gather(&arguments.views, &arguments.gathering, &arguments.reading, None, global)?;
    let [from, to] = [0, 1].map(|place| gathered.views[place].name());
    let [source, target] = &[0, 1].map(|place| gathered.views[place].named());
    let read = lexicon::read_pairs(&arguments.gold, from, to, &Default::default())?;
    let gold_report = LexiconReport::new(&arguments.gold, &read);
    report_lexicon(&gold_report, global);
    let gold = arguments.gathering.casing().of_lexicon(read.lexicon);
    let views = [source, target];
    let trained = TrainedPairs::of(&gathered.tuples, &[from, to], |view, word| views[view].word(word));
    let overlap = Overlap::of(&trained, &gold, source, target);
    if overlap.trained_pairs > 0 {
        let (pairs, all) = (count(overlap.trained_pairs), count(overlap.gold_pairs));
        output::warn(global, format_args!("{pairs} of {all} gold pairs are in the dictionary that is fitted to"));
    }
    let mut study = Study::new([(from, source), (to, target)], &gathered.tuples, &gold);
    study.steps = &arguments.gathering.normalize.0;
    study.methods = &arguments.methods;
    study.shrinkage = arguments.shrinkage;
    study.criterion = arguments.ranking.criterion.without_space();
    study.seed = global.seed;
    let degradations = [
        (Degradation::Noise, &arguments.levels.0[..]),
        (Degradation::Wrong, &arguments.wrong.0),
        (Degradation::Fewer, &arguments.entries.0),
    ];
    let bar = Bar::new(global, "fitting worse and worse");
    let panels = study.run(&degradations, &*bar);
    bar.finish();
    let panels = panels?;
    if panels.iter().find_map(Panel::queries).is_none() {
        let nothing = "there is nothing to measure: give --levels, --wrong or --entries";
        let reason = panels.iter().flat_map(Panel::failures).next().unwrap_or(nothing);
        return Err(BadUsage(reason.to_owned()).into());
    }
    // A plot that cannot be written must not lose the numbers.
    let drawn = arguments.plot.as_ref().map(|file| files::write(file, noise::draw(&panels).document().as_bytes()));
    let drawn = drawn.transpose();
    let plot = arguments.plot.as_ref().filter(|_| drawn.is_ok());

    let json = json!({
        "from": from,
        "to": to,
        "criterion": arguments.ranking.criterion.without_space(),
        "tuples": gathered.tuples.len(),
        "queries": panels.iter().find_map(Panel::queries),
        "overlap": overlap,
        "panels": panels,
        "gold": gold_report,
        "plot": plot,
    });
    output::result(global, json, || {
        let tables: Vec<String> = panels.iter().map(table).collect();
        let queries = panels.iter().find_map(Panel::queries).unwrap_or(0);
        let drawn = plot.map_or(String::new(), |file| format!("\ndrew {}", file.display()));
        format!(
            "P@1 {from} → {to}, {}, {} words, {} tuples\n\n{}{drawn}",
            arguments.ranking.criterion.without_space(),
            count(queries),
            count(gathered.tuples.len()),
            tables.join("\n\n")
        )
    })?;
    drawn?;
    Ok(())
}

fn table(panel: &Panel) -> String {
    let labels: Vec<String> = panel.levels.iter().map(|&level| panel.degradation.label(level)).collect();
    let header: Vec<&str> =
        std::iter::once(panel.degradation.name()).chain(labels.iter().map(String::as_str)).collect();
    let row = |(method, results): &(sememe::model::Method, Vec<Outcome>)| {
        let cell =
            |result: &Outcome| result.as_ref().map_or("–".to_owned(), |scores| format!("{:.1}", scores.at[0].value));
        std::iter::once(method.to_string()).chain(results.iter().map(cell)).collect()
    };
    let mut text = output::table(&header, panel.results.iter().map(row).collect(), true);
    for reason in panel.failures() {
        text += &format!("\n– {reason}");
    }
    text
}
