//! Binding of points: selection of the particles that carry a point, and of their shares.

use super::{CARRIERS, CarryOrder, Lever};
use crate::math::{Mat3, Real, Vec3, outer, square, symmetric_eigen};
use crate::neighbors::{Grid, VisitBonds};
use crate::particles::Particles;
use std::sync::OnceLock;

/// Fraction of the largest moment below which the carriers count as having no extent in a direction.
const THIN: Real = 0.01;
/// Largest Σ |c|; a point that would need more is so far outside that the rest of its distance rotates like a lever.
const MAX_SHARES: Real = 4.0;

/// A point bound to its carriers.
pub(super) struct Binding {
    pub(super) carriers: [u32; CARRIERS],
    pub(super) shares: [Real; CARRIERS],
    pub(super) reach: Real,
    pub(super) offset: Vec3,
    pub(super) lever: Option<Box<Lever>>,
}

/// Binds points to particles.
pub(super) struct Binder<'a> {
    particles: &'a Particles,
    visit_bonds: VisitBonds<'a>,
    grid: OnceLock<Grid>,
}

/// Buffers that are reused for the next point.
#[derive(Default)]
pub(super) struct Scratch {
    candidates: Vec<u32>,
    nearest: Vec<(Real, u32)>,
}

impl<'a> Binder<'a> {
    pub(super) fn new(particles: &'a Particles, visit_bonds: VisitBonds<'a>) -> Self {
        Self { particles, visit_bonds, grid: OnceLock::new() }
    }

    /// Binds a point to the nearest particles of its body among those bonded to its old carriers; a point without
    /// carriers starts from the nearest particle. So a point is never bound to matter that only touches its own.
    pub(super) fn bind(
        &self,
        y: Vec3,
        body: u32,
        order: CarryOrder,
        old: &[u32],
        scratch: &mut Scratch,
    ) -> Binding {
        let Scratch { candidates, nearest } = scratch;
        let n = self.particles.len() as u32;
        candidates.clear();
        candidates.extend(old.iter().copied().filter(|&i| i < n));
        candidates.sort_unstable();
        candidates.dedup();
        if candidates.is_empty() {
            self.nearest_of_body(y, body, 1, nearest);
            candidates.extend(nearest.iter().map(|near| near.1));
            self.add_bonded(candidates, body);
        }
        self.add_bonded(candidates, body);
        if candidates.len() >= CARRIERS / 2 {
            let x = &self.particles.position;
            nearest.clear();
            nearest.extend(candidates.iter().map(|&i| (x[i as usize].distance_squared(y), i)));
            nearest.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            nearest.truncate(CARRIERS);
        } else {
            // the method has no bonds, or the piece of matter is very small
            self.nearest_of_body(y, body, CARRIERS, nearest);
        }
        self.shares(y, order, nearest)
    }

    fn nearest_of_body(&self, y: Vec3, body: u32, k: usize, nearest: &mut Vec<(Real, u32)>) {
        let Particles { position, body: bodies, .. } = self.particles;
        let grid = self.grid.get_or_init(|| Grid::for_density(position));
        grid.nearest(position, y, k, |i| bodies[i] == body, nearest);
    }

    /// Adds the particles of the same body that are bonded to those in the list, which stays sorted.
    fn add_bonded(&self, list: &mut Vec<u32>, body: u32) {
        for place in 0..list.len() {
            let i = list[place] as usize;
            (self.visit_bonds)(i, &mut |j, _| {
                if self.particles.body[j] == body {
                    list.push(j as u32);
                }
            });
        }
        list.sort_unstable();
        list.dedup();
    }

    fn shares(&self, y: Vec3, order: CarryOrder, nearest: &[(Real, u32)]) -> Binding {
        let x = &self.particles.position;
        let first = nearest.first().map_or(0, |near| near.1);
        let farthest = nearest.last().map_or(0.0, |near| near.0);
        let mut binding = Binding {
            carriers: [first; CARRIERS],
            shares: [0.0; CARRIERS],
            reach: farthest.sqrt(),
            offset: Vec3::ZERO,
            lever: None,
        };
        // weights fall smoothly to almost zero at the farthest carrier
        let support = (1.1 * farthest).max(Real::MIN_POSITIVE);
        let mut weights = [0.0; CARRIERS];
        for (k, &(squared, i)) in nearest.iter().enumerate() {
            binding.carriers[k] = i;
            weights[k] = square(1.0 - squared / support);
        }
        let sum: Real = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum.max(Real::MIN_POSITIVE));
        let place = |k: usize| x[binding.carriers[k] as usize];
        // relative to the point itself, so that bodies far from the origin keep their precision
        let center = y + (0..CARRIERS).map(|k| (place(k) - y) * weights[k]).sum::<Vec3>();
        if order == CarryOrder::Zero {
            binding.shares = weights;
            binding.offset = y - center;
            return binding;
        }
        let moment = (0..CARRIERS)
            .fold(Mat3::ZERO, |a, k| a + outer((place(k) - center) * weights[k], place(k) - center));
        let (values, axes) = symmetric_eigen(moment);
        let n_kept = (0..3).filter(|&k| values[k] > THIN * values.x && values[k] > 0.0).count();
        let kept: Vec<Vec3> = (0..n_kept).map(|k| axes.col(k)).collect();
        // A⁻¹ on the kept axes
        let spread =
            |v: Vec3| kept.iter().enumerate().map(|(k, &e)| e * (e.dot(v) / values[k])).sum::<Vec3>();
        let gradients: [Vec3; CARRIERS] = std::array::from_fn(|k| spread(place(k) - center) * weights[k]);
        let along = kept.iter().map(|&e| e * e.dot(y - center)).sum::<Vec3>();
        let shares = |way: Real| -> [Real; CARRIERS] {
            std::array::from_fn(|k| weights[k] + way * gradients[k].dot(along))
        };
        let size = |shares: &[Real; CARRIERS]| shares.iter().map(|c| c.abs()).sum::<Real>();
        let mut way = 1.0;
        while size(&shares(way)) > MAX_SHARES {
            way *= 0.8;
        }
        binding.shares = shares(way);
        // the offset is measured, so that the point stays where it was, up to the last digit but one
        let combined = (0..CARRIERS).map(|k| (place(k) - y) * binding.shares[k]).sum::<Vec3>();
        binding.offset = -combined;
        if n_kept < 3 || way < 1.0 {
            binding.lever = Some(Box::new(Lever { axes, dropped: 3 - n_kept as u32, gradients }));
        } else {
            binding.offset = Vec3::ZERO;
        }
        binding
    }
}
