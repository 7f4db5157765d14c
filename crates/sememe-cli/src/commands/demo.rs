//! `sememe demo`: the whole pipeline on real vectors and a dictionary that are part of the program.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use sememe::space::Space;
use sememe_report::check_writable;
use sememe_report::demo::{self, Example, LANGUAGES};
use sememe_server::standalone;
use serde_json::{Value, json};

use super::align::summary;
use super::serve::serve;
use crate::arguments::{Demo, Global, SERVING};
use crate::output::{self, count};
use crate::progress::Interruption;

/// The default folder of the report.
pub const REPORT: &str = "sememe-report";
/// The name of the space where it is shown.
const NAME: &str = "demo";

pub fn run(arguments: &Demo, global: &Global, interruption: &Arc<Interruption>) -> anyhow::Result<()> {
    if !arguments.serve {
        global.refuse(&SERVING, "nothing is served without --serve")?;
    }
    if let Some(folder) = &arguments.keep {
        Space::check_writable(folder)?;
    }
    let report_folder = report_folder(arguments, global)?;
    let start = Instant::now();
    let demo = demo::Demo::run()?;
    let seconds = start.elapsed().as_secs_f64();
    let temporary = tempfile::tempdir().context("cannot make a temporary folder for the space")?;
    let space = arguments.keep.clone().unwrap_or_else(|| temporary.path().join(NAME));
    Space::write(&space, &demo.aligned.alignment, &demo.aligned.latent)?;
    let page = report_folder.map(|folder| write_report(&demo, &space, &folder, global)).transpose()?;

    let by_direction: serde_json::Map<String, Value> = (demo.directions.iter())
        .map(|direction| {
            let name = format!("{}-{}", LANGUAGES[direction.from].code, LANGUAGES[direction.to].code);
            (name, json!(direction.result))
        })
        .collect();
    let example = |example: &Example| {
        let of_language = LANGUAGES[1..].iter().map(|language| language.code.to_owned());
        let found = of_language.zip(example.candidates.iter().map(|words| json!(words)));
        json!({ "word": example.word, "candidates": found.collect::<serde_json::Map<_, _>>() })
    };
    let json = json!({
        "tuples": demo.tuples.len(),
        "translation": by_direction,
        "translations": demo.examples.iter().map(example).collect::<Vec<_>>(),
        "seconds": seconds,
        "space": arguments.keep,
        "report": page,
    });
    output::result(global, json, || {
        let kept = match &arguments.keep {
            Some(folder) => {
                format!("The space is in {0}; try: sememe translate {0} --from fi --to fr talo", folder.display())
            }
            None if arguments.serve => String::new(),
            None => "Keep the space with --keep FOLDER, then try the other commands on it.".to_owned(),
        };
        let page = page.map_or(String::new(), |page| format!("\n\nFor more, open {} in a browser.", page.display()));
        format!(
            "Aligned 5,000 words each of four languages through {} everyday concepts in {seconds:.1} s.\n\n{}\n{}\n\n{}\n\n{kept}{page}",
            count(demo.tuples.len()),
            summary(&demo.aligned),
            precision_table(&demo),
            examples_table(&demo.examples),
        )
    })?;
    match arguments.serve {
        true => serve(vec![(NAME.to_owned(), space)], &arguments.serving, global, interruption),
        false => Ok(()),
    }
}

/// Writes the report with the page that words can be typed into. Returns the path of the report.
fn write_report(demo: &demo::Demo, space: &Path, folder: &Path, global: &Global) -> anyhow::Result<PathBuf> {
    let mut report = demo.report(global.seed)?;
    let (explorer, _) = standalone::page(space, NAME, standalone::MOST_WORDS, &())?;
    report.explorer = Some(explorer);
    Ok(report.write(folder)?)
}

/// The folder for the report. If the default folder cannot be used, the demo runs without a report.
fn report_folder(arguments: &Demo, global: &Global) -> anyhow::Result<Option<PathBuf>> {
    let folder = arguments.report.as_deref().unwrap_or(Path::new(REPORT));
    match check_writable(folder) {
        Ok(()) => Ok(Some(folder.to_owned())),
        Err(error) if arguments.report.is_none() => {
            let error = anyhow::Error::from(error);
            output::warn(global, format_args!("no report is written: {error:#}; name a folder with --report"));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn precision_table(demo: &demo::Demo) -> String {
    let row = |from: usize| {
        let cell = |to: usize| {
            let first = demo.direction(from, to).map(|direction| direction.result.precision[&1]);
            first.map_or("–".to_owned(), |precision| format!("{precision:.1}"))
        };
        std::iter::once(LANGUAGES[from].name.to_owned()).chain((0..LANGUAGES.len()).map(cell)).collect()
    };
    let languages = LANGUAGES.iter().map(|language| language.name);
    let header: Vec<&str> = std::iter::once("P@1 on unseen words, from \\ to").chain(languages).collect();
    output::table(&header, (0..LANGUAGES.len()).map(row).collect(), true)
}

fn examples_table(examples: &[Example]) -> String {
    let header: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
    let row = |example: &Example| {
        std::iter::once(example.word.clone()).chain(example.candidates.iter().map(|words| words.join(", "))).collect()
    };
    output::table(&header, examples.iter().map(row).collect(), false)
}
