//! Smoothing that leaves thin parts alone: each vertex goes to the mean of its neighbours, as far as its weight says.
//! The weights are those of the program splashsurf ([Loeschner2023]), which its library leaves to the caller.

use crate::carry;
use crate::mesh::Mesh;
use phyxel::math::{Real, Vec3};
use phyxel::neighbors::Grid;
use rayon::prelude::*;

/// Weighted neighbours of a particle at which a vertex is smoothed fully. [Loeschner2023]
const MANY_NEIGHBORS: Real = 13.0;

/// One weight per vertex, from 0 (stays) to 1 (goes to the middle): s(q / 13), s = 6x⁵ − 15x⁴ + 10x³,
/// q the mean over particles i near the vertex of Σ_j (1 − d_ij²/h²).
pub(crate) fn weights(vertices: &[Vec3], positions: &[Vec3], grid: &Grid, support: Real) -> Vec<Real> {
    let squared_support = support * support;
    let crowds: Vec<Real> = positions
        .par_iter()
        .map(|&x| {
            let mut crowd = -1.0; // itself is no neighbour
            grid.visit_ball(x, support, |j| {
                crowd += (1.0 - x.distance_squared(positions[j as usize]) / squared_support).max(0.0);
            });
            crowd
        })
        .collect();
    vertices
        .par_iter()
        .map(|&vertex| {
            let crowd = carry::mean(vertex, positions, grid, support, |j| crowds[j]).unwrap_or_default();
            let x = (crowd / MANY_NEIGHBORS).clamp(0.0, 1.0);
            x * x * x * (x * (6.0 * x - 15.0) + 10.0)
        })
        .collect()
}

/// Smooths `n_passes` times, all vertices at once in each.
pub(crate) fn smooth(mesh: &mut Mesh, weights: &[Real], n_passes: usize) {
    let neighbors = Neighbors::new(mesh);
    let mut before = mesh.vertices.clone();
    for _ in 0..n_passes {
        std::mem::swap(&mut before, &mut mesh.vertices);
        mesh.vertices.par_iter_mut().enumerate().for_each(|(v, vertex)| {
            let row = neighbors.row(v);
            let middle = row.iter().map(|&u| before[u as usize]).sum::<Vec3>() / row.len().max(1) as Real;
            *vertex = before[v].lerp(middle, weights[v]);
        });
    }
}

/// Vertices that share an edge, in compressed rows.
struct Neighbors {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Neighbors {
    /// Each edge of a closed mesh is walked once in each direction, so that each neighbour comes once.
    fn new(mesh: &Mesh) -> Self {
        let mut starts = vec![0u32; mesh.vertices.len() + 1];
        for &v in mesh.triangles.iter().flatten() {
            starts[v as usize + 1] += 1;
        }
        for v in 1..starts.len() {
            starts[v] += starts[v - 1];
        }
        let mut next = starts.clone();
        let mut ends = vec![0u32; 3 * mesh.triangles.len()];
        for &[a, b, c] in &mesh.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let place = &mut next[from as usize];
                ends[*place as usize] = to;
                *place += 1;
            }
        }
        Self { starts, ends }
    }

    fn row(&self, v: usize) -> &[u32] {
        &self.ends[self.starts[v] as usize..self.starts[v + 1] as usize]
    }
}
