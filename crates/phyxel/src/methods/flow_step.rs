//! The step over which matter flows, with the obstacles that it touches.

use crate::contact::{Contacts, TOUCHES_NOTHING};
use crate::material::Yielding;
use crate::math::Real;

/// A step over which matter flows.
#[derive(Clone, Copy)]
pub(super) struct FlowStep<'a> {
    /// Length (s).
    pub(super) duration: Real,
    /// Marks of the particles, as in [`Contacts::touching`].
    pub(super) touching: &'a [u32],
}

impl<'a> FlowStep<'a> {
    /// Step of no length, in which nothing flows.
    pub(super) const NONE: Self = Self { duration: 0.0, touching: &[] };

    /// Returns a step in which particles touch what they touch now.
    pub(super) fn new(contacts: &'a Contacts<'_>, duration: Real) -> Self {
        Self { duration, touching: contacts.touching }
    }

    /// Returns the flow parameters of particle i, given those of its material.
    #[inline(always)]
    pub(super) fn yielding(&self, i: usize, material: Yielding) -> Yielding {
        match self.touching.get(i) {
            Some(&mark) if mark != TOUCHES_NOTHING => material.at_obstacle(),
            _ => material,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{FlowRule, Material, YieldMeasure};

    /// Returns the flux of a film of viscosity 1 that creeps down a floor under a body force of 1, over the exact one:
    /// layers at unit distance with fits over the next ones. The lowest layer has a share of the viscosity, and slides by
    /// its rate of shear times half a spacing.
    fn flux(n: usize, share_at_floor: Real) -> Real {
        let fit = |k: usize| match k {
            0 => vec![(0, -1.0), (1, 1.0)],
            _ if k == n - 1 => vec![(k - 1, -1.0), (k, 1.0)],
            _ => vec![(k - 1, -0.5), (k + 1, 0.5)],
        };
        // v₀ = ½ (v₁ − v₀); the others are unknown
        let unknown = |(k, c): (usize, Real)| if k == 0 { (0, c / 3.0) } else { (k - 1, c) };
        let mut rows = vec![vec![0.0; n]; n - 1];
        for k in 0..n {
            let viscosity = if k == 0 { share_at_floor } else { 1.0 };
            for (a, c) in fit(k).into_iter().filter(|(a, _)| *a > 0) {
                for (b, d) in fit(k).into_iter().map(unknown) {
                    rows[a - 1][b] += viscosity * c * d;
                }
            }
        }
        rows.iter_mut().for_each(|row| row[n - 1] = 1.0);
        for pivot in 0..n - 1 {
            for k in (0..n - 1).filter(|&k| k != pivot) {
                let factor = rows[k][pivot] / rows[pivot][pivot];
                (0..n).for_each(|c| rows[k][c] -= factor * rows[pivot][c]);
            }
        }
        let speeds: Vec<Real> = (0..n - 1).map(|k| rows[k][n - 1] / rows[k][k]).collect();
        (speeds.iter().sum::<Real>() + speeds[0] / 3.0) / n as Real / (n * n) as Real * 3.0
    }

    #[test]
    fn films_of_few_layers_have_the_flux_of_thick_ones() {
        let material = Material::elastic(1e5, 0.3).creeping(YieldMeasure::Deviatoric, 100.0, 50.0);
        let properties = material.resolve(&[crate::math::Vec3::ZERO]);
        let inside = Yielding::at(&properties, 0, YieldMeasure::Deviatoric, FlowRule::PerSecond);
        let touching = [crate::contact::TOUCHES, TOUCHES_NOTHING];
        let step = FlowStep { duration: 1.0, touching: &touching };
        let share = |i: usize| inside.flow_rate / step.yielding(i, inside).flow_rate;
        for n in [3, 4, 6, 12, 24] {
            let (with, without) = (flux(n, share(0)), flux(n, share(1)));
            assert!((0.98..1.04).contains(&with) && without < 0.95, "{n} layers: {with}, {without}");
        }
        assert_eq!(step.yielding(0, inside).yield_stress, 50.0);
        assert_eq!(step.yielding(1, inside).yield_stress, 100.0);
    }
}
