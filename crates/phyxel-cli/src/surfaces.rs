//! Surfaces that a scene asks for, frame by frame.

use crate::skins::{Rows, Shares, skin_of, table_of};
use phyxel::frame::Frame;
use phyxel::world::World;
use phyxel_io::results::SurfaceTable;
use phyxel_io::scene::description::{Scene, Surface};
use phyxel_io::surface::SurfaceMesh;
use phyxel_skin::SkinParams;

/// Sources of the surfaces of a scene.
#[derive(Debug)]
pub(crate) struct Surfaces {
    /// Index and name of the body, and its mesh at rest.
    pub(crate) meshes: Vec<(usize, String, SurfaceMesh)>,
    /// Index and name of the body, and the parameters of its skin.
    skins: Vec<(usize, String, SkinParams)>,
    shares: Shares,
}

impl Surfaces {
    /// Prepares the surfaces of a scene and its world at the start; `meshes` has the carried mesh of each body.
    pub(crate) fn new(scene: &Scene, world: &World, meshes: Vec<Option<SurfaceMesh>>) -> Self {
        let bodies = || scene.bodies.iter().enumerate();
        let named = meshes.into_iter().zip(bodies());
        let meshes = named.filter_map(|(mesh, (k, body))| Some((k, body.name.clone(), mesh?))).collect();
        let skin = |(k, body): (usize, &phyxel_io::scene::description::Body)| match body.surface {
            Some(Surface::Skin { radius, smoothing, cell }) => {
                let default = SkinParams::default();
                let smoothing = smoothing.unwrap_or(default.smoothing);
                let params = SkinParams { radius, smoothing, cell: cell.unwrap_or(default.cell), ..default };
                Some((k, body.name.clone(), params))
            }
            _ => None,
        };
        let start = world.frame(&[]);
        let shares = Shares::new(rows(&start), scene.bodies.len());
        Self { meshes, skins: bodies().filter_map(skin).collect(), shares }
    }

    /// Returns true if there are no surfaces.
    pub(crate) fn is_empty(&self) -> bool {
        self.meshes.is_empty() && self.skins.is_empty()
    }

    /// Returns all current surfaces with the names of their bodies, and the reasons why some have no faces.
    pub(crate) fn now(&self, world: &World) -> (Vec<(String, SurfaceTable)>, Vec<String>) {
        let mesh = |(body, name, mesh): &(usize, String, SurfaceMesh)| {
            let positions = world.carried_points(*body)?;
            let velocities = world.carried_velocities(*body)?;
            Some((name.clone(), mesh.at(world.time(), &positions, &velocities)))
        };
        let mut surfaces: Vec<(String, SurfaceTable)> = self.meshes.iter().filter_map(mesh).collect();
        let mut problems = Vec::new();
        if self.skins.is_empty() {
            return (surfaces, problems);
        }
        let frame = world.frame(&["velocity"]);
        let volume = world.ledger().volume;
        for (body, name, params) in &self.skins {
            let own = self.shares.volume(*body, Some(volume));
            let table = skin_of(rows(&frame), *body, own, params).map(|skin| table_of(skin, frame.time));
            let table = table.unwrap_or_else(|error| {
                problems.push(format!("body \"{name}\" has no skin: {error}"));
                SurfaceTable { time: frame.time, ..SurfaceTable::default() }
            });
            surfaces.push((name.clone(), table));
        }
        (surfaces, problems)
    }
}

/// Borrows the particles of a snapshot.
fn rows(frame: &Frame) -> Rows<'_> {
    let velocity = frame.columns.iter().find(|column| column.name == "velocity");
    Rows {
        position: &frame.position,
        radius: &frame.radius,
        body: &frame.body,
        velocity: velocity.map_or(&[], |column| &column.values),
    }
}
