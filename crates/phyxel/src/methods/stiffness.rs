//! Dependence of the largest stable step on the stiffness of bodies whose material changes during a run.
//!
//! The limit 2/ω of the undeformed bodies is found at the start, where they are undeformed. Energies are sums of a bulk
//! and a shear part, so a body whose moduli grow by at most a factor s vibrates at most √s times faster; with Poisson's
//! ratio unchanged that is exact. Where Poisson's ratio falls, this bound is far too large: the highest modes are
//! pressure waves and follow the p-wave modulus (measured: by at least that, for every method; `tests/events.rs`). A
//! body that is not the stiffest of its group may become stiffer without a smaller limit: its own limit is at least
//! that of the group, and longer in about the ratio of the times that sound takes from particle to particle.

use crate::material::LameParameter;
use crate::math::Real;
use crate::particles::Particles;

/// Safety factor on the estimate of a body's own limit, because the estimate may be too large.
const UNCERTAINTY: Real = 0.7;
/// Safety factor on the p-wave modulus, used where Poisson's ratio falls.
const MARGIN: Real = 1.1;

/// Stiffness of a group's bodies, at the start and now.
#[derive(Clone, Debug)]
pub(super) struct Stiffness {
    /// Stiffness by the bodies' index in the world; bodies of other groups never set the limit.
    bodies: Vec<BodyStiffness>,
}

#[derive(Clone, Copy, Debug)]
struct BodyStiffness {
    /// Smallest bulk, shear and p-wave moduli of the particles at the start (Pa).
    bulk: Real,
    shear: Real,
    p_wave: Real,
    /// Time that sound takes from particle to particle at the start (s).
    time_scale: Real,
    /// Own limit divided by the group's limit, at the start.
    leeway: Real,
    /// Factor by which the stiffness has grown since the start, by the stiffest particle.
    ratio: Real,
}

impl Stiffness {
    pub(super) fn new(particles: &Particles, lame: &LameParameter) -> Self {
        let n_bodies = particles.body.iter().max().map_or(0, |b| *b as usize + 1);
        let infinite = Real::INFINITY;
        let none = BodyStiffness {
            bulk: infinite,
            shear: infinite,
            p_wave: infinite,
            time_scale: infinite,
            leeway: 1.0,
            ratio: 1.0,
        };
        let mut bodies = vec![none; n_bodies];
        for i in 0..particles.len() {
            let (body, lame) = (&mut bodies[particles.body[i] as usize], lame.at(i));
            let sound_speed = (lame.p_wave_modulus() * particles.volume[i] / particles.mass[i]).sqrt();
            body.bulk = body.bulk.min(lame.bulk_modulus());
            body.shear = body.shear.min(lame.mu);
            body.p_wave = body.p_wave.min(lame.p_wave_modulus());
            body.time_scale = body.time_scale.min(2.0 * particles.radius[i] / sound_speed);
        }
        let shortest = bodies.iter().map(|b| b.time_scale).fold(infinite, Real::min);
        bodies.iter_mut().for_each(|b| b.leeway = (UNCERTAINTY * b.time_scale / shortest).max(1.0));
        Self { bodies }
    }

    /// Updates the stiffness of a body, from the stiffest of its particles.
    pub(super) fn update(&mut self, particles: &Particles, lame: &LameParameter, body: u32) {
        let own = (0..particles.len()).filter(|&i| particles.body[i] == body);
        let Some(body) = self.bodies.get_mut(body as usize) else { return };
        let ratio = |i: usize| {
            let lame = lame.at(i);
            let (bulk, shear) = (lame.bulk_modulus() / body.bulk, lame.mu / body.shear);
            let p_wave = lame.p_wave_modulus() / body.p_wave;
            if bulk < shear { shear.min(MARGIN * p_wave) } else { bulk }
        };
        body.ratio = own.map(ratio).fold(0.0, Real::max);
    }

    /// Forgets bodies that have no particles any more: they never limit the step.
    pub(super) fn forget_absent(&mut self, particles: &Particles) {
        let mut is_there = vec![false; self.bodies.len()];
        particles.body.iter().for_each(|&body| is_there[body as usize] = true);
        let absent = self.bodies.iter_mut().zip(is_there).filter(|(_, is_there)| !is_there);
        absent.for_each(|(body, _)| body.ratio = 0.0);
    }

    /// Returns the limit of the undeformed bodies divided by that at the start.
    pub(super) fn factor(&self) -> Real {
        self.bodies.iter().map(|b| b.leeway / b.ratio.sqrt()).fold(Real::INFINITY, Real::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{Parameter, Property};
    use crate::methods::testing::lattice;

    /// Checks the limit of two bodies, of which the second is four times as stiff.
    #[test]
    fn the_limit_is_that_of_the_body_that_is_stiffest_now() {
        let mut particles = lattice([4, 4, 4], 0.1, 0.0);
        (32..64).for_each(|i| particles.body[i] = 1);
        let column = |e: [Real; 2]| Parameter::Column((0..64).map(|i| e[i / 32]).collect());
        particles.material[Property::YoungsModulus] = column([1e5, 4e5]);
        let mut stiffness = Stiffness::new(&particles, &LameParameter::new(&particles.material, 64));
        let mut change = |stiffness: &mut Stiffness, body: u32, e: [Real; 2]| {
            particles.material[Property::YoungsModulus] = column(e);
            stiffness.update(&particles, &LameParameter::new(&particles.material, 64), body);
        };
        assert_eq!(stiffness.factor(), 1.0);
        change(&mut stiffness, 1, [1e5, 16e5]);
        assert!((stiffness.factor() - 0.5).abs() < 1e-12);
        // the first body's own limit was twice the group's; 70 % of it is used
        change(&mut stiffness, 1, [1e5, 1e3]);
        assert!((stiffness.factor() - 1.4).abs() < 1e-12);
        change(&mut stiffness, 0, [1e3, 1e3]);
        assert!((stiffness.factor() - 14.0).abs() < 1e-9);
    }
}
