//! `sememe align --refine` and `--unsupervised`: pairs that are learned from the vectors.

use std::ops::ControlFlow;
use std::sync::Arc;

use sememe::align::{self, Aligned};
use sememe::learn::{self, Observer, Report, Round, Trust};
use sememe::vectors::Embeddings;
use serde_json::{Value, json};

use super::describe_with;
use crate::arguments::{Align, Global};
use crate::commands::gather::{gather, gather_whatever};
use crate::output::{self, count};
use crate::progress::{Interruption, Rounds, Stopwatch};

/// Doubtful entries that people are shown.
const SHOWN: usize = 10;

pub fn from_vectors(
    arguments: &Align,
    options: &align::Options,
    global: &Global,
    interruption: &Arc<Interruption>,
) -> anyhow::Result<(Aligned, Value)> {
    let mut stopwatch = Stopwatch::start(global);
    let (views, gathering, reading) = (&arguments.views, &arguments.gathering, &arguments.reading);
    let gathered = match arguments.learning.unsupervised {
        true => gather_whatever(views, gathering, reading, global)?,
        false => gather(views, gathering, reading, global)?,
    };
    stopwatch.finished("reading");
    let by_default = if gathering.lexicon.is_empty() { Trust::Doubt } else { Trust::Keep };
    let options = learn::Options {
        align: options.clone(),
        is_unsupervised: arguments.learning.unsupervised,
        trust: arguments.learning.trust.map_or(by_default, Trust::from),
        seed: global.seed,
    };
    let rounds = Rounds::new(global, interruption);
    let learned = learn::learn(gathered.views, &gathered.tuples, &options, &rounds);
    rounds.finish();
    let learned = learned?;
    stopwatch.finished("learning");
    let doubtful = doubtful(&learned.report, &learned.fitted.prepared);
    let aligned = learned.fitted.project()?;
    stopwatch.finished("projecting");
    let mut json = describe_with(&aligned, gathered.lexicons_read, gathered.views_read);
    json["learning"] = describe(&learned.report, &doubtful);
    report(&learned.report, &doubtful, global);
    Ok((aligned, json))
}

/// A doubtful entry in words.
struct Doubt {
    views: [usize; 2],
    words: [String; 2],
    score: f64,
}

fn doubtful(report: &Report, views: &[Embeddings]) -> Vec<Doubt> {
    let in_words = |entry: &learn::Doubtful| Doubt {
        views: entry.views,
        words: [0, 1].map(|side| views[entry.views[side]].word(entry.rows[side]).to_owned()),
        score: entry.score,
    };
    report.doubtful.iter().map(in_words).collect()
}

/// How it went, for machines.
fn describe(report: &Report, doubtful: &[Doubt]) -> Value {
    let rounds: Vec<Value> = report
        .rounds
        .iter()
        .map(|round| json!({ "words": round.words, "pairs": round.pairs, "objective": round.objective }))
        .collect();
    let chances: Vec<Value> = report
        .chances
        .iter()
        .map(|chance| json!({ "objective": chance.objective, "random": chance.random, "deviation": chance.deviation }))
        .collect();
    let doubtful: Vec<Value> = doubtful
        .iter()
        .map(|doubt| json!({ "views": doubt.views, "words": doubt.words, "score": doubt.score }))
        .collect();
    json!({ "rounds": rounds, "induced": report.induced, "chances": chances, "doubtful": doubtful })
}

/// How it went, for people.
fn report(report: &Report, doubtful: &[Doubt], global: &Global) {
    if let (Some(first), Some(last)) = (report.rounds.first(), report.rounds.last()) {
        output::note(
            global,
            format_args!(
                "learned in {} rounds: mean similarity {:.3} at first, {:.3} at last; {} pairs induced",
                report.rounds.len(),
                first.objective,
                last.objective,
                count(report.induced)
            ),
        );
    }
    for chance in &report.chances {
        let (objective, random) = (chance.objective, chance.random);
        output::note(global, format_args!("better than chance: {objective:.3}, random starts {random:.3}"));
    }
    if !doubtful.is_empty() {
        let shown: Vec<String> =
            doubtful.iter().take(SHOWN).map(|doubt| format!("{} {}", doubt.words[0], doubt.words[1])).collect();
        let number = count(doubtful.len());
        output::note(global, format_args!("{number} given entries look wrong, such as: {}", shown.join(", ")));
    }
}

impl Observer for Rounds {
    fn round(&self, round: &Round) -> ControlFlow<()> {
        self.show(format!(
            "learning: round {}, {} pairs among {} words, mean similarity {:.4} (Ctrl-C keeps the best so far)",
            round.number,
            count(round.pairs),
            count(round.words),
            round.objective
        ))
    }
}
