//! How strongly each latent variable joins the views.
//!
//! `G_i`, the covariance of `E[z|x_i]`, has on its diagonal the share of the variance of each latent variable that view `i`
//! tells by itself. What two views say of variable `j` has the covariance `(G_a G_b)_jj` under the model, so that it is correlated by
//! `(G_a G_b)_jj / (G_a,jj G_b,jj)^½`. For IBFA of two views `G_x = G_y = diag(rho)`: shares and correlations are the
//! canonical correlations.

use super::Model;
use crate::error::Result;
use crate::linalg::{Mat, dot, symmetric};

/// How strongly each latent variable joins the views, from the parameters of a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FactorStrengths {
    /// The correlation between what two views say of each variable, averaged over all pairs of views: for two views the
    /// canonical correlation.
    pub correlations: Vec<f64>,
    /// For each view the share of each variable's variance that the view tells by itself. Empty for methods without a noise
    /// model.
    pub shares: Vec<Vec<f64>>,
}

impl Model {
    /// How strongly each latent variable joins the views. `None` for methods that have neither a noise model nor canonical
    /// correlations.
    pub fn factor_strengths(&self) -> Result<Option<FactorStrengths>> {
        let is_generative = self.views.iter().all(|view| view.emission.is_some());
        if !is_generative {
            let strengths = FactorStrengths { correlations: self.rho.clone(), shares: Vec::new() };
            return Ok((!self.rho.is_empty()).then_some(strengths));
        }
        let explained = (0..self.views.len()).map(|view| self.explained(view)).collect::<Result<Vec<Mat>>>()?;
        let factors = 0..self.factors();
        let shares: Vec<Vec<f64>> =
            explained.iter().map(|g| factors.clone().map(|j| g[(j, j)].clamp(0.0, 1.0)).collect()).collect();
        let correlations = match self.views.len() {
            2 if !self.rho.is_empty() => self.rho.clone(),
            _ => factors.map(|j| mean_correlation(&explained, j)).collect(),
        };
        Ok(Some(FactorStrengths { correlations, shares }))
    }

    /// The covariance of `E[z|x]` of a view.
    fn explained(&self, view: usize) -> Result<Mat> {
        let open = self.posterior_covariance(&[view])?;
        Ok(symmetric(&(Mat::identity(self.latent(), self.latent()) - open)))
    }
}

/// The correlation between what two views say of variable `j`, averaged over all pairs of views. A view that says nothing is
/// not correlated with any other.
fn mean_correlation(explained: &[Mat], j: usize) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0);
    for (at, a) in explained.iter().enumerate() {
        for b in &explained[at + 1..] {
            let scale = (a[(j, j)] * b[(j, j)]).max(0.0).sqrt();
            // Rows are columns: both matrices are symmetric.
            let covariance = dot(a.col_as_slice(j), b.col_as_slice(j));
            sum += if scale > 0.0 { (covariance / scale).clamp(-1.0, 1.0) } else { 0.0 };
            pairs += 1;
        }
    }
    sum / f64::from(pairs.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::Tuples;
    use crate::model::{self, FitOptions, LatentSize, Method};
    use crate::moments::Moments;
    use crate::random::Random;
    use crate::vectors::{Matrix, View};

    const ROWS: usize = 4000;

    /// Views of three coordinates each: a signal of strengths that decrease, and noise.
    fn moments(views: usize) -> Moments {
        let mut random = Random::new(3);
        let hidden: Vec<[f64; 3]> = (0..ROWS).map(|_| [random.normal(), random.normal(), random.normal()]).collect();
        let views: Vec<View> = (0..views)
            .map(|number| {
                let values = hidden.iter().flatten().enumerate().map(|(at, signal)| {
                    let strength = [2.0, 1.0, 0.3][at % 3];
                    (strength * signal + random.normal()) as f32
                });
                View::new(["x", "y", "v"][number], Matrix::new(values.collect(), 3))
            })
            .collect();
        let mut tuples = Tuples::new(views.len());
        (0..ROWS).for_each(|row| assert!(tuples.add(&vec![Some(row); views.len()])));
        Moments::of(&views, &tuples).unwrap()
    }

    fn fitted(views: usize, method: Method) -> Model {
        let options = FitOptions::default().with_method(Some(method)).with_latent(LatentSize::Of(3));
        model::fit(&moments(views), &options, &()).unwrap().0
    }

    #[test]
    fn of_two_views_they_are_the_canonical_correlations() {
        let ibfa = fitted(2, Method::Ibfa);
        let strengths = ibfa.factor_strengths().unwrap().unwrap();
        assert_eq!(strengths.correlations, ibfa.rho);
        for share in &strengths.shares {
            assert!(share.iter().zip(&ibfa.rho).all(|(share, rho)| (share - rho).abs() < 1e-8), "{share:?}");
        }
        let mut without = ibfa.clone();
        without.rho.clear();
        let computed = without.factor_strengths().unwrap().unwrap().correlations;
        assert!(computed.iter().zip(&ibfa.rho).all(|(a, b)| (a - b).abs() < 1e-8), "{computed:?}");
        // Without a noise model, correlations are all there is.
        let cca = fitted(2, Method::CcaNipals);
        assert_eq!(cca.factor_strengths().unwrap(), None);
    }

    #[test]
    fn of_three_views_they_are_those_of_the_signal() {
        let strengths = fitted(3, Method::Mbfa).factor_strengths().unwrap().unwrap();
        // The variance of the signal over that of the whole.
        let expected = [0.8, 0.5, 0.3_f64.powi(2) / 1.09];
        for found in strengths.shares.iter().chain([&strengths.correlations]) {
            assert_eq!(found.len(), 3);
            assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.06), "{found:?}");
        }
    }
}
