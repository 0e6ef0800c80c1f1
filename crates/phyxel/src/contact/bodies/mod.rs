//! Contact between bodies, and between parts of one body that no bonds join: the points of one surface cannot enter the
//! other.
//!
//! Two particles touch if they are nearer than the sum of their contact radii *along the normal of the surfaces*. The
//! normal of a particle is the direction away from its own neighbours; distances along the line that joins two
//! particles would make surfaces bumpy like egg cartons. The particles of a pair exchange equal and opposite impulses:
//! they must not come nearer than touching within a step, and Coulomb's cone limits the friction. No stiff force is
//! added, so stable steps are as long as without contact.

mod memory;
mod motions;
mod pair;
mod step;
mod surface;

pub(crate) use pair::{Exchange, Pair};
pub(crate) use step::{AllGroups, BodyContactStep, free_axes};

use super::{Holds, STUCK, Touch};
use crate::geometry::Aabb;
use crate::math::{Real, Vec3, square};
use crate::neighbors::{Grid, Neighbors, VisitBonds};
use crate::particles::{Particles, StateVisitor};
use memory::{Memory, Recalled};
use motions::{Motions, Slack};
use rayon::prelude::*;
use surface::{flatness, outward, surface_rows};

/// Properties of a body that contact uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyTraits {
    /// Coulomb's coefficient; the one between two bodies is the geometric mean of theirs.
    pub(crate) friction: Real,
    /// Number of the piece of matter. Bodies with the same number are one piece: they may be bonded to each other.
    pub(crate) matter: u32,
}

/// Data of a group of bodies that contact uses before a step.
#[derive(Clone, Copy)]
pub(crate) struct GroupView<'a> {
    pub(crate) particles: &'a Particles,
    pub(crate) holds: &'a Holds,
    /// Mask of each grip: 1 along the axes that it holds, 0 along the others; 0 for grips that have released.
    pub(crate) grip_axes: &'a [Vec3],
    /// Mark of each particle, as in [`super::Contacts::touching`].
    pub(crate) touching: &'a [u32],
    pub(crate) visit_bonds: VisitBonds<'a>,
    /// Velocity change of a particle per impulse on it alone (1/kg), if others move with it; `None` for free particles.
    pub(crate) joint_mobility: &'a (dyn Fn(usize) -> Option<Real> + Sync),
    /// True for each body whose particles touch other bodies as balls and do not touch each other.
    pub(crate) are_balls: &'a [bool],
}

impl GroupView<'_> {
    fn are_bonded(&self, i: usize, j: usize) -> bool {
        let mut found = false;
        (self.visit_bonds)(i, &mut |k, _| found |= k == j);
        (self.visit_bonds)(j, &mut |k, _| found |= k == i);
        found
    }
}

/// Outward direction of the surface at a particle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outward {
    /// Unit normal; 0 if the direction cannot be determined.
    normal: Vec3,
    /// Flatness of the surface: 1 on faces, 0 at edges and corners.
    flatness: Real,
}

/// A particle that may touch others: on the surface of its body, or inside it where other bodies are near. The inner
/// ones are a second line of defence: another surface may pass through a surface that is stretched.
#[derive(Clone, Copy, Debug)]
struct Member {
    group: u32,
    index: u32,
    body: u32,
    is_surface: bool,
}

/// Contacts between bodies. Surfaces and pairs are found anew when the world begins to advance; the impulses that pairs
/// needed last are state.
#[derive(Debug)]
pub(crate) struct BodyContacts {
    is_on: bool,
    bodies: Vec<BodyTraits>,
    is_current: bool,
    /// Groups that are stepped together; only these can touch each other.
    stepped: Vec<usize>,
    /// Rows of each group: for a surface particle, itself and the particles bonded to it; empty for the others.
    surface_rows: Vec<Neighbors>,
    /// Members, ordered by group and then by index.
    members: Vec<Member>,
    /// Expected position of each member when pairs were listed (m).
    listed_at: Vec<Vec3>,
    /// Outward direction of each member; updated only for members that are in pairs.
    outward: Vec<Outward>,
    paired: Vec<u32>,
    /// Velocity change per impulse of each member; computed only for members that are in pairs (1/kg).
    mobilities: Vec<Vec3>,
    pairs: Vec<Pair>,
    /// Impulses of pairs that are not listed at present.
    memory: Memory,
    slack: Slack,
    /// Relative motion of particles since surfaces were found (m).
    wander: Real,
}

/// Additional distance, beyond touching, up to which pairs are listed (spacings).
const SKIN: Real = 0.5;
/// Distance above which the motions of two bodies are not compared individually (spacings).
const HORIZON: Real = 10.0;
/// Relative motion of particles after which surfaces are found anew (spacings).
const LARGEST_WANDER: Real = 2.0;
/// Largest distance of two particles that touch: one spacing along the normal and one across (spacings).
const FARTHEST_TOUCH: Real = std::f64::consts::SQRT_2;
/// Pairs of one piece of matter whose normals have a cosine above this do not face each other and are skipped.
const ALIKE: Real = 0.6;
/// Pairs in which a normal points away from the other particle by more than this (sine of the angle) are skipped.
const AVERTED: Real = 0.3;

impl BodyContacts {
    pub(crate) fn new(is_on: bool, bodies: Vec<BodyTraits>) -> Self {
        Self {
            is_on,
            bodies,
            is_current: false,
            stepped: Vec::new(),
            surface_rows: Vec::new(),
            members: Vec::new(),
            listed_at: Vec::new(),
            outward: Vec::new(),
            paired: Vec::new(),
            mobilities: Vec::new(),
            pairs: Vec::new(),
            memory: Memory::default(),
            slack: Slack::default(),
            wander: 0.0,
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(crate) fn bodies(&self) -> &[BodyTraits] {
        &self.bodies
    }

    /// Replaces the properties of the bodies; the number of bodies may have grown.
    pub(crate) fn set_bodies(&mut self, bodies: Vec<BodyTraits>) {
        self.bodies = bodies;
        self.clear();
    }

    /// Deletes all members and pairs, because the numbers of groups or particles have changed.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.is_on, std::mem::take(&mut self.bodies));
    }

    /// Marks surfaces and pairs as outdated; the next step finds them anew.
    pub(crate) fn forget(&mut self) {
        self.is_current = false;
    }

    /// Visits every state array once. Call it between intervals, after [`Self::remember`].
    pub(crate) fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        self.memory.visit_state(visitor);
    }

    /// Removes all pairs and keeps their impulses. `id(group, index)` tells the id of a particle.
    pub(crate) fn remember(&mut self, id: impl Fn(usize, usize) -> u32) {
        let place = |k: u32| {
            let Member { group, index, .. } = self.members[k as usize];
            (group, id(group as usize, index as usize))
        };
        for pair in std::mem::take(&mut self.pairs) {
            self.memory.keep(&pair, [place(pair.a), place(pair.b)]);
        }
        self.is_current = false;
    }

    /// Returns the number of pairs that press on each other, and the depth of the deepest overlap (m).
    pub(crate) fn summary(&self) -> (usize, Real) {
        let n = self.pairs.iter().filter(|pair| pair.exchange.pushed > 0.0).count();
        (n, self.pairs.iter().map(Pair::overlap).fold(0.0, Real::max))
    }

    /// Gives the second particle of each pair the opposite of the impulses that the first has received and the second
    /// has not taken yet. `particles` is indexed by group.
    pub(crate) fn settle_debts(&mut self, particles: &mut [&mut Particles]) {
        for pair in &mut self.pairs {
            let owed = std::mem::take(&mut pair.exchange.owed);
            let owed = owed[0] + owed[1];
            if owed != Vec3::ZERO {
                let m = self.members[pair.b as usize];
                particles[m.group as usize].push(m.index as usize, -owed * free_axes(pair.mobility[1]));
            }
        }
    }

    /// Returns the impulses between bodies in the last step; [`Touch::other`] is the second body instead of an
    /// obstacle. `place(group, index)` gives the position of a particle (m).
    pub(crate) fn impulses(&self, place: impl Fn(usize, usize) -> Vec3) -> Vec<Touch> {
        let mut all = Vec::new();
        for pair in self.pairs.iter().filter(|pair| pair.is_met && pair.last_impulse() != Vec3::ZERO) {
            let (a, b) = (self.members[pair.a as usize], self.members[pair.b as usize]);
            let at = |m: Member| place(m.group as usize, m.index as usize);
            let (middle, impulse) = (0.5 * (at(a) + at(b)), pair.last_impulse());
            match a.body <= b.body {
                true => Touch::add(&mut all, a.body, b.body as usize, impulse, middle),
                false => Touch::add(&mut all, b.body, a.body as usize, -impulse, middle),
            }
        }
        all.retain(|touch| touch.weight > 0.0);
        all.sort_by_key(|touch| (touch.body, touch.other));
        all
    }

    /// Finds the pairs that may touch in a step. Call it before the step, when the stepped groups are at the same time.
    pub(crate) fn prepare(&mut self, groups: &[GroupView<'_>], stepped: &[usize], time_step: Real) {
        if !self.is_on {
            return;
        }
        if self.stepped != stepped {
            self.stepped = stepped.to_vec();
            self.is_current = false;
        }
        let expected = |m: &Member| {
            let p = groups[m.group as usize].particles;
            p.position[m.index as usize] + p.velocity[m.index as usize] * time_step
        };
        if self.is_current {
            let spacing = self.slack.smallest_spacing;
            let motions = Motions::new(&self.members, &self.listed_at, self.bodies.len(), spacing, expected);
            if !motions.are_within(&self.slack) {
                self.wander += motions.largest(&self.slack);
                self.is_current = false;
            }
        } else {
            self.wander = Real::INFINITY;
        }
        if !self.is_current {
            let has_new_members = self.wander > LARGEST_WANDER * self.slack.smallest_spacing;
            let mut recalled = None;
            if has_new_members {
                self.remember(|group, i| groups[group].particles.id[i]);
                recalled = Some(self.memory.recall(stepped));
                self.find_surfaces(groups);
            }
            self.listed_at.clear();
            self.listed_at.extend(self.members.iter().map(expected));
            self.list_pairs(groups, recalled);
            self.find_normals(groups);
            self.is_current = true;
        }
        self.find_mobilities(groups);
    }

    fn find_surfaces(&mut self, groups: &[GroupView<'_>]) {
        self.wander = 0.0;
        let rows = |(g, group): (usize, &GroupView<'_>)| {
            let n = if self.stepped.contains(&g) { group.particles.len() } else { 0 };
            let is_ball = |i: usize| group.are_balls[group.particles.body[i] as usize];
            surface_rows(n, group.visit_bonds, is_ball)
        };
        self.surface_rows = groups.iter().enumerate().map(rows).collect();
        let stepped = || self.stepped.iter().map(|&g| groups[g].particles);
        let spacings = || stepped().flat_map(|p| &p.radius).map(|r| 2.0 * r);
        let zones = self.meeting_zones(stepped(), spacings().fold(0.0, Real::max));
        self.slack.smallest_spacing = spacings().fold(Real::INFINITY, Real::min);
        self.members.clear();
        for (group, rows) in self.surface_rows.iter().enumerate() {
            let Particles { position, body, .. } = groups[group].particles;
            for index in 0..rows.n_rows() {
                let is_surface = !rows.row(index).is_empty();
                let is_in_zone =
                    || zones[body[index] as usize].iter().any(|zone| zone.contains(position[index]));
                if is_surface || is_in_zone() {
                    let (group, body) = (group as u32, body[index]);
                    self.members.push(Member { group, index: index as u32, body, is_surface });
                }
            }
        }
        let find = |m: &Member| {
            let (GroupView { particles, visit_bonds, .. }, i) = (groups[m.group as usize], m.index as usize);
            let normal = outward(particles, self.surface_rows[m.group as usize].row(i), i);
            Outward { normal, flatness: if m.is_surface { flatness(visit_bonds, i) } else { 0.0 } }
        };
        self.members.par_iter().with_min_len(256).map(find).collect_into_vec(&mut self.outward);
    }

    /// Returns for each body the regions that other bodies may reach before surfaces are found anew.
    fn meeting_zones<'a>(
        &self,
        stepped: impl Iterator<Item = &'a Particles>,
        largest_spacing: Real,
    ) -> Vec<Vec<Aabb>> {
        let mut boxes = vec![Aabb::EMPTY; self.bodies.len()];
        for Particles { position, body, .. } in stepped {
            for (&x, &body) in position.iter().zip(body) {
                let of = &mut boxes[body as usize];
                *of = of.union(&Aabb { min: x, max: x });
            }
        }
        let margin = (FARTHEST_TOUCH + SKIN + LARGEST_WANDER) * largest_spacing;
        let mut zones = vec![Vec::new(); boxes.len()];
        for b in 0..boxes.len() {
            for c in 0..boxes.len() {
                if self.bodies[b].matter != self.bodies[c].matter {
                    let (own, other) = (boxes[b], boxes[c].grown(margin));
                    let zone = Aabb { min: own.min.max(other.min), max: own.max.min(other.max) };
                    if !zone.is_empty() {
                        zones[b].push(zone);
                    }
                }
            }
        }
        zones
    }

    /// Lists all pairs that may touch before pairs are listed anew. Their first impulses are the recalled ones, or those
    /// of the present pairs if members are still the same.
    fn list_pairs(&mut self, groups: &[GroupView<'_>], recalled: Option<Recalled>) {
        let Self { members, listed_at, outward, bodies, .. } = self;
        let radius = |m: &Member| groups[m.group as usize].particles.radius[m.index as usize];
        let reaches: Vec<Real> = members.iter().map(|m| (FARTHEST_TOUCH + SKIN) * radius(m)).collect();
        let largest = reaches.iter().copied().fold(0.0, Real::max);
        let grid = Grid::new(listed_at, 2.0 * largest);
        let matter = |k: usize| bodies[members[k].body as usize].matter;
        let rows = Neighbors::from_rows(members.len(), |a, row| {
            let (x, reach, out, own) = (listed_at[a], reaches[a], outward[a].normal, matter(a));
            grid.visit_ball(x, reach + largest, |b| {
                let k = b as usize;
                if k <= a || x.distance_squared(listed_at[k]) > square(reach + reaches[k]) {
                    return;
                }
                // parts of one piece touch if their surfaces face each other and no bond joins them
                let look_at_each_other = || {
                    let are_surfaces = members[a].is_surface && members[k].is_surface;
                    are_surfaces && may_face(out, outward[k].normal, x - listed_at[k])
                };
                let group = &groups[members[a].group as usize];
                let are_balls = || [a, k].iter().any(|&k| group.are_balls[members[k].body as usize]);
                let are_bonded = || group.are_bonded(members[a].index as usize, members[k].index as usize);
                if own != matter(k) || (!are_balls() && look_at_each_other() && !are_bonded()) {
                    row.push(b);
                }
            });
            row.sort_unstable();
        });
        let old = std::mem::take(&mut self.pairs);
        let mut old = old.iter().peekable();
        let place = |m: Member| (m.group, groups[m.group as usize].particles.id[m.index as usize]);
        for a in 0..members.len() {
            for &b in rows.row(a) {
                let friction = |k: usize| bodies[members[k].body as usize].friction;
                let b_index = b as usize;
                let both = (friction(a) * friction(b_index)).sqrt();
                let mut pair = Pair::new(a as u32, b, both, matter(a) == matter(b_index));
                while old.next_if(|p| (p.a, p.b) < (pair.a, pair.b)).is_some() {}
                let last = match &recalled {
                    Some(recalled) => recalled.impulses(place(members[a]), place(members[b_index])),
                    None => old.next_if(|p| (p.a, p.b) == (pair.a, pair.b)).map(|same| same.exchange.last),
                };
                pair.exchange.last = last.unwrap_or_default();
                self.pairs.push(pair);
            }
        }
        self.slack.has_pairs.clear();
        self.slack.has_pairs.resize(self.bodies.len(), false);
        for k in self.pairs.iter().flat_map(|p| [p.a, p.b]) {
            self.slack.has_pairs[self.members[k as usize].body as usize] = true;
        }
        self.paired.clear();
        self.paired.extend(self.pairs.iter().flat_map(|p| [p.a, p.b]));
        self.paired.sort_unstable();
        self.paired.dedup();
        self.slack.renew(
            &self.members,
            &self.listed_at,
            self.bodies.len(),
            largest / (FARTHEST_TOUCH + SKIN),
        );
    }

    /// Computes the normals of members in pairs. Normals stay constant until pairs are listed anew: if they changed in
    /// every step, gaps would fluctuate with them.
    fn find_normals(&mut self, groups: &[GroupView<'_>]) {
        for &k in &self.paired {
            let m = self.members[k as usize];
            let row = self.surface_rows[m.group as usize].row(m.index as usize);
            self.outward[k as usize].normal =
                outward(groups[m.group as usize].particles, row, m.index as usize);
        }
    }

    /// Computes the velocity change per impulse: 1/m for free particles, 0 along axes in which a particle is held.
    fn find_mobilities(&mut self, groups: &[GroupView<'_>]) {
        if self.pairs.is_empty() {
            return;
        }
        let mut held: Vec<(u32, u32, Vec3)> = Vec::new();
        for (g, group) in groups.iter().enumerate() {
            for (&particle, &grip) in group.holds.particle.iter().zip(&group.holds.grip) {
                held.push((g as u32, particle, group.grip_axes[grip as usize]));
            }
        }
        held.sort_unstable_by_key(|h| (h.0, h.1));
        let Self { members, pairs, paired, mobilities, bodies, .. } = self;
        // particles that can only move together share the impulses on all of them
        let mut n_paired = vec![0.0; bodies.len()];
        paired.iter().for_each(|&k| n_paired[members[k as usize].body as usize] += 1.0);
        mobilities.resize(members.len(), Vec3::ZERO);
        for &k in &*paired {
            let m = members[k as usize];
            let GroupView { particles, touching, joint_mobility, .. } = groups[m.group as usize];
            let i = m.index as usize;
            let found = held.binary_search_by_key(&(m.group, m.index), |h| (h.0, h.1));
            let free = found.map_or(Vec3::ONE, |at| Vec3::ONE - held[at].2);
            let is_stuck = touching.get(i).is_some_and(|mark| *mark >= STUCK);
            mobilities[k as usize] = match joint_mobility(i) {
                _ if is_stuck => Vec3::ZERO,
                None => free / particles.mass[i],
                Some(alone) => free * (alone * n_paired[m.body as usize]).min(1.0 / particles.mass[i]),
            };
        }
        for pair in pairs {
            pair.mobility = [mobilities[pair.a as usize], mobilities[pair.b as usize]];
        }
    }
}

/// Returns true if surfaces with these normals may face each other; around a convex edge they do not. `apart` points
/// from the second to the first.
fn may_face(out_a: Vec3, out_b: Vec3, apart: Vec3) -> bool {
    let margin = AVERTED * apart.length();
    out_a.dot(out_b) < ALIKE && out_a.dot(apart) < margin && out_b.dot(apart) > -margin
}
