//! `sememe lexicon`: dictionaries out of a space.

use sememe::files::check_writable;
use sememe::space::Space;
use sememe::translate::{InduceOptions, Induction};
use serde_json::json;

use crate::arguments::{Global, Induce};
use crate::output::{self, count};
use crate::progress::{Bar, Stopwatch};

pub fn induce(arguments: &Induce, global: &Global) -> anyhow::Result<()> {
    check_writable(&arguments.output)?;
    let Induce { from, to, .. } = arguments;
    let mut stopwatch = Stopwatch::start(global);
    let space = Space::open(&arguments.space)?;
    let criterion = arguments.ranking.criterion.in_space(&space);
    let options = InduceOptions::default()
        .with_criterion(criterion)
        .with_mutual(arguments.mutual)
        .with_min_confidence(arguments.min_confidence)
        .with_max_words(arguments.max_words.map(Into::into));
    let bar = Bar::new(global, "comparing words");
    let induction = Induction::open(&space, from, to, &options, &*bar);
    bar.finish();
    let induction = induction?;
    output::warn_of_zeros(global, induction.zero_targets(), format_args!("words of {to}"));
    stopwatch.finished("opening");

    let bar = Bar::new(global, &format!("translating {from} to {to}"));
    let induced = induction.run(&*bar);
    bar.finish();
    let induced = induced?;
    stopwatch.finished("translating");
    let left_out = induction.write(&induced, &arguments.output)?;
    stopwatch.finished("writing");
    if left_out > 0 {
        let pairs = count(left_out);
        output::warn(global, format_args!("left out {pairs} pairs of words that a dictionary cannot hold (tabs, #)"));
    }

    let (words, pairs) = (induction.words(), induced.len() - left_out);
    let mean = |sum: f64| (!induced.is_empty()).then(|| sum / induced.len() as f64);
    let sum = induction.has_confidences().then(|| induced.iter().filter_map(|pair| pair.confidence).sum());
    let mean_confidence = sum.and_then(mean);
    let json = json!({
        "from": from,
        "to": to,
        "criterion": criterion,
        "mutual": arguments.mutual,
        "min_confidence": arguments.min_confidence,
        "words": words,
        "pairs": pairs,
        "left_out": left_out,
        "mean_confidence": mean_confidence,
        "file": arguments.output,
    });
    output::result_beside(&arguments.output, global, json, || {
        let sure = mean_confidence
            .map_or(String::new(), |mean| format!(", {:.0} % of them right by their own account", 100.0 * mean));
        format!("wrote {} translations of {} words to {}{sure}", count(pairs), count(words), arguments.output.display())
    })
}
