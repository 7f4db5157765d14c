//! The data of a fit: views, and which of their rows belong together.

use pyo3::prelude::*;
use sememe::lexicon;
use sememe::vectors::{Matrix, View};

use crate::arrays::{finite_rows, observed_rows};
use crate::errors::refused;
use crate::lexicon::{NamedViews, Tuples};
use crate::work::briefly;

/// Views and tuples, as Python gives them.
#[derive(FromPyObject)]
pub enum Data<'py> {
    /// Words with their vectors, and the tuples of a lexicon.
    Words(NamedViews<'py>, Bound<'py, Tuples>),
    /// Names and arrays; tuples of row numbers, or None if the rows `i` of all arrays belong together; and whether only
    /// complete tuples are used, which are joined from all others.
    Rows(Vec<String>, Vec<Bound<'py, PyAny>>, Option<Vec<Vec<Option<i64>>>>, bool),
}

impl Data<'_> {
    /// Converts to views and tuples of the library.
    pub fn views(self, py: Python<'_>) -> PyResult<(Vec<View>, lexicon::Tuples)> {
        match self {
            Data::Words(views, tuples) => {
                let named =
                    views.into_iter().map(|(name, embeddings)| View::from_embeddings(name, embeddings.0.clone()));
                Ok((named.collect(), tuples.get().0.clone()))
            }
            Data::Rows(names, arrays, None, _) => paired_rows(py, names, &arrays),
            Data::Rows(names, arrays, Some(numbers), complete) => numbered_rows(names, &arrays, &numbers, complete),
        }
    }
}

/// Arrays whose rows `i` belong together; a row of NaN is missing. An array given by its dimension alone has no rows.
/// Missing rows are dropped, so that row numbers count the remaining rows.
pub fn paired_rows(
    py: Python<'_>,
    names: Vec<String>,
    arrays: &[Bound<'_, PyAny>],
) -> PyResult<(Vec<View>, lexicon::Tuples)> {
    let observed = |(name, array): (&String, &Bound<'_, PyAny>)| observed_rows(array, &format!("view {name:?}"));
    let observed = names.iter().zip(arrays).map(observed).collect::<PyResult<Vec<_>>>()?;
    let count = observed.iter().map(|(matrix, _)| matrix.rows()).max().unwrap_or(0);
    if count == 0 {
        return Err(refused("the views have no rows"));
    }
    let has_other_count = |(matrix, _): &(Matrix, Vec<bool>)| matrix.rows() != count && matrix.rows() != 0;
    if let Some(place) = observed.iter().position(has_other_count) {
        let (name, rows) = (&names[place], observed[place].0.rows());
        let problem = "row i of every view must belong together";
        return Err(refused(format!("view {name:?} has {rows} rows and others {count}: {problem}")));
    }
    briefly(py, || {
        let mut tuples = lexicon::Tuples::new(names.len());
        let mut next = vec![0; names.len()];
        let mut tuple = vec![None; names.len()];
        for row in 0..count {
            for ((place, next), (_, is_observed)) in tuple.iter_mut().zip(&mut next).zip(&observed) {
                *place = is_observed.get(row).is_some_and(|&is| is).then_some(*next);
                *next += usize::from(place.is_some());
            }
            tuples.add(&tuple);
        }
        let view = |(name, (matrix, is_observed)): (String, (Matrix, Vec<bool>))| {
            let rows: Vec<usize> = (0..matrix.rows()).filter(|&row| is_observed[row]).collect();
            View::new(name, if rows.len() == matrix.rows() { matrix } else { matrix.select(&rows) })
        };
        (names.into_iter().zip(observed).map(view).collect(), tuples)
    })
}

/// All rows of arrays of any lengths. The tuples of row numbers say which belong together.
fn numbered_rows(
    names: Vec<String>,
    arrays: &[Bound<'_, PyAny>],
    numbers: &[Vec<Option<i64>>],
    complete: bool,
) -> PyResult<(Vec<View>, lexicon::Tuples)> {
    let mut views = Vec::new();
    for (name, array) in names.into_iter().zip(arrays) {
        let rows = finite_rows(array, &format!("view {name:?}"))?;
        views.push(View::new(name, rows));
    }
    let mut tuples = lexicon::Tuples::new(views.len());
    for (entry, numbers) in numbers.iter().enumerate() {
        if numbers.len() != views.len() || numbers.iter().flatten().count() < 2 {
            let problem = "it must have a row number or None for every view, and two numbers at least";
            return Err(refused(format!("entry {entry} of the lexicon is {numbers:?}: {problem}")));
        }
        let find = |(number, view): (&Option<i64>, &View)| match number.map(usize::try_from) {
            None => Ok(None),
            Some(Ok(row)) if row < view.len() => Ok(Some(row)),
            Some(_) => {
                let number = number.unwrap_or_default();
                let problem = format!("view {:?} has {} rows, and none is row {number}", view.name(), view.len());
                Err(refused(format!("entry {entry} of the lexicon: {problem}")))
            }
        };
        tuples.add(&numbers.iter().zip(&views).map(find).collect::<PyResult<Vec<_>>>()?);
    }
    Ok((views, if complete { tuples.complete() } else { tuples }))
}
