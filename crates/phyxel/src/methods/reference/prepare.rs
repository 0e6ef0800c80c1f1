//! Construction of the rest shape from particles: support radii, volumes, bonds, moments.

use super::{Params, Reference, RestParticle, RestShape, Support, VolumeRule};
use crate::forces::Viscosity;
use crate::geometry::Sampling;
use crate::kernels;
use crate::material::{LameParameter, Property};
use crate::math::{Mat3, Real, Vec3, cube, trace};
use crate::methods::stiffness::Stiffness;
use crate::methods::{Matter, MethodError, keys};
use crate::mls::{PointAnswer, moment, safe_inverse};
use crate::neighbors::{Neighbors, Points, mean_nearest_distance, within_radius};
use crate::particles::Particles;
use rayon::prelude::*;

/// Number of nearest neighbours that the mean distance is averaged over. Mueller 2004 Sec. 3.2
const N_NEAREST: usize = 10;
/// Directions whose moment, relative to the largest, is smaller than this count as flat: 0.1 % of noise on a plane must
/// not appear as strain.
const MOMENT_TOLERANCE: Real = 1e-6;
/// Fraction of the support radius within which neighbours are taken: those farther out would have weights under 0.001.
const REACH: Real = 0.95;
/// Smallest number of bonds that determines a gradient.
const MIN_BONDS: usize = 3;

impl Reference {
    /// Builds the method as in Mueller 2004 Sec. 3.2, with volumes by `params.volume_rule`.
    pub(super) fn build(
        params: Params,
        particles: &mut Particles,
        matter: &Matter,
    ) -> Result<Self, MethodError> {
        let n = particles.len();
        let pieces = matter.pieces();
        let keys = keys(&pieces, particles);
        let spacing =
            mean_nearest_distance(Points { positions: &particles.position, keys: &keys }, N_NEAREST);
        let factors: Vec<(u32, Real)> =
            matter.bodies.iter().map(|b| (b.index, support_factor(params.support, b.sampling))).collect();
        let factor = |body: u32| factors.iter().find(|f| f.0 == body).map_or(1.5, |f| f.1);
        let support_radius: Vec<Real> = (0..n).map(|i| factor(particles.body[i]) * spacing[i]).collect();
        if let Some(i) = support_radius.iter().position(|h| !(*h > 0.0)) {
            return Err(MethodError {
                body: Some(particles.body[i]),
                message: "particles lie on top of each other: they need distances to have a rest shape"
                    .into(),
            });
        }
        if params.volume_rule == VolumeRule::Sph {
            sph_masses_and_volumes(particles, &spacing, &support_radius, matter);
        }
        let lame = LameParameter::new(&particles.material, n);
        let mut method = Self {
            stiffness: Stiffness::new(particles, &lame),
            lame,
            params,
            pieces,
            rest_position: particles.position.clone(),
            support_radius,
            rest: RestShape::default(),
            gradients: Vec::new(),
            answers: Vec::new(),
            force: Vec::new(),
            viscous: Viscosity::default(),
        };
        method.prepare(particles);
        method.find_highest_frequency(particles);
        method.forces_at(&particles.position);
        for body in &matter.bodies {
            let of_body = |i: &&u32| particles.body[**i as usize] == body.index;
            let n_degenerate = method.rest.degenerate.iter().filter(of_body).count();
            let n_all = particles.body.iter().filter(|b| **b == body.index).count();
            if 2 * n_degenerate > n_all {
                let message = format!(
                    "body \"{}\": {n_degenerate} of {n_all} particles have neighbours in one plane or line only, and this \
                     method is for solids: choose a smaller spacing or a larger support_factor",
                    body.name
                );
                return Err(MethodError { body: Some(body.index), message });
            }
        }
        Ok(method)
    }

    /// Computes all data derived from rest positions and support radii, and the forces of the present shape, with which
    /// a step begins.
    pub(super) fn prepare(&mut self, particles: &Particles) {
        self.lame = LameParameter::new(&particles.material, particles.len());
        self.stiffness.forget_absent(particles);
        let rest = &self.rest_position;
        let h = &self.support_radius;
        let keys = keys(&self.pieces, particles);
        let points = Points { positions: rest, keys: &keys };
        self.rest.surroundings = within_radius(points, |i| h[i]).symmetrized();
        let neighbors = within_radius(points, |i| REACH * h[i]).symmetrized();
        let weights = weights(&neighbors, rest, h);
        (self.rest.neighbors, self.rest.weights) = (neighbors, weights);
        self.find_rest_particles(particles);
        let n = particles.len();
        self.gradients.resize(n, Mat3::IDENTITY);
        self.answers.resize(n, PointAnswer::default());
        self.force.resize(n, Vec3::ZERO);
        self.forces_at(&particles.position);
    }

    /// Computes the data of particles that depend on bonds and materials.
    pub(super) fn find_rest_particles(&mut self, particles: &Particles) {
        let rest = &self.rest_position;
        let RestShape { neighbors, weights, .. } = &self.rest;
        let modulus = &particles.material[Property::YoungsModulus];
        let rows: Vec<(RestParticle, bool)> = (0..particles.len())
            .into_par_iter()
            .map(|i| {
                let own = || {
                    let row = neighbors.row(i).iter().zip(&weights[neighbors.range(i)]);
                    row.map(|(&j, w)| (Real::from(w[0]), rest[j as usize] - rest[i]))
                };
                let a = moment(own());
                let inverse = safe_inverse(a, MOMENT_TOLERANCE);
                let degenerate = inverse.dropped > 0 || own().filter(|b| b.0 > 0.0).count() < MIN_BONDS;
                let stiffness = self.params.stabilization * modulus.at(i) * particles.volume[i];
                let size = trace(a);
                let particle = RestParticle {
                    inverse_moment: inverse.matrix,
                    row_sum: own().fold(Vec3::ZERO, |sum, (w, u)| sum + u * w),
                    residual: if degenerate || size <= 0.0 { 0.0 } else { stiffness / size },
                    volume: if degenerate { 0.0 } else { particles.volume[i] },
                };
                (particle, degenerate)
            })
            .collect();
        self.rest.degenerate = (0..rows.len() as u32).filter(|&i| rows[i as usize].1).collect();
        self.rest.particles = rows.into_iter().map(|row| row.0).collect();
    }
}

fn support_factor(support: Support, sampling: Sampling) -> Real {
    match (support, sampling) {
        (Support::Factor(factor), _) => factor,
        (Support::Auto, Sampling::Lattice) => 1.5,
        (Support::Auto, _) => 2.0,
    }
}

/// Returns `[w_ij, w_ji]` of every bond, by the poly6 shape of each end's own support; constants cancel in the fit.
fn weights(neighbors: &Neighbors, rest: &[Vec3], support_radius: &[Real]) -> Vec<[f32; 2]> {
    let mut all = Vec::with_capacity(neighbors.n_bonds());
    for i in 0..neighbors.n_rows() {
        all.extend(neighbors.row(i).iter().map(|&j| {
            let j = j as usize;
            let squared = rest[i].distance_squared(rest[j]);
            [i, j].map(|k| kernels::poly6_shape(squared, support_radius[k]) as f32)
        }));
    }
    all
}

/// Sets masses and volumes as in Mueller 2004 Sec. 3.2: m_i = s r̄_i³ ρ with one s so that smoothed densities are right
/// on average; V_i = m_i/ρ_i.
fn sph_masses_and_volumes(
    particles: &mut Particles,
    spacing: &[Real],
    support_radius: &[Real],
    matter: &Matter,
) {
    let keys = keys(&matter.pieces(), particles);
    let points = Points { positions: &particles.position, keys: &keys };
    let neighbors = within_radius(points, |i| support_radius[i]);
    let x = &particles.position;
    let smoothed = |i: usize, value: &dyn Fn(usize) -> Real| {
        let h = support_radius[i];
        let others = neighbors.row(i).iter().map(|&j| j as usize);
        others.fold(value(i) * kernels::poly6(0.0, h), |s, j| {
            s + value(j) * kernels::poly6(x[i].distance(x[j]), h)
        })
    };
    let cubes: Vec<Real> = spacing.iter().map(|r| cube(*r)).collect();
    let density: Vec<Real> = (0..x.len()).map(|i| smoothed(i, &|j| cubes[j])).collect();
    for body in &matter.bodies {
        let members = || (0..x.len()).filter(|&i| particles.body[i] == body.index);
        let mean = members().map(|i| density[i]).sum::<Real>() / members().count() as Real;
        for i in members().collect::<Vec<_>>() {
            particles.mass[i] = cubes[i] / mean * particles.material[Property::Density].at(i);
            particles.volume[i] = cubes[i] / density[i];
        }
    }
}
