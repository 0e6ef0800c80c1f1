//! Functions that the unit tests of several methods share.

use super::{GroupBody, Matter};
use crate::geometry::Sampling;
use crate::material::{Law, Material, YieldMeasure};
use crate::math::{Mat3, Random, Real, Vec3, vec3};
use crate::particles::Particles;

/// Young's modulus of [`matter`] (Pa).
pub(super) const E: Real = 1e5;
/// Poisson's ratio of [`matter`].
pub(super) const NU: Real = 0.3;

/// Creates a cell-centred lattice of nx × ny × nz cells of size a, as one body.
pub(super) fn lattice(n: [usize; 3], a: Real, jitter: Real) -> Particles {
    let mut random = Random::new(4);
    let mut particles = Particles::default();
    for z in 0..n[2] {
        for y in 0..n[1] {
            for x in 0..n[0] {
                let cell = vec3(x as Real + 0.5, y as Real + 0.5, z as Real + 0.5);
                particles.append(Particles {
                    id: vec![particles.len() as u32],
                    body: vec![0],
                    position: vec![(cell + random.in_cube() * jitter) * a],
                    velocity: vec![Vec3::ZERO],
                    mass: vec![1000.0 * a.powi(3)],
                    volume: vec![a.powi(3)],
                    radius: vec![0.5 * a],
                    contact_radius: vec![0.5 * a],
                    ..Particles::default()
                });
            }
        }
    }
    particles
}

/// Gives the particles one elastic material and returns the description of one body. With `flow`, the material flows
/// above a yield stress (Pa) at a rate (1/s).
pub(super) fn matter(particles: &mut Particles, law: Law, flow: Option<(Real, Real)>) -> Matter {
    let mut material = Material::elastic(E, NU);
    if let Some((yield_stress, flow_rate)) = flow {
        material = material.creeping(YieldMeasure::Total, yield_stress, flow_rate);
    }
    particles.material = material.resolve(&particles.position);
    Matter {
        bodies: vec![GroupBody {
            index: 0,
            name: "b".into(),
            matter: 0,
            sampling: Sampling::Jittered,
            volume: particles.volume.iter().sum(),
            law: Some(law),
            flow: material.flow,
        }],
    }
}

/// Returns the identity plus a random matrix of the given size.
pub(super) fn random_map(seed: u64, size: Real) -> Mat3 {
    let mut random = Random::new(seed);
    Mat3::IDENTITY + Mat3::from_cols(random.in_cube(), random.in_cube(), random.in_cube()) * size
}
