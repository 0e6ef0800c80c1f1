//! Pressure against crowding, as in SPH: p = k (ρ/ρ_rest − 1), never negative, since tension would clump particles.
//!
//! Densities are sums over neighbours and are low at surfaces; they are compared with their own median at the start,
//! not with the nominal density.
//!   ρ_i = Σ_j m_j W(|x_ij|, h_ij)   f_i = Σ_j V_i V_j (p_i + p_j) W'(|x_ij|) x_ij/|x_ij|   k stiffness (Pa)

use crate::kernels::{cosine, cosine_slope};
use crate::math::{Real, Vec3};
use crate::neighbors::Neighbors;
use crate::particles::Particles;
use rayon::prelude::*;

/// Pressure force with its buffers and the density at the start.
#[derive(Clone, Debug, Default)]
pub struct SphPressure {
    rest_density: Real,
    pressure: Vec<Real>,
}

fn density(neighbors: &Neighbors, particles: &Particles, support: &[Real], i: usize) -> Real {
    let Particles { position: x, mass, .. } = particles;
    neighbors.row(i).iter().fold(mass[i] * cosine(0.0, support[i]), |sum, &j| {
        let j = j as usize;
        sum + mass[j] * cosine(x[i].distance(x[j]), 0.5 * (support[i] + support[j]))
    })
}

impl SphPressure {
    /// Stores the median of the present densities as the density at rest.
    pub fn find_rest_density(&mut self, neighbors: &Neighbors, particles: &Particles, support: &[Real]) {
        let n = particles.len();
        let mut all: Vec<Real> =
            (0..n).into_par_iter().map(|i| density(neighbors, particles, support, i)).collect();
        if n > 0 {
            self.rest_density = *all.select_nth_unstable_by(n / 2, Real::total_cmp).1;
        }
    }

    /// Adds the forces of the pressure (N); the lists must be symmetric.
    pub fn add_forces(
        &mut self,
        neighbors: &Neighbors,
        particles: &Particles,
        support: &[Real],
        stiffness: impl Fn(usize) -> Real + Sync,
        forces: &mut [Vec3],
    ) {
        let rest = self.rest_density;
        let excess = |i: usize| (density(neighbors, particles, support, i) / rest - 1.0).max(0.0);
        (0..particles.len())
            .into_par_iter()
            .with_min_len(128)
            .map(|i| stiffness(i) * excess(i))
            .collect_into_vec(&mut self.pressure);
        let (pressure, Particles { position: x, volume, .. }) = (&self.pressure, particles);
        forces.par_iter_mut().with_min_len(128).enumerate().for_each(|(i, force)| {
            for &j in neighbors.row(i) {
                let j = j as usize;
                let both = pressure[i] + pressure[j];
                if both > 0.0 {
                    let bond = x[j] - x[i];
                    let r = bond.length().max(Real::MIN_POSITIVE);
                    let slope = cosine_slope(r, 0.5 * (support[i] + support[j]));
                    *force += bond * (volume[i] * volume[j] * both * slope / r);
                }
            }
        });
    }
}
