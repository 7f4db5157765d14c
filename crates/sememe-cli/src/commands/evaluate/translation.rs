//! `sememe evaluate translation`.

use std::collections::BTreeSet;

use sememe::evaluate::{Bootstrap, DetailsFormat, Gold, Oov, TranslationEvaluation, TranslationTask};
use sememe::files::{check_readable, check_writable};
use sememe::prepare::Casing;
use sememe::space::Space;
use sememe::vectors::Embeddings;
use serde_json::json;

use super::super::gather::report_lexicon;
use super::subject::{casing, open_space, open_two_vectors};
use super::{ENOUGH, RANKED, case, ranked_cells, warn_of_unknown};
use crate::arguments::{Criteria, EvaluateTranslation, Global};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn run(arguments: &EvaluateTranslation, global: &Global) -> anyhow::Result<()> {
    if !arguments.gold.is_dir() {
        check_readable(&arguments.gold)?;
    }
    let details = match arguments.details.as_deref() {
        None => None,
        Some(path) => {
            let format = DetailsFormat::of_name(path)?;
            check_writable(path)?;
            Some((path, format))
        }
    };
    let subject = Subject::open(arguments, global)?;
    let other = arguments.compare.as_deref().map(Space::open).transpose()?;
    let names = match &subject {
        Subject::Space(space) => arguments.direction.names_in(space)?,
        Subject::Vectors(..) => arguments.direction.names(),
    };
    let bootstrap = Bootstrap { seed: global.seed, ..Default::default() };
    let mut results = Vec::new();
    for is_back in [false, true].into_iter().take(1 + usize::from(arguments.direction.both)) {
        let [from, to] = if is_back { [names[1], names[0]] } else { names };
        let gold = match is_back {
            true => Gold::read_backwards(&arguments.gold, from, to)?,
            false => Gold::read(&arguments.gold, from, to)?,
        };
        report_lexicon(&gold.report, global);
        if gold.is_reversed {
            let (file, fewer) = (&gold.report.file, "it lacks translations that one of this direction has");
            output::warn(global, format_args!("{from} → {to}: {file} is read backwards: {fewer}"));
        }
        for criterion in Criteria::all(&arguments.criterion) {
            let mut task = TranslationTask::new(from, to, &gold.lexicon);
            task.criterion = match &subject {
                Subject::Space(space) => criterion.in_space(space),
                Subject::Vectors(..) => criterion.without_space(),
            };
            task.oov = arguments.oov.into();
            task.bootstrap = bootstrap;
            task.details = details.is_some();
            let bar = Bar::new(global, "comparing words");
            let result = subject.evaluate(&task, is_back, &bar);
            let compared = other.as_ref().map(|other| TranslationEvaluation::in_space(other, &task, &*bar));
            bar.finish();
            let mut result = result?;
            if let Some(other) = compared {
                result.compare_with(&other?, &bootstrap)?;
            }
            results.push(result.with_gold(&gold));
        }
    }
    warn_of_zeros(&results, global);
    let mut asked: Vec<(String, (usize, usize))> = Vec::new();
    for result in &results {
        let words = (direction(result), (result.translation.queries, result.translation.gold_words));
        if !asked.contains(&words) {
            warn_of_unknown(global, format_args!("{}: gold words", words.0), words.1, ENOUGH);
            asked.push(words);
        }
    }
    results.iter().filter_map(overlap_warning).for_each(|warning| output::warn(global, warning));

    // The keys of the first evaluation are also at the top level, for scripts that ask for one evaluation.
    let mut json = serde_json::to_value(&results[0])?;
    json["evaluations"] = json!(results);
    if let Some((path, format)) = details {
        format.write(&results, path)?;
        json["details"] = json!(path);
    }
    output::result(global, json, || {
        let wrote = details.map_or(String::new(), |(path, _)| format!("\nwrote {}", path.display()));
        for_people(&results, &subject) + &wrote
    })
}

/// A space, or the vectors of two languages that lie in one.
enum Subject {
    Space(Box<Space>),
    Vectors(Box<[Embeddings; 2]>, Casing),
}

impl Subject {
    fn open(arguments: &EvaluateTranslation, global: &Global) -> anyhow::Result<Self> {
        let with = arguments.direction.with.as_deref();
        if let Some(space) = open_space(&arguments.what, &arguments.vectors, with)? {
            return Ok(Subject::Space(Box::new(space)));
        }
        let vectors = open_two_vectors(&arguments.what, with, &arguments.vectors, global)?;
        Ok(Subject::Vectors(Box::new(vectors), casing(&arguments.vectors)))
    }

    fn evaluate(&self, task: &TranslationTask, is_back: bool, bar: &Bar) -> sememe::Result<TranslationEvaluation> {
        match self {
            Subject::Space(space) => TranslationEvaluation::in_space(space, task, bar),
            Subject::Vectors(vectors, casing) => {
                let [first, second] = &**vectors;
                let pair = if is_back { [second, first] } else { [first, second] };
                TranslationEvaluation::of_vectors(pair, *casing, task, bar)
            }
        }
    }
}

fn name(result: &TranslationEvaluation) -> String {
    let reversed = if result.gold_reversed { " (gold reversed)" } else { "" };
    format!("{}{reversed}, {}", direction(result), result.translation.criterion)
}

fn direction(result: &TranslationEvaluation) -> String {
    format!("{} → {}", result.from, result.to)
}

fn overlap_warning(result: &TranslationEvaluation) -> Option<String> {
    let overlap = result.overlap.as_ref().filter(|overlap| overlap.trained_pairs > 0)?;
    let unseen = match &result.unseen {
        Some(unseen) => format!("P@1 of the {} other words is {:.2}", count(unseen.queries), unseen.precision[&1]),
        None => "no other words are left".to_owned(),
    };
    Some(format!(
        "{}: the space was fitted to {} of the {} gold pairs, of {} words; {unseen}",
        name(result),
        count(overlap.trained_pairs),
        count(overlap.gold_pairs),
        count(overlap.words)
    ))
}

/// Warns of zero vectors that are skipped; once, if several criteria skip the same words.
fn warn_of_zeros(results: &[TranslationEvaluation], global: &Global) {
    let zeros = |result: &TranslationEvaluation| {
        let TranslationEvaluation { translation, from, to, .. } = result;
        [(format!("queries of {from}"), translation.zero_queries), (format!("words of {to}"), translation.zero_targets)]
    };
    let zeros: BTreeSet<(String, usize)> = results.iter().flat_map(zeros).collect();
    zeros.iter().for_each(|(what, zeros)| output::warn_of_zeros(global, *zeros, what));
}

fn for_people(results: &[TranslationEvaluation], subject: &Subject) -> String {
    let header: Vec<&str> = std::iter::once("").chain(RANKED).chain(["MAP"]).collect();
    let row = |result: &TranslationEvaluation| {
        let translation = &result.translation;
        let cells = ranked_cells(&translation.precision, translation.mrr, &result.intervals);
        let map = format!("{:.2}", translation.map);
        std::iter::once(name(result)).chain(cells).chain([map]).collect()
    };
    let mut text = output::table(&header, results.iter().map(row).collect(), true);
    let compared: Vec<Vec<String>> = results.iter().filter_map(comparison_row).collect();
    if !compared.is_empty() {
        let header = ["P@1 of both on the same queries", "this", "other", "difference", "95 % interval", "p (McNemar)"];
        text += &format!("\n\n{}", output::table(&header, compared, true));
    }
    let mut said: Vec<String> = results.iter().filter_map(confidence).collect();
    for result in results {
        let line = format!("{}: {}", direction(result), facts(result, subject));
        if !said.contains(&line) {
            said.push(line);
        }
    }
    format!("{text}\n{}", said.join("\n"))
}

fn comparison_row(result: &TranslationEvaluation) -> Option<Vec<String>> {
    let comparison = result.comparison.as_ref()?;
    let [low, high] = comparison.interval;
    Some(vec![
        format!("{} ({} queries)", name(result), count(comparison.queries)),
        format!("{:.2}", comparison.first),
        format!("{:.2}", comparison.second),
        format!("{:+.2}", comparison.difference),
        format!("{low:+.1} – {high:+.1}"),
        p_value(comparison.p_value),
    ])
}

/// How well confidences agree with precision.
fn confidence(result: &TranslationEvaluation) -> Option<String> {
    let confidence = result.confidence.as_ref()?;
    Some(format!(
        "{}: confidence {:.1} % on average, {:.1} % are right; expected calibration error {:.1} ({:.1} by chance alone)",
        name(result),
        confidence.mean,
        confidence.precision,
        confidence.calibration_error,
        confidence.calibration_error_by_chance
    ))
}

/// A p-value as papers print it.
fn p_value(p: f64) -> String {
    match p {
        p if p >= 0.001 => format!("{p:.3}"),
        p if p > 0.0 => format!("{p:.1e}"),
        _ => "0".to_owned(),
    }
}

fn facts(result: &TranslationEvaluation, subject: &Subject) -> String {
    let translation = &result.translation;
    let overlap = match (&result.overlap, subject) {
        (Some(overlap), _) => {
            format!("fitted to {} of {} gold pairs", count(overlap.trained_pairs), count(overlap.gold_pairs))
        }
        (None, Subject::Space(_)) => "whether it was fitted to gold pairs is unknown, as from moments alone".to_owned(),
        (None, Subject::Vectors(..)) => "what the vectors were fitted to is unknown".to_owned(),
    };
    let wrong = if translation.oov == Oov::Wrong { ", which counts as wrong" } else { "" };
    format!(
        "{} of {} gold words ({:.1} %) were translated ({} have no vector, {} no translation with a vector{wrong}), {}; {overlap}",
        count(translation.queries),
        count(translation.gold_words),
        translation.coverage,
        count(translation.unknown_words),
        count(translation.without_known_translation),
        case(result.casing)
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn p_values_are_plain_numbers_unless_they_are_tiny() {
        for (p, shown) in [(1.0, "1.000"), (0.0421, "0.042"), (0.001, "0.001"), (0.000_042, "4.2e-5"), (0.0, "0")] {
            assert_eq!(super::p_value(p), shown);
        }
    }
}
