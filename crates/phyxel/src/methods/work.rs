//! Work of the forces on the particles in one step.

use crate::contact::Shift;
use crate::forces::Fields;
use crate::math::{Real, Vec3, sum_over};
use crate::particles::Particles;

/// Work of elastic forces, gravity and fields on the particles of a group in one step, Σ f·Δx. The energy balance
/// compares it with the change of the elastic and potential energy. [`super::explicit`] records it for explicit steps;
/// other steps record it themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForceWork {
    /// Work of all these forces (J).
    pub total: Real,
    /// Part of fields other than gravity (J).
    pub fields: Real,
    /// True if the method has recorded its work; otherwise the balance is unknown from now on.
    pub is_booked: bool,
    /// Duration of the kick before the particles moved (s).
    pub(super) kicked: Real,
}

impl ForceWork {
    /// Records the work of elastic forces (N), gravity and fields over a duration (s), at the present velocities.
    pub(super) fn book(
        &mut self,
        particles: &Particles,
        fields: &Fields<'_>,
        force: &[Vec3],
        duration: Real,
    ) {
        let Particles { position, velocity, mass, .. } = particles;
        let (n, gravity) = (particles.len(), fields.gravity);
        let power: Real = sum_over(n, |i| (force[i] + gravity * mass[i]).dot(velocity[i]));
        self.total += power * duration;
        if !fields.fields.is_empty() {
            let by_fields = |i: usize| (fields.acceleration(position[i], velocity[i]) - gravity) * mass[i];
            let power: Real = sum_over(n, |i| by_fields(i).dot(velocity[i]));
            self.total += power * duration;
            self.fields += power * duration;
        }
        self.is_booked = true;
    }

    /// Records a share of the work of the same forces along displacements that velocities do not contain. Returns the work
    /// that moving obstacles did against the forces (J).
    pub(super) fn book_shifts(
        &mut self,
        particles: &Particles,
        fields: &Fields<'_>,
        force: &[Vec3],
        shifts: &[Shift],
        share: Real,
        displacement: impl Fn(&Shift) -> Vec3,
    ) -> Real {
        let Particles { position, velocity, mass, .. } = particles;
        let mut by_obstacles = 0.0;
        for shift in shifts {
            let (i, by) = (shift.particle as usize, displacement(shift));
            let by_fields = fields.acceleration(position[i], velocity[i]) * mass[i];
            let acting = force[i] + by_fields;
            self.total += acting.dot(by) * share;
            self.fields += (by_fields - fields.gravity * mass[i]).dot(by) * share;
            by_obstacles -= acting.dot(shift.by) * share * shift.led;
        }
        by_obstacles
    }
}
