//! Evenly spread particles without order, by mutual repulsion.
//!
//! Each particle is repelled by those nearer than `REACH` spacings. Near the surface it is also repelled by the mirror
//! images of itself and its neighbours behind the tangent plane, as if the body continued there: so the density stays
//! even up to the surface, and the outermost particles come to rest half a spacing under it.

use rayon::prelude::*;

use super::super::mesh::{ClosestPoint, TriangleMesh};
use super::super::placement::PlacedShape;
use super::super::shape::Shape;
use super::nearest::CellGrid;
use super::{Body, FillError, Sample};
use crate::math::{Random, cube};
use crate::math::{Real, Vec3};

const N_ITERATIONS: usize = 60;
/// Range of the repulsion, in spacings.
const REACH: Real = 1.7;
/// Depth under the surface below which mirror images are within the range of repulsion, in spacings.
const MIRROR_DEPTH: Real = 0.5 * REACH;
/// Displacement per unit of repulsion in the first and in the last iteration, in spacings.
const FIRST_STEP: Real = 0.25;
const LAST_STEP: Real = 0.06;
/// Largest displacement of a particle in an iteration, in spacings.
const MAX_MOVE: Real = 0.2;
/// Smallest depth of particles under the surface where the body is thick enough, in spacings.
const MIN_DEPTH: Real = 0.4;
/// Number of attempts to move away from walls that meet in a wedge or a corner.
const N_WALLS: usize = 4;

/// Position of a particle, with the last query of the surface near it.
#[derive(Clone, Copy)]
struct Place {
    position: Vec3,
    /// Signed distance at the last query; `normal` is from the same query.
    distance: Real,
    normal: Vec3,
    /// Radius without change of sign at the last query; it is less than the distance near holes of open meshes.
    clearance: Real,
    /// Index of the nearest triangle, if the body is a mesh.
    triangle: usize,
    /// Path length of the particle since the last query.
    moved: Real,
}

/// The surface of the body.
struct Walls<'a> {
    shape: &'a PlacedShape,
    /// True if the inside can end without a surface.
    has_holes: bool,
}

/// Removes or adds samples until there are `count`.
pub(super) fn with_count(
    body: &Body,
    mut samples: Vec<Sample>,
    count: usize,
    spacing: Real,
    seed: u64,
) -> Result<Vec<Sample>, FillError> {
    let mut random = Random::with_stream(seed, u64::MAX);
    while samples.len() > count {
        let drawn = random.index(samples.len());
        samples.swap_remove(drawn);
    }
    if samples.is_empty() && count > 0 {
        samples.push(first_sample(body, spacing, &mut random)?);
    }
    while samples.len() < count {
        // new samples are put beside existing ones, because the body may be a small part of its bounds
        let near = samples[random.index(samples.len())];
        let tries =
            [1.0, 0.7, 0.5, 0.3, 0.1, 0.01].map(|reach| near.position + reach * spacing * random.in_cube());
        let found = tries.into_iter().find(|&position| body.shape.contains(position));
        samples.push(Sample { position: found.unwrap_or(near.position), ..near });
    }
    Ok(samples)
}

/// Returns a random point inside, for a lattice that has no point in the body.
fn first_sample(body: &Body, spacing: Real, random: &mut Random) -> Result<Sample, FillError> {
    let half = 0.5 * body.bounds.size();
    let drawn = (0..100_000).map(|_| body.bounds.center() + half * random.in_cube());
    match drawn.into_iter().find(|&position| body.shape.contains(position)) {
        Some(position) => Ok(Sample { position, spacing, cell_volume: cube(spacing) }),
        None => {
            let size = super::Size(body.bounds.size());
            Err(FillError::NoParticles { size, volume: body.volume, spacing })
        }
    }
}

/// Spreads the samples evenly; their number stays the same. They must be inside, and stay inside.
pub(super) fn relax(
    shape: &PlacedShape,
    samples: Vec<Sample>,
    spacing_at: &(impl Fn(Vec3) -> Real + Sync),
) -> Vec<Sample> {
    let walls = Walls::new(shape);
    let mut places: Vec<Place> = samples.par_iter().map(|sample| walls.ask(sample.position)).collect();
    for iteration in 0..N_ITERATIONS {
        let progress = iteration as Real / (N_ITERATIONS - 1) as Real;
        let step = FIRST_STEP + progress * (LAST_STEP - FIRST_STEP);
        let positions: Vec<Vec3> = places.iter().map(|place| place.position).collect();
        let spacings: Vec<Real> = positions.iter().map(|&position| spacing_at(position)).collect();
        let smallest = spacings.iter().copied().fold(Real::INFINITY, Real::min);
        let grid = CellGrid::new(&positions, REACH * smallest);
        places = places
            .par_iter()
            .enumerate()
            .map(|(index, place)| {
                let spacing = spacings[index];
                let push = repulsion(&grid, &spacings, index, place);
                let offset = (step * spacing * push).clamp_length_max(MAX_MOVE * spacing);
                place.moved_by(&walls, offset, spacing)
            })
            .collect();
    }
    let relaxed = places.iter().map(|place| {
        let spacing = spacing_at(place.position);
        Sample { position: place.position, spacing, cell_volume: cube(spacing) }
    });
    relaxed.collect()
}

/// Returns the sum of the repulsions of all neighbours and, near the surface, of the mirror images.
fn repulsion(grid: &CellGrid<'_>, spacings: &[Real], index: usize, place: &Place) -> Vec3 {
    let spacing = spacings[index];
    // a neighbour with a larger spacing reaches further; spacings differ little within the reach
    let radius = 1.25 * REACH * spacing;
    let depth = place.least_depth();
    let is_near_surface = depth < MIRROR_DEPTH * spacing;
    let mut sum = Vec3::ZERO;
    let mut push = |offset: Vec3, distance_squared: Real, reach: Real| {
        if distance_squared < reach * reach && distance_squared > 0.0 {
            let distance = distance_squared.sqrt();
            let nearness = 1.0 - distance / reach;
            sum -= nearness * nearness / distance * offset;
        }
    };
    grid.visit_within(place.position, radius, |other, offset, distance_squared| {
        let reach = REACH * 0.5 * (spacing + spacings[other]);
        if other == index {
            return;
        }
        if distance_squared == 0.0 {
            // two at the same position are separated along a direction that differs for each pair
            let direction = Random::with_stream(index.min(other) as u64, index.max(other) as u64).in_cube();
            let side = if index < other { 1.0 } else { -1.0 };
            push(1e-3 * side * spacing * direction, 1e-6 * spacing * spacing, reach);
        } else {
            push(offset, distance_squared, reach);
        }
        if is_near_surface {
            // mirrored at the tangent plane, which is `-distance` ahead along the normal
            let ahead = -place.distance - offset.dot(place.normal);
            if ahead > 0.0 {
                let image = offset + 2.0 * ahead * place.normal;
                push(image, image.length_squared(), reach);
            }
        }
    });
    if is_near_surface {
        let image = -2.0 * place.distance.min(0.0) * place.normal;
        push(image, image.length_squared(), REACH * spacing);
    }
    sum
}

impl<'a> Walls<'a> {
    fn new(shape: &'a PlacedShape) -> Self {
        let mut has_holes = false;
        shape.shape.visit_meshes(&mut |mesh| has_holes |= !mesh.is_closed());
        Self { shape, has_holes }
    }

    fn ask(&self, position: Vec3) -> Place {
        if let Shape::Mesh(mesh) = &self.shape.shape {
            let closest = mesh.closest_point(self.shape.placement.to_local(position));
            return self.ask_mesh(mesh, position, &closest, None);
        }
        let (distance, normal) = self.shape.signed_distance_and_normal(position);
        let clearance = if self.has_holes { 0.0 } else { distance.abs() };
        Place { position, distance, normal, clearance, triangle: 0, moved: 0.0 }
    }

    /// Queries the surface at a position near a known place. On a mesh that is much cheaper: a triangle near the
    /// nearest one is known, and the side, too, if the displacement was shorter than the clearance.
    fn ask_near(&self, known: &Place, position: Vec3) -> Place {
        let Shape::Mesh(mesh) = &self.shape.shape else {
            return self.ask(position);
        };
        let closest = mesh.closest_point_near(self.shape.placement.to_local(position), known.triangle);
        let left = known.clearance - known.moved - position.distance(known.position);
        let is_surely_inside = known.distance < 0.0 && left > 0.0;
        self.ask_mesh(mesh, position, &closest, is_surely_inside.then_some(left))
    }

    /// Returns the place at a position whose closest point is known, and optionally a radius that is surely inside.
    fn ask_mesh(
        &self,
        mesh: &TriangleMesh,
        position: Vec3,
        closest: &ClosestPoint,
        inside: Option<Real>,
    ) -> Place {
        let placement = &self.shape.placement;
        let local = placement.to_local(position);
        let signed_clearance = match inside {
            Some(_) if !self.has_holes => -placement.scale * closest.distance,
            Some(radius) => -radius,
            None => placement.scale * mesh.signed_clearance(local, closest.distance),
        };
        let (distance, normal) = mesh.surface_at(local, closest, signed_clearance < 0.0);
        Place {
            position,
            distance: placement.scale * distance,
            normal: placement.direction_to_world(normal),
            clearance: signed_clearance.abs(),
            triangle: closest.triangle,
            moved: 0.0,
        }
    }
}

impl Place {
    /// Returns a lower limit of the depth under the surface.
    fn least_depth(&self) -> Real {
        -self.distance - self.moved
    }

    /// Returns the place after a displacement, or the same place if that would leave the body. The surface is only
    /// queried if it may be near.
    fn moved_by(&self, walls: &Walls<'_>, offset: Vec3, spacing: Real) -> Self {
        let moved = Self { position: self.position + offset, moved: self.moved + offset.length(), ..*self };
        if moved.clearance - moved.moved > MIRROR_DEPTH * spacing {
            return moved;
        }
        let asked = walls.ask_near(self, moved.position).sunk(walls, MIN_DEPTH * spacing);
        // in a body that is too thin for the depth, a particle may at least not come nearer to the surface
        let is_deep_enough = asked.distance <= (-0.99 * MIN_DEPTH * spacing).max(self.distance);
        if asked.distance < 0.0 && is_deep_enough { asked } else { *self }
    }

    /// Moves away from one wall after the other towards a depth, and returns the deepest place found.
    fn sunk(self, walls: &Walls<'_>, depth: Real) -> Self {
        let mut deepest = self;
        let mut current = self;
        for _ in 0..N_WALLS {
            let lacking = current.distance + depth;
            if lacking <= 1e-3 * depth {
                break;
            }
            current = walls.ask_near(&current, current.position - lacking * current.normal);
            if current.distance < deepest.distance {
                deepest = current;
            }
        }
        deepest
    }
}
