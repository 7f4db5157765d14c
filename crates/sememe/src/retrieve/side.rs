//! One side of a search: rows and the data prepared for them, shared by all searches.

use std::sync::{Arc, OnceLock};

use super::bounds::Bias;
use super::rows::{Role, Rows, Scaled};
use super::screen::Screen;
use crate::error::Result;
use crate::observe::{Meter, Observer, Stage};
use crate::vectors::Matrix;

/// Returns the value of a cell and computes it if it is empty.
///
/// Unlike [`OnceLock::get_or_init`], no lock is held while computing: the work runs on rayon's threads, and a waiting
/// thread may pick up another search that needs the same cell, which would deadlock. Threads that arrive at the same
/// time both compute the value.
pub(crate) fn get_or_compute<T>(cell: &OnceLock<T>, compute: impl FnOnce() -> Result<T>) -> Result<&T> {
    match cell.get() {
        Some(value) => Ok(value),
        None => {
            let value = compute()?;
            Ok(cell.get_or_init(|| value))
        }
    }
}

/// Rows to compare, as unit vectors and unchanged. Prepared data are kept.
pub(crate) struct Side {
    matrix: Matrix,
    directions: OnceLock<Arc<Indexed>>,
    plain: OnceLock<Arc<Indexed>>,
}

impl Side {
    pub(crate) fn new(matrix: Matrix) -> Arc<Self> {
        Arc::new(Side { matrix, directions: OnceLock::new(), plain: OnceLock::new() })
    }

    pub(crate) fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The rows scaled to length 1, for cosines.
    pub(super) fn directions(&self, role: Role) -> Result<&Arc<Indexed>> {
        get_or_compute(&self.directions, || {
            Ok(Arc::new(Indexed::new(Scaled::directions(self.matrix.clone(), 1.0, role)?)))
        })
    }

    /// The rows unchanged.
    pub(super) fn plain(&self, role: Role) -> Result<&Arc<Indexed>> {
        get_or_compute(&self.plain, || Ok(Arc::new(Indexed::new(Scaled::times(self.matrix.clone(), 1.0, role)?))))
    }
}

/// Rows to search, with the data that batch searches need.
pub(super) struct Indexed {
    scaled: Scaled,
    screen: OnceLock<Screen>,
    unbiased: OnceLock<Bias>,
    #[cfg(feature = "cuda")]
    on_gpu: super::gpu::OnGpu,
}

impl Indexed {
    pub(super) fn new(scaled: Scaled) -> Self {
        Indexed {
            scaled,
            screen: OnceLock::new(),
            unbiased: OnceLock::new(),
            #[cfg(feature = "cuda")]
            on_gpu: Default::default(),
        }
    }

    /// The rows on the GPU, copied on first use.
    #[cfg(feature = "cuda")]
    pub(super) fn on_gpu(&self) -> &super::gpu::OnGpu {
        &self.on_gpu
    }

    pub(super) fn scaled(&self) -> &Scaled {
        &self.scaled
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        self.scaled.rows()
    }

    /// The screen, prepared on first use.
    pub(super) fn screen(&self, observer: &dyn Observer) -> Result<&Screen> {
        get_or_compute(&self.screen, || {
            let rows = self.rows();
            let meter = Meter::new(observer, Stage::Preparing, rows.len());
            meter.check()?;
            let screen = Screen::of(rows);
            meter.advance(rows.len())?;
            Ok(screen)
        })
    }

    /// Whether the screen is prepared.
    pub(super) fn has_screen(&self) -> bool {
        self.screen.get().is_some()
    }

    /// A bias of zero; zero rows are excluded where directions are needed.
    pub(super) fn unbiased(&self) -> &Bias {
        self.unbiased.get_or_init(|| self.biased(vec![0.0; self.rows().len()]))
    }

    /// The bias from a term for each row; zero rows are excluded where directions are needed.
    pub(super) fn biased(&self, mut terms: Vec<f64>) -> Bias {
        for (row, term) in terms.iter_mut().enumerate() {
            if self.scaled.is_zero(row) {
                *term = f64::NEG_INFINITY;
            }
        }
        Bias::new(terms)
    }
}
