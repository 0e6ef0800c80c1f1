//! Speed limit as a safeguard against particles that are shot off: no particle may be much faster than its neighbours.

use super::Embedded;
use crate::material::Property;
use crate::math::{Real, Vec3, max_over};
use crate::methods::StepContext;
use crate::particles::Particles;
use rayon::prelude::*;

impl Embedded {
    /// Returns the largest relative speed of a particle: the limit times the speed of sound (m/s).
    fn speed_limit(&self, particles: &Particles, i: usize) -> Real {
        self.params.speed_limit * self.sound_speed(particles, i)
    }

    /// Returns the speed of sound √((λ + 2µ)/ρ) (m/s).
    pub(super) fn sound_speed(&self, particles: &Particles, i: usize) -> Real {
        (self.lame.at(i).p_wave_modulus() / particles.material[Property::Density].at(i)).sqrt()
    }

    /// Returns the mass-weighted mean velocity v̄ of the neighbours, and their mass.
    fn around(&self, particles: &Particles, i: usize) -> (Vec3, Real) {
        let (mut momentum, mut mass) = (Vec3::ZERO, 0.0);
        for &j in self.bonds.ends(i) {
            let m = particles.mass[j as usize];
            momentum += particles.velocity[j as usize] * m;
            mass += m;
        }
        (momentum / mass.max(Real::MIN_POSITIVE), mass)
    }

    /// Shortens v_i − v̄ to the limit and gives the momentum difference to the neighbours.
    pub(super) fn limit_speeds(&mut self, particles: &mut Particles, ctx: &mut StepContext<'_>) {
        if self.params.speed_limit <= 0.0 {
            return;
        }
        ctx.timings.stage("speed limit", || {
            let n = particles.len();
            // velocities of two particles differ by at most twice the largest difference from the common mean
            let mean = particles.momentum() / particles.total_mass();
            let spread =
                max_over(n, |i| (particles.velocity[i] - mean).length() / self.speed_limit(particles, i));
            if spread.is_none_or(|s| 2.0 * s.0 <= 1.0) {
                return;
            }
            let is_fast = |i: usize| {
                let (around, mass) = self.around(particles, i);
                mass > 0.0 && (particles.velocity[i] - around).length() > self.speed_limit(particles, i)
            };
            let fast: Vec<usize> = (0..n).into_par_iter().with_min_len(256).filter(|&i| is_fast(i)).collect();
            for &i in &fast {
                let (around, mass) = self.around(particles, i);
                let relative = particles.velocity[i] - around;
                let excess = relative.length() / self.speed_limit(particles, i);
                if excess > 1.0 {
                    let change = relative * (1.0 / excess - 1.0);
                    particles.velocity[i] += change;
                    let back = change * (particles.mass[i] / mass);
                    self.bonds.ends(i).iter().for_each(|&j| particles.velocity[j as usize] -= back);
                    self.tallies.n_limited += 1;
                }
            }
        });
    }
}
