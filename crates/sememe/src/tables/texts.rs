//! Words in a column: strings of any kind, or integers as ids.

use std::fmt::Write;
use std::path::Path;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray, downcast_integer_array};

use super::damaged;
use crate::error::Result;

/// The words of a column in one record batch.
pub(crate) enum Texts {
    Small(StringArray),
    Large(LargeStringArray),
    Views(StringViewArray),
}

impl Texts {
    /// Integers are written as text, and dictionaries are resolved.
    pub(crate) fn new(path: &Path, array: &ArrayRef) -> Result<Self> {
        if let Some(array) = array.as_string_opt::<i32>() {
            return Ok(Texts::Small(array.clone()));
        }
        if let Some(array) = array.as_string_opt::<i64>() {
            return Ok(Texts::Large(array.clone()));
        }
        if let Some(array) = array.as_string_view_opt() {
            return Ok(Texts::Views(array.clone()));
        }
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let values = Texts::new(path, dictionary.values())?;
            if values.len() == 0 && dictionary.null_count() < dictionary.len() {
                return Err(damaged(path, "a dictionary of words is empty"));
            }
            let keys = if values.len() == 0 { vec![0; array.len()] } else { dictionary.normalized_keys() };
            let word = |(row, key): (usize, usize)| if array.is_null(row) { None } else { values.get(key) };
            return Ok(Texts::Large(keys.into_iter().enumerate().map(word).collect()));
        }
        let array = array.as_ref();
        downcast_integer_array!(
            array => Ok(Texts::Large(numbers(array))),
            other => Err(damaged(path, format_args!("words of type {other}")))
        )
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Texts::Small(array) => array.len(),
            Texts::Large(array) => array.len(),
            Texts::Views(array) => array.len(),
        }
    }

    /// The word of a row; `None` for null.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        match self {
            Texts::Small(array) => array.is_valid(row).then(|| array.value(row)),
            Texts::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Texts::Views(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}

fn numbers<T: ArrowPrimitiveType>(array: &arrow_array::PrimitiveArray<T>) -> LargeStringArray
where
    T::Native: std::fmt::Display,
{
    let mut texts = LargeStringBuilder::with_capacity(array.len(), 8 * array.len());
    for number in array {
        match number {
            Some(number) => {
                let _never_fails = write!(texts, "{number}");
                texts.append_value("");
            }
            None => texts.append_null(),
        }
    }
    texts.finish()
}
