//! Surface of a density of particles, found in tetrahedra of a size that suits the particles.
//!
//! The density is φ(x) = Σ_i w(|x − x_i| / h_i) / n_i, with n_i = Σ_j w(|x_i − x_j| / h_j), w the cubic spline and h_i
//! four radii: about 1 in matter of any spacing, 0 outside. It is computed at the nodes of a lattice and taken as
//! linear in the lattice's tetrahedra, so that its surface is closed and every vertex has one fan of triangles, without
//! a table of cases.

use crate::cloud::{Cloud, cubic_spline};
use crate::lattice::{BITS, Lattice, Place, corners};
use crate::mesh::Mesh;
use crate::tunnels::Border;
use crate::{MOST_CELLS, SkinError};
use phyxel::math::{Real, Vec3, log2, power, sum_over, vec3};
use rayon::prelude::*;

/// Range of densities near the surface. In a first pass, with cells twice as large, only cells with values in it are
/// divided. Inside of matter some values are below the upper end; far outside none is above the lower end.
const BAND: [Real; 2] = [0.1, 0.9];

/// Number of levels above that of the coarsest particles; cubes of this size are undivided outside.
const LEVELS_ABOVE: u32 = 3;

/// Least distance of vertices from the nodes, so that triangles do not degenerate (parts of an edge).
const MARGIN: Real = 0.05;

/// Part of the volume below which the surface is moved to lower densities: matter that has flowed is looser in places
/// than its radii suggest.
const LEAST_VOLUME: Real = 0.99;

/// Largest number of steps of Newton's method for this; the volume is nearly linear in the density.
const MOST_STEPS: usize = 3;

/// Lowest density at the surface, in parts of the requested one.
const LOWEST: Real = 0.5;

/// Rounds of filling tunnels: a tunnel that is two nodes wide may be one node wide after its neighbour is filled.
const MOST_FILLINGS: usize = 3;

/// Density that fills a tunnel or a pocket, in parts of the one at the surface.
const FILLED: Real = 1.05;

/// Density of the particles as a function of position.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    cloud: &'a Cloud,
    /// Factor of each particle, 1 / n_i.
    shares: Vec<Real>,
}

/// Requirements for a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Edge of a cell (radii).
    pub(crate) cell: Real,
    /// Density at the surface, in parts of the one inside; less if the volume needs it.
    pub(crate) iso: Real,
    /// Volume to enclose, if it is known (m³).
    pub(crate) volume: Option<Real>,
}

/// A density at the nodes of a lattice.
struct Sampled {
    room: Room,
    lattice: Lattice,
    densities: Vec<Real>,
}

/// The surface of a density.
pub(crate) struct Surface {
    pub(crate) mesh: Mesh,
    /// Size of the lattice's cells at each vertex (m).
    pub(crate) sizes: Vec<Real>,
    /// Displacement of each vertex per change of the surface's density (m).
    shifts: Vec<Vec3>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(cloud: &'a Cloud) -> Self {
        let shares = cloud.map(|_, x| {
            let mut crowd = 0.0;
            cloud.visit(x, |_, q_squared| crowd += cubic_spline(q_squared));
            crowd.recip()
        });
        Self { cloud, shares }
    }

    fn at(&self, x: Vec3) -> Real {
        let mut density = 0.0;
        self.cloud.visit(x, |i, q_squared| density += cubic_spline(q_squared) * self.shares[i]);
        density
    }

    /// Finds the surface; it is closed, and its order depends only on the particles.
    pub(crate) fn surface(&self, target: Target) -> Result<Surface, SkinError> {
        let mut sampled = self.sample(target)?;
        let mut iso = target.iso;
        let mut surface = self.march(&sampled, iso);
        for _ in 0..MOST_STEPS {
            let Some(volume) = target.volume else { break };
            let missing = LEAST_VOLUME * volume - surface.mesh.volume();
            let per_density = surface.volume_per_density();
            let next = (iso + missing / per_density).max(LOWEST * target.iso);
            if !(missing > 0.0 && per_density < 0.0 && next < iso) {
                break;
            }
            iso = next;
            surface = self.march(&sampled, iso);
        }
        if sampled.fill_pockets(iso) {
            surface = self.march(&sampled, iso);
        }
        for _ in 0..MOST_FILLINGS {
            if !surface.mesh.has_tunnels() || !sampled.fill_tunnels(iso) {
                break;
            }
            surface = self.march(&sampled, iso);
        }
        Ok(surface)
    }

    /// Computes the density on a lattice that is fine where the surface can be.
    fn sample(&self, target: Target) -> Result<Sampled, SkinError> {
        let room = Room::new(self.cloud, target.cell)?;
        let cubes = room.cubes(self.cloud);
        let all = cubes.par_iter().enumerate();
        let all = all.flat_map_iter(|(level, cubes)| cubes.iter().map(move |&cube| (cube, level as u32)));

        let coarse = Lattice::new(all.clone().flat_map_iter(|(cube, level)| corners(cube, level)), room.top);
        let density = |&node: &Place| self.at(room.world(node));
        let densities: Vec<Real> = coarse.nodes.par_iter().with_min_len(64).map(density).collect();
        let (lowest, highest) = (BAND[0].min(LOWEST * target.iso), BAND[1].max(target.iso));
        let is_near = |cube: Place, level: u32| {
            let (mut low, mut high) = (Real::INFINITY, 0.0);
            for node in corners(cube, level).filter_map(|corner| coarse.find(corner)) {
                let density = densities[node as usize];
                (low, high) = (density.min(low), density.max(high));
            }
            low < highest && high > lowest
        };
        let seeds = all.filter(|&(cube, level)| is_near(cube, level)).flat_map_iter(|(cube, level)| {
            let half = 1 << (level - 1);
            (0..27).map(move |k| {
                let step = [k % 3, k / 3 % 3, k / 9];
                [0, 1, 2].map(|axis| cube[axis] + step[axis] * half)
            })
        });
        let lattice = Lattice::new(seeds.chain(coarse.nodes.par_iter().copied()), room.top);
        let known = |node: Place| coarse.find(node).map(|node| densities[node as usize]);
        let density = |&node: &Place| known(node).unwrap_or_else(|| self.at(room.world(node)));
        let densities = lattice.nodes.par_iter().with_min_len(64).map(density).collect();
        Ok(Sampled { room, lattice, densities })
    }

    /// Finds the surface by marching tetrahedra.
    fn march(&self, sampled: &Sampled, iso: Real) -> Surface {
        let Sampled { room, lattice, densities } = sampled;
        let is_inside = |node: u32| densities[node as usize] > iso;
        let crossed = lattice.tetrahedra(|nodes| {
            let n_inside = nodes.iter().filter(|&&node| is_inside(node)).count();
            n_inside != 0 && n_inside != 4
        });
        let faces: Vec<Face> =
            crossed.par_iter().map(|&nodes| Face::new(nodes, nodes.map(is_inside))).collect();
        let mut edges: Vec<[u32; 2]> = faces.par_iter().flat_map_iter(Face::edges).collect();
        edges.par_sort_unstable();
        edges.dedup();

        let ends = |edge: &[u32; 2]| edge.map(|node| room.world(lattice.nodes[node as usize]));
        let values = |edge: &[u32; 2]| edge.map(|node| densities[node as usize]);
        let crossing = |edge: &[u32; 2]| self.crossing(ends(edge), values(edge), iso);
        let vertices: Vec<Vec3> = edges.par_iter().with_min_len(64).map(crossing).collect();
        let number = |edge: [u32; 2]| edges.binary_search(&edge).unwrap_or_default() as u32;
        let triangles = faces.par_iter().flat_map_iter(|face| face.triangles(&number, &vertices));
        let triangles = triangles.flatten_iter().collect();
        let size = |edge: &[u32; 2]| {
            let [a, b] = ends(edge);
            (a - b).abs().max_element()
        };
        let shift = |edge: &[u32; 2]| {
            let ([a, b], [at_a, at_b]) = (ends(edge), values(edge));
            (b - a) / (at_b - at_a)
        };
        Surface {
            sizes: edges.par_iter().map(size).collect(),
            shifts: edges.par_iter().map(shift).collect(),
            mesh: Mesh { triangles, vertices },
        }
    }

    /// Returns the point between two positions where the density is `iso`: linear interpolation, then a second one with
    /// the density found there.
    fn crossing(&self, [a, b]: [Vec3; 2], [at_a, at_b]: [Real; 2], iso: Real) -> Vec3 {
        let zero = |[s, t]: [Real; 2], [at_s, at_t]: [Real; 2]| s + (t - s) * (iso - at_s) / (at_t - at_s);
        let first = zero([0.0, 1.0], [at_a, at_b]);
        let between = self.at(a.lerp(b, first));
        let second = if (between > iso) == (at_a > iso) {
            zero([first, 1.0], [between, at_b])
        } else {
            zero([0.0, first], [at_a, between])
        };
        let best = if second.is_finite() { second } else { first };
        a.lerp(b, best.clamp(MARGIN, 1.0 - MARGIN))
    }
}

impl Sampled {
    /// Fills tunnels that are one node wide; returns false if there are none.
    fn fill_tunnels(&mut self, iso: Real) -> bool {
        let is_inside = |node: u32| self.densities[node as usize] > iso;
        let found = Border::new(&self.lattice, &is_inside).tunnels();
        self.fill(&found, iso)
    }

    /// Fills small pockets; returns false if there are none.
    fn fill_pockets(&mut self, iso: Real) -> bool {
        let is_inside = |node: u32| self.densities[node as usize] > iso;
        let found = Border::new(&self.lattice, &is_inside).pockets();
        self.fill(&found, iso)
    }

    fn fill(&mut self, nodes: &[u32], iso: Real) -> bool {
        nodes.iter().for_each(|&node| self.densities[node as usize] = FILLED * iso);
        !nodes.is_empty()
    }
}

impl Surface {
    /// Returns the change of the volume with the density of the surface (m³).
    fn volume_per_density(&self) -> Real {
        let areas = self.mesh.vertex_areas();
        sum_over(areas.len(), |v| areas[v].dot(self.shifts[v]))
    }
}

/// Position of the lattice in the world.
struct Room {
    /// Edge of a cell of level 0 (m).
    cell: Real,
    /// Offset of the lattice's origin from the world's origin (cells).
    origin: Vec3,
    /// Level of undivided cubes.
    top: u32,
    smallest_radius: Real,
}

impl Room {
    /// Creates room for the particles. The cells are at the same positions in all frames.
    fn new(cloud: &Cloud, cell: Real) -> Result<Self, SkinError> {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for &x in &cloud.positions {
            (low, high) = (low.min(x), high.max(x));
        }
        let smallest_radius = cloud.radii.iter().copied().fold(Real::INFINITY, Real::min);
        let largest_radius = cloud.radii.iter().copied().fold(0.0, Real::max);
        let coarsest = level(largest_radius, smallest_radius);
        let cell = cell * smallest_radius;
        let top = coarsest + LEVELS_ABOVE;
        let top_size = power(2.0, top);
        let origin = ((low / cell / top_size).floor() - 3.0) * top_size;
        let n_cells = (high / cell - origin).max_element() + 4.0 * top_size;
        if !(n_cells < MOST_CELLS) || coarsest > BITS {
            return Err(SkinError::TooFar { n_cells });
        }
        Ok(Self { cell, origin, top, smallest_radius })
    }

    fn world(&self, place: Place) -> Vec3 {
        let [x, y, z] = place.map(Real::from);
        (vec3(x, y, z) + self.origin) * self.cell
    }

    /// Returns cubes around the particles, twice as large as the cells that the particles need; by level.
    fn cubes(&self, cloud: &Cloud) -> Vec<Vec<Place>> {
        let mut cubes: Vec<Vec<Place>> = vec![Vec::new(); self.top as usize];
        for (&x, &radius) in cloud.positions.iter().zip(&cloud.radii) {
            let level = level(radius, self.smallest_radius) + 1;
            let place = (x / self.cell - self.origin).to_array().map(|x| x as u32 >> level << level);
            cubes[level as usize].push(place);
        }
        let around = |(level, mut cubes): (usize, Vec<Place>)| {
            cubes.par_sort_unstable();
            cubes.dedup();
            // extended to both sides along one axis after the other
            for axis in 0..3 {
                let sides = |cube: Place| {
                    [0, 1, 2].map(|step| {
                        let mut side = cube;
                        side[axis] = side[axis] + (step << level) - (1 << level);
                        side
                    })
                };
                cubes = cubes.into_iter().flat_map(sides).collect();
                cubes.par_sort_unstable();
                cubes.dedup();
            }
            cubes
        };
        cubes.into_iter().enumerate().map(around).collect()
    }
}

/// Returns the level of the cells for a particle: the nearest power of two.
fn level(radius: Real, smallest: Real) -> u32 {
    log2(radius / smallest).round() as u32
}

/// Ratio of squared lengths above which a diagonal is longer: equal ones must not flip by rounding if the body moves.
const CLEARLY: Real = 1.0 + 1e-6;

/// Surface in a tetrahedron: a triangle or a quadrangle. Its corners lie on edges of the lattice.
struct Face {
    corners: [[u32; 2]; 4],
    n: usize,
}

/// Orders of the corners of a tetrahedron that keep its orientation, indexed by the corners inside (bit k for corner
/// k). If one corner is alone on its side, it comes first; if two corners are inside, they come first.
const ORDERS: [[usize; 4]; 16] = [
    [0, 1, 2, 3],
    [0, 1, 2, 3],
    [1, 0, 3, 2],
    [0, 1, 2, 3],
    [2, 3, 0, 1],
    [0, 2, 3, 1],
    [1, 2, 0, 3],
    [3, 2, 1, 0],
    [3, 2, 1, 0],
    [0, 3, 1, 2],
    [1, 3, 2, 0],
    [2, 3, 0, 1],
    [2, 3, 0, 1],
    [1, 0, 3, 2],
    [0, 1, 2, 3],
    [0, 1, 2, 3],
];

impl Face {
    /// Creates the face in a right-handed tetrahedron that has corners on both sides.
    fn new(nodes: [u32; 4], is_inside: [bool; 4]) -> Self {
        let case = (0..4).map(|k| usize::from(is_inside[k]) << k).sum::<usize>();
        let [a, b, c, d] = ORDERS[case].map(|k| nodes[k]);
        let edge = |s: u32, t: u32| [s.min(t), s.max(t)];
        match case.count_ones() {
            2 => Self { corners: [edge(a, c), edge(a, d), edge(b, d), edge(b, c)], n: 4 },
            1 => Self { corners: [edge(a, b), edge(a, c), edge(a, d), [0; 2]], n: 3 },
            _ => Self { corners: [edge(a, b), edge(a, d), edge(a, c), [0; 2]], n: 3 },
        }
    }

    fn edges(&self) -> impl Iterator<Item = [u32; 2]> {
        self.corners.into_iter().take(self.n)
    }

    /// Returns triangles of vertices; a quadrangle is divided along the shorter diagonal.
    fn triangles(&self, number: &impl Fn([u32; 2]) -> u32, vertices: &[Vec3]) -> [Option<[u32; 3]>; 2] {
        let mut v = [0; 4];
        for (v, edge) in v.iter_mut().zip(self.edges()) {
            *v = number(edge);
        }
        let length = |s: u32, t: u32| vertices[s as usize].distance_squared(vertices[t as usize]);
        let [a, b, c, d] = v;
        let (first, second) = match self.n {
            3 => ([a, b, c], None),
            _ if length(a, c) <= CLEARLY * length(b, d) => ([a, b, c], Some([a, c, d])),
            _ => ([a, b, d], Some([b, c, d])),
        };
        [Some(first), second]
    }
}
