//! Meshes that move with the bodies of a scene: of their files, or of their shapes.

use super::description as scene;
use super::world::Meshes;
use super::{SceneError, SceneFile};
use crate::surface::{SurfaceError, SurfaceMesh};
use phyxel::geometry::PlacedShape;
use phyxel::math::cbrt;
use phyxel::world::{Body, BuildError};

impl SceneFile {
    /// Returns for each body the mesh that moves with it, if the scene asks for one.
    pub(super) fn surface_meshes(
        &self,
        bodies: &[Body],
        meshes: &Meshes,
    ) -> Result<Vec<Option<SurfaceMesh>>, SceneError> {
        let one = |(k, (body, built)): (usize, (&scene::Body, &Body))| {
            let Some(scene::Surface::Mesh { edge, uvs, .. }) = body.surface else { return Ok(None) };
            let shape = &built.shape;
            let path = format!("bodies.{k}.surface");
            let mesh = match carried_file(body).and_then(|file| meshes[file].polygons.clone()) {
                Some(polygons) => SurfaceMesh::new(polygons.placed(&shape.placement)),
                None => {
                    // edges are as long as the spacing by default: too many particles are reported first
                    let too_many = |source| BuildError::Fill { body: k, name: body.name.clone(), source };
                    built.fill.check(shape).map_err(|source| self.build_error(&too_many(source)))?;
                    let edge = edge.unwrap_or_else(|| smallest_spacing(body, shape));
                    let failed =
                        |error: SurfaceError| self.error_at(&format!("{path}.edge"), error.to_string(), None);
                    SurfaceMesh::of_shape(shape, edge).map_err(failed)?
                }
            };
            if uvs && !mesh.has_uvs() {
                let message = format!("the surface of body \"{}\" has no texture coordinates", body.name);
                let help = "give the body a mesh file that has them, or leave `uvs` out".to_owned();
                return Err(self.error_at(&format!("{path}.uvs"), message, Some(help)));
            }
            Ok(Some(mesh))
        };
        self.scene.bodies.iter().zip(bodies).enumerate().map(one).collect()
    }
}

/// Returns the mesh file that a body carries along as its surface, if it does.
pub(super) fn carried_file(body: &scene::Body) -> Option<&String> {
    match (&body.surface, &body.shape.shape) {
        (Some(scene::Surface::Mesh { .. }), scene::Shape::Mesh { file }) => Some(file),
        _ => None,
    }
}

/// Returns the distance between neighbouring particles of a body, where they are densest (m).
fn smallest_spacing(body: &scene::Body, shape: &PlacedShape) -> f64 {
    match body.resolution {
        scene::Resolution::Spacing(a) => a,
        scene::Resolution::SpacingAlong { from, to, .. } => from.min(to),
        scene::Resolution::Particles(n) => cbrt(shape.volume() / n as f64),
    }
}
