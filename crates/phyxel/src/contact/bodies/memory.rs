//! Impulses of pairs beyond the life of the list of pairs: the first guess of later steps. Without them matter at rest
//! would start to tremble whenever pairs are found anew.

use super::Pair;
use crate::math::{Real, Vec3};
use crate::particles::{Carry, StateData, StateItem, StateVisitor};

/// Name of the set of remembered pairs.
const PAIRS: &str = "contact_pairs";

/// Particle of a remembered pair: its group and its id.
pub(super) type Place = (u32, u32);

/// Impulses that pairs needed in their last step, by the ids of their particles. They are state.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    groups: [Vec<u32>; 2],
    ids: [Vec<u32>; 2],
    /// Impulses along the normal, before moving and after the kick (N s).
    pushed: [Vec<Real>; 2],
    /// Impulses across the normal on the first particle, before moving and after the kick (N s).
    dragged: [Vec<Vec3>; 2],
}

impl Memory {
    /// Visits every state array once.
    pub(crate) fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let mut item = |name, unit, data| {
            visitor.visit(StateItem { name, unit, set: PAIRS, carry: Carry::Copy, data });
        };
        let Self { groups, ids, pushed, dragged } = self;
        for (column, name) in groups.iter_mut().zip(["contact_group_a", "contact_group_b"]) {
            item(name, "1", StateData::Integers(column));
        }
        for (column, name) in ids.iter_mut().zip(["contact_id_a", "contact_id_b"]) {
            item(name, "1", StateData::Integers(column));
        }
        for (column, name) in pushed.iter_mut().zip(["pushed_before_moving", "pushed_after_kick"]) {
            item(name, "N s", StateData::Reals(column));
        }
        for (column, name) in dragged.iter_mut().zip(["dragged_before_moving", "dragged_after_kick"]) {
            item(name, "N s", StateData::Vectors(column));
        }
    }

    /// Keeps the impulses of a pair, if there are any.
    pub(super) fn keep(&mut self, pair: &Pair, places: [Place; 2]) {
        let last = pair.exchange.last;
        if last.iter().all(|&(pushed, dragged)| pushed == 0.0 && dragged == Vec3::ZERO) {
            return;
        }
        self.push(places, last);
    }

    fn push(&mut self, places: [Place; 2], last: Impulses) {
        for k in 0..2 {
            self.groups[k].push(places[k].0);
            self.ids[k].push(places[k].1);
            self.pushed[k].push(last[k].0);
            self.dragged[k].push(last[k].1);
        }
    }

    /// Removes the pairs between the given groups and returns them in a form that can be searched.
    pub(super) fn recall(&mut self, groups: &[usize]) -> Recalled {
        let mut rest = Self::default();
        let mut recalled = Vec::new();
        for k in 0..self.ids[0].len() {
            let places = [0, 1].map(|end| (self.groups[end][k], self.ids[end][k]));
            let last = [0, 1].map(|phase| (self.pushed[phase][k], self.dragged[phase][k]));
            match places.iter().all(|place| groups.contains(&(place.0 as usize))) {
                true => recalled.push((places[0], places[1], last)),
                false => rest.push(places, last),
            }
        }
        *self = rest;
        recalled.sort_by_key(|pair| (pair.0, pair.1));
        Recalled(recalled)
    }
}

/// Impulses before moving and after the kick, along and across the normal (N s).
type Impulses = [(Real, Vec3); 2];

/// Pairs that were recalled, sorted by their particles.
pub(super) struct Recalled(Vec<(Place, Place, Impulses)>);

impl Recalled {
    /// Returns the last impulses of a pair; particles may have changed their order.
    pub(super) fn impulses(&self, a: Place, b: Place) -> Option<Impulses> {
        let find = |a, b| self.0.binary_search_by_key(&(a, b), |pair| (pair.0, pair.1)).ok();
        match find(a, b) {
            Some(k) => Some(self.0[k].2),
            None => find(b, a).map(|k| self.0[k].2.map(|(pushed, dragged)| (pushed, -dragged))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3;

    #[test]
    fn recalled_pairs_are_those_between_the_given_groups() {
        let mut memory = Memory::default();
        let mut pair = Pair::new(0, 1, 0.5, false);
        memory.keep(&pair, [(0, 7), (1, 8)]);
        assert!(memory.ids[0].is_empty(), "pairs without impulses are not kept");
        pair.exchange.last = [(2.0, vec3(1.0, 0.0, 0.0)), (3.0, Vec3::ZERO)];
        memory.keep(&pair, [(0, 7), (1, 8)]);
        pair.exchange.last[0].0 = 4.0;
        memory.keep(&pair, [(0, 5), (2, 6)]);
        let recalled = memory.recall(&[0, 1]);
        assert_eq!(recalled.impulses((0, 7), (1, 8)).unwrap()[0], (2.0, vec3(1.0, 0.0, 0.0)));
        let turned = recalled.impulses((1, 8), (0, 7)).unwrap();
        assert_eq!((turned[0].1, turned[1].0), (vec3(-1.0, 0.0, 0.0), 3.0));
        assert!(recalled.impulses((0, 5), (2, 6)).is_none());
        assert_eq!(memory.recall(&[0, 2]).impulses((0, 5), (2, 6)).unwrap()[0].0, 4.0);
        assert!(memory.ids[0].is_empty());
    }
}
