//! `sememe evaluate sts`.

use anyhow::Context;
use sememe::evaluate::{Probabilities, SentencePairs, Sts, StsYear, Weighting, sts, sts_years};
use sememe::files::check_readable;
use serde_json::{Value, json};

use super::subject::View;
use super::{case, files_of};
use crate::arguments::{EvaluateSts, Global, WeightingName};
use crate::output::{self, count};

/// A weighting and what it gave.
struct Weighted {
    name: &'static str,
    sets: Vec<Sts>,
    years: Vec<StsYear>,
}

pub fn run(arguments: &EvaluateSts, global: &Global) -> anyhow::Result<()> {
    let files =
        files_of(&arguments.sets, |folder| Ok(SentencePairs::files_in(folder)?), "called STS*.tsv or STS.input.*.txt")?;
    let sets = files.iter().map(|file| SentencePairs::read(file)).collect::<Result<Vec<_>, _>>()?;
    arguments.frequencies.iter().try_for_each(|file| check_readable(file))?;
    let view = View::open(&arguments.what, arguments.view.as_deref(), &arguments.vectors, global)?;
    let mut results = Vec::new();
    for (name, weighting) in weightings(arguments, &view)? {
        let of_set = |(file, set): (&std::path::PathBuf, &SentencePairs)| {
            sts(view.words(), set, &weighting).with_context(|| file.display().to_string())
        };
        let sets = files.iter().zip(&sets).map(of_set).collect::<anyhow::Result<Vec<_>>>()?;
        results.push(Weighted { name, years: sts_years(&sets), sets });
    }

    let by_weighting =
        |result: &Weighted| (result.name.to_owned(), json!({ "sets": result.sets, "years": result.years }));
    let json = json!({
        "view": view.name,
        "casing": view.casing,
        "pairs_without_score": sets.iter().map(|set| set.without_score).sum::<usize>(),
        "weightings": results.iter().map(by_weighting).collect::<serde_json::Map<String, Value>>(),
    });
    output::result(global, json, || {
        let header = |first| -> Vec<String> {
            let of_weighting =
                |result: &Weighted| [format!("{} Spearman", result.name), format!("{} Pearson", result.name)];
            let columns = ["pairs".to_owned()].into_iter().chain(results.iter().flat_map(of_weighting));
            std::iter::once(first).chain(columns).collect()
        };
        let percent = |value: f64| format!("{:.2}", 100.0 * value);
        let set_row = |at: usize| -> Vec<String> {
            let set = &results[0].sets[at];
            let cells = results.iter().flat_map(|result| [result.sets[at].spearman, result.sets[at].pearson]);
            [format!("{}.{}", set.year, set.set), count(set.pairs)].into_iter().chain(cells.map(percent)).collect()
        };
        let year_row = |at: usize| -> Vec<String> {
            let year = &results[0].years[at];
            let cells = results.iter().flat_map(|result| [result.years[at].spearman, result.years[at].pearson]);
            [year.year.clone(), count(year.pairs)].into_iter().chain(cells.map(percent)).collect()
        };
        let table = |first: &str, rows| {
            let header = header(first.to_owned());
            output::table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows, true)
        };
        let without_words: usize = results[0].sets.iter().map(|set| set.without_words).sum();
        format!(
            "{}\n\n{}\ncorrelations times 100, {}; {} pairs have a sentence without any known word",
            table("set", (0..results[0].sets.len()).map(set_row).collect()),
            table("mean over the sets of", (0..results[0].years.len()).map(year_row).collect()),
            case(view.casing),
            count(without_words)
        )
    })
}

fn weightings(arguments: &EvaluateSts, view: &View) -> anyhow::Result<Vec<(&'static str, Weighting)>> {
    let is_wanted = |which| arguments.weighting.is_none_or(|wanted| wanted == which);
    let mut weightings = Vec::new();
    if is_wanted(WeightingName::Sif) {
        let probabilities = match &arguments.frequencies {
            Some(file) => Probabilities::read(file, view.words())?,
            None => Probabilities::of_ranks(view.words()),
        };
        weightings.push(("sif", Weighting::Sif { a: arguments.a, probabilities }));
    }
    if is_wanted(WeightingName::Tfidf) {
        weightings.push(("tfidf", Weighting::TfIdf));
    }
    Ok(weightings)
}
