//! `sememe evaluate sentences`.

use sememe::evaluate::{Bootstrap, Corpus, SentenceOptions, sentences};
use sememe::files::check_readable;
use sememe::retrieve::Criterion;
use serde_json::{Value, json};

use super::subject::View;
use super::{RANKED, case, ranked_cells};
use crate::arguments::{BadUsage, EvaluateSentences, Global};
use crate::output::{self, count};
use crate::progress::{Bar, Stopwatch};

pub fn run(arguments: &EvaluateSentences, global: &Global) -> anyhow::Result<()> {
    let criteria = match &arguments.criterion[..] {
        [] => vec![Criterion::Nn, Criterion::CSLS],
        given => given.to_vec(),
    };
    if let Some(criterion) = criteria.iter().find(|criterion| criterion.is_generative()) {
        return Err(BadUsage(format!("{criterion} is for words: the model says nothing of sentences")).into());
    }
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

    let bootstrap = Bootstrap { seed: global.seed, ..Default::default() };
    let mut evaluations = Vec::new();
    let mut rows = Vec::new();
    for from in 0..=usize::from(direction.both) {
        for &criterion in &criteria {
            let options = SentenceOptions {
                queries: arguments.queries.get(),
                seed: global.seed,
                criterion,
                neighbours: arguments.neighbors.into(),
            };
            let bar = Bar::new(global, &format!("{} → {}, {criterion}", names[from], names[1 - from]));
            let result = sentences(&corpus, from, &options, &*bar);
            bar.finish();
            let result = result?;
            stopwatch.finished("retrieval");
            let intervals = result.intervals(&bootstrap);
            let mut json = serde_json::to_value(&result)?;
            json["from"] = json!(names[from]);
            json["to"] = json!(names[1 - from]);
            json["intervals"] = json!(intervals);
            let name = format!("{} → {}, {criterion}", names[from], names[1 - from]);
            rows.push(std::iter::once(name).chain(ranked_cells(&result.precision, result.mrr, &intervals)).collect());
            evaluations.push((json, result));
        }
    }

    let first = &evaluations[0].1;
    let json = json!({
        "sentences": corpus.len(),
        "queries": first.queries,
        "seed": global.seed,
        "casing": views[0].casing,
        "evaluations": evaluations.iter().map(|(json, _)| json.clone()).collect::<Vec<Value>>(),
    });
    output::result(global, json, || {
        let header: Vec<&str> = std::iter::once("").chain(RANKED).collect();
        format!(
            "{}\n{} random sentences among {} ({} and {} without any known word), {}",
            output::table(&header, rows, true),
            count(first.queries),
            count(first.candidates),
            count(first.source_without_words),
            count(first.target_without_words),
            case(views[0].casing)
        )
    })
}
