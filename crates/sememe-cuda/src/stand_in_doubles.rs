//! Projections and moments on the stand-in.

use crate::StandIn;
use crate::card::Fault;
use crate::moments::{ROWS_OF_BLOCK, SecondMoments};
use crate::projection::{LinearMap, Projections};
use crate::stand_in::Allocation;

/// A linear map on the stand-in.
pub struct Map {
    shift: Vec<f64>,
    map: Vec<f64>,
    _allocation: Allocation,
}

impl Map {
    /// Memory for rows and so many bytes for each, and their images.
    fn images<'a>(
        &'a self,
        card: &StandIn,
        rows: &'a [f32],
        bytes: usize,
    ) -> Result<impl Iterator<Item = Vec<f64>> + 'a, Fault> {
        let dim = self.shift.len();
        let _allocation = card.allocate(4 * rows.len() + bytes * rows.len() / dim)?;
        let image = move |row: &[f32]| -> Vec<f64> {
            let number = |map: &[f64]| (0..dim).map(|at| map[at] * (f64::from(row[at]) - self.shift[at])).sum();
            self.map.chunks_exact(dim).map(number).collect()
        };
        Ok(rows.chunks_exact(dim).map(image))
    }
}

impl Projections for StandIn {
    type Map = Map;

    fn linear_map(&self, LinearMap { shift, map }: LinearMap) -> Result<Map, Fault> {
        let allocation = self.allocate(8 * (shift.len() + map.len()))?;
        Ok(Map { shift: shift.to_vec(), map: map.to_vec(), _allocation: allocation })
    }

    fn project_rows(&self, rows: &Vec<f32>, map: &Map, images: &mut [f32]) -> Result<(), Fault> {
        let latent = map.map.len() / map.shift.len();
        let numbers = map.images(self, rows, 4 * latent)?.flatten();
        images.iter_mut().zip(numbers).for_each(|(image, number)| *image = number as f32);
        Ok(())
    }

    fn squares_of_images(&self, rows: &Vec<f32>, map: &Map, squares: &mut [f64]) -> Result<(), Fault> {
        let sums = map.images(self, rows, 8)?.map(|image| image.iter().map(|x| x * x).sum());
        squares.iter_mut().zip(sums).for_each(|(square, sum)| *square = sum);
        Ok(())
    }
}

/// Sums over rows on the stand-in.
pub struct Moments {
    shift: Vec<f64>,
    parts: Vec<Vec<f64>>,
    _allocation: Allocation,
}

impl SecondMoments for StandIn {
    type Moments = Moments;

    fn no_moments(&self, shift: &[f64], parts: usize) -> Result<Moments, Fault> {
        let count = (shift.len() + 1).pow(2);
        let allocation = self.allocate(8 * parts * count)?;
        Ok(Moments { shift: shift.to_vec(), parts: vec![vec![0.0; count]; parts], _allocation: allocation })
    }

    fn add_second_moments(&self, rows: &Vec<f32>, weights: &[f64], moments: &mut Moments) -> Result<(), Fault> {
        let _allocation = self.allocate(4 * rows.len() + 8 * weights.len())?;
        let (dim, parts) = (moments.shift.len(), moments.parts.len());
        for (at, (row, weight)) in rows.chunks_exact(dim).zip(weights).enumerate() {
            let less = row.iter().zip(&moments.shift).map(|(&x, shift)| f64::from(x) - shift);
            let numbers: Vec<f64> = less.chain([1.0]).collect();
            let sums = moments.parts[at / ROWS_OF_BLOCK % parts].chunks_exact_mut(dim + 1);
            for (end, (sums, x)) in (1..).zip(sums.zip(&numbers)) {
                sums.iter_mut().zip(&numbers[..end]).for_each(|(sum, y)| *sum += weight * x * y);
            }
        }
        Ok(())
    }

    fn fetch_moments(&self, moments: Moments) -> Result<Vec<f64>, Fault> {
        let add = |mut sums: Vec<f64>, part: Vec<f64>| {
            sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            sums
        };
        Ok(moments.parts.into_iter().reduce(add).unwrap_or_default())
    }
}
