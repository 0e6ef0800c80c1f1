//! Volumes estimated from the density in world space.
//!
//! F follows changes of volume, and each fit, flow and change of neighbours adds a small error. Where matter flows far
//! and fast these errors accumulate, and particles become denser than det F says. There, updates correct F towards the
//! density.

use super::{Embedded, ListUpdate};
use crate::kernels;
use crate::math::{Real, Vec3, exp, ln, max_over};
use crate::neighbors::Grid;
use crate::particles::Particles;
use rayon::prelude::*;

/// Support of the ledger's SPH estimate (spacings).
const SPH_SUPPORT: Real = 2.0;
/// Support of the densities with which F is compared (spacings).
const DENSITY_SUPPORT: Real = 2.5;
/// Tolerated excess of ln det F over that of the density, because matter that has flowed is packed differently than at
/// the start. With 0.05 a pulled bar of 6 spacings across shows 0.86 of its yield stress (1).
const TOLERANCE: Real = 0.08;
/// Particles with det F under this are not corrected: growth against a pressure would add energy.
const LEAST_CORRECTED: Real = 0.98;

/// Masses around one particle, smoothed by the poly6 kernel.
struct Smoothed {
    /// Smoothed density (kg/m³).
    density: Real,
    /// Distance of the particle from the centre of the smoothed masses (support radii).
    offset: Real,
}

impl Smoothed {
    /// Returns the density of matter that may end near the particle: a half space that fills the fraction φ of the
    /// kernel has its centre at (1 − φ)/2 of the support, within 2 % of φ.
    fn of_matter(&self) -> Real {
        self.density / (1.0 - 2.0 * self.offset).max(0.5)
    }
}

/// Calls `map` for every particle and collects the results. `map` can request the smoothed masses of the particle's own
/// body around it. The support is in spacings.
fn smoothed<T: Send>(
    particles: &Particles,
    support: Real,
    map: impl Fn(usize, &dyn Fn() -> Smoothed) -> T + Sync,
) -> Vec<T> {
    let Particles { position, body, mass, radius, .. } = particles;
    let support = |i: usize| 2.0 * support * radius[i];
    let largest = max_over(position.len(), support).map_or(1.0, |m| m.0);
    let grid = Grid::new(position, largest);
    let rows = (0..position.len()).into_par_iter().with_min_len(64);
    let around = |i: usize| {
        let (h, x) = (support(i), position[i]);
        let (mut density, mut moment) = (0.0, Vec3::ZERO);
        grid.visit_ball(x, h, |j| {
            let j = j as usize;
            if body[j] == body[i] {
                let weight = mass[j] * kernels::poly6_shape(x.distance_squared(position[j]), h);
                density += weight;
                moment += (position[j] - x) * weight;
            }
        });
        Smoothed { density: density * kernels::poly6(0.0, h), offset: moment.length() / (density * h) }
    };
    rows.map(|i| map(i, &|| around(i))).collect()
}

impl Embedded {
    /// Returns the volumes m_i/ρ_i with the smoothed densities of SPH in world space, without a constant (m³).
    pub(super) fn sph_volumes(&self, particles: &Particles) -> Vec<Real> {
        smoothed(particles, SPH_SUPPORT, |i, around| particles.mass[i] / around().density)
    }

    /// Returns the logarithm of the volume ratio estimated from the density, relative to the mean at the start.
    fn told_volume(&self, particles: &Particles, i: usize, around: &Smoothed) -> Real {
        let told = particles.mass[i] / (particles.volume[i] * around.of_matter());
        ln(told.max(Real::MIN_POSITIVE)) - self.rest.told_volume
    }

    /// Finds the mean estimate from the density at the start, which contains the effects of surfaces and of the
    /// kernel's sums over points.
    pub(super) fn find_rest_density(&mut self, particles: &Particles) {
        self.rest.told_volume = 0.0;
        let told =
            smoothed(particles, DENSITY_SUPPORT, |i, around| self.told_volume(particles, i, &around()));
        self.rest.told_volume = told.iter().sum::<Real>() / told.len().max(1) as Real;
    }

    /// Returns for each particle the factor by which its rest bonds grow in an update, so that det F approaches the
    /// estimate from the density; empty if nothing is corrected. Only particles that have flowed and are denser than F
    /// says are corrected: thinner matter may have torn. Departs from the paper (`volume_correction = 0`).
    pub(super) fn growths(&self, particles: &Particles) -> Vec<Real> {
        let share = self.params.volume_correction;
        if share == 0.0 || self.params.list_update == ListUpdate::Plain {
            return Vec::new();
        }
        // only particles that have flowed and are not under pressure
        let log_volume = |i: usize| {
            let det = self.gradients[i].determinant();
            (self.plastic_strain[i] > 0.0 && det > LEAST_CORRECTED).then(|| ln(det))
        };
        let excess = smoothed(particles, DENSITY_SUPPORT, |i, around| {
            let over = |log: Real| (log - self.told_volume(particles, i, &around())).clamp(-1.0, 1.0);
            log_volume(i).map_or(0.0, over)
        });
        let growth = |i: usize| {
            if log_volume(i).is_none() {
                return 1.0;
            }
            // averages over neighbours, because densities of single particles scatter
            let row = self.bonds.ends(i).iter().zip(self.bonds.weights(i));
            let (sum, weight) = row.fold((excess[i], 1.0), |(sum, weight), (&j, &w)| {
                (sum + excess[j as usize] * Real::from(w), weight + Real::from(w))
            });
            exp(share / 3.0 * (sum / weight - TOLERANCE).max(0.0))
        };
        (0..excess.len()).into_par_iter().with_min_len(512).map(growth).collect()
    }
}
