//! Two particles that may touch: their relative position, and the impulses between them.

use super::{AllGroups, Outward};
use crate::math::{Real, Vec3};

/// Two particles that may touch, as members of [`super::BodyContacts`]. The group of the first is that of the second,
/// or is stepped before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) friction: Real,
    /// True if both particles belong to one piece of matter.
    is_within: bool,
    /// Mobility 1/m of both particles; 0 along held axes (1/kg).
    pub(crate) mobility: [Vec3; 2],
    /// True if the two particles face each other, so that they can touch.
    pub(crate) is_met: bool,
    /// True if at least one of the particles is in the stepped group.
    pub(crate) is_own: bool,
    /// Unit normal, from b to a.
    pub(crate) normal: Vec3,
    /// Distance between the surfaces; negative if they overlap (m).
    pub(crate) gap: Real,
    /// Excess of the gap over the one along the normal: faces may be farther apart along their own normals (m).
    pub(crate) beyond: Real,
    /// Alignment along the normal: 1 if one particle lies straight above the other, 0 if it lies just beside it.
    pub(crate) overlay: Real,
    /// Impulses between the two particles.
    pub(crate) exchange: Exchange,
}

/// Impulses between two particles: those of this phase of a step, and those kept from one phase or step to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchange {
    /// Impulse along the normal in this phase (N s).
    pub(crate) pushed: Real,
    /// Impulse across the normal in this phase (N s).
    pub(crate) dragged: Vec3,
    /// Both impulses in the last step, before moving and after the kick; they are the first guess of the next step.
    pub(crate) last: [(Real, Vec3); 2],
    /// Impulse that the first particle has received and the second not yet, before moving and after the kick (N s).
    pub(crate) owed: [Vec3; 2],
    /// True if the step of the first particle has begun the exchange, before moving and after the kick.
    pub(crate) is_begun: [bool; 2],
    /// Impulse that has been passed on to holders in this phase (N s).
    pub(crate) handed: Vec3,
}

impl Pair {
    /// Returns the impulse on the first particle in the last step, or so far in this one (N s).
    pub(crate) fn last_impulse(&self) -> Vec3 {
        let [(before, dragged_before), (after, dragged_after)] = self.exchange.last;
        self.normal * (before + after) + dragged_before + dragged_after
    }
}

/// Parts of one piece touch only if the cosine between their own normals and the common one exceeds this.
const FACING: Real = 0.3;
/// Distance by which centres may have passed each other before their sides can no longer be told (touching distances).
const PASSED: Real = 0.5;

impl Pair {
    pub(super) fn new(a: u32, b: u32, friction: Real, is_within: bool) -> Self {
        Self {
            a,
            b,
            friction,
            is_within,
            mobility: [Vec3::ZERO; 2],
            is_met: false,
            is_own: false,
            normal: Vec3::Y,
            gap: Real::INFINITY,
            beyond: 0.0,
            overlay: 0.0,
            exchange: Exchange::default(),
        }
    }

    /// Computes the normal and the gap before or after the step's motion, if a particle is in the stepped group.
    pub(crate) fn meet(
        &mut self,
        all: &AllGroups<'_, '_>,
        outward: &[Outward],
        has_moved: bool,
        time_step: Real,
    ) {
        self.is_own = all.is_own(self.a) || all.is_own(self.b);
        if !self.is_own {
            return;
        }
        self.is_met = false;
        let apart = all.position(self.a, has_moved, time_step) - all.position(self.b, has_moved, time_step);
        let touch = all.radius(self.a) + all.radius(self.b);
        let (out_a, out_b) = (outward[self.a as usize], outward[self.b as usize]);
        let Some(normal) = separating_normal(apart, out_a, out_b) else { return };
        let is_facing = normal.dot(out_b.normal) > FACING && normal.dot(out_a.normal) < -FACING;
        if self.is_within && !is_facing {
            return;
        }
        let along = apart.dot(normal);
        self.overlay = 1.0 - (apart.length_squared() - along * along) / (touch * touch);
        let has_passed = along < if self.is_within { 0.0 } else { -PASSED * touch };
        if self.overlay <= 0.0 || has_passed {
            return;
        }
        // faces that are not quite parallel overlap only if they do so along both normals
        let faces = [(out_b.normal, out_b.flatness), (-out_a.normal, out_a.flatness)];
        let flat = faces.into_iter().filter(|face| face.1 > 0.5).map(|face| apart.dot(face.0));
        let widest = flat.fold(along, Real::max);
        (self.is_met, self.normal, self.gap) = (true, normal, widest - touch);
        self.beyond = widest - along;
    }

    /// Gives the second particle the opposite of what the first has received, before moving (0) or after the kick (1).
    pub(crate) fn pay(&mut self, all: &mut AllGroups<'_, '_>, at: usize) {
        let owed = std::mem::take(&mut self.exchange.owed[at]);
        self.give_one(all, 1, -owed);
    }

    /// Gives the second particle all that is still owed to it, before the pair is deleted.
    pub(super) fn settle_debts(&mut self, all: &mut AllGroups<'_, '_>) {
        (0..2).for_each(|at| self.pay(all, at));
    }

    /// Gives an impulse to the first particle and its opposite to the second (N s).
    #[inline]
    pub(crate) fn give(&self, all: &mut AllGroups<'_, '_>, impulse: Vec3) {
        self.give_one(all, 0, impulse);
        self.give_one(all, 1, -impulse);
    }

    /// Gives an impulse to the first (0) or the second (1) particle (N s).
    #[inline]
    pub(crate) fn give_one(&self, all: &mut AllGroups<'_, '_>, which: usize, impulse: Vec3) {
        all.give([self.a, self.b][which], self.mobility[which], impulse);
    }

    /// Returns the depth of the overlap (m), or 0 if the particles lie side by side rather than above each other.
    pub(super) fn overlap(&self) -> Real {
        if self.is_met && self.overlay > 0.5 { (-self.gap).max(0.0) } else { 0.0 }
    }
}

/// Returns the direction from b to a in which the surfaces separate: between faces the mean of their normals; between
/// an edge or corner and a face, the face's normal; between edges and corners, the line that joins the particles.
fn separating_normal(apart: Vec3, a: Outward, b: Outward) -> Option<Vec3> {
    let flatness = a.flatness.max(b.flatness);
    let faces = (b.normal * b.flatness - a.normal * a.flatness).normalize_or_zero();
    (faces * flatness + apart.normalize_or_zero() * (1.0 - flatness)).try_normalize()
}
