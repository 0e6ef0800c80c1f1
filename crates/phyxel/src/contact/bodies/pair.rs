//! Two surface particles that may touch: how they lie to each other, and what passes between them.

use super::{AllGroups, Outward};
use crate::math::{Real, Vec3};

/// Two surface particles, as members of [`super::BodyContacts`]; the group of the first is stepped before that of the second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) friction: Real,
    /// True for parts of one piece of matter.
    is_within: bool,
    /// 1/m of both, 0 in directions that are held (1/kg).
    pub(crate) mobility: [Vec3; 2],
    /// True if the two face each other so that they can touch.
    pub(crate) is_met: bool,
    /// True if one of them is in the group that is stepped.
    pub(crate) is_own: bool,
    /// From b to a.
    pub(crate) normal: Vec3,
    /// Distance of the surfaces (m).
    pub(crate) gap: Real,
    /// How much wider the gap is than the distance along the normal tells (m).
    pub(crate) beyond: Real,
    /// 1 for two that lie straight over each other, 0 for those that are just beside.
    pub(crate) overlay: Real,
    /// Impulses that explicit steps exchange.
    pub(crate) exchange: Exchange,
}

/// Impulses between two particles: in this phase of a step, and what is kept from one phase or step to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchange {
    /// Along the normal and across, in this phase (N s).
    pub(crate) pushed: Real,
    pub(crate) dragged: Vec3,
    /// The same in the last step, before moving and after the kick: a first guess.
    pub(crate) last: [(Real, Vec3); 2],
    /// What the first has got and the second not yet, before moving and after the kick (N s).
    pub(crate) owed: [Vec3; 2],
    /// True if the first has met the second in this step, before moving and after the kick.
    pub(crate) is_begun: [bool; 2],
    /// What has been handed to holders in this phase (N s).
    pub(crate) handed: Vec3,
}

impl Pair {
    /// Impulse on the first particle in the last step, or so far in this one (N s).
    pub(crate) fn last_impulse(&self) -> Vec3 {
        let [(before, dragged_before), (after, dragged_after)] = self.exchange.last;
        self.normal * (before + after) + dragged_before + dragged_after
    }
}

/// Parts of one piece touch if their own normals have at least so much of the common one.
const FACING: Real = 0.3;
/// Centres that have passed each other by more than this do not tell which side is which (touching distances).
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

    /// Finds normal and gap before or after the step's motion, for pairs that have a particle in the stepped group.
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
        // faces that are not quite parallel overlap only where they do along either normal
        let faces = [(out_b.normal, out_b.flatness), (-out_a.normal, out_a.flatness)];
        let flat = faces.into_iter().filter(|face| face.1 > 0.5).map(|face| apart.dot(face.0));
        let widest = flat.fold(along, Real::max);
        (self.is_met, self.normal, self.gap) = (true, normal, widest - touch);
        self.beyond = widest - along;
    }

    /// Gives the second group what the first has got, before moving (0) or after the kick (1).
    pub(crate) fn pay(&mut self, all: &mut AllGroups<'_, '_>, at: usize) {
        let owed = std::mem::take(&mut self.exchange.owed[at]);
        self.give_one(all, 1, -owed);
    }

    /// Gives what is still owed, before the pair is forgotten.
    pub(super) fn settle_debts(&mut self, all: &mut AllGroups<'_, '_>) {
        (0..2).for_each(|at| self.pay(all, at));
    }

    /// Gives an impulse to the first particle and its opposite to the second (N s).
    #[inline]
    pub(crate) fn give(&self, all: &mut AllGroups<'_, '_>, impulse: Vec3) {
        self.give_one(all, 0, impulse);
        self.give_one(all, 1, -impulse);
    }

    /// Gives an impulse to one of the two (N s).
    #[inline]
    pub(crate) fn give_one(&self, all: &mut AllGroups<'_, '_>, which: usize, impulse: Vec3) {
        all.give([self.a, self.b][which], self.mobility[which], impulse);
    }

    /// How deep the two are in each other, if they lie over each other rather than side by side (m).
    pub(super) fn overlap(&self) -> Real {
        if self.is_met && self.overlay > 0.5 { (-self.gap).max(0.0) } else { 0.0 }
    }

    /// Takes over the memory of the same pair in an older list.
    pub(super) fn remember(&mut self, older: &Self) {
        self.exchange.last = older.exchange.last;
    }
}

/// The direction from b to a in which surfaces part: between faces the mean of their normals; where an edge or corner meets a
/// face, the face's; between edges and corners that of the particles themselves.
fn separating_normal(apart: Vec3, a: Outward, b: Outward) -> Option<Vec3> {
    let flatness = a.flatness.max(b.flatness);
    let faces = (b.normal * b.flatness - a.normal * a.flatness).normalize_or_zero();
    (faces * flatness + apart.normalize_or_zero() * (1.0 - flatness)).try_normalize()
}
