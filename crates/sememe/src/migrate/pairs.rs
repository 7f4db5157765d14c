//! Paired rows: vectors of the same texts by two models.

use std::collections::HashSet;
use std::path::Path;

use rayon::prelude::*;

use crate::error::{Error, Place, Result};
use crate::files::Input;
use crate::observe::Observer;
use crate::prepare::{norm, scale_to_unit};
use crate::vectors::{self, Matrix, ReadOptions};

/// Vectors of the same texts by an old and a new model: row `i` of one belongs to row `i` of the other.
#[derive(Debug, Clone)]
pub struct Pairs {
    old: Matrix,
    new: Matrix,
    /// Exact duplicates of earlier pairs, which were left out.
    duplicates: usize,
}

impl Pairs {
    /// Takes rows that belong together by position. Rows are scaled to unit length; pairs that occur again are left out.
    /// Rows that are not finite or have no direction are errors.
    ///
    /// ```
    /// use sememe::{migrate::Pairs, vectors::Matrix};
    ///
    /// let old = Matrix::new(vec![1.0, 0.0, 0.0, 2.0], 2);
    /// assert_eq!(Pairs::new(old.clone(), Matrix::new(vec![1.0, 3.0], 1))?.len(), 2);
    /// assert!(Pairs::new(old, Matrix::new(vec![1.0], 1)).is_err());
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn new(old: Matrix, new: Matrix) -> Result<Self> {
        if old.rows() != new.rows() {
            return Err(Error::Request(format!(
                "the old vectors have {} rows, the new ones {}: row by row they must be of the same texts",
                old.rows(),
                new.rows()
            )));
        }
        check_directions(&old, "old")?;
        check_directions(&new, "new")?;
        let mut seen = HashSet::with_capacity(old.rows());
        let hashes: Vec<[u8; 32]> =
            (0..old.rows()).into_par_iter().map(|row| hash(old.row(row), new.row(row))).collect();
        let kept: Vec<usize> = (0..old.rows()).filter(|&row| seen.insert(hashes[row])).collect();
        let duplicates = old.rows() - kept.len();
        let prepared = |mut rows: Matrix| {
            if duplicates > 0 {
                rows = rows.select(&kept);
            }
            scale_to_unit(&mut rows);
            rows
        };
        Ok(Pairs { old: prepared(old), new: prepared(new), duplicates })
    }

    /// Rows that were taken from other pairs.
    pub(super) fn of_unit(old: Matrix, new: Matrix) -> Self {
        Pairs { old, new, duplicates: 0 }
    }

    /// Reads the rows of two files, of any format of vectors, with or without words. `rows` is a file of row numbers,
    /// counted from 0, one a line, to take instead of all rows.
    pub fn read(
        old: &Path,
        new: &Path,
        rows: Option<&Path>,
        options: &ReadOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let [mut old_rows, mut new_rows] = read_both(old, new, options, observer)?;
        if let Some(path) = rows {
            let rows = read_rows(path, old_rows.rows())?;
            (old_rows, new_rows) = (old_rows.select(&rows), new_rows.select(&rows));
        }
        Self::new(old_rows, new_rows)
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.old.rows()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of the old model, of unit length.
    pub fn old(&self) -> &Matrix {
        &self.old
    }

    /// The rows of the new model, of unit length.
    pub fn new_rows(&self) -> &Matrix {
        &self.new
    }

    /// Number of pairs that occurred before and were left out.
    pub fn duplicates(&self) -> usize {
        self.duplicates
    }

    /// Some of the pairs.
    pub fn select(&self, rows: &[usize]) -> Self {
        Pairs { old: self.old.select(rows), new: self.new.select(rows), duplicates: 0 }
    }

    /// The same pairs with the models in exchanged roles.
    pub(super) fn exchanged(&self) -> Self {
        Pairs { old: self.new.clone(), new: self.old.clone(), duplicates: self.duplicates }
    }
}

/// Reads the rows of both models, which must be as many. Their numbers are not checked.
pub fn read_both(old: &Path, new: &Path, options: &ReadOptions, observer: &dyn Observer) -> Result<[Matrix; 2]> {
    let [old_rows, new_rows] = [old, new].map(|path| vectors::read_matrix(path, options, observer));
    let (old_rows, new_rows) = (old_rows?, new_rows?);
    if old_rows.rows() != new_rows.rows() {
        return Err(Error::Request(format!(
            "{} has {} rows and {} has {}: row by row they must be of the same texts",
            old.display(),
            old_rows.rows(),
            new.display(),
            new_rows.rows()
        )));
    }
    Ok([old_rows, new_rows])
}

/// Reads row numbers, counted from 0, one a line; each may occur once. `count` is the number of rows that there are.
pub fn read_rows(path: &Path, count: usize) -> Result<Vec<usize>> {
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    numbered_lines(path, |number, line| {
        let wrong = |problem: String| Error::malformed(path, Place::Line(number), problem);
        let row = parse_row(line, count).map_err(wrong)?;
        if !seen.insert(row) {
            return Err(wrong(format!("the row {row} occurs twice; name each row once")));
        }
        rows.push(row);
        Ok(())
    })?;
    match rows.is_empty() {
        true => Err(Error::malformed(path, Place::Whole, "names no rows: one number a line is needed")),
        false => Ok(rows),
    }
}

/// Calls `take` with the number and the content of every line that is not empty.
pub(super) fn numbered_lines(path: &Path, mut take: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    let text = Input::open(path)?.text()?;
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let line = std::str::from_utf8(line)
            .map_err(|_| Error::malformed(path, Place::Line(number), "is not text; row numbers are needed"))?;
        if !line.trim().is_empty() {
            take(number, line.trim())?;
        }
    }
    Ok(())
}

/// A row number below `count`.
pub(super) fn parse_row(text: &str, count: usize) -> std::result::Result<usize, String> {
    match text.parse::<usize>() {
        Ok(row) if row < count => Ok(row),
        Ok(row) => Err(format!("there is no row {row}: rows are counted from 0, and there are {count}")),
        Err(_) => {
            let shown: String = text.chars().take(40).collect();
            Err(format!("{shown:?} is no row number; rows are counted from 0"))
        }
    }
}

/// Returns an error for the first row that is not finite or zero.
pub(super) fn check_directions(rows: &Matrix, whose: &str) -> Result<()> {
    let lengths = (0..rows.rows()).into_par_iter().map(|row| norm(rows.row(row)));
    let wrong = lengths.enumerate().find_first(|(_, length)| !(length.is_finite() && *length > 0.0));
    match wrong {
        None => Ok(()),
        Some((row, length)) => {
            let what = if length == 0.0 { "is zero and has no direction" } else { "contains NaN or infinity" };
            Err(Error::Request(format!(
                "row {row} (counted from 0) of the {whose} vectors {what}; embed that text again, or leave the row out"
            )))
        }
    }
}

fn hash(old: &[f32], new: &[f32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(bytemuck::cast_slice(old));
    hasher.update(bytemuck::cast_slice(new));
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_left_out_once() {
        let rows = Matrix::new(vec![1.0, 0.0, 0.0, 1.0, 1.0, 0.0], 2);
        let pairs = Pairs::new(rows.clone(), rows).unwrap();
        assert_eq!((pairs.len(), pairs.duplicates()), (2, 1));
        // The same old vector with another new one is another pair.
        let other = Pairs::new(Matrix::new(vec![1.0, 1.0], 1), Matrix::new(vec![1.0, -1.0], 1)).unwrap();
        assert_eq!((other.len(), other.duplicates()), (2, 0));
    }

    #[test]
    fn files_of_rows_are_checked_line_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.txt");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_rows(&path, 10).map_err(|error| error.to_string())
        };
        assert_eq!(read("3\n\n0\r\n9").unwrap(), [3, 0, 9]);
        for (text, place) in [("1\n10\n", "line 2"), ("1\n2\n1", "line 3"), ("x", "line 1"), ("-1", "line 1")] {
            let error = read(text).unwrap_err();
            assert!(error.contains(place), "{error}");
        }
        assert!(read("\n").is_err());
    }

    #[test]
    fn rows_that_cannot_be_compared_are_named() {
        let good = Matrix::new(vec![1.0, 0.0, 0.0, 1.0], 2);
        for (wrong, what) in [(vec![1.0, 0.0, f32::NAN, 1.0], "NaN"), (vec![1.0, 0.0, 0.0, 0.0], "zero")] {
            let error = Pairs::new(good.clone(), Matrix::new(wrong, 2)).unwrap_err().to_string();
            assert!(error.contains("row 1") && error.contains("new") && error.contains(what), "{error}");
        }
    }
}
