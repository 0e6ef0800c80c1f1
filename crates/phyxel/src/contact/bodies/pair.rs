//! Two surface particles that may touch.

use super::Outward;
use super::meeting::Everyone;
use crate::contact::obstacles::Phase;
use crate::math::{Real, Vec3};

/// Two surface particles, as members of [`super::BodyContacts`]; the group of the first is stepped before that of the second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) a: u32,
    pub(super) b: u32,
    friction: Real,
    /// Parts of one piece of matter.
    is_within: bool,
    /// 1/m of both, 0 in directions that are held. [1/kg]
    pub(super) mobility: [Vec3; 2],
    /// Whether the two face each other so that they can touch.
    is_met: bool,
    /// Whether one of them is in the group that is stepped.
    is_own: bool,
    /// From b to a.
    normal: Vec3,
    /// Distance of the surfaces. [m]
    gap: Real,
    /// What it is more than the distance along the normal. [m]
    beyond: Real,
    /// 1 for two that lie straight over each other, 0 for those that are just beside.
    overlay: Real,
    /// Impulses in this phase of the step, along the normal and across. [N s]
    pub(super) pushed: Real,
    dragged: Vec3,
    /// The same in the last step, before moving and after the kick: a first guess.
    last: [(Real, Vec3); 2],
    /// What the first has got and the second not yet, before moving and after the kick. [N s]
    owed: [Vec3; 2],
    /// What has been handed to holders in this phase. [N s]
    handed: Vec3,
}

/// Parts of one piece touch if their own normals have at least so much of the common one.
const FACING: Real = 0.3;
/// Centres that have passed each other by more than this do not tell which side is which. [touching distances]
const PASSED: Real = 0.5;
/// Overlaps are left at this. [touching distances]
const LEFT: Real = 0.01;
/// How long it takes to part what overlaps more. [s]
const PARTING_TIME: Real = 0.01;
/// Share of it that a step takes away at the most.
const MOST_PARTED: Real = 0.2;

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
            pushed: 0.0,
            dragged: Vec3::ZERO,
            last: [(0.0, Vec3::ZERO); 2],
            owed: [Vec3::ZERO; 2],
            handed: Vec3::ZERO,
        }
    }

    /// Normal and gap where the two are now, for the pairs that have a particle in the stepped group.
    pub(super) fn meet(
        &mut self,
        all: &Everyone<'_, '_>,
        outward: &[Outward],
        phase: Phase,
        time_step: Real,
    ) {
        self.is_own = all.is_own(self.a) || all.is_own(self.b);
        if !self.is_own {
            return;
        }
        self.is_met = false;
        let apart = all.position(self.a, phase, time_step) - all.position(self.b, phase, time_step);
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

    /// Begins with what the last step needed at this place. Of two groups that meet, each takes its half of this in its own
    /// step, together with its own kick: else what balances would tremble.
    pub(super) fn guess(&mut self, all: &mut Everyone<'_, '_>, phase: Phase) {
        if !self.is_own {
            return;
        }
        let at = phase_index(phase);
        let (pushed, dragged) = if self.is_met { self.last[at] } else { (0.0, Vec3::ZERO) };
        let dragged = dragged - self.normal * dragged.dot(self.normal);
        (self.pushed, self.dragged, self.handed) = (pushed, dragged, Vec3::ZERO);
        let impulse = self.normal * pushed + dragged;
        match (all.is_own(self.a), all.is_own(self.b)) {
            (true, true) => self.give(all, impulse),
            (true, false) => {
                self.owed[at] = impulse;
                self.give_one(all, 0, impulse);
            }
            _ => self.pay(all, at),
        }
    }

    /// Gives the second group what the first has got.
    fn pay(&mut self, all: &mut Everyone<'_, '_>, at: usize) {
        let owed = std::mem::take(&mut self.owed[at]);
        self.give_one(all, 1, -owed);
    }

    /// Gives what is still owed, before the pair is forgotten.
    pub(super) fn settle(&mut self, all: &mut Everyone<'_, '_>) {
        (0..2).for_each(|at| self.pay(all, at));
    }

    /// Remembers what this step needed.
    pub(super) fn keep(&mut self, phase: Phase) {
        if self.is_own {
            let kept = if self.is_met { (self.pushed, self.dragged) } else { (0.0, Vec3::ZERO) };
            self.last[phase_index(phase)] = kept;
        }
    }

    /// How deep the two are in each other, if they lie over each other rather than side by side. [m]
    pub(super) fn overlap(&self) -> Real {
        if self.is_met && self.overlay > 0.5 { (-self.gap).max(0.0) } else { 0.0 }
    }

    /// What is known of the same pair in an older list.
    pub(super) fn remember(&mut self, older: &Self) {
        self.last = older.last;
    }

    fn give(&self, all: &mut Everyone<'_, '_>, impulse: Vec3) {
        self.give_one(all, 0, impulse);
        self.give_one(all, 1, -impulse);
    }

    #[inline]
    fn give_one(&self, all: &mut Everyone<'_, '_>, which: usize, impulse: Vec3) {
        let (particles, i) = all.get_mut([self.a, self.b][which]);
        particles.velocity[i] += impulse * self.mobility[which];
    }

    /// Impulses that keep the two from coming nearer than touching within the step, and Coulomb's cone across.
    #[inline]
    pub(super) fn exchange(&mut self, all: &mut Everyone<'_, '_>, time_step: Real) {
        if !(self.is_met && self.is_own) {
            return;
        }
        let n = self.normal;
        let [at_a, at_b] = self.mobility;
        let relative = all.velocity(self.a) - all.velocity(self.b);
        let ease = n.dot((at_a + at_b) * n);
        if ease <= 0.0 {
            return;
        }
        // as near as touching at the end of the step, not nearer
        let allowed = -self.gap.max(0.0) / time_step;
        let pushed = (self.pushed + (allowed - relative.dot(n)) / ease).max(0.0);
        if pushed == 0.0 && self.pushed == 0.0 {
            return;
        }
        let mut impulse = n * (pushed - self.pushed);
        self.pushed = pushed;
        let sliding = relative + (at_a + at_b) * impulse;
        let sliding = sliding - n * sliding.dot(n);
        let along = sliding.normalize_or_zero();
        let ease = along.dot((at_a + at_b) * along).max(Real::MIN_POSITIVE);
        let stopped = self.dragged - sliding / ease;
        let dragged = stopped.clamp_length_max(self.friction * pushed);
        impulse += dragged - self.dragged;
        self.dragged = dragged;
        self.give(all, impulse);
    }

    /// Takes away some of an overlap: each by its mass, in the step of its own group.
    pub(super) fn part(&mut self, all: &mut Everyone<'_, '_>, time_step: Real) {
        if !(self.is_met && self.is_own) {
            return;
        }
        let phase = Phase::AfterMoving;
        let touch = all.radius(self.a) + all.radius(self.b);
        let apart = all.position(self.a, phase, time_step) - all.position(self.b, phase, time_step);
        self.gap = apart.dot(self.normal) + self.beyond - touch;
        let excess = -self.gap - LEFT * touch;
        let [at_a, at_b] = self.mobility;
        let ease = self.normal.dot((at_a + at_b) * self.normal);
        if excess <= 0.0 || ease <= 0.0 {
            return;
        }
        let parted = excess * self.overlay * (time_step / PARTING_TIME).min(MOST_PARTED);
        let push = self.normal * (parted / ease);
        for (k, shift) in [(self.a, push * at_a), (self.b, -push * at_b)] {
            // what another group was computed from stays: it takes its own share
            if all.is_own(k) {
                let (particles, i) = all.get_mut(k);
                particles.position[i] += shift;
            }
        }
        self.gap += parted;
    }

    /// Gives held particles of the stepped group the impulse that they did not follow.
    pub(super) fn hand_to_holders(&mut self, all: &mut Everyone<'_, '_>) {
        if !self.is_own {
            return;
        }
        let total = self.normal * self.pushed + self.dragged;
        let impulse = total - std::mem::replace(&mut self.handed, total);
        for (k, mobility, sign) in [(self.a, self.mobility[0], 1.0), (self.b, self.mobility[1], -1.0)] {
            if all.is_own(k) && mobility.min_element() == 0.0 {
                let (particles, i) = all.get_mut(k);
                let kept_back = Vec3::splat(1.0 / particles.mass[i]) - mobility;
                particles.velocity[i] += kept_back * impulse * sign;
            }
        }
    }
}

fn phase_index(phase: Phase) -> usize {
    usize::from(phase == Phase::AfterKick)
}

/// The direction from b to a in which surfaces part: between faces the mean of their normals; where an edge or corner meets a
/// face, the face's; between edges and corners that of the particles themselves.
fn separating_normal(apart: Vec3, a: Outward, b: Outward) -> Option<Vec3> {
    let flatness = a.flatness.max(b.flatness);
    let faces = (b.normal * b.flatness - a.normal * a.flatness).normalize_or_zero();
    (faces * flatness + apart.normalize_or_zero() * (1.0 - flatness)).try_normalize()
}
