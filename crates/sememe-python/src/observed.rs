//! Rows of arrays that belong together, some of which are missing.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use sememe::align::Alignment;
use sememe::vectors::Matrix;

use crate::arrays::observed_rows;
use crate::errors::refused;

/// Rows of several views that belong together; tuples may lack views.
pub struct ObservedRows {
    /// The number of tuples.
    pub count: usize,
    views: Vec<Option<(Matrix, Vec<bool>)>>,
}

impl ObservedRows {
    /// The rows of views with these names; a view that is not given is missing in every tuple.
    pub fn of(names: &[&str], views: &[Option<Bound<'_, PyAny>>]) -> PyResult<Self> {
        if views.len() != names.len() {
            return Err(refused(format!("{} views were given for a model of {}", views.len(), names.len())));
        }
        let observed = |(name, rows): (&&str, &Option<Bound<'_, PyAny>>)| {
            rows.as_ref().map(|rows| observed_rows(rows, &format!("view {name:?}"))).transpose()
        };
        let views = names.iter().zip(views).map(observed).collect::<PyResult<Vec<_>>>()?;
        let mut counts = views.iter().flatten().map(|(matrix, _)| matrix.rows());
        let count = counts.next().unwrap_or(0);
        if count == 0 || counts.any(|other| other != count) {
            return Err(refused("the views must have the same number of rows, at least one"));
        }
        let rows = ObservedRows { count, views };
        match (0..count).find(|&row| rows.observed_in(row).is_empty()) {
            None => Ok(rows),
            Some(row) => Err(refused(format!("row {row} is missing in every view"))),
        }
    }

    /// The rows, grouped by the views that they have.
    pub fn patterns(&self) -> BTreeMap<Vec<usize>, Vec<usize>> {
        let mut patterns: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for row in 0..self.count {
            patterns.entry(self.observed_in(row)).or_default().push(row);
        }
        patterns
    }

    fn observed_in(&self, row: usize) -> Vec<usize> {
        let has = |view: &usize| self.views[*view].as_ref().is_some_and(|(_, is_observed)| is_observed[row]);
        (0..self.views.len()).filter(has).collect()
    }

    /// The prepared vectors of some rows in some views.
    pub fn prepared(&self, alignment: &Alignment, views: &[usize], rows: &[usize]) -> sememe::Result<Vec<Matrix>> {
        let prepare = |&view: &usize| {
            let (matrix, _) = self.views[view].as_ref().expect("only views that are there are observed");
            let chosen = if rows.len() == matrix.rows() { matrix.clone() } else { matrix.select(rows) };
            alignment.prepare(view, chosen)
        };
        views.iter().map(prepare).collect()
    }
}
