//! Closed triangle mesh: its measures, and the displacement of its vertices.

use phyxel::math::{Real, Vec3, cube, sum_over};
use phyxel::neighbors::Components;
use rayon::prelude::*;

/// Triangles over shared vertices.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    /// Positions of the vertices (m).
    pub(crate) vertices: Vec<Vec3>,
    /// Indices of the corners, counter-clockwise from outside.
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// Relative error of the fitted volume, unless the vertices have moved as far as they may.
const VOLUME_ERROR: Real = 1e-3;
/// Largest number of steps of Newton's method, which needs two or three.
const MOST_STEPS: usize = 8;

impl Mesh {
    fn corners(&self, triangle: [u32; 3]) -> [Vec3; 3] {
        triangle.map(|v| self.vertices[v as usize])
    }

    /// Returns V = Σ a·(b × c) / 6, about the first vertex, so that no digits are lost far from the origin (m³).
    pub(crate) fn volume(&self) -> Real {
        let about = self.vertices.first().copied().unwrap_or_default();
        sum_over(self.triangles.len(), |t| {
            let [a, b, c] = self.corners(self.triangles[t]).map(|x| x - about);
            a.dot(b.cross(c)) / 6.0
        })
    }

    /// Returns the vector areas of each vertex's triangles, a third each: the volume's gradient by the vertex (m²).
    pub(crate) fn vertex_areas(&self) -> Vec<Vec3> {
        let mut areas = vec![Vec3::ZERO; self.vertices.len()];
        for &triangle in &self.triangles {
            let [a, b, c] = self.corners(triangle);
            let third = (b - a).cross(c - a) / 6.0;
            for v in triangle {
                areas[v as usize] += third;
            }
        }
        areas
    }

    /// Returns normals of length 1, weighted by the areas of triangles.
    pub(crate) fn normals(&self) -> Vec<Vec3> {
        self.vertex_areas().into_iter().map(|area| area.try_normalize().unwrap_or(Vec3::Y)).collect()
    }

    /// Moves all vertices along their normals by the same part of their radii, at most a whole one, such that the
    /// volume becomes `volume`. Returns this part.
    pub(crate) fn fit_volume(&mut self, volume: Real, radii: &[Real]) -> Real {
        let mut moved: Real = 0.0;
        for _ in 0..MOST_STEPS {
            let missing = volume - self.volume();
            if missing.abs() <= VOLUME_ERROR * volume {
                break;
            }
            let areas = self.vertex_areas();
            let by_radius = sum_over(areas.len(), |v| areas[v].length() * radii[v]);
            let step = (moved + missing / by_radius).clamp(-1.0, 1.0) - moved;
            if step == 0.0 || !step.is_finite() {
                break;
            }
            self.vertices
                .par_iter_mut()
                .zip(areas.par_iter().zip(radii))
                .for_each(|(x, (area, radius))| *x += step * radius * area.normalize_or_zero());
            moved += step;
        }
        moved
    }

    fn components(&self) -> Components {
        let mut components = Components::new(self.vertices.len());
        for &[a, b, c] in &self.triangles {
            components.join(a, b);
            components.join(b, c);
        }
        components
    }

    /// Returns true if not all components are like spheres. By Euler's formula each sphere has 2 = vertices − edges +
    /// triangles, and a closed mesh has 3 edges for 2 triangles.
    pub(crate) fn has_tunnels(&self) -> bool {
        self.vertices.len() < 2 * self.components().n_sets() + self.triangles.len() / 2
    }

    /// Finds vertices of components that enclose less than the volume of a particle: bubbles in the matter where
    /// particles happen to be loose. Takes one radius per vertex (m).
    pub(crate) fn bubbles(&self, radii: &[Real]) -> Vec<bool> {
        let mut components = self.components();
        let roots: Vec<usize> =
            (0..self.vertices.len() as u32).map(|v| components.root(v) as usize).collect();
        let mut volumes = vec![0.0; self.vertices.len()];
        for &triangle in &self.triangles {
            let root = roots[triangle[0] as usize];
            let [a, b, c] = self.corners(triangle).map(|x| x - self.vertices[root]);
            volumes[root] += a.dot(b.cross(c)) / 6.0;
        }
        roots.iter().map(|&root| volumes[root].abs() < cube(2.0 * radii[root])).collect()
    }

    /// Removes vertices together with all triangles that use them.
    pub(crate) fn remove(&mut self, is_removed: &[bool]) {
        let mut place = vec![0u32; self.vertices.len()];
        let mut kept = Vec::with_capacity(self.vertices.len());
        for v in (0..self.vertices.len()).filter(|&v| !is_removed[v]) {
            place[v] = kept.len() as u32;
            kept.push(self.vertices[v]);
        }
        self.triangles.retain(|triangle| triangle.iter().all(|&v| !is_removed[v as usize]));
        for corner in self.triangles.iter_mut().flatten() {
            *corner = place[*corner as usize];
        }
        self.vertices = kept;
    }
}
