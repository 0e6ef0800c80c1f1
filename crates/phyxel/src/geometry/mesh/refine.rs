//! Refinement of meshes by cutting long edges.

use super::TriangleMesh;
use crate::math::{Real, Vec3};
use std::collections::HashMap;

/// Largest number of passes, more than any edge needs: each pass halves the edges that are too long.
const MAX_PASSES: usize = 24;

impl TriangleMesh {
    /// Returns the same surface with no edge longer than `max_edge`. Long edges are halved until all are short, for
    /// both of their triangles, so that a closed mesh stays closed. Old vertices keep their indices.
    pub fn refined(&self, max_edge: Real) -> Self {
        let (mut vertices, mut triangles) = (self.vertices.clone(), self.triangles.clone());
        for _ in 0..MAX_PASSES {
            let mut middles: HashMap<(u32, u32), u32> = HashMap::new();
            let mut finer = Vec::with_capacity(triangles.len());
            for &corners in &triangles {
                let mut middle = |k: usize| {
                    let (a, b) = (corners[k], corners[(k + 1) % 3]);
                    let (from, to) = (vertices[a as usize], vertices[b as usize]);
                    (from.distance(to) > max_edge * (1.0 + 1e-9)).then(|| {
                        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                            vertices.push(0.5 * (from + to));
                            vertices.len() as u32 - 1
                        })
                    })
                };
                let middles = [middle(0), middle(1), middle(2)];
                cut(corners, middles, &vertices, &mut finer);
            }
            let is_done = finer.len() == triangles.len();
            triangles = finer;
            if is_done {
                break;
            }
        }
        Self::new_unchecked(vertices, triangles)
    }
}

/// Splits a triangle, given the midpoints of the edges that are cut (the edge that begins at each corner).
fn cut([a, b, c]: [u32; 3], middles: [Option<u32>; 3], vertices: &[Vec3], out: &mut Vec<[u32; 3]>) {
    match middles {
        [None, None, None] => out.push([a, b, c]),
        [Some(m), None, None] => out.extend([[a, m, c], [m, b, c]]),
        [Some(m), Some(n), None] => {
            out.push([m, b, n]);
            // the rest is a quadrangle, which is cut along the shorter diagonal
            let length = |p: u32, q: u32| vertices[p as usize].distance_squared(vertices[q as usize]);
            out.extend(if length(a, n) <= length(m, c) {
                [[a, m, n], [a, n, c]]
            } else {
                [[a, m, c], [m, n, c]]
            });
        }
        [Some(m), Some(n), Some(o)] => out.extend([[a, m, o], [m, b, n], [o, n, c], [m, n, o]]),
        [first, second, third] => cut([b, c, a], [second, third, first], vertices, out),
    }
}

#[cfg(test)]
mod tests {
    use crate::geometry::Shape;
    use crate::math::vec3;

    #[test]
    fn long_edges_are_cut_and_closed_stays_closed() {
        let shapes = [
            Shape::Box { size: vec3(1.0, 0.3, 0.2) },
            Shape::Cylinder { radius: 0.5, height: 3.0 },
            Shape::Star { points: 5, radius: 1.0, inner_radius: 0.4, height: 0.3 },
        ];
        for shape in shapes {
            let coarse = shape.triangulate(24).unwrap();
            let fine = coarse.refined(0.11);
            assert!(fine.is_closed());
            let volumes = (coarse.signed_volume(), fine.signed_volume());
            assert!((volumes.0 - volumes.1).abs() < 1e-12 * volumes.0, "{volumes:?}");
            assert_eq!(fine.vertices()[..coarse.vertices().len()], *coarse.vertices());
            for &[a, b, c] in fine.triangles() {
                for (p, q) in [(a, b), (b, c), (c, a)] {
                    let length = fine.vertices()[p as usize].distance(fine.vertices()[q as usize]);
                    assert!(length < 0.11 * 1.000_001 && length > 1e-4, "{length}");
                }
            }
        }
    }
}
