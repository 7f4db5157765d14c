//! The arguments of a page in one file.

use std::path::PathBuf;

use clap::Args;
use sememe_server::standalone::MOST_WORDS;

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe page space -o page.html
  sememe page space -o page.html --max-words 5000

The page needs no server and no network: mail it, or put it on any web host. It has all views of `sememe serve` but the comparison of \
spaces. The first translation of every word is that of `sememe translate`; its vectors are quantised, so that the order of further \
candidates may differ a little.")]
pub struct Page {
    /// The space
    pub space: PathBuf,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Keep the first N words of each view, the most frequent ones
    #[arg(long, value_name = "N", default_value_t = MOST_WORDS, value_parser = parse_words)]
    pub max_words: usize,
}

impl Page {
    /// The name of the space: that of its folder.
    pub fn name(&self) -> String {
        let full = self.space.canonicalize().unwrap_or_else(|_| self.space.clone());
        full.file_name().map_or_else(|| "space".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}

fn parse_words(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(words) if (1..=MOST_WORDS).contains(&words) => Ok(words),
        _ => Err(format!("it must be a whole number from 1 to {MOST_WORDS}")),
    }
}
