//! The repulsion of all points in the plane, far ones taken together (Barnes & Hut 1986).

use rayon::prelude::*;

/// A group of points is taken as one if it is smaller than this, seen from the point that it repels.
const ANGLE: f32 = 0.6;
/// Points that are not divided further.
const LEAF: usize = 12;
/// Bits of a coordinate, which is how often the plane is halved at most.
const BITS: u32 = 16;

/// A square of the plane with its points. Nodes follow each other as a walk into the depth meets them.
struct Node {
    x: f32,
    y: f32,
    mass: f32,
    /// The square of its width over that of the angle.
    limit: f32,
    /// The node after all those inside of it.
    after: u32,
    /// Its points, if it is not divided.
    points: Option<(u32, u32)>,
}

/// A tree of squares.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Places in the order of the squares.
    places: Vec<[f32; 2]>,
}

/// The force on a point and its share of the sum that all forces are divided by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Repulsion {
    pub(super) force: [f32; 2],
    pub(super) sum: f32,
}

impl Tree {
    pub(super) fn new(places: &[[f32; 2]]) -> Self {
        Self::with_angle(places, ANGLE)
    }

    fn with_angle(places: &[[f32; 2]], angle: f32) -> Self {
        let largest = places.iter().flatten().fold(f32::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
        let width = 2.0 * largest;
        let cell = |x: f32| (((x + largest) / width) * ((1 << BITS) - 1) as f32) as u32;
        let mut order: Vec<(u32, u32)> = places
            .par_iter()
            .enumerate()
            .map(|(point, place)| (interleaved(cell(place[0]), cell(place[1])), point as u32))
            .collect();
        order.par_sort_unstable();
        let codes: Vec<u32> = order.iter().map(|(code, _)| *code).collect();
        let places = order.iter().map(|&(_, point)| places[point as usize]).collect();
        let mut tree = Tree { nodes: Vec::with_capacity(codes.len() / 2), places };
        tree.divide(&codes, [0, codes.len()], 0, width, angle);
        tree
    }

    /// Adds the nodes of a range of points whose codes agree in their first `level` pairs of bits.
    fn divide(&mut self, codes: &[u32], [first, last]: [usize; 2], level: u32, width: f32, angle: f32) {
        let count = (last - first) as f32;
        let sum = self.places[first..last]
            .iter()
            .fold([0.0_f64; 2], |sum, place| [sum[0] + f64::from(place[0]), sum[1] + f64::from(place[1])]);
        let [x, y] = sum.map(|sum| (sum / f64::from(count.max(1.0))) as f32);
        let is_leaf = last - first <= LEAF || level == BITS;
        let at = self.nodes.len();
        let limit = (width / angle) * (width / angle);
        let points = is_leaf.then_some((first as u32, last as u32));
        self.nodes.push(Node { x, y, mass: count, limit, after: 0, points });
        if !is_leaf {
            let shift = 2 * (BITS - 1 - level);
            let mut start = first;
            for quarter in 0..4 {
                let end = start + codes[start..last].partition_point(|code| (code >> shift) & 3 <= quarter);
                if end > start {
                    self.divide(codes, [start, end], level + 1, 0.5 * width, angle);
                }
                start = end;
            }
        }
        self.nodes[at].after = self.nodes.len() as u32;
    }

    /// The repulsion of a place by all points. A point at the very place does not count, such as itself.
    pub(super) fn repulsion(&self, [x, y]: [f32; 2]) -> Repulsion {
        let mut all = Repulsion::default();
        let mut add = |dx: f32, dy: f32, squared: f32, mass: f32| {
            let near = 1.0 / (1.0 + squared);
            all.sum += mass * near;
            all.force[0] += mass * near * near * dx;
            all.force[1] += mass * near * near * dy;
        };
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            let (dx, dy) = (x - node.x, y - node.y);
            let squared = dx * dx + dy * dy;
            at += 1;
            if squared > node.limit {
                add(dx, dy, squared, node.mass);
                at = node.after as usize;
            } else if let Some((first, last)) = node.points {
                for place in &self.places[first as usize..last as usize] {
                    let (dx, dy) = (x - place[0], y - place[1]);
                    let squared = dx * dx + dy * dy;
                    if squared > 0.0 {
                        add(dx, dy, squared, 1.0);
                    }
                }
            }
        }
        all
    }
}

/// The bits of two numbers in turn, so that near places have near codes (Morton order).
fn interleaved(x: u32, y: u32) -> u32 {
    let spread = |x: u32| {
        let x = (x | (x << 8)) & 0x00ff_00ff;
        let x = (x | (x << 4)) & 0x0f0f_0f0f;
        let x = (x | (x << 2)) & 0x3333_3333;
        (x | (x << 1)) & 0x5555_5555
    };
    spread(x) | (spread(y) << 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(places: &[[f32; 2]], [x, y]: [f32; 2]) -> Repulsion {
        let mut all = Repulsion::default();
        for place in places {
            let (dx, dy) = (x - place[0], y - place[1]);
            if dx != 0.0 || dy != 0.0 {
                let near = 1.0 / (1.0 + dx * dx + dy * dy);
                all.sum += near;
                all.force[0] += near * near * dx;
                all.force[1] += near * near * dy;
            }
        }
        all
    }

    fn length([x, y]: [f32; 2]) -> f32 {
        x.hypot(y)
    }

    /// The mean error of sums and of forces, each as a share of its mean.
    fn errors(places: &[[f32; 2]], angle: f32) -> [f32; 2] {
        let tree = Tree::with_angle(places, angle);
        let mut errors = [0.0; 2];
        let mut all = [0.0; 2];
        for &place in places {
            let (found, expected) = (tree.repulsion(place), exact(places, place));
            let difference = [0, 1].map(|i| found.force[i] - expected.force[i]);
            let add = [(found.sum - expected.sum).abs(), length(difference)];
            errors = [0, 1].map(|i| errors[i] + add[i]);
            all = [all[0] + expected.sum, all[1] + length(expected.force)];
        }
        [0, 1].map(|i| errors[i] / all[i])
    }

    #[test]
    fn far_points_taken_together_repel_nearly_as_much() {
        let spiral = (0..3000).map(|at| {
            let angle = at as f32 * 2.4;
            [angle.sin() * (at as f32).sqrt(), angle.cos() * (at as f32).sqrt() * 0.3]
        });
        let places: Vec<[f32; 2]> = spiral.chain(std::iter::repeat_n([5.0, 5.0], 40)).collect();
        // If nothing is taken together, only the order of the sums differs.
        let [sum, force] = errors(&places, 1e-3);
        assert!(sum < 1e-5 && force < 1e-4, "{sum} {force}");
        // Seen from afar, a square differs from its centre in the second order of the angle.
        let (coarse, fine) = (errors(&places, ANGLE), errors(&places, ANGLE / 2.0));
        assert!(coarse[0] < 0.02 && coarse[1] < 0.08, "{coarse:?}");
        assert!(fine.iter().zip(coarse).all(|(fine, coarse)| 2.5 * fine < coarse), "{fine:?} {coarse:?}");
    }

    #[test]
    fn few_and_equal_places_are_no_trouble() {
        assert_eq!(Tree::new(&[]).repulsion([0.0, 0.0]).sum, 0.0);
        assert_eq!(Tree::new(&[[0.0, 0.0]]).repulsion([0.0, 0.0]).sum, 0.0);
        assert_eq!(Tree::new(&[[1.0, 1.0]; 100]).repulsion([1.0, 1.0]).sum, 0.0);
    }
}
