//! Bodies in the step of one group: its pairs, and the particles of all groups meanwhile.

use super::{BodyContacts, Member, SWEEPS};
use crate::contact::obstacles::Phase;
use crate::math::{Real, Vec3};
use crate::particles::Particles;

/// What contact between bodies needs in the step of one group.
pub(crate) struct Meeting<'a> {
    contacts: &'a mut BodyContacts,
    /// The group that is stepped.
    own: usize,
    /// The particles of the other groups; nothing at its own place.
    others: Vec<Option<&'a mut Particles>>,
    /// The phase of the step that was last responded to.
    begun: Option<Phase>,
}

impl<'a> Meeting<'a> {
    pub(crate) fn new(
        contacts: &'a mut BodyContacts,
        own: usize,
        others: Vec<Option<&'a mut Particles>>,
    ) -> Self {
        Self { contacts, own, others, begun: None }
    }

    /// The particles of the stepped group have got new numbers: its pairs are dropped until the next step.
    pub(crate) fn forget_own(&mut self, particles: &mut Particles) {
        self.contacts.is_current = false;
        let BodyContacts { pairs, members, .. } = &mut *self.contacts;
        let mut all = Everyone { own: self.own, particles, others: &mut self.others, members };
        pairs.retain_mut(|pair| {
            let is_kept = !all.is_own(pair.a) && !all.is_own(pair.b);
            if !is_kept {
                pair.settle(&mut all);
            }
            is_kept
        });
    }

    /// Whether anything may touch.
    pub(in crate::contact) fn is_near(&self) -> bool {
        !self.contacts.pairs.is_empty()
    }

    /// Velocities and, after moving, positions of the pairs that have a particle in this group.
    pub(in crate::contact) fn respond(&mut self, particles: &mut Particles, phase: Phase, time_step: Real) {
        if !self.is_near() {
            return;
        }
        let BodyContacts { pairs, members, outward, .. } = &mut *self.contacts;
        let mut all = Everyone { own: self.own, particles, others: &mut self.others, members };
        let has_begun = self.begun.replace(phase) == Some(phase);
        if phase == Phase::AfterMoving {
            for pair in pairs.iter_mut() {
                pair.meet(&all, outward, phase, time_step);
                pair.part(&mut all, time_step);
            }
            return;
        }
        if phase == Phase::BeforeMoving && !has_begun {
            pairs.iter_mut().for_each(|pair| pair.meet(&all, outward, phase, time_step));
        }
        if !has_begun {
            pairs.iter_mut().for_each(|pair| pair.guess(&mut all, phase));
        }
        for sweep in 0..SWEEPS {
            if sweep % 2 == 0 {
                pairs.iter_mut().for_each(|pair| pair.exchange(&mut all, time_step));
            } else {
                pairs.iter_mut().rev().for_each(|pair| pair.exchange(&mut all, time_step));
            }
        }
        pairs.iter_mut().for_each(|pair| pair.keep(phase));
        // what holds a particle takes the impulse: it is led back and the impulse booked after this
        pairs.iter_mut().for_each(|pair| pair.hand_to_holders(&mut all));
    }
}

/// The particles of all groups, while one of them is stepped.
pub(super) struct Everyone<'a, 'b> {
    own: usize,
    particles: &'a mut Particles,
    others: &'a mut [Option<&'b mut Particles>],
    members: &'a [Member],
}

impl Everyone<'_, '_> {
    pub(super) fn is_own(&self, k: u32) -> bool {
        self.members[k as usize].group as usize == self.own
    }

    #[inline]
    pub(super) fn get(&self, k: u32) -> (&Particles, usize) {
        let m = self.members[k as usize];
        let others = self.others[m.group as usize].as_deref();
        (others.unwrap_or(self.particles), m.index as usize)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, k: u32) -> (&mut Particles, usize) {
        let m = self.members[k as usize];
        match self.others[m.group as usize].as_deref_mut() {
            Some(others) => (others, m.index as usize),
            None => (self.particles, m.index as usize),
        }
    }

    /// Where a particle is at the time of the stepped group: others are a step ahead or behind.
    #[inline]
    pub(super) fn position(&self, k: u32, phase: Phase, time_step: Real) -> Vec3 {
        let (particles, i) = self.get(k);
        let group = self.members[k as usize].group as usize;
        let ahead = match phase {
            _ if group == self.own => 0.0,
            Phase::BeforeMoving => {
                if group < self.own {
                    -time_step
                } else {
                    0.0
                }
            }
            Phase::AfterMoving | Phase::AfterKick => {
                if group < self.own {
                    0.0
                } else {
                    time_step
                }
            }
        };
        particles.position[i] + particles.velocity[i] * ahead
    }

    #[inline]
    pub(super) fn velocity(&self, k: u32) -> Vec3 {
        let (particles, i) = self.get(k);
        particles.velocity[i]
    }

    pub(super) fn radius(&self, k: u32) -> Real {
        let (particles, i) = self.get(k);
        particles.contact_radius[i]
    }
}
