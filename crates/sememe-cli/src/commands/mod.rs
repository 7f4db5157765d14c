//! One file per command.

pub mod align;
pub mod completions;
pub mod convert;
pub mod demo;
pub mod devices;
pub mod evaluate;
pub mod export;
pub mod extend;
mod gather;
pub mod inspect;
pub mod lexicon;
pub mod man;
pub mod migrate;
pub mod moments;
pub mod neighbors;
pub mod page;
pub mod project;
pub mod reproduce;
pub mod sample;
pub mod serve;
pub mod translate;

use std::path::{Path, PathBuf};

use sememe::files::{Input, check_readable};
use sememe::gather::ViewRead;
use sememe::vectors::{self, Read, ReadOptions};

use crate::arguments::{Global, Reading};
use crate::output;
use crate::progress::Bar;

/// Reads vectors with a progress bar, and warns of skipped lines.
fn read_vectors(path: &Path, words: Option<PathBuf>, reading: &Reading, global: &Global) -> anyhow::Result<Read> {
    read_input(&Input::open_with(path, true)?, words, reading, global)
}

/// [`read_vectors`] of an open file: a pipe cannot be opened twice.
fn read_input(input: &Input, words: Option<PathBuf>, reading: &Reading, global: &Global) -> anyhow::Result<Read> {
    read_with(input.path(), words, reading, global, |options, bar| vectors::read_input(input, None, options, bar))
}

/// [`read_vectors`] for vectors that will be changed.
fn read_to_change(path: &Path, words: Option<PathBuf>, reading: &Reading, global: &Global) -> anyhow::Result<Read> {
    let input = Input::open_with(path, true)?;
    read_with(path, words, reading, global, |options, bar| vectors::read_to_change(input, options, bar))
}

fn read_with(
    path: &Path,
    words: Option<PathBuf>,
    reading: &Reading,
    global: &Global,
    read: impl FnOnce(&ReadOptions, &Bar) -> sememe::Result<Read>,
) -> anyhow::Result<Read> {
    // A missing list is an error even if the file of vectors has words of its own.
    words.iter().try_for_each(|words| check_readable(words))?;
    let bar = Bar::reading(global, path);
    let read = read(&reading.options(words), &bar);
    bar.finish();
    let read = read?;
    report_vectors(path, &ViewRead::new(&read), global);
    Ok(read)
}

/// Warns of skipped lines of a file of vectors, and prints other warnings of the reader.
fn report_vectors(path: &Path, read: &ViewRead, global: &Global) {
    for warning in &read.warnings {
        output::warn(global, format_args!("{}: {warning}", path.display()));
    }
    if read.skipped.total() > 0 {
        output::warn(global, format_args!("{}: skipped {}", path.display(), read.skipped));
    }
}
