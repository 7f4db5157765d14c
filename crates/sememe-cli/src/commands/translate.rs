//! `sememe translate`: words of one view, their best translations in others.

use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use anyhow::Context;
use rustyline::error::ReadlineError;
use sememe::files::{check_readable, check_writable};
use sememe::retrieve::Criterion;
use sememe::space::Space;
use sememe::tables::TableFormat;
use sememe::translate::{Candidate, TranslateOptions, Translations, Translator, WordTranslation};
use sememe::vectors::{self, Embeddings, Format, ReadOptions};
use serde_json::json;

use crate::arguments::{BadUsage, Global, Translate};
use crate::output::{self, count};
use crate::progress::Bar;

/// The value of `--file` for standard input.
const STANDARD_INPUT: &str = "-";

pub fn run(arguments: &Translate, global: &Global) -> anyhow::Result<()> {
    // Files that are read after long work are checked before it.
    let files = arguments.file.iter().filter(|file| *file != Path::new(STANDARD_INPUT)).chain(&arguments.vectors);
    files.into_iter().try_for_each(|file| check_readable(file))?;
    let table = arguments.output.as_deref().map(table_format).transpose()?;
    let space = Space::open(&arguments.space)?;
    let translator = open(&space, arguments, global)?;
    if !translator.has_confidences() {
        let criterion = arguments.ranking.criterion.in_space(&space);
        let why = match space.alignment().calibrations.is_empty() {
            true => "the space has none: it was aligned without words to calibrate them by".to_owned(),
            false => format!("{criterion} has none: nn, csls, isf and pmi have, without parameters"),
        };
        global.refuse(&["min_confidence"], format_args!("there are no confidences, as {why}"))?;
        output::note(global, format_args!("no confidences are shown, as {why}"));
    }
    for (view, zeros) in translator.zero_targets() {
        output::warn_of_zeros(global, zeros, format_args!("words of {view}"));
    }
    let words = match (&arguments.file, &arguments.words[..]) {
        (Some(file), _) if file != Path::new(STANDARD_INPUT) => vectors::read_word_list(file)?,
        (None, []) if io::stdin().is_terminal() && table.is_none() => return prompt(&translator, arguments, global),
        (Some(_), _) | (None, []) => {
            let mut input = BufReader::new(io::stdin());
            let needs_all = global.json
                || table.is_some()
                || matches!(arguments.ranking.criterion.in_space(&space), Criterion::Corrected { .. });
            match needs_all {
                // One JSON object, or queries that are ranked against each other.
                true => std::iter::from_fn(|| arrived(&mut input).transpose()).collect::<Result<Vec<_>, _>>()?.concat(),
                false => return answer_as_they_come(&translator, input, global),
            }
        }
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
    match (&arguments.output, table) {
        (Some(path), Some(format)) => {
            warn_of_unknown(&answer, global);
            answer.write_table(path, format)?;
            let words = answer.translations.len() / answer.to.len();
            let json = json!({ "words": words, "unknown": answer.unknown, "file": path });
            output::result(global, json, || {
                format!("wrote translations of {} words to {}", count(words), path.display())
            })
        }
        _ => show(&answer, global),
    }
}

/// The format of the table to write, if it can be written.
fn table_format(path: &Path) -> anyhow::Result<TableFormat> {
    let problem = || BadUsage(format!("{}: name a table to write: .parquet or .arrow", path.display()));
    let format = TableFormat::of_name(path).ok_or_else(problem)?;
    check_writable(path)?;
    Ok(format)
}

fn open(space: &Space, arguments: &Translate, global: &Global) -> anyhow::Result<Translator> {
    let options = TranslateOptions::default()
        .with_criterion(arguments.ranking.criterion.in_space(space))
        .with_candidates(arguments.candidates.get())
        .with_min_confidence(arguments.min_confidence);
    let bar = Bar::new(global, "comparing words");
    let translator = Translator::open(space, &arguments.from, &arguments.to, &options, &*bar);
    bar.finish();
    match &arguments.vectors {
        None => Ok(translator?),
        Some(path) => translator?.with_vectors(read_further(path, global)?).context("--vectors"),
    }
}

/// Translates piped words as they come, so that another program can ask one word at a time.
fn answer_as_they_come<R: Read>(
    translator: &Translator,
    mut input: BufReader<R>,
    global: &Global,
) -> anyhow::Result<()> {
    let (mut is_first, mut are_asked) = (true, false);
    while let Some(words) = arrived(&mut input)? {
        are_asked = true;
        let answer = translator.translate(&words, &())?;
        warn_of_unknown(&answer, global);
        if !answer.translations.is_empty() {
            let table = table(&answer);
            // One header for all of them: a name, and the line under it.
            let rows = table.splitn(3, '\n').nth(2).unwrap_or_default();
            output::result(global, json!(answer), || if is_first { table.clone() } else { rows.to_owned() })?;
            is_first = false;
        }
    }
    match (is_first, are_asked) {
        (false, _) => Ok(()),
        (true, true) => Err(BadUsage("none of the words can be translated".to_owned()).into()),
        (true, false) => Err(BadUsage("there are no words to translate".to_owned()).into()),
    }
}

/// The words of the lines that have arrived, one at least, and none at the end. Empty lines are passed over.
fn arrived<R: Read>(input: &mut BufReader<R>) -> anyhow::Result<Option<Vec<String>>> {
    let mut words = Vec::new();
    while words.is_empty() || input.buffer().contains(&b'\n') {
        let mut line = String::new();
        if input.read_line(&mut line).context("cannot read standard input")? == 0 {
            break;
        }
        words.extend(Some(line.trim().to_owned()).filter(|word| !word.is_empty()));
    }
    Ok(Some(words).filter(|words| !words.is_empty()))
}

/// Asks for words, with line editing and a history, until `:q` or Ctrl-D.
fn prompt(translator: &Translator, arguments: &Translate, global: &Global) -> anyhow::Result<()> {
    // What is asked goes to the terminal, so that only answers are in a file that standard output is sent to.
    let config = rustyline::Config::builder().behavior(rustyline::Behavior::PreferTerm).build();
    let mut editor = rustyline::DefaultEditor::with_config(config).context("cannot read from this terminal")?;
    let ask = format!("{}> ", output::visible(&arguments.from));
    output::note(global, "type words, one a line; :q or Ctrl-D ends");
    let mut next = || match editor.readline(&ask) {
        Ok(line) => {
            // Without a history the arrow keys do nothing; that is no reason to stop.
            let _ = editor.add_history_entry(line.trim());
            Ok(Some(line))
        }
        Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
        Err(error) => Err(anyhow::Error::new(error).context("cannot read from this terminal")),
    };
    while let Some(line) = next()? {
        match Request::of(&line) {
            Request::Nothing => {}
            Request::End => break,
            Request::Word(word) => show(&translator.translate(&[word], &())?, global)?,
        }
    }
    Ok(())
}

/// What a line at the prompt asks for.
#[derive(Debug, PartialEq)]
enum Request<'a> {
    Word(&'a str),
    Nothing,
    End,
}

impl<'a> Request<'a> {
    fn of(line: &'a str) -> Self {
        match line.trim() {
            "" => Request::Nothing,
            ":q" => Request::End,
            word => Request::Word(word),
        }
    }
}

fn warn_of_unknown(answer: &Translations, global: &Global) {
    for word in &answer.unknown {
        output::warn(global, answer.about_unknown(word));
    }
}

fn show(answer: &Translations, global: &Global) -> anyhow::Result<()> {
    warn_of_unknown(answer, global);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_does_not_end_the_prompt() {
        assert_eq!(Request::of("  \n"), Request::Nothing);
        assert_eq!(Request::of(" New York \n"), Request::Word("New York"));
        assert_eq!(Request::of(":q\n"), Request::End);
    }

    #[test]
    fn lines_are_taken_together_where_they_arrive_together() {
        let mut input = BufReader::with_capacity(16, "one\n\ntwo\nthree, which is long\n\nfour".as_bytes());
        let mut taken = Vec::new();
        while let Some(words) = arrived(&mut input).unwrap() {
            taken.push(words);
        }
        assert_eq!(taken, [vec!["one", "two"], vec!["three, which is long"], vec!["four"]]);
    }
}
