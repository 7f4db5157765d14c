//! A plane in which neighbours are neighbours: t-SNE (van der Maaten & Hinton 2008), for some hundred points.

/// A place in the plane.
type Place = (f64, f64);

const ITERATIONS: usize = 700;
/// Early exaggeration: the factor of attractions in the first steps.
const EXAGGERATION: f64 = 6.0;
const EXAGGERATED: usize = 150;
const RATE: f64 = 20.0;
/// Extent of the initial positions.
const START: f64 = 1.0;
/// The perplexity: the effective number of neighbours of a point.
const NEIGHBOURS: f64 = 9.0;

/// Places in the plane for points with these squared distances, beginning with `start`. The same input gives the same bits.
pub fn neighbourhoods(squared: &[Vec<f64>], start: &[Place]) -> Vec<Place> {
    let n = start.len();
    let attraction = attractions(squared);
    let largest = start.iter().map(|(x, y)| x.abs().max(y.abs())).fold(f64::MIN_POSITIVE, f64::max);
    let mut places: Vec<Place> = start.iter().map(|(x, y)| (START * x / largest, START * y / largest)).collect();
    let mut speed = vec![(0.0, 0.0); n];
    for iteration in 0..ITERATIONS {
        let (factor, momentum) = if iteration < EXAGGERATED { (EXAGGERATION, 0.5) } else { (1.0, 0.8) };
        let near = |i: usize, j: usize| {
            let (dx, dy) = (places[i].0 - places[j].0, places[i].1 - places[j].1);
            1.0 / (1.0 + dx * dx + dy * dy)
        };
        let total: f64 = (0..n).map(|i| (0..n).filter(|&j| j != i).map(|j| near(i, j)).sum::<f64>()).sum();
        let force = |i: usize| {
            let mut sum = (0.0, 0.0);
            for j in (0..n).filter(|&j| j != i) {
                let q = near(i, j);
                let pull = 4.0 * (factor * attraction[i][j] - q / total) * q;
                sum.0 += pull * (places[i].0 - places[j].0);
                sum.1 += pull * (places[i].1 - places[j].1);
            }
            sum
        };
        let forces: Vec<Place> = (0..n).map(force).collect();
        for ((place, speed), force) in places.iter_mut().zip(&mut speed).zip(forces) {
            *speed = (momentum * speed.0 - RATE * force.0, momentum * speed.1 - RATE * force.1);
            *place = (place.0 + speed.0, place.1 + speed.1);
        }
    }
    places
}

/// Symmetric joint probabilities of all pairs of points, which sum to 1.
fn attractions(squared: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = squared.len();
    let of_point: Vec<Vec<f64>> = (0..n).map(|i| neighbours_of(i, &squared[i])).collect();
    let both = |i: usize, j: usize| ((of_point[i][j] + of_point[j][i]) / (2 * n) as f64).max(1e-12);
    (0..n).map(|i| (0..n).map(|j| both(i, j)).collect()).collect()
}

/// Probabilities `exp(-precision d²)` of being a neighbour of point `i`, with the precision that gives the wanted perplexity.
fn neighbours_of(i: usize, squared: &[f64]) -> Vec<f64> {
    let target = NEIGHBOURS.min((squared.len().max(2) - 1) as f64 * 0.9).ln();
    let (mut low, mut high) = (0.0_f64, 1e6_f64);
    let mut probabilities = Vec::new();
    let nearest = (0..squared.len()).filter(|&j| j != i).map(|j| squared[j]).fold(f64::INFINITY, f64::min);
    for _ in 0..60 {
        let precision = 0.5 * (low + high);
        let weight = |j: usize| if j == i { 0.0 } else { (-precision * (squared[j] - nearest)).exp() };
        let weights: Vec<f64> = (0..squared.len()).map(weight).collect();
        let sum: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        probabilities = weights.iter().map(|weight| weight / sum).collect();
        let entropy: f64 = probabilities.iter().filter(|&&p: &&f64| p > 0.0).map(|p| -p * p.ln()).sum();
        if entropy > target { low = precision } else { high = precision }
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_one_cluster_stay_together() {
        let cluster = |i: usize| i / 12;
        let squared: Vec<Vec<f64>> = (0..48)
            .map(|i| {
                (0..48)
                    .map(|j| {
                        if i == j {
                            0.0
                        } else if cluster(i) == cluster(j) {
                            0.1
                        } else {
                            2.0
                        }
                    })
                    .collect()
            })
            .collect();
        let start: Vec<Place> = (0..48).map(|i| ((i as f64 * 1.7).sin(), (i as f64 * 2.3).cos())).collect();
        let places = neighbourhoods(&squared, &start);
        assert!(places.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
        let distance = |i: usize, j: usize| (places[i].0 - places[j].0).hypot(places[i].1 - places[j].1);
        for i in 0..48 {
            let nearest =
                (0..48).filter(|&j| j != i).min_by(|&a, &b| distance(i, a).total_cmp(&distance(i, b))).unwrap();
            assert_eq!(cluster(nearest), cluster(i));
        }
        assert_eq!(places, neighbourhoods(&squared, &start));
    }
}
