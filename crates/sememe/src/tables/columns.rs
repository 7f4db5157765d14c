//! Which columns of a table are meant: those that are named, or the only ones of a suitable type.

use std::path::Path;

use arrow_schema::{DataType, Schema};

use super::is_float;
use crate::error::{Error, Place, Result};

/// The name of the column of words in tables that sememe writes, and the one that is taken where several would do.
pub(crate) const WORD: &str = "word";
/// The same for vectors.
pub(crate) const VECTOR: &str = "vector";
/// Maximum number of columns listed in an error message.
const MAX_LISTED: usize = 20;

/// The columns of a table of vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VectorColumns {
    /// Index of the column of words or ids, if there is one.
    pub(crate) word: Option<usize>,
    /// Index of the column of vectors.
    pub(crate) vector: usize,
}

impl VectorColumns {
    /// Finds the columns: `[word, vector]` or `[vector]` by name, or by their types.
    pub(crate) fn find(path: &Path, schema: &Schema, names: Option<&[String]>) -> Result<Self> {
        let of_words = || {
            let texts = of_type(schema, is_text);
            if texts.is_empty() { of_type(schema, is_id) } else { texts }
        };
        match names {
            None => Ok(VectorColumns {
                word: only(path, schema, of_words(), WORD, "words")?,
                vector: Self::only_vector(path, schema)?,
            }),
            Some([vector]) => Ok(VectorColumns {
                word: only(path, schema, of_words(), WORD, "words").unwrap_or(None),
                vector: named(path, schema, vector, is_vector, "vectors (lists of float32, float64 or float16)")?,
            }),
            Some([word, vector]) => Ok(VectorColumns {
                word: Some(named(
                    path,
                    schema,
                    word,
                    |kind| is_text(kind) || is_id(kind),
                    "words (strings) or integer ids",
                )?),
                vector: named(path, schema, vector, is_vector, "vectors (lists of float32, float64 or float16)")?,
            }),
            Some(other) => {
                Err(Error::argument("columns", other.join(","), "name the column of words and the one of vectors"))
            }
        }
    }

    /// The column of vectors alone.
    pub(crate) fn only_vectors(path: &Path, schema: &Schema) -> Result<Self> {
        Ok(VectorColumns { word: None, vector: Self::only_vector(path, schema)? })
    }

    fn only_vector(path: &Path, schema: &Schema) -> Result<usize> {
        only(path, schema, of_type(schema, is_vector), VECTOR, "vectors")?.ok_or_else(|| {
            let problem = format!(
                "has no column of vectors, which would be lists of float32, float64 or float16; {}",
                described(schema)
            );
            Error::malformed(path, Place::Whole, problem)
        })
    }

    /// The error for a table without a column of words, where words are needed.
    pub(crate) fn no_words(path: &Path, schema: &Schema) -> Error {
        let problem = format!("has no column of words (strings) or of integer ids; {}", described(schema));
        Error::malformed(path, Place::Whole, problem)
    }
}

/// A column of vectors by name. Spark's own vectors are some, too.
pub(crate) fn find_vector_column(path: &Path, schema: &Schema, name: &str) -> Result<usize> {
    let is_suitable = |kind: &DataType| is_vector(kind) || is_spark_vector(kind);
    named(path, schema, name, is_suitable, "vectors (lists of float32, float64 or float16)")
}

/// A column of any type by name.
pub(crate) fn find_column(path: &Path, schema: &Schema, name: &str) -> Result<usize> {
    named(path, schema, name, |_| true, "")
}

/// The columns of strings that a dictionary is read from, by name.
pub(crate) fn find_text_columns(path: &Path, schema: &Schema, names: &[String]) -> Result<Vec<usize>> {
    names.iter().map(|name| named(path, schema, name, is_text, "words (strings)")).collect()
}

/// Strings, plain or dictionary-encoded.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

fn is_id(data_type: &DataType) -> bool {
    data_type.is_integer()
}

/// Lists of floating-point numbers.
pub(crate) fn is_vector(data_type: &DataType) -> bool {
    match data_type {
        DataType::FixedSizeList(item, _) | DataType::List(item) | DataType::LargeList(item) => {
            is_float(item.data_type())
        }
        _ => false,
    }
}

/// How Spark stores its type `VectorUDT`: dense or sparse, the length, and indices and values.
fn is_spark_vector(data_type: &DataType) -> bool {
    let DataType::Struct(fields) = data_type else { return false };
    fields.iter().map(|field| field.name().as_str()).eq(["type", "size", "indices", "values"])
}

fn of_type(schema: &Schema, is_suitable: impl Fn(&DataType) -> bool) -> Vec<usize> {
    let fields = schema.fields().iter().enumerate();
    // What pandas adds for its index is no data.
    let suitable =
        fields.filter(|(_, field)| is_suitable(field.data_type()) && !field.name().starts_with("__index_level_"));
    suitable.map(|(index, _)| index).collect()
}

/// The only candidate, or the one of the usual name.
fn only(path: &Path, schema: &Schema, candidates: Vec<usize>, usual: &str, what: &str) -> Result<Option<usize>> {
    let usual = candidates.iter().find(|&&index| schema.field(index).name() == usual);
    match (&candidates[..], usual) {
        ([], _) => Ok(None),
        (&[only], _) | (_, Some(&only)) => Ok(Some(only)),
        (several, None) => {
            let names: Vec<&str> = several.iter().map(|&index| schema.field(index).name().as_str()).collect();
            let problem = format!(
                "has several columns that could be {what} ({}); name the columns: --columns WORD,VECTOR",
                listed(&names)
            );
            Err(Error::malformed(path, Place::Whole, problem))
        }
    }
}

fn named(
    path: &Path,
    schema: &Schema,
    name: &str,
    is_suitable: impl Fn(&DataType) -> bool,
    what: &str,
) -> Result<usize> {
    let fields = schema.fields().iter().enumerate().filter(|(_, field)| field.name() == name);
    let problem = match fields.clone().collect::<Vec<_>>()[..] {
        [(index, field)] if is_suitable(field.data_type()) => return Ok(index),
        [(_, field)] => format!("the column {name:?} is of type {}, not {what}", field.data_type()),
        [] => format!("has no column {name:?}; {}", described(schema)),
        _ => format!("has several columns {name:?}; rename them"),
    };
    Err(Error::malformed(path, Place::Whole, problem))
}

/// The columns of a table, for an error message.
fn described(schema: &Schema) -> String {
    let columns: Vec<String> =
        schema.fields().iter().map(|field| format!("{} ({})", field.name(), short(field.data_type()))).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    format!("the columns are {}", listed(&columns))
}

fn short(data_type: &DataType) -> String {
    data_type.to_string().chars().take(40).collect()
}

/// Names for an error message, shortened if there are many.
pub(crate) fn listed(names: &[&str]) -> String {
    let mut listed = names.iter().take(MAX_LISTED).copied().collect::<Vec<_>>().join(", ");
    if names.len() > MAX_LISTED {
        listed += &format!(" and {} more", names.len() - MAX_LISTED);
    }
    listed
}
