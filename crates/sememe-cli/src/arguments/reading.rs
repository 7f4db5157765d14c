//! Files of vectors as arguments, and how to read them.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use sememe::gather::splits_at_equals;
use sememe::vectors::{Format, ReadOptions};

/// How to read vectors.
#[derive(Args)]
#[command(next_help_heading = "Reading vectors")]
pub struct Reading {
    /// Read only the first N words of each file
    #[arg(long, value_name = "N")]
    pub max_words: Option<NonZeroUsize>,
    /// Format of the vectors: text, glove, word2vec, fasttext, npy, safetensors, parquet or arrow [default: by content]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub format: Option<Format>,
    /// Tables (Parquet, Arrow): the column of words or ids and the column of vectors [default: the only ones of such types]
    #[arg(long, value_name = "WORD,VECTOR", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,
    /// Treat anything that is skipped in a file as an error
    #[arg(long)]
    pub strict: bool,
}

/// The names of all of them.
pub const READING: [&str; 4] = ["max_words", "format", "columns", "strict"];

impl Reading {
    pub fn options(&self, words: Option<PathBuf>) -> ReadOptions {
        ReadOptions::default()
            .with_max_words(self.max_words.map(NonZeroUsize::get))
            .with_format(self.format)
            .with_words(words)
            .with_columns(self.columns.clone())
            .with_strict(self.strict)
            .with_mmap(true)
    }
}

/// `NAME=FILE`. Both parts may contain `=`: the name ends at the first `=` that an existing file follows, or else at the
/// first `=`.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    pub name: String,
    pub path: PathBuf,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let splits = || splits_at_equals(text).filter(|(name, path)| !name.is_empty() && !path.is_empty());
        let (name, path) = splits()
            .find(|(_, path)| Path::new(path).exists())
            .or_else(|| splits().next())
            .ok_or_else(|| "give a name and a file, such as en=en.vec".to_owned())?;
        Ok(Named { name: name.to_owned(), path: path.into() })
    }
}

pub(super) fn parse_format(name: &str) -> Result<Format, sememe::Error> {
    name.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_an_equals_sign_where_a_file_tells_where_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            path.to_str().unwrap().to_owned()
        };
        let (plain, odd) = (file("en.vec"), file("k=v.vec"));
        let named = |name: &str, path: &str| Ok(Named { name: name.to_owned(), path: path.into() });
        assert_eq!(format!("en={plain}").parse(), named("en", &plain));
        assert_eq!(format!("size=300={plain}").parse(), named("size=300", &plain));
        assert_eq!(format!("en={odd}").parse(), named("en", &odd));
        assert_eq!(format!("a=b={odd}").parse(), named("a=b", &odd));
        // Without such a file, the name ends at the first `=`.
        assert_eq!("a=b=c.vec".parse(), named("a", "b=c.vec"));
        for wrong in ["en.vec", "=en.vec", "en=", "="] {
            assert!(wrong.parse::<Named>().is_err(), "{wrong}");
        }
    }
}
