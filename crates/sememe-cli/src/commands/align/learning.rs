//! `sememe align --refine` and `--unsupervised`: pairs that are learned from the vectors.

use sememe::align;
use sememe::learn::{self, LearningReport, Trust};
use sememe::vectors::View;
use serde_json::{Value, json};

use super::{Outcome, describe_with};
use crate::arguments::{Align, Global};
use crate::commands::gather::{folder_beside, gather, gather_whatever};
use crate::output::{self, count};
use crate::progress::{Rounds, Stopwatch};

/// Number of doubtful entries that are printed.
const SHOWN: usize = 10;

pub fn from_vectors(
    arguments: &Align,
    options: &align::AlignOptions,
    global: &Global,
    rounds: &Rounds,
) -> anyhow::Result<(Outcome, Value)> {
    let mut stopwatch = Stopwatch::start(global);
    let (views, gathering, reading) = (&arguments.views, &arguments.gathering, &arguments.reading);
    let spill = Some(folder_beside(&arguments.output));
    let gathered = match arguments.learning.unsupervised {
        true => gather_whatever(views, gathering, reading, spill, global)?,
        false => gather(views, gathering, reading, spill, global)?,
    };
    stopwatch.finished("reading");
    let by_default = if gathering.lexicon.is_empty() { Trust::Doubt } else { Trust::Keep };
    let options = learn::LearnOptions::default()
        .with_align(options.clone())
        .with_unsupervised(arguments.learning.unsupervised)
        .with_trust(arguments.learning.trust.unwrap_or(by_default))
        .with_seed(global.seed);
    rounds.stage("learning");
    crate::memory::keep_blocks_of_rounds();
    let learned = learn::learn(gathered.views, &gathered.tuples, &options, rounds);
    rounds.finish();
    let learned = learned?;
    stopwatch.finished("learning");
    let learning = json!(learned.report.named(&learned.fitted.prepared));
    report(&learned.report, &learned.fitted.prepared, global);
    let mut json = describe_with(&learned.fitted.summary(), &gathered.lexicons_read, &gathered.views_read);
    json["learning"] = learning;
    Ok((Outcome::Fitted(learned.fitted), json))
}

/// A summary of self-learning, for people.
fn report(report: &LearningReport, views: &[View], global: &Global) {
    let (rounds, induced) = (count(report.rounds.len()), count(report.induced));
    output::note(global, format_args!("learned in {rounds} rounds: {induced} pairs induced"));
    for chance in &report.chances {
        let (objective, random) = (chance.objective, chance.random);
        output::note(global, format_args!("better than chance: {objective:.3}, random starts {random:.3}"));
    }
    if !report.has_helped {
        let instead = "so the model is fitted to what was given alone";
        output::warn(global, format_args!("what was learned makes given entries much harder to find, {instead}"));
    }
    if !report.doubtful.is_empty() {
        let shown = report
            .doubtful
            .iter()
            .take(SHOWN)
            .map(|entry| entry.labels(views).map(|label| label.to_string()).join(" "));
        let (number, shown) = (count(report.doubtful.len()), shown.collect::<Vec<_>>().join(", "));
        output::note(global, format_args!("{number} given entries look wrong, such as: {shown}"));
    }
}
