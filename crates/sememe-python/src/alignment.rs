//! A fitted model with its preparation and sources.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sememe::align::{self, Extended};
use sememe::files::Input;
use sememe::model;
use sememe::model::LatentView;
use sememe::prepare::Casing;
use sememe::retrieve::Criterion;
use sememe::space;
use sememe::vectors::{Matrix, View};

use crate::arrays::{array_of, array_of_f64, finite_rows, vector};
use crate::data::{Data, paired_rows};
use crate::embeddings::Embeddings;
use crate::errors::{exception, refused};
use crate::lexicon::Tuples;
use crate::moments::Evidence;
use crate::observed::ObservedRows;
use crate::options::{Fitting, Gathering};
use crate::work::{briefly, run};

/// A model that can be applied to unprepared vectors.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Alignment(pub Arc<align::Alignment>);

/// `mu`, the projection, and `W` and `Psi` if the method has them.
type Parameters<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Option<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)>,
);

/// Map, offset and covariance.
type Conditional<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

/// Warnings of a fit: the text of each, and whether it says that the fit is no better than chance.
pub type FitWarnings = Vec<(String, bool)>;

/// A fit and its warnings.
type Fitted = (Alignment, FitWarnings);

#[pymethods]
impl Alignment {
    #[staticmethod]
    fn fit(
        py: Python<'_>,
        data: Data<'_>,
        gathering: Gathering,
        fitting: Fitting,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Fitted> {
        let options = fitting.align_options()?.with_evidence(gathering.options()?);
        let (views, tuples) = data.views(py)?;
        let fitted = run(py, progress, move |monitor| align::fit(views, &tuples, &options, &**monitor))?;
        Ok(new_fit(fitted.alignment, &fitted.warnings))
    }

    #[staticmethod]
    fn fit_evidence(
        py: Python<'_>,
        evidence: &Bound<'_, Evidence>,
        fitting: Fitting,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Fitted> {
        let (evidence, options) = (evidence.get().0.clone(), fitting.align_options()?);
        let (alignment, warnings) =
            run(py, progress, move |monitor| align::fit_evidence(evidence, &options, &**monitor))?;
        Ok(new_fit(alignment, &warnings))
    }

    /// Adds a view. `latent` holds the words of the existing views with their latent vectors.
    fn extend(
        &self,
        py: Python<'_>,
        latent: Vec<Option<PyRef<'_, Embeddings>>>,
        new: (String, PyRef<'_, Embeddings>),
        tuples: &Bound<'_, Tuples>,
        fitting: Fitting,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Fitted> {
        let (alignment, fit) = (self.0.clone(), fitting.options()?.with_method(None));
        let latent: Vec<_> = (self.0.model.views.iter().zip(latent))
            .map(|(known, view)| view.map(|view| View::from_embeddings(known.name.as_str(), view.0.clone())))
            .collect();
        let (new, tuples) = (View::from_embeddings(new.0, new.1.0.clone()), tuples.get().0.clone());
        let Extended { alignment, warnings, .. } =
            run(py, progress, move |monitor| align::extend(&alignment, &latent, new, &tuples, &fit, &**monitor))?;
        Ok(new_fit(alignment, &warnings))
    }

    /// Adds a view whose rows belong with the rows of the other views. `arrays` holds the existing views, some of which may
    /// have no rows, and then the new one.
    fn extend_rows(
        &self,
        py: Python<'_>,
        name: String,
        arrays: Vec<Bound<'_, PyAny>>,
        fitting: Fitting,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Fitted> {
        let (alignment, fit) = (self.0.clone(), fitting.options()?.with_method(None));
        let names = alignment.model.views.iter().map(|view| view.name.clone()).chain([name]).collect();
        let (mut views, tuples) = paired_rows(py, names, &arrays)?;
        let new = views.pop().ok_or_else(|| refused("there is no view to add"))?;
        let Extended { alignment, warnings, .. } = run(py, progress, move |monitor| {
            let project = |(place, view): (usize, View)| -> sememe::Result<Option<View>> {
                if view.is_empty() {
                    return Ok(None);
                }
                let prepared = alignment.prepare(place, view.rows().clone())?;
                Ok(Some(View::new(view.name(), alignment.model.views[place].project(&prepared)?)))
            };
            let latent = views.into_iter().enumerate().map(project).collect::<sememe::Result<Vec<_>>>()?;
            align::extend(&alignment, &latent, new, &tuples, &fit, &**monitor)
        })?;
        Ok(new_fit(alignment, &warnings))
    }

    #[getter]
    fn method(&self) -> &str {
        self.0.model.method.name()
    }

    /// Names and dimensions of the views.
    #[getter]
    fn views(&self) -> Vec<(&str, usize)> {
        self.0.model.views.iter().map(|view| (view.name.as_str(), view.dim())).collect()
    }

    #[getter]
    fn latent(&self) -> usize {
        self.0.model.latent()
    }

    #[getter]
    fn factors(&self) -> usize {
        self.0.model.factors()
    }

    #[getter]
    fn tuples(&self) -> f64 {
        self.0.model.tuples
    }

    #[getter]
    fn log_likelihood(&self) -> Option<f64> {
        self.0.model.log_likelihood
    }

    #[getter]
    fn rho<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.0.model.rho.clone())
    }

    #[getter]
    fn shrinkage<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.0.model.shrinkage.clone())
    }

    #[getter]
    fn lower(&self) -> bool {
        self.0.preparation.casing == Casing::Lower
    }

    #[getter]
    fn steps(&self) -> Vec<String> {
        self.0.preparation.steps.iter().map(ToString::to_string).collect()
    }

    /// The trace of the iterations, as JSON.
    #[getter]
    fn trace(&self) -> Option<String> {
        self.0.model.trace.as_ref().map(|trace| serde_json::to_string(trace).expect("a trace is plain data"))
    }

    /// The calibration of a criterion between two views, as JSON.
    fn calibration(&self, from: usize, to: usize, criterion: &str) -> PyResult<Option<String>> {
        self.check_views(&[from, to])?;
        let criterion: Criterion = criterion.parse().map_err(exception)?;
        let calibration = self.0.calibration(from, to, criterion);
        Ok(calibration.map(|found| serde_json::to_string(&found).expect("a calibration is plain data")))
    }

    fn parameters<'py>(&self, py: Python<'py>, view: usize) -> PyResult<Parameters<'py>> {
        self.check_views(&[view])?;
        let view = &self.0.model.views[view];
        let emission = view.emission.as_ref();
        let emission = emission.map(|emission| (array_of_f64(py, &emission.w), array_of_f64(py, &emission.psi)));
        Ok((vector(py, view.mu.clone()), array_of_f64(py, &view.projection), emission))
    }

    /// Prepares vectors of a view for the model.
    fn prepare<'py>(
        &self,
        py: Python<'py>,
        view: usize,
        rows: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let rows = self.rows_of(view, rows)?;
        let alignment = self.0.clone();
        Ok(array_of(py, run(py, None, move |_| alignment.prepare(view, rows))?))
    }

    /// Projects vectors of a view to the latent space, perhaps in the coordinates in which they are compared with those
    /// of another view.
    #[pyo3(signature = (view, rows, other=None))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        view: usize,
        rows: &Bound<'py, PyAny>,
        other: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let rows = self.rows_of(view, rows)?;
        self.check_views(other.as_slice())?;
        let alignment = self.0.clone();
        let latent = run(py, None, move |_| {
            let latent = alignment.model.views[view].project(&alignment.prepare(view, rows)?)?;
            match other {
                Some(other) => alignment.compared_with(view, other, latent),
                None => Ok(latent),
            }
        })?;
        Ok(array_of(py, latent))
    }

    /// Projects words of a view to the latent space.
    fn project(&self, py: Python<'_>, view: usize, embeddings: &Bound<'_, Embeddings>) -> PyResult<Embeddings> {
        self.check_views(&[view])?;
        let (alignment, embeddings) = (self.0.clone(), embeddings.get().0.clone());
        Ok(Embeddings(run(py, None, move |_| alignment.project(view, embeddings))?.view.named()))
    }

    /// `log p` of every tuple of rows; views may be missing.
    fn logs<'py>(&self, py: Python<'py>, views: Vec<Option<Bound<'py, PyAny>>>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = self.some_rows(&views)?;
        let alignment = self.0.clone();
        let logs = run(py, None, move |_| {
            let mut logs = vec![0.0; rows.count];
            for (views, places) in rows.patterns() {
                let prepared = rows.prepared(&alignment, &views, &places)?;
                let of_pattern = alignment.model.density(&views)?.logs(&prepared.iter().collect::<Vec<_>>())?;
                places.iter().zip(of_pattern).for_each(|(&row, log)| logs[row] = log);
            }
            Ok(logs)
        })?;
        Ok(vector(py, logs))
    }

    /// `E[z|x]` from all views that each tuple has.
    fn fuse<'py>(&self, py: Python<'py>, views: Vec<Option<Bound<'py, PyAny>>>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let rows = self.some_rows(&views)?;
        let alignment = self.0.clone();
        let fused = run(py, None, move |_| {
            let latent = alignment.model.latent();
            let mut fused = vec![0.0; rows.count * latent];
            for (views, places) in rows.patterns() {
                let prepared = rows.prepared(&alignment, &views, &places)?;
                let density = alignment.model.density(&views)?;
                let means = density.posterior_means(&prepared.iter().collect::<Vec<_>>())?;
                for (&row, mean) in places.iter().zip(means.as_slice().chunks_exact(latent)) {
                    fused[row * latent..(row + 1) * latent].copy_from_slice(mean);
                }
            }
            Ok(Matrix::new(fused, latent))
        })?;
        Ok(array_of(py, fused))
    }

    /// `y | x ~ N(offset + map x, covariance)`.
    fn conditional<'py>(&self, py: Python<'py>, from: usize, to: usize) -> PyResult<Conditional<'py>> {
        self.check_views(&[from, to])?;
        let conditional = briefly(py, || self.0.model.conditional(from, to))?.map_err(exception)?;
        let covariance = array_of_f64(py, &conditional.covariance);
        Ok((array_of_f64(py, &conditional.map), vector(py, conditional.offset), covariance))
    }

    /// Draws tuples of vectors.
    fn sample<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> PyResult<Vec<Bound<'py, PyArray2<f32>>>> {
        let alignment = self.0.clone();
        let drawn = run(py, None, move |_| alignment.model.sample(count, seed))?;
        Ok(drawn.into_iter().map(|rows| array_of(py, rows)).collect())
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.to_bytes()))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Self> {
        let read = || align::Alignment::read_input(&Input::from_bytes("model", bytes)?);
        Ok(Alignment(Arc::new(briefly(py, read)?.map_err(exception)?)))
    }

    /// Writes a space with the given words, whose vectors are unprepared.
    fn write_space(&self, py: Python<'_>, path: PathBuf, views: Vec<Option<PyRef<'_, Embeddings>>>) -> PyResult<()> {
        let alignment = self.0.clone();
        let views: Vec<_> = views.into_iter().map(|view| view.map(|view| view.0.clone())).collect();
        if views.len() != alignment.model.views.len() {
            return Err(refused("words or None are needed for each view"));
        }
        run(py, None, move |_| {
            space::Space::check_writable(&path)?;
            let project = |(view, embeddings): (usize, Option<sememe::vectors::Embeddings>)| {
                embeddings.map(|embeddings| alignment.project(view, embeddings)).transpose()
            };
            let latent = views.into_iter().enumerate().map(project);
            let latent = latent.collect::<sememe::Result<Vec<Option<LatentView>>>>()?;
            space::Space::write(&path, &alignment, &latent)
        })
    }
}

pub fn new_fit(alignment: align::Alignment, warnings: &[model::FitWarning]) -> Fitted {
    (Alignment(Arc::new(alignment)), told(warnings))
}

/// Warnings of a fit as Python takes them.
pub fn told(warnings: &[model::FitWarning]) -> FitWarnings {
    let is_chance = |warning: &model::FitWarning| matches!(warning, model::FitWarning::Chance { .. });
    warnings.iter().map(|warning| (warning.to_string(), is_chance(warning))).collect()
}

impl Alignment {
    fn check_views(&self, views: &[usize]) -> PyResult<()> {
        match views.iter().find(|&&view| view >= self.0.model.views.len()) {
            None => Ok(()),
            Some(view) => Err(refused(format!("there is no view {view}; there are {}", self.0.model.views.len()))),
        }
    }

    /// Rows of a view, all finite.
    fn rows_of(&self, view: usize, rows: &Bound<'_, PyAny>) -> PyResult<Matrix> {
        self.check_views(&[view])?;
        finite_rows(rows, &format!("the array of view {:?}", self.0.model.views[view].name))
    }

    /// Rows of all views; some may be missing.
    fn some_rows(&self, views: &[Option<Bound<'_, PyAny>>]) -> PyResult<ObservedRows> {
        let names: Vec<&str> = self.0.model.views.iter().map(|view| view.name.as_str()).collect();
        ObservedRows::of(&names, views)
    }
}
