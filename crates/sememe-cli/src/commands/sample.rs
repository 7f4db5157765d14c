//! `sememe sample`: words drawn from a model.

use sememe::gather::ViewFile;
use sememe::sample::{self, Candidates, Samples};
use sememe::space::Space;

use super::gather::report_views;
use crate::arguments::{Global, READING, Sample};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn run(arguments: &Sample, global: &Global) -> anyhow::Result<()> {
    if arguments.vectors.is_empty() {
        global.refuse(&READING, "no vectors are read without --vectors")?;
    }
    let space = Space::open(&arguments.space)?;
    let candidates = match arguments.vectors.is_empty() {
        true => Candidates::of_space(&space)?,
        false => read_candidates(arguments, &space, global)?,
    };
    let bar = Bar::new(global, "drawing");
    let (n, top) = (arguments.n.get(), arguments.top.get());
    let drawn = Samples::draw(space.alignment(), &candidates, n, top, global.seed);
    bar.finish();
    let drawn = drawn?;
    if drawn.in_lexicon.is_none() {
        let why = "this space does not know its dictionary, as it was fitted from moments";
        output::warn(global, format_args!("{why}: pairs of it are not left out"));
    }

    output::result(global, serde_json::to_value(&drawn)?, || {
        let header: Vec<&str> = drawn.views.iter().map(String::as_str).chain(["log p"]).collect();
        let row = |sample: &sample::Sample| -> Vec<String> {
            let words = drawn.views.iter().map(|view| sample.words[view].clone());
            words.chain([format!("{:.1}", sample.log_density)]).collect()
        };
        let left_out = drawn
            .in_lexicon
            .map_or(String::new(), |in_lexicon| format!(", {} of the dictionary left out", count(in_lexicon)));
        format!(
            "{}\n{} of {} different tuples in {} draws{left_out}",
            output::table(&header, drawn.samples.iter().map(row).collect(), false),
            count(drawn.samples.len()),
            count(drawn.distinct),
            count(drawn.drawn),
        )
    })
}

fn read_candidates(arguments: &Sample, space: &Space, global: &Global) -> anyhow::Result<Candidates> {
    let files: Vec<ViewFile> =
        arguments.vectors.iter().map(|named| ViewFile::new(&*named.name, &*named.path)).collect();
    let bar = Bar::new(global, "reading vectors");
    let read = Candidates::read(space.alignment(), &files, &arguments.reading.options(None), &*bar);
    bar.finish();
    let (candidates, read) = read?;
    report_views(&files, &read, global);
    Ok(candidates)
}
