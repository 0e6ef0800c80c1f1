//! The surfaces that a scene asks for, frame by frame.

use phyxel::world::World;
use phyxel_io::results::SurfaceTable;
use phyxel_io::surface::SurfaceMesh;

/// Where the surfaces of a scene come from.
#[derive(Debug, Default)]
pub(crate) struct Surfaces {
    /// Index and name of the body, and its mesh at rest.
    pub(crate) meshes: Vec<(usize, String, SurfaceMesh)>,
}

impl Surfaces {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.meshes.is_empty()
    }

    /// All surfaces as they are now, with the names of their bodies.
    pub(crate) fn now(&self, world: &World) -> Vec<(String, SurfaceTable)> {
        let one = |(body, name, mesh): &(usize, String, SurfaceMesh)| {
            let positions = world.carried_points(*body)?;
            let velocities = world.carried_velocities(*body)?;
            Some((name.clone(), mesh.at(world.time(), &positions, &velocities)))
        };
        self.meshes.iter().filter_map(one).collect()
    }
}
