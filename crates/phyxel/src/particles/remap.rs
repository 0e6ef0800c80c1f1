//! Remapping of a set: its members are reordered, dropped, split and merged by a visitor of the state.

use super::{Carry, Parameter, StateData, StateItem, StateVisitor};
use crate::math::Real;
use std::ops::{Add, Mul};

/// Origin of a member of the new set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// An unchanged old member.
    Same(u32),
    /// This fraction of the extensive values of an old member, and a copy of its other values.
    Part(u32, Real),
    /// Two old members merged into one.
    Merged(u32, u32),
}

impl Origin {
    /// Returns the old member, the first one if two were merged.
    pub(crate) fn first(self) -> usize {
        match self {
            Self::Same(i) | Self::Part(i, _) | Self::Merged(i, _) => i as usize,
        }
    }
}

/// Description of a new set in terms of an old one.
#[derive(Clone, Debug)]
pub struct Remap {
    set: &'static str,
    origins: Vec<Origin>,
    old_mass: Vec<Real>,
    new_index: Vec<u32>,
}

/// Result of [`Remap::new_index`] for a member that no longer exists.
pub const GONE: u32 = u32::MAX;

impl Remap {
    /// Creates a remap of `set`, whose members have the masses `old_mass` (the weights of [`Carry::Mean`]).
    pub fn new(set: &'static str, origins: Vec<Origin>, old_mass: &[Real]) -> Self {
        let mut new_index = vec![GONE; old_mass.len()];
        for (new, origin) in origins.iter().enumerate().rev() {
            new_index[origin.first()] = new as u32;
            if let Origin::Merged(_, second) = origin {
                new_index[*second as usize] = new as u32;
            }
        }
        Self { set, origins, old_mass: old_mass.to_vec(), new_index }
    }

    /// Creates a remap that keeps the members for which `is_kept` is true, in their order.
    pub fn keep(set: &'static str, is_kept: impl Fn(usize) -> bool, old_mass: &[Real]) -> Self {
        let kept = (0..old_mass.len()).filter(|&i| is_kept(i));
        Self::new(set, kept.map(|i| Origin::Same(i as u32)).collect(), old_mass)
    }

    /// Creates a remap in which new member k is old member `order[k]`.
    pub fn reorder(set: &'static str, order: &[u32], old_mass: &[Real]) -> Self {
        Self::new(set, order.iter().map(|&i| Origin::Same(i)).collect(), old_mass)
    }

    /// Returns the new index of an old member (of the first part if it was split), or [`GONE`].
    pub fn new_index(&self, old: usize) -> u32 {
        self.new_index[old]
    }

    /// Returns the new members that are parts of an old one, except for the first part of each.
    pub fn later_parts(&self) -> Vec<usize> {
        let later = |&k: &usize| match self.origins[k] {
            Origin::Part(i, _) => self.new_index[i as usize] != k as u32,
            _ => false,
        };
        (0..self.origins.len()).filter(later).collect()
    }

    /// Returns the origins of the members of the new set.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    fn carried<T: Copy + Add<Output = T> + Mul<Real, Output = T>>(&self, old: &[T], carry: Carry) -> Vec<T> {
        let mean = |a: usize, b: usize| {
            let (ma, mb) = (self.old_mass[a], self.old_mass[b]);
            old[a] * (ma / (ma + mb)) + old[b] * (mb / (ma + mb))
        };
        let value = |&origin: &Origin| match (origin, carry) {
            (Origin::Part(i, share), Carry::Sum) => old[i as usize] * share,
            (Origin::Merged(a, b), Carry::Sum) => old[a as usize] + old[b as usize],
            (Origin::Merged(a, b), Carry::Mean) => mean(a as usize, b as usize),
            _ => old[origin.first()],
        };
        self.origins.iter().map(value).collect()
    }
}

impl StateVisitor for Remap {
    fn visit(&mut self, item: StateItem<'_>) {
        if item.set == self.set {
            match item.data {
                // columns that do not exist yet
                StateData::Reals(v) if v.is_empty() => {}
                StateData::Vectors(v) if v.is_empty() => {}
                StateData::ShortVectors(v) if v.is_empty() => {}
                StateData::Matrices(v) if v.is_empty() => {}
                StateData::Integers(v) if v.is_empty() => {}
                StateData::Reals(v) => *v = self.carried(v, item.carry),
                StateData::Vectors(v) => *v = self.carried(v, item.carry),
                StateData::Matrices(v) => *v = self.carried(v, item.carry),
                StateData::ShortVectors(v) => *v = self.origins.iter().map(|o| v[o.first()]).collect(),
                StateData::Integers(v) => *v = self.origins.iter().map(|o| v[o.first()]).collect(),
                StateData::Parameter(Parameter::Column(v)) => *v = self.carried(v, item.carry),
                StateData::Parameter(Parameter::Uniform(_))
                | StateData::Number(_)
                | StateData::Counter(_) => {}
            }
        } else if item.carry == Carry::Index(self.set)
            && let StateData::Integers(v) = item.data
        {
            v.iter_mut().for_each(|i| *i = self.new_index[*i as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PARTICLES, Particles};
    use super::*;
    use crate::math::{Random, Vec3};

    fn cloud(n: usize) -> Particles {
        let mut random = Random::new(11);
        let mut p = Particles::default();
        for i in 0..n as u32 {
            p.append(Particles {
                id: vec![i],
                body: vec![i % 2],
                position: vec![random.in_cube()],
                velocity: vec![random.in_cube()],
                mass: vec![0.5 + random.unit()],
                volume: vec![1e-3],
                radius: vec![0.1],
                contact_radius: vec![0.1],
                ..Particles::default()
            });
        }
        p
    }

    #[test]
    fn split_and_merge_keep_mass_momentum_and_center() {
        let mut p = cloud(6);
        let before = (p.total_mass(), p.momentum(), p.center_of_mass());
        let origins = vec![
            Origin::Merged(4, 1),
            Origin::Part(0, 0.5),
            Origin::Part(0, 0.5),
            Origin::Same(5),
            Origin::Merged(2, 3),
        ];
        let mut remap = Remap::new(PARTICLES, origins, &p.mass.clone());
        p.visit_state(&mut remap);
        assert_eq!(p.id, [4, 0, 0, 5, 2]);
        assert!((p.total_mass() - before.0).abs() < 1e-15);
        assert!((p.momentum() - before.1).length() < 1e-15);
        assert!((p.center_of_mass() - before.2).length() < 1e-15);
        assert_eq!(remap.later_parts(), [2]);
        assert_eq!((0..6).map(|i| remap.new_index(i)).collect::<Vec<_>>(), [1, 0, 4, 4, 0, 3]);
    }

    /// Checks that an index column of another set that refers to particles follows a reordering and a removal.
    #[test]
    fn indices_follow_their_set() {
        let mut p = cloud(4);
        let mut remap = Remap::reorder(PARTICLES, &[3, 1, 0], &p.mass.clone());
        p.visit_state(&mut remap);
        let mut held = vec![0u32, 2, 3];
        let data = StateData::Integers(&mut held);
        remap.visit(StateItem {
            name: "held",
            unit: "1",
            set: "holds",
            carry: Carry::Index(PARTICLES),
            data,
        });
        assert_eq!(held, [2, GONE, 0]);
        assert_eq!(p.id, [3, 1, 0]);
        assert_ne!(p.position[0], Vec3::ZERO);
    }
}
