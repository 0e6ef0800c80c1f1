//! The boundary of an open mesh, which limits how fast its winding number can change.

use super::bvh::Bvh;
use super::{TriangleMesh, topology};
use crate::math::{Real, Vec3};

/// Boundary edges of an open mesh.
#[derive(Clone, Debug)]
pub(super) struct Rim {
    /// The edges, as triangles with two equal corners.
    edges: Bvh,
    /// Total length of the edges, each counted as often as it is boundary.
    length: Real,
}

impl Rim {
    /// Collects the boundary edges; `None` if the mesh is closed.
    pub(super) fn new(mesh: &TriangleMesh) -> Option<Self> {
        let boundary = topology::boundary(mesh.triangles());
        if boundary.is_empty() {
            return None;
        }
        let mut length = 0.0;
        let mut edges = Vec::with_capacity(boundary.len());
        for ([start, end], difference) in boundary {
            let (start, end) = (mesh.vertices()[start as usize], mesh.vertices()[end as usize]);
            length += Real::from(difference) * start.distance(end);
            edges.push([start, end, end]);
        }
        Some(Self { edges: Bvh::new(edges), length })
    }

    /// Returns the radius of a ball around `p`, free of surface, in which the winding number cannot change by `gap`.
    ///
    /// Away from the surface the gradient of the solid angle is the Biot-Savart field of the rim, so that
    /// |∇w| ≤ length / (4π D²) at distance D from it. Within D/2 of `p` that is at most length / (π D²).
    pub(super) fn sign_radius(&self, p: Vec3, gap: Real) -> Real {
        let to_rim = self.edges.closest(p, Real::INFINITY).map_or(0.0, |closest| closest.distance);
        (0.5 * to_rim).min(gap * std::f64::consts::PI * to_rim * to_rim / self.length)
    }
}
