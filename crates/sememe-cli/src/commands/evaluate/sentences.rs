//! `sememe evaluate sentences`.

use sememe::evaluate::{Corpus, SentenceEvaluation, SentenceEvaluations, SentenceOptions};
use sememe::files::check_readable;
use sememe::retrieve::Criterion;

use super::subject::View;
use super::{RANKED, case, ranked_cells, warn_of_unknown};
use crate::arguments::{AskedCriterion, Criteria, EvaluateSentences, Global};
use crate::output::{self, count};
use crate::progress::{Bar, Stopwatch};

/// The fraction of the sentences that should have a known word. In the language of the view nearly all of them do.
const ENOUGH_SENTENCES: f64 = 0.75;

pub fn run(arguments: &EvaluateSentences, global: &Global) -> anyhow::Result<()> {
    let criteria = match Criteria::all(&arguments.criterion) {
        none if none.is_empty() => vec![Criterion::Nn, Criterion::CSLS],
        // The criterion of a space was chosen for words.
        given => given.into_iter().map(AskedCriterion::without_space).collect(),
    };
    let looks_at_neighbours =
        |criterion: &Criterion| !matches!(criterion, Criterion::Nn | Criterion::Dot | Criterion::L2);
    if !criteria.iter().any(looks_at_neighbours) {
        global.refuse(&["neighbors"], "no criterion looks at the neighbours of candidates")?;
    }
    let options = |criterion| {
        SentenceOptions::default()
            .with_queries(arguments.queries.get())
            .with_seed(global.seed)
            .with_criterion(criterion)
            .with_neighbours(arguments.neighbors.into())
    };
    criteria.iter().try_for_each(|&criterion| options(criterion).check())?;
    [&arguments.source, &arguments.target].into_iter().try_for_each(|file| check_readable(file))?;
    let mut stopwatch = Stopwatch::start(global);
    let direction = &arguments.direction;
    let named = [direction.from.as_deref(), direction.to.as_deref()];
    let views = View::open_two(&arguments.what, named, direction.with.as_deref(), &arguments.vectors, global)?;
    let names = direction.names();
    let bar = Bar::new(global, "reading sentences");
    let words = [views[0].words(), views[1].words()];
    let corpus = Corpus::read([&arguments.source, &arguments.target], words, arguments.max_sentences.get(), &*bar);
    bar.finish();
    let corpus = corpus?;
    stopwatch.finished("reading");

    let mut evaluations = Vec::new();
    for from in 0..=usize::from(direction.both) {
        for &criterion in &criteria {
            let bar = Bar::new(global, &format!("{} → {}, {criterion}", names[from], names[1 - from]));
            let result = SentenceEvaluation::new(&corpus, names, from, &options(criterion), &*bar);
            bar.finish();
            evaluations.push(result?);
            stopwatch.finished("retrieval");
        }
    }

    let result = SentenceEvaluations::new(&corpus, global.seed, views[0].casing, evaluations);
    let first = &result.evaluations[0].sentences;
    let sides = [first.source_without_words, first.target_without_words];
    let lines = first.candidates + first.target_without_words;
    for (file, without) in [&arguments.source, &arguments.target].into_iter().zip(sides) {
        let what = format!("words of the sentences of {}", file.display());
        warn_of_unknown(global, what, (lines - without, lines), ENOUGH_SENTENCES);
    }
    output::result(global, serde_json::to_value(&result)?, || {
        let header: Vec<&str> = std::iter::once("").chain(RANKED).collect();
        let row = |evaluation: &SentenceEvaluation| {
            let SentenceEvaluation { sentences, from, to, intervals, .. } = evaluation;
            let name = format!("{from} → {to}, {}", sentences.criterion);
            std::iter::once(name).chain(ranked_cells(&sentences.precision, sentences.mrr, intervals)).collect()
        };
        format!(
            "{}\n{} random sentences among {} ({} and {} without any known word), {}",
            output::table(&header, result.evaluations.iter().map(row).collect(), true),
            count(first.queries),
            count(first.candidates),
            count(first.source_without_words),
            count(first.target_without_words),
            case(result.casing)
        )
    })
}
