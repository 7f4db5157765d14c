//! Linear maps of many rows on a GPU. Sums are in another order than on the CPU, so that the last digits may differ.

use std::cell::RefCell;

use sememe_cuda::{Cuda, Fault, LinearMap, Projections, Projector};

use crate::device::{card_for_doubles, fell_back};
use crate::linalg::Mat;

/// A linear map on a GPU, if one is to be used and does not fail.
pub(super) struct OnGpu<C: Projections = Cuda>(RefCell<Option<Projector<C>>>);

impl OnGpu {
    /// `map (x - shift)`, for so many rows.
    pub(super) fn of(shift: &[f64], map: &Mat, rows: usize) -> Self {
        match card_for_doubles(rows * map.nrows() * map.ncols()) {
            Some(card) => OnGpu::on(card, shift, map),
            None => OnGpu(RefCell::new(None)),
        }
    }
}

impl<C: Projections> OnGpu<C> {
    pub(super) fn on(card: C, shift: &[f64], map: &Mat) -> Self {
        let row_major: Vec<f64> =
            (0..map.nrows() * map.ncols()).map(|at| map[(at / map.ncols(), at % map.ncols())]).collect();
        let projector = Projector::new(card, LinearMap { shift, map: &row_major });
        OnGpu(RefCell::new(projector.map_err(fell_back).ok()))
    }

    /// Whether it does the work, as long as it does not fail.
    pub(super) fn is_used(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// The images of rows; whether it has computed them.
    pub(super) fn project(&self, rows: &[f32], images: &mut [f32]) -> bool {
        self.has_done(|projector| projector.project(rows, images))
    }

    /// The sums of the squares of the images of rows; whether it has computed them.
    pub(super) fn squares(&self, rows: &[f32], squares: &mut [f64]) -> bool {
        self.has_done(|projector| projector.squares(rows, squares))
    }

    fn has_done(&self, work: impl FnOnce(&Projector<C>) -> Result<(), Fault>) -> bool {
        let mut projector = self.0.borrow_mut();
        match projector.as_ref().map(work) {
            Some(Ok(())) => true,
            Some(Err(fault)) => {
                fell_back(fault);
                *projector = None;
                false
            }
            None => false,
        }
    }
}
