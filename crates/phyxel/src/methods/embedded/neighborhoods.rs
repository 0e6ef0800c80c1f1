//! Update of neighbourhoods: new neighbours are found in embedded space.

use super::bases::RowLanes;
use super::{Embedded, ListUpdate};
use crate::math::{Mat3, Real, Vec3};
use crate::methods::StepContext;
use crate::neighbors::{Grid, SLOTS, SlotRow};
use crate::particles::Particles;
use rayon::prelude::*;

/// Volume ratios for which a deformation gradient can be kept through a change of neighbours.
const SOUND_RATIOS: std::ops::Range<Real> = 0.05..20.0;
/// With fewer neighbours than this, the support of a particle grows.
const FEW_NEIGHBORS: usize = 12;
/// Growth factor of the support, up to [`MOST_SUPPORT`] times the body's median at the start.
const SUPPORT_GROWTH: Real = 1.25;
const MOST_SUPPORT: Real = 2.0;
/// A particle with fewer old neighbours than this accepts any new ones.
const LONELY: usize = 8;

/// Data of other particles that a row needs while it changes.
struct Surroundings<'a> {
    grid: &'a Grid,
    world: &'a [Vec3],
    embedded: &'a [Vec3],
    /// Piece of matter of each particle.
    pieces: &'a [u32],
    old_ends: &'a [u32],
    old_counts: &'a [u32],
    common_neighbors: usize,
}

/// Scratch buffers of one thread.
struct Buffers {
    candidates: Vec<(Real, u32)>,
    bonds: Vec<(u32, Vec3)>,
    row: RowLanes,
}

impl Buffers {
    fn new() -> Self {
        Self { candidates: Vec::new(), bonds: Vec::new(), row: RowLanes::new() }
    }
}

impl Surroundings<'_> {
    fn old_row(&self, i: usize) -> &[u32] {
        &self.old_ends[i * SLOTS..i * SLOTS + self.old_counts[i] as usize]
    }

    /// Finds the nearest particles in embedded space, unsorted. A full old list bounds their distance.
    fn find_candidates(&self, i: usize, support: Real, found: &mut Vec<(Real, u32)>) {
        found.clear();
        let center = self.embedded[i];
        let old = self.old_row(i);
        let mut reach = support * support;
        if old.len() == SLOTS {
            let farthest = old.iter().map(|&j| center.distance_squared(self.embedded[j as usize]));
            reach = reach.min(farthest.fold(0.0, Real::max) * (1.0 + 1e-12));
        }
        self.grid.visit_ball(center, reach.sqrt(), |j| {
            let squared = center.distance_squared(self.embedded[j as usize]);
            if squared <= reach && j as usize != i && self.pieces[j as usize] == self.pieces[i] {
                found.push((squared, j));
            }
        });
    }

    /// Returns true if two particles share enough old neighbours: particles near in embedded space may be on opposite
    /// sides of a gap.
    fn belong_together(&self, i: usize, j: usize) -> bool {
        let (a, b) = (self.old_row(i), self.old_row(j));
        if a.len() < LONELY {
            return true;
        }
        let (mut p, mut q, mut n_common) = (0, 0, 0);
        while p < a.len() && q < b.len() && n_common < self.common_neighbors {
            match a[p].cmp(&b[q]) {
                std::cmp::Ordering::Less => p += 1,
                std::cmp::Ordering::Greater => q += 1,
                std::cmp::Ordering::Equal => {
                    (p, q, n_common) = (p + 1, q + 1, n_common + 1);
                }
            }
        }
        n_common >= self.common_neighbors
    }

    /// Writes the new bonds of row i into `buffers.bonds`: surviving bonds keep their vectors, new ones get `first(j)`.
    /// Returns the number of new bonds.
    fn choose(
        &self,
        i: usize,
        row: &SlotRow<'_>,
        support: Real,
        first: impl Fn(usize) -> Vec3,
        buffers: &mut Buffers,
    ) -> usize {
        let Buffers { candidates, bonds, .. } = buffers;
        self.find_candidates(i, support, candidates);
        bonds.clear();
        let ends = &row.ends[..row.len()];
        let by_distance = |a: &(Real, u32), b: &(Real, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if candidates.len() > SLOTS {
            candidates.select_nth_unstable_by(SLOTS, by_distance);
        }
        let n_near = candidates.len().min(SLOTS);
        let mut n_new = 0;
        for k in 0..candidates.len() {
            if k == n_near {
                if bonds.len() == n_near {
                    break;
                }
                // some candidates were rejected: more distant ones are considered
                candidates[k..].sort_unstable_by(by_distance);
            }
            if bonds.len() == SLOTS {
                break;
            }
            let j = candidates[k].1;
            match ends.binary_search(&j) {
                Ok(slot) => bonds.push((j, row.vector(slot))),
                Err(_) if self.belong_together(i, j as usize) => {
                    bonds.push((j, first(j as usize)));
                    n_new += 1;
                }
                Err(_) => {}
            }
        }
        n_new
    }
}

impl Embedded {
    /// Returns the elastic energy with the old neighbours, before they change (J).
    pub(super) fn energy_before_update(&mut self, particles: &Particles, ctx: &mut StepContext<'_>) -> Real {
        ctx.timings.stage("neighborhoods", || self.refit_with_energy(&particles.position, &particles.body))
    }

    /// Adds the energy that the update has put in, ideally zero.
    pub(super) fn book_update_energy(
        &mut self,
        before: Real,
        particles: &Particles,
        ctx: &mut StepContext<'_>,
    ) {
        ctx.timings.stage("neighborhoods", || {
            let after = self.refit_with_energy(&particles.position, &particles.body);
            self.tallies.update_energy += after - before;
        });
    }

    /// Returns true if a particle's F can be kept through a change of neighbours.
    fn is_sound(&self, i: usize) -> bool {
        !self.basis[i].is_degenerate() && SOUND_RATIOS.contains(&self.gradients[i].determinant())
    }

    /// Returns the particles whose F is not usable, ascending, each with the mean deformation gradient of its
    /// neighbours.
    fn gradients_around_lost(&self) -> Vec<(usize, Mat3)> {
        let mean = |i: usize| {
            let sound = self.bonds.ends(i).iter().map(|&j| j as usize).filter(|&j| self.is_sound(j));
            let (sum, n) = sound.fold((Mat3::ZERO, 0), |(sum, n), j| (sum + self.gradients[j], n + 1));
            let mean = if n > 0 { sum * (1.0 / Real::from(n)) } else { Mat3::IDENTITY };
            if SOUND_RATIOS.contains(&mean.determinant()) { mean } else { Mat3::IDENTITY }
        };
        (0..self.basis.len()).filter(|&i| !self.is_sound(i)).map(|i| (i, mean(i))).collect()
    }

    /// Makes the nearest particles in embedded space neighbours. Jones 2014 Sec. 3.4.
    ///
    /// Departs from the paper (`list_update = "plain"`): a new bond is u_ij = F_i⁻¹ x_ij, not e_ij, and all bonds of a
    /// changed row are corrected by C = F_old⁻¹ F_new, so that F_i, and with it the stress, stays the same. Otherwise
    /// every update adds energy, more so at finer sampling.
    pub(super) fn update_neighborhoods(&mut self, particles: &Particles, ctx: &mut StepContext<'_>) {
        ctx.timings.stage("neighborhoods", || {
            let keep_gradient = self.params.list_update == ListUpdate::Continuous;
            let (old_ends, old_counts) = self.bonds.ends_and_counts();
            let (old_ends, old_counts) = (old_ends.to_vec(), old_counts.to_vec());
            let median = self.bodies.iter().map(|b| b.support).fold(0.0, Real::max);
            let grid = Grid::new(&self.embedded_position, 0.5 * median);
            let pieces: Vec<u32> =
                particles.body.iter().map(|&body| self.bodies[body as usize].piece).collect();
            let rule = self.basis_rule();
            let lost = self.gradients_around_lost();
            let growths = self.growths(particles);
            let Self { bonds, basis, gradients, lame, bodies, support_radius, origin, .. } = self;
            let around = Surroundings {
                grid: &grid,
                world: &particles.position,
                embedded: &self.embedded_position,
                pieces: &pieces,
                old_ends: &old_ends,
                old_counts: &old_counts,
                common_neighbors: self.params.common_neighbors,
            };
            let (lame, bodies) = (&*lame, &*bodies);
            let rows = bonds.par_rows_mut().zip(basis.par_iter_mut()).zip(gradients.par_iter_mut());
            let rows = rows.zip(support_radius.par_iter_mut()).with_min_len(64).enumerate();
            let new = rows.map_init(Buffers::new, |buffers, (i, (((mut row, basis), f), support))| {
                let mean = lost.binary_search_by_key(&i, |l| l.0).ok().map(|k| lost[k].1);
                let is_lost = keep_gradient && mean.is_some();
                if let Some(mean) = mean.filter(|_| keep_gradient) {
                    *f = mean;
                }
                let growth = growths.get(i).copied().unwrap_or(1.0);
                if growth > 1.0 {
                    *f *= 1.0 / growth;
                    row.map_vectors(|u| u * growth);
                }
                let inverse = if keep_gradient { f.inverse() } else { Mat3::IDENTITY };
                let first = |j: usize| match keep_gradient {
                    true => inverse * (around.world[j] - around.world[i]),
                    false => around.embedded[j] - around.embedded[i],
                };
                let n_new = around.choose(i, &row, *support, first, buffers);
                if is_lost {
                    // old bonds are from before F became unusable: their strain would return at once
                    buffers.bonds.iter_mut().for_each(|bond| bond.1 = first(bond.0 as usize));
                }
                let is_changed = is_lost || growth > 1.0 || n_new > 0 || buffers.bonds.len() != row.len();
                if buffers.bonds.len() < FEW_NEIGHBORS {
                    let most = MOST_SUPPORT * bodies[particles.body[i] as usize].support;
                    *support = (*support * SUPPORT_GROWTH).min(most.max(*support));
                }
                if !is_changed {
                    return 0;
                }
                row.set(&mut buffers.bonds);
                let particle = (*support, particles.volume[i], lame.at(i));
                buffers.row.read(&row);
                *basis = rule.basis(&mut buffers.row, particle);
                if keep_gradient && !basis.is_degenerate() {
                    buffers.row.read_world(&row, around.world, i);
                    (*basis, _) = rule.keep_gradient(&mut buffers.row, particle, basis, inverse);
                }
                rule.finish(&mut buffers.row, &mut row, particle, basis, (origin, i));
                n_new
            });
            let n_new: Vec<usize> = new.collect();
            self.tallies.n_new_bonds += n_new.iter().sum::<usize>() as u64;
            self.bonds.find_plain_rows(&self.origin, |_| true);
            self.bonds.index_incoming();
            self.bonds.copy_bonds(|_| true);
            self.resize_scratch(particles.len());
            self.tallies.n_updates += 1;
            self.pace.n_steps = 0;
            self.pace.flowed = 0.0;
            self.pace.time_scale_ratio = self.low_time_scale(particles) / self.rest.time_scale;
        });
    }
}
