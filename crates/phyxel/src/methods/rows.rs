//! Impulses of contacts and grips for methods whose particles move together: projected Gauss-Seidel over
//! [`Contacts::rows`](crate::contact::Contacts::rows) and [`Grips::targets`](crate::contact::Grips::targets).

use super::StepContext;
use crate::contact::{ContactRow, Friction, GripTarget, Other};
use crate::math::{Mat3, Real, Vec3};
use crate::particles::Particles;

/// Motion of particles that are not degrees of freedom themselves.
pub trait Jointed {
    /// Returns the velocity of a particle (m/s).
    fn velocity_at(&self, particle: usize) -> Vec3;

    /// Returns the velocity change of a particle per impulse on it alone: symmetric (1/kg).
    fn mobility(&self, particle: usize) -> Mat3;

    /// Gives an impulse to a particle (N s).
    fn push(&mut self, particle: usize, impulse: Vec3);
}

/// Contacts and grips that act on the particles of a group in a step, with their impulses so far.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    contacts: Vec<Acting<ContactRow>>,
    targets: Vec<Acting<GripTarget>>,
}

/// A contact or a grip at work.
#[derive(Clone, Copy, Debug)]
struct Acting<T> {
    what: T,
    /// Change of the relative velocity per impulse (1/kg).
    mobility: Mat3,
    /// Impulse on the particle so far (N s).
    sum: Vec3,
}

impl Rows {
    /// Finds all contacts on the way of the particles with their present velocities, and all grips.
    pub fn find(joints: &impl Jointed, particles: &mut Particles, ctx: &mut StepContext<'_>) -> Self {
        let end = |i: usize| particles.position[i] + joints.velocity_at(i) * ctx.time_step;
        let ends: Vec<Vec3> = (0..particles.len()).map(end).collect();
        let reach = particles.radius.iter().copied().fold(0.0, Real::max);
        let mut found = Vec::new();
        ctx.contacts.rows(particles, &ends, reach, &mut found);
        let contact = |row: ContactRow| {
            let other = match row.other {
                Other::Own(j) => joints.mobility(j),
                _ => Mat3::from_diagonal(row.other_mobility),
            };
            Acting { mobility: joints.mobility(row.particle) + other, sum: row.guess, what: row }
        };
        let target = |target: GripTarget| {
            let mobility = joints.mobility(target.particle);
            Acting { what: target, mobility, sum: Vec3::ZERO }
        };
        Self {
            contacts: found.into_iter().map(contact).collect(),
            targets: ctx.grips.targets().map(target).collect(),
        }
    }

    /// Iterates over the contacts of the step.
    pub fn contacts(&self) -> impl Iterator<Item = &ContactRow> {
        self.contacts.iter().map(|contact| &contact.what)
    }

    /// Keeps the contacts for which `is_kept` is true.
    pub fn retain(&mut self, is_kept: impl Fn(&ContactRow) -> bool) {
        self.contacts.retain(|contact| is_kept(&contact.what));
    }

    /// Gives all impulses so far to velocities that do not contain them yet.
    pub fn push_all(&self, joints: &mut impl Jointed) {
        for Acting { what: target, sum, .. } in &self.targets {
            joints.push(target.particle, *sum);
        }
        for Acting { what: row, sum, .. } in &self.contacts {
            let given = if row.is_guess_given { row.guess } else { Vec3::ZERO };
            push_both(joints, row, *sum - given);
        }
    }

    /// Carries out one sweep over grips and contacts.
    pub fn sweep(&mut self, joints: &mut impl Jointed, particles: &Particles, time_step: Real) {
        for Acting { what: target, mobility, sum } in &mut self.targets {
            let i = target.particle;
            let wanted = (target.place - particles.position[i]) / time_step;
            for axis in (0..3).filter(|&axis| target.axes[axis] > 0.0) {
                let mut impulse = Vec3::ZERO;
                impulse[axis] = (wanted[axis] - joints.velocity_at(i)[axis]) / mobility.col(axis)[axis];
                *sum += impulse;
                joints.push(i, impulse);
            }
        }
        for contact in &mut self.contacts {
            let impulse = contact.response(joints, time_step);
            contact.sum += impulse;
            push_both(joints, &contact.what, impulse);
        }
    }

    /// Records all impulses with their contacts and grips.
    pub fn book(&self, particles: &mut Particles, ctx: &mut StepContext<'_>) {
        for Acting { what: row, sum, .. } in &self.contacts {
            ctx.contacts.book(particles, row, *sum);
        }
        for Acting { what: target, sum, .. } in &self.targets {
            ctx.grips.book_one(target, *sum);
        }
    }
}

fn push_both(joints: &mut impl Jointed, row: &ContactRow, impulse: Vec3) {
    joints.push(row.particle, impulse);
    if let Other::Own(j) = row.other {
        joints.push(j, -impulse);
    }
}

impl Acting<ContactRow> {
    /// Returns the change of the impulse that leaves no approach and keeps to Coulomb's cone.
    fn response(&self, joints: &impl Jointed, time_step: Real) -> Vec3 {
        let Self { what: row, mobility, sum } = self;
        let (n, sum) = (row.normal, *sum);
        let other = match row.other {
            Other::Own(j) => joints.velocity_at(j),
            _ => row.surface_velocity - row.other_mobility * (sum - row.guess),
        };
        let relative = joints.velocity_at(row.particle) - other;
        let along = |direction: Vec3| direction.dot(*mobility * direction);
        let (pushed, ease, approach) = (sum.dot(n), along(n), relative.dot(n));
        let allowed = -row.gap.max(0.0) / time_step;
        let sliding = relative - n * approach;
        let slowed = sliding.try_normalize().map_or(Vec3::ZERO, |direction| sliding / along(direction));
        let total = match row.friction {
            Friction::Stick if pushed == 0.0 && approach >= allowed => Vec3::ZERO,
            Friction::Stick => sum + n * ((allowed - approach) / ease) - slowed,
            Friction::Coulomb(mu) => {
                let normal = (pushed + (allowed - approach) / ease).max(0.0);
                n * normal + (sum - n * pushed - slowed).clamp_length_max(mu * normal)
            }
        };
        total - sum
    }
}
