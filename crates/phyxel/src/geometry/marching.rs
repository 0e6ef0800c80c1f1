//! Marching tetrahedra: the surface where a function is zero, as a closed mesh.
//!
//! Each grid cell is cut into six tetrahedra around its main diagonal (Kuhn's subdivision), which fit those of the
//! neighbours. A tetrahedron can be cut in only one way for each pattern of signs, so no case is ambiguous, and the
//! mesh is always closed.

use rayon::prelude::*;
use std::collections::HashMap;

use super::aabb::Aabb;
use super::mesh::{TriangleMesh, TriangleMeshError};
use crate::math::{Real, Vec3, vec3};

/// Corners of the six tetrahedra, as bits (x, y, z) of the cell's corners; all positively oriented.
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];

/// Returns the surface where `value` changes sign within the bounds, facing the positive side. The grid has
/// `resolution` cells along the longest edge.
pub(super) fn level_surface(
    value: &(impl Fn(Vec3) -> Real + Sync),
    bounds: Aabb,
    resolution: usize,
) -> Result<TriangleMesh, TriangleMeshError> {
    let grid = Grid::new(bounds, resolution);
    let values: Vec<Real> =
        (0..grid.n_nodes()).into_par_iter().map(|node| value(grid.position(node))).collect();
    let mut surface = Surface::new(&grid, &values);
    for z in 0..grid.counts[2] - 1 {
        for y in 0..grid.counts[1] - 1 {
            for x in 0..grid.counts[0] - 1 {
                surface.cut_cell(grid.node([x, y, z]));
            }
        }
    }
    TriangleMesh::try_new(surface.vertices, surface.triangles)
}

struct Grid {
    origin: Vec3,
    cell_size: Real,
    /// Number of nodes along each axis.
    counts: [usize; 3],
}

impl Grid {
    /// Creates a grid with a margin of a little more than a cell, so that the surface stays inside and off the nodes.
    fn new(bounds: Aabb, resolution: usize) -> Self {
        let cell_size = (bounds.size().max_element() / resolution as Real).max(Real::MIN_POSITIVE);
        let n_cells = (bounds.size() / cell_size).ceil() + Vec3::splat(3.0);
        let origin = bounds.center() - 0.5 * cell_size * n_cells + cell_size * vec3(0.013, 0.017, 0.019);
        Self { origin, cell_size, counts: [n_cells.x, n_cells.y, n_cells.z].map(|count| count as usize + 1) }
    }

    fn n_nodes(&self) -> usize {
        self.counts.iter().product()
    }

    fn node(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.counts[0] * (y + self.counts[1] * z)
    }

    fn position(&self, node: usize) -> Vec3 {
        let (x, rest) = (node % self.counts[0], node / self.counts[0]);
        let (y, z) = (rest % self.counts[1], rest / self.counts[1]);
        self.origin + self.cell_size * vec3(x as Real, y as Real, z as Real)
    }
}

struct Surface<'a> {
    grid: &'a Grid,
    values: &'a [Real],
    /// Vertex on an upward edge of a node, by node and corner bits.
    edge_vertices: HashMap<(usize, usize), u32>,
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl<'a> Surface<'a> {
    fn new(grid: &'a Grid, values: &'a [Real]) -> Self {
        Self { grid, values, edge_vertices: HashMap::new(), vertices: Vec::new(), triangles: Vec::new() }
    }

    fn cut_cell(&mut self, base: usize) {
        let corner_node = |bits: usize| base + self.grid.node([bits & 1, bits >> 1 & 1, bits >> 2 & 1]);
        let nodes: [usize; 8] = std::array::from_fn(corner_node);
        let n_inside = nodes.iter().filter(|&&node| self.values[node] < 0.0).count();
        if n_inside == 0 || n_inside == 8 {
            return;
        }
        for tetrahedron in TETRAHEDRA {
            self.cut_tetrahedron(&nodes, tetrahedron);
        }
    }

    fn cut_tetrahedron(&mut self, nodes: &[usize; 8], corners: [usize; 4]) {
        let is_inside = corners.map(|corner| self.values[nodes[corner]] < 0.0);
        let (inside, outside): (Vec<usize>, Vec<usize>) = (0..4).partition(|&slot| is_inside[slot]);
        // an odd number of inversions means that the slots in this order have the opposite orientation
        let order: Vec<usize> = inside.iter().chain(&outside).copied().collect();
        let n_inversions =
            (0..4).flat_map(|i| (0..i).map(move |j| (j, i))).filter(|&(j, i)| order[j] > order[i]).count();
        let mut vertex = |a: usize, b: usize| self.vertex(nodes, corners[order[a]], corners[order[b]]);
        let polygon = match inside.len() {
            1 => vec![vertex(0, 1), vertex(0, 2), vertex(0, 3)],
            2 => vec![vertex(0, 2), vertex(0, 3), vertex(1, 3), vertex(1, 2)],
            3 => vec![vertex(0, 3), vertex(1, 3), vertex(2, 3)],
            _ => return,
        };
        for step in 1..polygon.len() - 1 {
            let [a, b, c] = [polygon[0], polygon[step], polygon[step + 1]];
            self.triangles.push(if n_inversions % 2 == 0 { [a, b, c] } else { [a, c, b] });
        }
    }

    /// Returns the vertex on the edge of two corners of a cell, of which one is at least as high in every coordinate.
    fn vertex(&mut self, nodes: &[usize; 8], a: usize, b: usize) -> u32 {
        let (low, high) = (a.min(b), a.max(b));
        *self.edge_vertices.entry((nodes[low], high - low)).or_insert_with(|| {
            let (low_value, high_value) = (self.values[nodes[low]], self.values[nodes[high]]);
            let part = (low_value / (low_value - high_value)).clamp(0.0, 1.0);
            let position = self.grid.position(nodes[low]).lerp(self.grid.position(nodes[high]), part);
            self.vertices.push(position);
            self.vertices.len() as u32 - 1
        })
    }
}
