//! Dictionaries in tables, Parquet and Arrow: a column for each view, in which null or an empty string is a hole.

use std::path::Path;

use super::{Lexicon, Read, ReadOptions};
use crate::error::{Error, Place, Result};
use crate::files::Input;
use crate::tables::{Table, Texts, find_text_columns, is_text, listed};
use crate::vectors::Skipped;

/// Reads pairs: the columns that are named in the options, those called like the views, or the only two of strings.
pub(super) fn pairs(input: &Input, [from, to]: [&str; 2], options: &ReadOptions) -> Result<Read> {
    let table = Table::open(input)?;
    let texts = text_columns(&table);
    let called = |name: &str| texts.iter().find(|(_, column)| column == name).map(|(index, _)| *index);
    let columns = match (&options.columns, called(from), called(to), &texts[..]) {
        (Some(names), ..) if names.len() == 2 => find_text_columns(table.path(), table.schema(), names)?,
        (Some(names), ..) => {
            return Err(Error::argument("columns", names.join(","), "a dictionary of pairs has two columns"));
        }
        (None, Some(from), Some(to), _) if from != to => vec![from, to],
        (None, _, _, [(from, _), (to, _)]) => vec![*from, *to],
        _ => return Err(no_columns(&table, &[from, to])),
    };
    let ignored_columns = table.schema().fields().len() > columns.len();
    let read = entries(&table, vec![from.to_owned(), to.to_owned()], &columns, options)?;
    Ok(Read { ignored_columns, ..read })
}

/// Reads tuples: the columns that are named in the options, one for each of their views, or those called like the views.
pub(super) fn tuples(input: &Input, options: &ReadOptions) -> Result<Read> {
    let table = Table::open(input)?;
    let texts = text_columns(&table);
    let is_wanted = |name: &str| options.views.as_ref().is_none_or(|views| views.iter().any(|view| view == name));
    let (wanted, others): (Vec<_>, Vec<_>) = texts.into_iter().partition(|(_, name)| is_wanted(name));
    let (views, columns) = match (&options.columns, &options.views) {
        (Some(names), Some(views)) if names.len() == views.len() => {
            (views.clone(), find_text_columns(table.path(), table.schema(), names)?)
        }
        (Some(names), Some(views)) => {
            let expected = format!("one column is needed for each view ({})", views.join(", "));
            return Err(Error::argument("columns", names.join(","), expected));
        }
        (Some(names), None) => (names.clone(), find_text_columns(table.path(), table.schema(), names)?),
        (None, _) => wanted.into_iter().map(|(index, name)| (name, index)).unzip(),
    };
    if let Some(twice) = views.iter().enumerate().find(|(at, view)| views[..*at].contains(view)) {
        return Err(Error::malformed(table.path(), Place::Whole, format!("names the view {:?} twice", twice.1)));
    }
    if views.len() < 2 {
        let wanted: Vec<&str> = options.views.iter().flatten().map(String::as_str).collect();
        return Err(no_columns(&table, &wanted));
    }
    let ignored_views =
        others.into_iter().filter(|(index, _)| !columns.contains(index)).map(|(_, name)| name).collect();
    Ok(Read { ignored_views, ..entries(&table, views, &columns, options)? })
}

/// Whether a table has columns called like two of the views, as tuples have.
pub(super) fn has_views(input: &Input, views: &[&str]) -> Result<bool> {
    let table = Table::open(input)?;
    Ok(text_columns(&table).iter().filter(|(_, name)| views.contains(&name.as_str())).count() >= 2)
}

fn text_columns(table: &Table) -> Vec<(usize, String)> {
    let fields = table.schema().fields().iter().enumerate();
    fields.filter(|(_, field)| is_text(field.data_type())).map(|(index, field)| (index, field.name().clone())).collect()
}

fn no_columns(table: &Table, views: &[&str]) -> Error {
    let texts = text_columns(table);
    let names: Vec<&str> = texts.iter().map(|(_, name)| name.as_str()).collect();
    let (views, names) = (listed(views), if names.is_empty() { "none".to_owned() } else { listed(&names) });
    let problem = format!(
        "needs a column of words for each view, called like it ({views}); its columns of strings are {names}: \
         rename them, or name them in the order of the views (--lexicon-columns)"
    );
    Error::malformed(table.path(), Place::Whole, problem)
}

/// Reads entries. Those with fewer than two words are only counted.
fn entries(table: &Table, views: Vec<String>, columns: &[usize], options: &ReadOptions) -> Result<Read> {
    let path: &Path = table.path();
    let mut lexicon = Lexicon::new(views);
    let (mut single_cells, mut rows) = (0, 0_u64);
    for batch in table.batches(columns)? {
        let batch = batch?;
        let cells = batch.columns().iter().map(|column| Texts::new(path, column)).collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            rows += 1;
            let words = cells.iter().map(|texts| texts.get(row).map(str::trim).filter(|word| !word.is_empty()));
            let words: Vec<(usize, &str)> =
                words.enumerate().filter_map(|(view, word)| word.map(|word| (view, word))).collect();
            match (words.len(), options.strict) {
                (2.., _) => lexicon.add(words.into_iter().collect()),
                (_, false) => single_cells += 1,
                (_, true) => {
                    let problem = "has fewer than two words, and nothing may be skipped";
                    return Err(Error::malformed(path, Place::Row(rows), problem));
                }
            }
        }
    }
    if lexicon.entries().is_empty() {
        return Err(Error::malformed(path, Place::Whole, format!("has no entry of two words in its {rows} rows")));
    }
    Ok(Read {
        lexicon,
        skipped: Skipped::default(),
        comments: 0,
        single_cells,
        ignored_views: Vec::new(),
        ignored_columns: false,
    })
}
