//! Limit of the time step, and detection of matter that has fallen apart.

use super::{Basis, Embedded, Pace};
use crate::math::{Real, symmetric_eigen};
use crate::methods::explicit::{MISSED, highest_frequency, stiffening};
use crate::methods::{StepError, TimeStepLimit};
use crate::particles::Particles;
use rayon::prelude::*;

/// Percentile of the particles' time scales that limits the step: single particles may have shorter ones.
const PERCENTILE: Real = 0.005;
/// Fraction of neighbourhoods that have become degenerate above which the matter counts as fallen apart.
const FALLEN_APART: Real = 0.1;

impl Embedded {
    /// Finds the limit 2/ω_max of the undeformed bodies by power iteration, and their time scales.
    pub(super) fn find_rest_limits(&mut self, particles: &Particles) {
        let smallest = self.support_radius.iter().copied().fold(Real::INFINITY, Real::min);
        let mut saved = std::mem::take(&mut self.force);
        saved.resize(particles.len(), Default::default());
        self.force = saved.clone();
        let (highest, fastest) =
            highest_frequency(&particles.position, &particles.mass, smallest, |x, force| {
                self.forces_at(x, particles);
                force.copy_from_slice(&self.force);
            });
        self.force = saved;
        self.rest.time_step = 2.0 / (highest * (1.0 + MISSED));
        self.rest.fastest = fastest;
        self.rest.time_scale = self.low_time_scale(particles);
    }

    /// Returns a low percentile of l_i/c_i, l_i = √(λ_min(A_i)/Σ_j w_ij): the time that sound takes through the
    /// thinnest direction of a neighbourhood (s).
    pub(super) fn low_time_scale(&self, particles: &Particles) -> Real {
        let scale = |i: usize| {
            let Basis { inverse_moment, weight_sum, .. } = self.basis[i];
            let flattest = 1.0 / symmetric_eigen(inverse_moment).0.x;
            (flattest / weight_sum).sqrt() / self.sound_speed(particles, i)
        };
        let solid = (0..particles.len()).into_par_iter().filter(|&i| !self.basis[i].is_degenerate());
        let mut all: Vec<Real> = solid.map(scale).collect();
        let k = (PERCENTILE * all.len() as Real) as usize;
        if k >= all.len() {
            return 0.0;
        }
        *all.select_nth_unstable_by(k, Real::total_cmp).1
    }

    /// Finds how much the present deformation shortens the stable step.
    pub(super) fn find_stiffening(&mut self, particles: &Particles) {
        let of = |i: usize| {
            let law = self.bodies[particles.body[i] as usize].law;
            law.stiffening(self.lame.at(i), self.gradients[i])
        };
        self.pace.shortening = stiffening(particles.len(), of).0;
    }

    pub(super) fn time_step_limit(&self) -> TimeStepLimit {
        let Pace { time_scale_ratio: ratio, shortening, .. } = self.pace;
        let factor = self.stiffness.factor();
        let stable = self.rest.time_step * ratio.min(factor) * shortening;
        TimeStepLimit {
            value: self.params.safety * stable,
            stable,
            reason: match (shortening < 0.95, ratio < 0.95 * factor) {
                (true, _) => "elastic waves (stretched)",
                (_, true) => "elastic waves (flattened)",
                _ => "elastic waves",
            },
            particle: Some(self.rest.fastest.min(self.basis.len().saturating_sub(1))),
        }
    }

    /// Returns an error if so many neighbourhoods have become degenerate that the result is meaningless.
    pub(super) fn check(&self, particles: &Particles) -> Result<(), StepError> {
        let n = self.n_degenerate();
        if n.saturating_sub(self.rest.n_degenerate) as Real <= FALLEN_APART * particles.len() as Real {
            return Ok(());
        }
        let particle = self.basis.iter().position(|basis| basis.is_degenerate()).unwrap_or(0);
        let reason =
            format!("the matter has fallen apart: {n} of {} neighbourhoods are degenerate", particles.len());
        Err(StepError::Unstable { reason, particle })
    }
}
