//! Contact between bodies in the step of one group: the pairs, and access to the particles of all groups.

use super::memory::Place;
use super::{BodyContacts, Member, Outward, Pair};
use crate::math::{Real, Vec3};
use crate::particles::Particles;

/// Pairs and the particles of other groups, for the step of one group.
pub(crate) struct BodyContactStep<'a> {
    contacts: &'a mut BodyContacts,
    /// Index of the stepped group.
    own: usize,
    /// Particles of the other groups, by group; `None` for the stepped group.
    others: Vec<Option<&'a mut Particles>>,
}

impl<'a> BodyContactStep<'a> {
    pub(crate) fn new(
        contacts: &'a mut BodyContacts,
        own: usize,
        others: Vec<Option<&'a mut Particles>>,
    ) -> Self {
        Self { contacts, own, others }
    }

    /// Deletes the pairs of the stepped group until the next step, because the indices of its particles change. Their
    /// impulses are kept.
    pub(crate) fn forget_own(&mut self, particles: &mut Particles) {
        self.contacts.is_current = false;
        let mut memory = std::mem::take(&mut self.contacts.memory);
        let (pairs, _, mut all) = self.parts(particles);
        pairs.retain_mut(|pair| {
            let is_kept = !all.is_own(pair.a) && !all.is_own(pair.b);
            if !is_kept {
                pair.settle_debts(&mut all);
                memory.keep(pair, [all.place(pair.a), all.place(pair.b)]);
            }
            is_kept
        });
        self.contacts.memory = memory;
    }

    /// Gives the stepped group the impulses that earlier groups owe it, before a step that solves for contacts itself.
    pub(crate) fn pay_debts(&mut self, particles: &mut Particles) {
        let (pairs, _, all) = self.parts(particles);
        for pair in pairs.iter_mut() {
            if !all.is_own(pair.b) {
                continue;
            }
            let owed = std::mem::take(&mut pair.exchange.owed);
            all.particles.push(all.index(pair.b), -(owed[0] + owed[1]) * free_axes(pair.mobility[1]));
        }
    }

    /// Returns true if any particles of the listed pairs may touch in this step.
    pub(crate) fn is_near(&self) -> bool {
        !self.contacts.pairs.is_empty()
    }

    /// Returns all pairs, the outward direction of each member, and the particles of all groups.
    pub(crate) fn parts<'b>(
        &'b mut self,
        particles: &'b mut Particles,
    ) -> (&'b mut Vec<Pair>, &'b [Outward], AllGroups<'b, 'a>) {
        let BodyContacts { pairs, members, outward, mobilities, .. } = &mut *self.contacts;
        let others = &mut self.others;
        (pairs, outward, AllGroups { own: self.own, particles, others, members, mobilities })
    }
}

/// Particles of all groups, while one of them is stepped. A particle is identified by its number as a member.
pub(crate) struct AllGroups<'a, 'b> {
    own: usize,
    particles: &'a mut Particles,
    others: &'a mut [Option<&'b mut Particles>],
    members: &'a [Member],
    mobilities: &'a [Vec3],
}

/// Returns 1 for axes along which a particle can move, 0 for the others.
pub(crate) fn free_axes(mobility: Vec3) -> Vec3 {
    Vec3::select(mobility.cmpgt(Vec3::ZERO), Vec3::ONE, Vec3::ZERO)
}

impl AllGroups<'_, '_> {
    /// Returns true if a particle is in the stepped group.
    pub(crate) fn is_own(&self, k: u32) -> bool {
        self.members[k as usize].group as usize == self.own
    }

    #[inline]
    fn get(&self, k: u32) -> (&Particles, usize) {
        let m = self.members[k as usize];
        let others = self.others[m.group as usize].as_deref();
        (others.unwrap_or(self.particles), m.index as usize)
    }

    /// Returns the group and the id of a particle.
    fn place(&self, k: u32) -> Place {
        let (particles, i) = self.get(k);
        (self.members[k as usize].group, particles.id[i])
    }

    /// Returns the index of a particle in its group.
    pub(crate) fn index(&self, k: u32) -> usize {
        self.members[k as usize].index as usize
    }

    /// Returns the particles of the stepped group and the index of a member among them. The member must be in that
    /// group.
    #[inline]
    pub(crate) fn own_mut(&mut self, k: u32) -> (&mut Particles, usize) {
        (self.particles, self.members[k as usize].index as usize)
    }

    /// Returns the position of a particle at the time of the stepped group, before or after its motion in this step
    /// (m). Other groups may be one step ahead or behind; their velocity corrects for that.
    #[inline]
    pub(crate) fn position(&self, k: u32, has_moved: bool, time_step: Real) -> Vec3 {
        let (particles, i) = self.get(k);
        let group = self.members[k as usize].group as usize;
        let ahead = match (group.cmp(&self.own), has_moved) {
            (std::cmp::Ordering::Less, false) => -time_step,
            (std::cmp::Ordering::Greater, true) => time_step,
            _ => 0.0,
        };
        particles.position[i] + self.velocity(k) * ahead
    }

    /// Returns the velocity of a particle, including the impulses that others have given it in this step (m/s).
    #[inline]
    pub(crate) fn velocity(&self, k: u32) -> Vec3 {
        let (particles, i) = self.get(k);
        let given =
            particles.impulse.get(i).map_or(Vec3::ZERO, |&impulse| impulse * self.mobilities[k as usize]);
        particles.velocity[i] + given
    }

    /// Returns the distance from a particle to the surface of its body (m).
    pub(crate) fn radius(&self, k: u32) -> Real {
        let (particles, i) = self.get(k);
        particles.contact_radius[i]
    }

    /// Gives an impulse (N s) to a particle. It changes the velocity at once in the stepped group; in other groups it
    /// is stored until their method takes it.
    #[inline]
    pub(crate) fn give(&mut self, k: u32, mobility: Vec3, impulse: Vec3) {
        let m = self.members[k as usize];
        let i = m.index as usize;
        match self.others[m.group as usize].as_deref_mut() {
            Some(others) => others.push(i, impulse * free_axes(mobility)),
            None => self.particles.velocity[i] += impulse * mobility,
        }
    }
}
