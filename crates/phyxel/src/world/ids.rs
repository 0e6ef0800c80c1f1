//! Typed ids of bodies and obstacles, so that the compiler can tell them apart.

/// Id of a body of a world. It stays valid for the whole run, also when other bodies are added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(super) u32);

/// Id of an obstacle of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObstacleId(pub(super) u32);

impl BodyId {
    /// Returns the index in [`World::body_names`](super::World::body_names), as in
    /// [`Particles::body`](crate::particles::Particles::body).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ObstacleId {
    /// Returns the index in the order in which obstacles were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
