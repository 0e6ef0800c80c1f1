//! Neighbours in world space, in lists with a skin that outlast many steps.

use super::Incremental;
use crate::kernels::cosine_weight;
use crate::math::{Mat3, Real, Vec3, max_over, outer, trace};
use crate::neighbors::{Grid, Neighbors};
use crate::particles::Particles;
use rayon::prelude::*;

/// Lists reach this share of the support farther than the support itself.
const SKIN: Real = 0.1;
/// What moved farther than this, in supports, over its body's mean motion, may have met others.
const FAR: Real = 0.3;
/// The kernel form measures distances at rest: stretched bonds are longer in the world by up to this factor.
pub(super) const LONGEST_STRETCH: Real = 1.5;

/// Of the particles' time scales this low percentile counts: single ones may be shorter.
const PERCENTILE: Real = 0.005;

impl Incremental {
    fn reach_factor(&self) -> Real {
        match self.params.force_form {
            super::ForceForm::Corrected => 1.0 + SKIN,
            super::ForceForm::Kernel => LONGEST_STRETCH + SKIN,
        }
    }

    /// Whether lists may lack someone: matter has been strained by half the skin, or parts of it have moved far, over their
    /// body's mean motion, and may have met others.
    pub(super) fn are_lists_old(&self, particles: &Particles) -> bool {
        let (x, old, full) = (&particles.position, &self.listed_position, &self.full_support);
        if max_over(x.len(), |i| self.strain_since[i]).is_some_and(|(most, _)| most > 0.5 * SKIN) {
            return true;
        }
        let mut mean = vec![Vec3::ZERO; self.bodies.len()];
        for (i, &body) in particles.body.iter().enumerate() {
            mean[body as usize] += x[i] - old[i];
        }
        mean.iter_mut().zip(&self.bodies).for_each(|(m, b)| *m /= b.n_particles.max(1) as Real);
        let moved = |i: usize| {
            let relative = x[i] - old[i] - mean[particles.body[i] as usize];
            relative.length_squared() / (full[i] * full[i])
        };
        max_over(x.len(), moved).is_some_and(|(far, _)| far > FAR * FAR)
    }

    /// Finds neighbours at the given positions. Bonds that stay keep their residuals.
    pub(super) fn renew_lists(&mut self, particles: &Particles) {
        self.listed_position.clone_from(&particles.position);
        let old = std::mem::take(&mut self.neighbors);
        let old_residual = std::mem::take(&mut self.residual);
        self.find_lists(particles);
        let neighbors = &self.neighbors;
        let mut residual = vec![Vec3::ZERO; neighbors.n_bonds()];
        neighbors.par_rows_mut(&mut residual, &mut vec![(); neighbors.n_rows()]).for_each(|(i, row, ())| {
            if i >= old.n_rows() {
                return;
            }
            let mut before = old.row(i).iter().zip(&old_residual[old.range(i)]).peekable();
            for (&j, r) in neighbors.row(i).iter().zip(row) {
                while before.next_if(|b| *b.0 < j).is_some() {}
                if let Some((_, kept)) = before.next_if(|b| *b.0 == j) {
                    *r = *kept;
                }
            }
        });
        self.residual = residual;
        self.strain_since.fill(0.0);
        self.tallies.n_renewals += 1;
    }

    /// Lists, supports and the stiffness of residuals, from the positions of the last renewal.
    pub(super) fn find_lists(&mut self, particles: &Particles) {
        let x = &self.listed_position;
        let n = x.len();
        let full = &self.full_support;
        let largest = max_over(n, |i| full[i]).map_or(1.0, |m| m.0);
        let factor = self.reach_factor();
        let grid = Grid::new(x, 0.5 * factor * largest);
        let body = &particles.body;
        let fused = |i: usize, j: usize| body[i] == body[j];
        self.neighbors = Neighbors::from_rows(n, |i, row| {
            grid.visit_ball(x[i], 0.5 * factor * (full[i] + largest), |j| {
                let j = j as usize;
                let reach = factor * bond_support(full, i, j);
                if j != i && x[i].distance_squared(x[j]) < reach * reach && fused(i, j) {
                    row.push(j as u32);
                }
            });
            row.sort_unstable();
        });
        let (neighbors, most) = (&self.neighbors, self.params.neighbors);
        self.support.clear();
        (0..n)
            .into_par_iter()
            .map_init(Vec::new, |distances: &mut Vec<Real>, i| {
                distances.clear();
                distances.extend(neighbors.row(i).iter().map(|&j| x[i].distance_squared(x[j as usize])));
                if distances.len() <= most {
                    return full[i];
                }
                let next = *distances.select_nth_unstable_by(most, Real::total_cmp).1;
                next.sqrt().min(full[i])
            })
            .collect_into_vec(&mut self.support);
        let support = &self.support;
        let facts = (0..n).into_par_iter().map(|i| {
            let (mut moment, mut weight_sum) = (Mat3::ZERO, 0.0);
            for &j in neighbors.row(i) {
                let bond = x[j as usize] - x[i];
                let weight = Real::from(bond_weight(support, i, j as usize, bond.length_squared()));
                moment += outer(bond * weight, bond);
                weight_sum += weight;
            }
            let size = trace(moment);
            // near the smallest eigenvalue where it is much smaller than the others
            let flattest = (moment.determinant() / (size * size)).max(0.0);
            let modulus = self.lame.at(i).p_wave_modulus();
            let scale = self.params.stabilization * modulus * particles.volume[i];
            let sound_speed = (modulus * particles.volume[i] / particles.mass[i]).sqrt();
            Listed {
                stiffness: if size > 0.0 { scale / size } else { 0.0 },
                time_scale: (flattest / weight_sum).sqrt() / sound_speed,
            }
        });
        let facts: Vec<Listed> = facts.collect();
        let mut scales: Vec<Real> = facts.iter().map(|f| f.time_scale).filter(|t| *t > 0.0).collect();
        let k = (PERCENTILE * scales.len() as Real) as usize;
        self.time_scale = if scales.is_empty() {
            0.0
        } else {
            *scales.select_nth_unstable_by(k, Real::total_cmp).1
        };
        self.stiffness = facts.into_iter().map(|f| f.stiffness).collect();
        self.weights.resize(self.neighbors.n_bonds(), 0.0);
    }
}

/// What a particle's list says of it.
struct Listed {
    /// Of residuals, c_i. [N/m]
    stiffness: Real,
    /// How long sound takes through the thinnest direction of the neighbourhood. [s]
    time_scale: Real,
}

/// Support of a bond: the mean of its ends'. [m]
#[inline(always)]
pub(super) fn bond_support(support: &[Real], i: usize, j: usize) -> Real {
    0.5 * (support[i] + support[j])
}

/// Weight of a bond of the given squared length.
#[inline(always)]
pub(super) fn bond_weight(support: &[Real], i: usize, j: usize, squared: Real) -> f32 {
    let h = bond_support(support, i, j);
    cosine_weight((squared / (h * h)) as f32)
}
