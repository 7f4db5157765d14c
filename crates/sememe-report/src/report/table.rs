//! Tables whose cells hold our figure with its interval and the paper's figure, or the reason why ours is missing.

use serde::Serialize;

/// A table with a caption.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Table {
    /// The caption.
    pub caption: String,
    /// The heading of the column of row names.
    pub corner: String,
    /// The columns after the row names.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Row>,
    /// Digits after the point.
    #[serde(skip)]
    pub decimals: usize,
    /// Whether the best row of every column is marked.
    #[serde(skip)]
    pub marks_best: bool,
}

/// A column, perhaps one of several under a common heading.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Column {
    /// The common heading, or nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Its own heading.
    pub name: String,
}

impl Column {
    /// A column by itself.
    pub fn new(name: impl Into<String>) -> Self {
        Column { group: String::new(), name: name.into() }
    }

    /// One of several columns under a common heading.
    pub fn of(group: impl Into<String>, name: impl Into<String>) -> Self {
        Column { group: group.into(), name: name.into() }
    }
}

/// A row of cells, or a heading over the rows that follow, within which the best figures are marked.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Row {
    /// A heading over rows.
    Heading {
        /// Its text.
        heading: String,
    },
    /// A row of cells.
    Cells {
        /// The name of the row.
        name: String,
        /// One for each column.
        cells: Vec<Cell>,
    },
}

impl Row {
    /// A heading over the rows that follow.
    pub fn heading(text: impl Into<String>) -> Self {
        Row::Heading { heading: text.into() }
    }

    /// A row with a cell for each column.
    pub fn new(name: impl Into<String>, cells: Vec<Cell>) -> Self {
        Row::Cells { name: name.into(), cells }
    }
}

/// A cell.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// Words.
    Text(String),
    /// Numbers.
    Measured(Measured),
}

/// Our figure and the paper's.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Measured {
    /// Our figure.
    pub ours: Option<f64>,
    /// Its 95 % confidence interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The paper's figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    /// The reason why ours is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl Cell {
    /// A cell of words.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    /// Our figure, or the reason why it is missing; and the paper's figure, if it has one.
    pub fn measured(ours: Result<f64, String>, interval: Option<[f64; 2]>, paper: Option<f64>) -> Self {
        let (ours, missing) = match ours {
            Ok(value) => (Some(value), None),
            Err(reason) => (None, Some(reason)),
        };
        Cell::Measured(Measured { ours, interval, paper, missing })
    }

    fn ours(&self) -> Option<f64> {
        match self {
            Cell::Measured(Measured { ours, .. }) => *ours,
            Cell::Text(_) => None,
        }
    }

    fn missing(&self) -> Option<&str> {
        match self {
            Cell::Measured(Measured { missing, .. }) => missing.as_deref(),
            Cell::Text(_) => None,
        }
    }
}

impl Table {
    /// A table of figures with one digit after the point.
    pub fn new(caption: impl Into<String>, corner: impl Into<String>, columns: Vec<Column>) -> Self {
        Table {
            caption: caption.into(),
            corner: corner.into(),
            columns,
            rows: Vec::new(),
            decimals: 1,
            marks_best: true,
        }
    }

    /// The distinct reasons why figures are missing, in order of appearance.
    pub fn reasons(&self) -> Vec<&str> {
        let mut reasons: Vec<&str> = Vec::new();
        for reason in self.cells().filter_map(Cell::missing) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    /// Whether a cell holds the largest figure of ours among the rows under the same heading.
    pub fn is_best(&self, row: usize, column: usize) -> bool {
        let at = |row: usize| match &self.rows[row] {
            Row::Cells { cells, .. } => cells.get(column).and_then(Cell::ours),
            Row::Heading { .. } => None,
        };
        let is_heading = |row: &usize| matches!(self.rows[*row], Row::Heading { .. });
        let first = (0..row).rev().find(is_heading).map_or(0, |heading| heading + 1);
        let last = (row..self.rows.len()).find(is_heading).unwrap_or(self.rows.len());
        let others: Vec<f64> = (first..last).filter_map(at).collect();
        // Compared as they are printed: figures that look equal are equally good.
        let printed = |value: f64| format!("{value:.*}", self.decimals);
        let best = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.marks_best && others.len() > 1 && at(row).is_some_and(|value| printed(value) == printed(best))
    }

    /// Whether any cell has a figure of the paper.
    pub fn has_paper(&self) -> bool {
        self.cells().any(|cell| matches!(cell, Cell::Measured(Measured { paper: Some(_), .. })))
    }

    /// A number as the table shows it.
    pub fn number(&self, value: f64) -> String {
        // A real minus sign, as wide as a digit.
        format!("{value:.*}", self.decimals).replace('-', "−")
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.rows.iter().flat_map(|row| match row {
            Row::Cells { cells, .. } => &cells[..],
            Row::Heading { .. } => &[],
        })
    }
}

/// The mark of the n-th reason: a, b, …, z, aa, ….
pub fn mark(at: usize) -> String {
    let letter = char::from(b'a' + (at % 26) as u8);
    if at < 26 { letter.to_string() } else { format!("{}{letter}", mark(at / 26 - 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_each_part_is_known_and_reasons_are_told_once() {
        let cell = |value: f64| Cell::measured(Ok(value), None, None);
        let missing = || Cell::measured(Err("no vectors".to_owned()), None, Some(1.0));
        let mut table = Table::new("", "", vec![Column::new("x"), Column::new("y")]);
        table.rows = vec![
            Row::new("a", vec![cell(1.0), missing()]),
            Row::new("b", vec![cell(2.04), cell(1.0)]),
            Row::new("c", vec![cell(2.0), missing()]),
            Row::heading("second part"),
            Row::new("d", vec![cell(1.5), cell(0.0)]),
            Row::new("e", vec![cell(0.5), cell(0.0)]),
        ];
        let best: Vec<usize> = (0..6).filter(|&row| table.is_best(row, 0)).collect();
        assert_eq!(best, [1, 2, 4]);
        // A single row is not marked as the best.
        assert!(!table.is_best(1, 1));
        assert_eq!(table.reasons(), ["no vectors"]);
        assert!(table.has_paper());
        assert_eq!([0, 25, 26, 27, 52].map(mark), ["a", "z", "aa", "ab", "ba"]);
    }
}
