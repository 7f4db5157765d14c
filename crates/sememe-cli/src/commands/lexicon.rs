//! `sememe lexicon`: dictionaries out of a space.

use sememe::files::check_writable;
use sememe::space::{Space, Views};
use sememe::translate::{self, Confidence, Induction};
use serde_json::json;

use crate::arguments::{BadUsage, Global, Induce};
use crate::output::{self, count};
use crate::progress::{Bar, Stopwatch};

pub fn induce(arguments: &Induce, global: &Global) -> anyhow::Result<()> {
    check_writable(&arguments.output)?;
    let Induce { from, to, .. } = arguments;
    let mut stopwatch = Stopwatch::start(global);
    let space = Space::open(&arguments.space)?;
    let views = Views::open(&space, from, to)?;
    let alignment = space.alignment();
    let temperature = alignment.temperature(alignment.model.view_index(from)?, alignment.model.view_index(to)?);
    if temperature.is_none() && arguments.min_confidence.is_some() {
        let problem = "this space has no confidences, as it was aligned without words to calibrate them by; \
                       leave --min-confidence out, or align again with vectors and dictionaries";
        return Err(BadUsage(problem.to_owned()).into());
    }
    let criterion = arguments.ranking.criterion;
    let bar = Bar::new(global, "comparing words");
    let forth = views.retriever(criterion, &*bar)?;
    let reversed = arguments.mutual.then(|| Views::open(&space, to, from)).transpose()?;
    let back = reversed.as_ref().map(|views| views.retriever(criterion, &*bar)).transpose()?;
    bar.finish();
    let confidence = temperature.map(|temperature| Confidence::new(views.target.matrix(), temperature));
    stopwatch.finished("opening");

    let bar = Bar::new(global, &format!("translating {from} to {to}"));
    let words = arguments.max_words.map_or(usize::MAX, |words| words.get()).min(views.source.len());
    let induction = Induction {
        source: views.source.matrix(),
        words,
        forth: &forth,
        back: back.as_ref().map(|back| (views.target.matrix(), back)),
        confidence: confidence.as_ref(),
        min_confidence: arguments.min_confidence.unwrap_or(0.0),
    };
    let induced = translate::induce(&induction, &*bar);
    bar.finish();
    let induced = induced?;
    stopwatch.finished("translating");
    let left_out = translate::write_induced(&induced, (from, &views.source), (to, &views.target), &arguments.output)?;
    stopwatch.finished("writing");
    if left_out > 0 {
        let pairs = count(left_out);
        output::warn(global, format_args!("left out {pairs} pairs of words that a dictionary cannot hold (tabs, #)"));
    }

    let pairs = induced.len() - left_out;
    let mean = |sum: f64| (!induced.is_empty()).then(|| sum / induced.len() as f64);
    let mean_confidence = temperature.and_then(|_| mean(induced.iter().filter_map(|pair| pair.confidence).sum()));
    let json = json!({
        "from": from,
        "to": to,
        "criterion": criterion,
        "mutual": arguments.mutual,
        "min_confidence": arguments.min_confidence,
        "temperature": temperature,
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
