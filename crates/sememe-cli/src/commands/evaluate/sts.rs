//! `sememe evaluate sts`.

use sememe::evaluate::{SentencePairs, StsEvaluation, StsSets, Weighting};
use sememe::files::check_readable;

use super::case;
use super::subject::View;
use crate::arguments::{EvaluateSts, Global, WeightingName};
use crate::output::{self, count};

pub fn run(arguments: &EvaluateSts, global: &Global) -> anyhow::Result<()> {
    if arguments.weighting == Some(WeightingName::Tfidf) {
        global.refuse(&["frequencies", "a"], "it is for the weighting sif")?;
    }
    let files = SentencePairs::files(&arguments.sets)?;
    let sets = files.iter().map(|file| SentencePairs::read(file)).collect::<Result<Vec<_>, _>>()?;
    arguments.frequencies.iter().try_for_each(|file| check_readable(file))?;
    let view = View::open(&arguments.what, arguments.view.as_deref(), &arguments.vectors, global)?;
    let result = StsEvaluation::new(view.name.as_deref(), view.words(), &sets, &weightings(arguments, &view)?)?;
    output::result(global, serde_json::to_value(&result)?, || for_people(&result))
}

fn weightings(arguments: &EvaluateSts, view: &View) -> sememe::Result<Vec<Weighting>> {
    let is_wanted = |which| arguments.weighting.is_none_or(|wanted| wanted == which);
    let mut weightings = Vec::new();
    if is_wanted(WeightingName::Sif) {
        weightings.push(Weighting::sif(view.words(), arguments.a, arguments.frequencies.as_deref())?);
    }
    if is_wanted(WeightingName::Tfidf) {
        weightings.push(Weighting::TfIdf);
    }
    Ok(weightings)
}

fn for_people(result: &StsEvaluation) -> String {
    let all: Vec<&StsSets> = result.weightings.values().collect();
    let header = |first: &str| -> Vec<String> {
        let of_weighting = |name: &&str| [format!("{name} Spearman"), format!("{name} Pearson")];
        let columns = [first.to_owned(), "pairs".to_owned()].into_iter();
        columns.chain(result.weightings.keys().flat_map(of_weighting)).collect()
    };
    let percent = |value: f64| format!("{:.2}", 100.0 * value);
    let set_row = |at: usize| -> Vec<String> {
        let set = &all[0].sets[at];
        let cells = all.iter().flat_map(|result| [result.sets[at].spearman, result.sets[at].pearson]);
        [format!("{}.{}", set.year, set.set), count(set.pairs)].into_iter().chain(cells.map(percent)).collect()
    };
    let year_row = |at: usize| -> Vec<String> {
        let year = &all[0].years[at];
        let cells = all.iter().flat_map(|result| [result.years[at].spearman, result.years[at].pearson]);
        [year.year.clone(), count(year.pairs)].into_iter().chain(cells.map(percent)).collect()
    };
    let table = |first: &str, rows| {
        let header = header(first);
        output::table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows, true)
    };
    let without_words: usize = all[0].sets.iter().map(|set| set.without_words).sum();
    format!(
        "{}\n\n{}\ncorrelations times 100, {}; {} pairs have a sentence without any known word",
        table("set", (0..all[0].sets.len()).map(set_row).collect()),
        table("mean over the sets of", (0..all[0].years.len()).map(year_row).collect()),
        case(result.casing),
        count(without_words)
    )
}
