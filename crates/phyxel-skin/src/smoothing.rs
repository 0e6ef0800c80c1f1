//! Smoothing that preserves thin parts: each vertex moves towards the mean of its neighbours, by a share given by its
//! weight. The weights are those of Loeschner 2023, with the particles' own supports.

use crate::carry;
use crate::cloud::Cloud;
use crate::mesh::Mesh;
use phyxel::math::{Real, Vec3, square};
use rayon::prelude::*;

/// Number of weighted neighbours of a particle at which a vertex is smoothed fully (Loeschner 2023).
const MANY_NEIGHBORS: Real = 13.0;

/// Smooths all vertices at once in each pass. `sizes` are the sizes of the cells at each vertex, in parts of the size
/// that the particles there need. A pass smooths over lengths proportional to the size of triangles times the square
/// root of the weight, so that smaller cells get more passes.
pub(crate) fn smooth(mesh: &mut Mesh, cloud: &Cloud, sizes: &[Real], n_passes: usize) {
    let smallest = sizes.iter().copied().fold(1.0, Real::min);
    let mut weights = weights(&mesh.vertices, cloud);
    for (weight, size) in weights.iter_mut().zip(sizes) {
        *weight *= square(smallest / size);
    }
    let n_passes = (n_passes as Real / (smallest * smallest)).round() as usize;
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

/// Returns one weight per vertex, from 0 (stays) to 1 (moves to the middle): s(q / 13), with s = 6x⁵ − 15x⁴ + 10x³ and
/// q the mean over particles i near the vertex of Σ_j (1 − d_ij²/h_j²).
fn weights(vertices: &[Vec3], cloud: &Cloud) -> Vec<Real> {
    let crowds = cloud.map(|_, x| {
        let mut crowd = -1.0; // a particle is not its own neighbour
        cloud.visit(x, |_, q_squared| crowd += 1.0 - q_squared);
        crowd
    });
    vertices
        .par_iter()
        .map(|&vertex| {
            let crowd = carry::mean(vertex, cloud, |j| crowds[j]);
            let x = (crowd / MANY_NEIGHBORS).clamp(0.0, 1.0);
            x * x * x * (x * (6.0 * x - 15.0) + 10.0)
        })
        .collect()
}

/// Neighbours of each vertex (those that share an edge with it) in compressed rows.
struct Neighbors {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Neighbors {
    /// Collects the neighbours. Each edge of a closed mesh occurs once in each direction, so each neighbour comes once.
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
