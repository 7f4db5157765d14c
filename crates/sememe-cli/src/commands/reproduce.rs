//! `sememe reproduce`: every table and figure of the paper on the data at hand, as a report.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use sememe::vectors::Embeddings;
use sememe_report::check_writable;
use sememe_report::reproduce::{Data, Options, Reproduced, Reproduction, Stage, language};
use serde_json::json;

use super::read_vectors;
use crate::arguments::{Global, Reproduce};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn run(arguments: &Reproduce, global: &Global) -> anyhow::Result<()> {
    let start = Instant::now();
    check_writable(&arguments.output)?;
    let data = Data::open(&arguments.data, arguments.vectors.as_deref())?;
    let options = arguments.options(global.seed);
    let languages = read_languages(&data, arguments, &options, global)?;
    let mut reproduction = Reproduction::new(&data, &languages, &options);
    let write = |reproduction: &Reproduction| -> anyhow::Result<(Reproduced, PathBuf)> {
        let reproduced = reproduction.report(start.elapsed());
        let page = reproduced.report.write(&arguments.output)?;
        Ok((reproduced, page))
    };
    let total = reproduction.stages();
    while let [stage, later @ ..] = reproduction.remaining() {
        let (name, left, since) = (stage.name(), what_is_left(later), Instant::now());
        let number = format!("{} of {total}", total - later.len());
        let bar = Bar::of_stage(global, &format!("{number}, {}", stage.short_name()), &left);
        let computed = reproduction.compute_next(&*bar);
        bar.finish();
        computed?;
        // Whatever ends the program later, the stages so far are there.
        write(&reproduction)?;
        output::note(global, format_args!("{number}, {name}: {:.0} s; {left}", since.elapsed().as_secs_f64()));
    }
    let took = start.elapsed();
    let (reproduced, page) = write(&reproduction)?;

    let (seconds, claims) = (took.as_secs_f64(), &reproduced.claims);
    let json = json!({
        "report": arguments.output,
        "page": page,
        "seconds": seconds,
        "languages": languages.iter().map(|(code, words)| (code.clone(), json!(words.len()))).collect::<serde_json::Map<_, _>>(),
        "claims": claims,
        "missing": reproduced.missing,
    });
    output::result(global, json, || {
        let rows = claims.iter().map(|claim| vec![claim.text.clone(), claim.ours.shown(), claim.paper.shown()]);
        let table = output::table(&["what the paper finds", "here", "paper"], rows.collect(), false);
        let missing: String = reproduced.missing.iter().map(|reason| format!("\nmissing: {reason}")).collect();
        format!("{table}\nwrote {} in {seconds:.0} s{missing}", page.display())
    })
}

/// Says which stage is next, and how many more there are.
fn what_is_left(stages: &[Stage]) -> String {
    match stages {
        [] => "nothing is left".to_owned(),
        [last] => format!("left: {}", last.short_name()),
        [next, more @ ..] => format!("left: {} and {} more", next.short_name(), more.len()),
    }
}

/// Reads and prepares the vectors of every language in the data.
fn read_languages(
    data: &Data,
    arguments: &Reproduce,
    options: &Options,
    global: &Global,
) -> anyhow::Result<BTreeMap<String, Embeddings>> {
    let mut languages = BTreeMap::new();
    for (code, path) in data.vectors() {
        let read = read_vectors(path, None, &arguments.reading(), global)?;
        let embeddings = options.prepare(read.embeddings);
        output::note(global, format_args!("{}: {} words", language(code), count(embeddings.len())));
        languages.insert(code.to_owned(), embeddings);
    }
    Ok(languages)
}
