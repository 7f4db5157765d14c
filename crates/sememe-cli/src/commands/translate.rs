//! `sememe translate`: words of one view, their best translations in others.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use sememe::files::check_readable;
use sememe::space::Space;
use sememe::translate::{Candidate, TranslateOptions, Translations, Translator, WordTranslation};
use sememe::vectors::{self, Embeddings, Format, ReadOptions};
use serde_json::json;

use crate::arguments::{BadUsage, Global, Translate};
use crate::output;
use crate::progress::Bar;

/// The value of `--file` for standard input.
const STANDARD_INPUT: &str = "-";

pub fn run(arguments: &Translate, global: &Global) -> anyhow::Result<()> {
    // Files that are read after long work are checked before it.
    let files = arguments.file.iter().filter(|file| *file != Path::new(STANDARD_INPUT)).chain(&arguments.vectors);
    files.into_iter().try_for_each(|file| check_readable(file))?;
    let translator = open(arguments, global)?;
    if !translator.has_confidences() {
        let why = "it was aligned without words to calibrate them by";
        output::note(global, format_args!("no confidences are shown, as the space has none: {why}"));
    }
    for (view, zeros) in translator.zero_targets() {
        output::warn_of_zeros(global, zeros, format_args!("words of {view}"));
    }
    let words = match (&arguments.file, &arguments.words[..]) {
        (Some(file), _) if file != Path::new(STANDARD_INPUT) => vectors::read_word_list(file)?,
        (None, []) if io::stdin().is_terminal() => return prompt(&translator, arguments, global),
        (Some(_), _) | (None, []) => lines(io::stdin().lock()).collect::<anyhow::Result<_>>()?,
        (None, words) => words.to_vec(),
    };
    let bar = Bar::new(global, "translating");
    let answer = translator.translate(&words, &*bar);
    bar.finish();
    let answer = answer?;
    if answer.translations.is_empty() {
        let problems: Vec<String> = answer.unknown.iter().map(|word| answer.about_unknown(word)).collect();
        let none = || "there are no words to translate".to_owned();
        return Err(BadUsage(if problems.is_empty() { none() } else { problems.join("\n") }).into());
    }
    show(&answer, global)
}

fn open(arguments: &Translate, global: &Global) -> anyhow::Result<Translator> {
    let space = Space::open(&arguments.space)?;
    let options = TranslateOptions::default()
        .with_criterion(arguments.ranking.criterion)
        .with_candidates(arguments.candidates.get())
        .with_min_confidence(arguments.min_confidence);
    let bar = Bar::new(global, "comparing words");
    let translator = Translator::open(&space, &arguments.from, &arguments.to, &options, &*bar);
    bar.finish();
    match &arguments.vectors {
        None => Ok(translator?),
        Some(path) => translator?.with_vectors(read_further(path, global)?).context("--vectors"),
    }
}

/// The words of a text, one per line; empty lines are skipped.
fn lines(text: impl BufRead) -> impl Iterator<Item = anyhow::Result<String>> {
    let words = text.lines().map(|line| Ok(line.context("cannot read standard input")?.trim().to_owned()));
    words.filter(|word: &anyhow::Result<String>| !word.as_ref().is_ok_and(String::is_empty))
}

/// Prompts for words until the end of the input.
fn prompt(translator: &Translator, arguments: &Translate, global: &Global) -> anyhow::Result<()> {
    let ask = || {
        let _ = write!(io::stderr(), "{}> ", output::visible(&arguments.from));
        let _ = io::stderr().flush();
    };
    ask();
    for line in io::stdin().lock().lines() {
        let word = line.context("cannot read standard input")?.trim().to_owned();
        if word.is_empty() {
            return Ok(());
        }
        show(&translator.translate(&[word], &())?, global)?;
        ask();
    }
    output::note(global, "");
    Ok(())
}

fn show(answer: &Translations, global: &Global) -> anyhow::Result<()> {
    for word in &answer.unknown {
        output::warn(global, answer.about_unknown(word));
    }
    if answer.translations.is_empty() && !global.json {
        return Ok(());
    }
    output::result(global, json!(answer), || table(answer))
}

fn table(answer: &Translations) -> String {
    let mut rows = Vec::new();
    for (place, translation) in answer.translations.iter().enumerate() {
        let is_first = place % answer.to.len() == 0;
        let mut row = vec![if is_first { translation.word.clone() } else { String::new() }];
        if answer.to.len() > 1 {
            row.push(translation.to.clone());
        }
        row.push(line(translation));
        rows.push(row);
    }
    match &answer.to[..] {
        [only] => output::table(&[&answer.from, only], rows, false),
        _ => output::table(&[&answer.from, "to", "candidates"], rows, false),
    }
}

fn line(translation: &WordTranslation) -> String {
    let shown = |candidate: &Candidate| match candidate.confidence {
        Some(confidence) => format!("{} {} ({:.2})", candidate.word, per_cent(confidence), candidate.score),
        None => format!("{} ({:.2})", candidate.word, candidate.score),
    };
    let shown = translation.candidates.iter().map(shown).collect::<Vec<_>>().join("   ");
    match (translation.known, shown.is_empty()) {
        (true, _) => shown,
        (false, true) => "don't know".to_owned(),
        (false, false) => format!("don't know; nearest: {shown}"),
    }
}

/// Formats a probability.
fn per_cent(probability: f64) -> String {
    match 100.0 * probability {
        little if little < 1.0 => "<1 %".to_owned(),
        much if much > 99.0 => ">99 %".to_owned(),
        some => format!("{some:.0} %"),
    }
}

/// Opens the vectors for out-of-vocabulary words. Of a fastText model only a few words are read, because it composes the
/// vector of any word.
fn read_further(path: &Path, global: &Global) -> anyhow::Result<Embeddings> {
    let options = ReadOptions::default().with_mmap(true);
    let little = vectors::read(path, &options.clone().with_max_words(Some(1)), &())?;
    if little.format == Format::FastText && little.embeddings.subwords().is_some() {
        return Ok(little.embeddings);
    }
    let bar = Bar::reading(global, path);
    let read = vectors::read(path, &options, &*bar);
    bar.finish();
    Ok(read?.embeddings)
}
