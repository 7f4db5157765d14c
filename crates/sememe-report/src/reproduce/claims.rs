//! How often one row of a table is better than another, here and in the paper.

use serde::Serialize;

use crate::report::{Cell, Measured, Row, Table};

/// A count of comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Share {
    /// How often it holds.
    pub holds: usize,
    /// Number of comparisons.
    pub of: usize,
}

impl Share {
    /// The text in a table.
    pub fn shown(self) -> String {
        if self.of == 0 { "–".to_owned() } else { format!("{} of {}", self.holds, self.of) }
    }

    fn count(&mut self, pair: Option<(f64, f64)>) {
        if let Some((better, worse)) = pair {
            self.of += 1;
            self.holds += usize::from(better > worse);
        }
    }
}

/// A finding of the paper.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Claim {
    /// The finding.
    pub text: String,
    /// How often it holds here.
    pub ours: Share,
    /// How often it holds in the paper.
    pub paper: Share,
}

impl Claim {
    /// Compares two rows in all columns, under every heading that has both.
    pub(super) fn compare(text: impl Into<String>, table: &Table, better: &str, worse: &str) -> Self {
        let mut claim = Claim { text: text.into(), ours: Share::default(), paper: Share::default() };
        for rows in table.rows.split(|row| matches!(row, Row::Heading { .. })) {
            let (Some(better), Some(worse)) = (cells(rows, better), cells(rows, worse)) else { continue };
            for (better, worse) in better.iter().zip(worse) {
                if let (Cell::Measured(better), Cell::Measured(worse)) = (better, worse) {
                    let both = |of: fn(&Measured) -> Option<f64>| of(better).zip(of(worse));
                    claim.ours.count(both(|measured| measured.ours));
                    claim.paper.count(both(|measured| measured.paper));
                }
            }
        }
        claim
    }

    /// The same finding counted in several tables or rows.
    pub(super) fn together(text: impl Into<String>, parts: &[Claim]) -> Self {
        let sum = |of: fn(&Claim) -> Share| Share {
            holds: parts.iter().map(|part| of(part).holds).sum(),
            of: parts.iter().map(|part| of(part).of).sum(),
        };
        Claim { text: text.into(), ours: sum(|part| part.ours), paper: sum(|part| part.paper) }
    }
}

fn cells<'a>(rows: &'a [Row], name: &str) -> Option<&'a [Cell]> {
    rows.iter().find_map(|row| match row {
        Row::Cells { name: known, cells } if known == name => Some(&cells[..]),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Column;

    #[test]
    fn only_what_both_rows_have_is_counted() {
        let cell = |ours: Option<f64>, paper| Cell::measured(ours.ok_or_else(|| "missing".to_owned()), None, paper);
        let mut table = Table::new("", "", vec![Column::new("x"), Column::new("y")]);
        table.rows = vec![
            Row::new("SVD", vec![cell(Some(1.0), Some(3.0)), cell(Some(2.0), None)]),
            Row::new("IBFA", vec![cell(Some(2.0), Some(2.0)), cell(None, Some(1.0))]),
            Row::heading("more"),
            Row::new("IBFA", vec![cell(Some(1.0), None), cell(Some(1.0), None)]),
            Row::new("SVD", vec![cell(Some(1.0), None), cell(Some(0.5), None)]),
        ];
        let claim = Claim::compare("ahead", &table, "IBFA", "SVD");
        assert_eq!((claim.ours, claim.paper), (Share { holds: 2, of: 3 }, Share { holds: 0, of: 1 }));
        assert_eq!(Claim::together("both", &[claim.clone(), claim]).ours.shown(), "4 of 6");
        assert_eq!(Share::default().shown(), "–");
    }
}
