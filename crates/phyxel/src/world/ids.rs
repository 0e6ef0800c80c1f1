//! Names of things in a world that the compiler tells apart.

/// A body of a world. It stays valid for the whole run, also when other bodies come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(super) u32);

/// An obstacle of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObstacleId(pub(super) u32);

impl BodyId {
    /// Index in [`World::body_names`](super::World::body_names) and in [`Particles::body`](crate::particles::Particles::body).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ObstacleId {
    /// Index in the order in which obstacles were given.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
