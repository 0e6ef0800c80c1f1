//! Obstacles of any shape, static or moving, with Coulomb friction.

use super::{Motion, Pose};
use crate::geometry::{DistanceGrid, DistanceGridError, GridStore, PlacedShape, Placement, Shape};
use crate::math::{Real, Vec3};
use std::sync::Arc;

/// Resistance of an obstacle's surface to sliding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction {
    /// Coulomb friction with the coefficient µ.
    Coulomb(Real),
    /// Particles that touch the surface are held there permanently.
    Stick,
}

/// Surface of an obstacle for distance queries, in the coordinates of time 0.
#[derive(Clone, Debug)]
pub(crate) enum Surface {
    /// A half-space: the points with `normal · x < offset`.
    Plane {
        /// Unit normal, pointing out of the half-space.
        normal: Vec3,
        /// Distance of the plane from the origin along the normal (m).
        offset: Real,
    },
    /// The shape itself.
    Exact(PlacedShape),
    /// Distances precomputed on a grid, because distance queries of meshes are slow.
    Baked(Baked),
}

/// A grid of distances in the shape's own frame, and the placement of that frame.
#[derive(Clone, Debug)]
pub(crate) struct Baked {
    grid: Arc<DistanceGrid>,
    placement: Placement,
    /// Requested cell size in the shape's frame; a grid that would need too much memory has larger cells.
    asked_cell: Real,
    /// Wall thickness of a hollow shape, in the shape's frame. The grid holds the solid shape: its cells may be coarser
    /// than the wall.
    wall: Option<Real>,
}

/// Largest number of nodes of a grid: 128 MB.
const MAX_GRID_NODES: usize = 32_000_000;

impl Surface {
    /// Prepares a shape for queries. Meshes get a grid of distances with cells of half of `spacing`, the smallest
    /// spacing of the bodies (m).
    pub(crate) fn try_new(
        shape: &PlacedShape,
        spacing: Real,
        store: &dyn GridStore,
    ) -> Result<Self, DistanceGridError> {
        if let Shape::HalfSpace { normal, .. } = shape.shape {
            let normal = shape.placement.direction_to_world(normal).normalize();
            return Ok(Self::Plane { normal, offset: -shape.signed_distance(Vec3::ZERO) });
        }
        if !shape.shape.has_mesh() || shape.bounds().is_none() {
            return Ok(Self::Exact(shape.clone()));
        }
        let (solid, wall) = match &shape.shape {
            Shape::Shell { shape, thickness } => (&**shape, Some(*thickness)),
            solid => (solid, None),
        };
        let cell = 0.5 * spacing / shape.placement.scale;
        let grid = DistanceGrid::bake(solid, cell, 4.0 * cell, wall.unwrap_or(0.0), MAX_GRID_NODES, store)?;
        Ok(Self::Baked(Baked { grid: Arc::new(grid), placement: shape.placement, asked_cell: cell, wall }))
    }

    #[inline]
    fn distance(&self, p: Vec3) -> Real {
        match self {
            Self::Plane { normal, offset } => normal.dot(p) - offset,
            Self::Exact(shape) => shape.signed_distance(p),
            Self::Baked(baked) => baked.distance_and_side(p).0,
        }
    }

    #[inline]
    fn normal(&self, p: Vec3) -> Vec3 {
        match self {
            Self::Plane { normal, .. } => *normal,
            Self::Exact(shape) => shape.normal(p),
            Self::Baked(baked) => {
                let (_, gradient) = baked.grid.signed_distance_and_gradient(baked.placement.to_local(p));
                let side = baked.distance_and_side(p).1;
                (baked.placement.direction_to_world(gradient) * side).normalize_or(Vec3::Y)
            }
        }
    }
}

impl Baked {
    /// Returns the distance in world units (m), and −1 if the inner side of a wall is the nearer one, else 1.
    #[inline]
    fn distance_and_side(&self, p: Vec3) -> (Real, Real) {
        let solid = self.grid.signed_distance(self.placement.to_local(p));
        let (distance, side) = match self.wall {
            Some(wall) => {
                let from_middle = solid + 0.5 * wall;
                (from_middle.abs() - 0.5 * wall, from_middle.signum())
            }
            None => (solid, 1.0),
        };
        (distance * self.placement.scale, side)
    }
}

/// An obstacle: particles stay outside of it, or inside.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// Name of the obstacle in the ledger.
    pub name: String,
    /// Shape at time 0.
    pub shape: PlacedShape,
    /// True if the obstacle keeps particles inside instead of outside.
    pub inside: bool,
    /// Resistance to sliding.
    pub friction: Friction,
    /// Motion of the obstacle; it rotates about [`Obstacle::center`].
    pub motion: Motion,
}

impl Obstacle {
    /// Creates an obstacle at rest without friction.
    pub fn new(name: impl Into<String>, shape: PlacedShape) -> Self {
        let motion = Motion::still();
        Self { name: name.into(), shape, inside: false, friction: Friction::Coulomb(0.0), motion }
    }

    /// Returns the centre of rotation: the centre of the bounds at time 0, or the position of an infinite shape (m).
    pub fn center(&self) -> Vec3 {
        self.shape.bounds().map_or(self.shape.placement.position, |b| b.center())
    }

    /// Returns an upper limit of the speed of surface points at a time (m/s); rotation of infinite shapes is ignored.
    pub(crate) fn surface_speed(&self, time: Real) -> Real {
        const MOMENT: Real = 1e-4;
        let center = self.center();
        let (now, next) = (self.motion.pose(time, center), self.motion.pose(time + MOMENT, center));
        let reach = self.shape.bounds().map_or(0.0, |b| 0.5 * b.size().length());
        let turned = now.rotation.angle_between(next.rotation);
        (now.translation.distance(next.translation) + turned * reach) / MOMENT
    }

    /// Sets Coulomb friction with the coefficient `mu`.
    pub fn with_friction(mut self, mu: Real) -> Self {
        self.friction = Friction::Coulomb(mu);
        self
    }
}

/// An obstacle prepared for queries, with its poses at the start and the end of this step.
#[derive(Clone, Debug)]
pub(crate) struct PosedObstacle {
    pub(crate) surface: Surface,
    pub(crate) bounds: Option<(Vec3, Vec3)>,
    pub(crate) sign: Real,
    pub(crate) friction: Friction,
    pub(crate) moving: bool,
    pub(crate) start: Pose,
    pub(crate) end: Pose,
}

/// Contact of a point or ball with an obstacle.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// Distance from the surface, negative inside (m).
    pub gap: Real,
    /// Unit normal, pointing away from the obstacle.
    pub normal: Vec3,
    /// Velocity of the surface at the contact (m/s).
    pub surface_velocity: Vec3,
    /// Resistance to sliding.
    pub friction: Friction,
}

impl Contact {
    /// Returns the velocity change that the obstacle causes (m/s): it stops motion into the surface, and friction
    /// within Coulomb's cone brakes the sliding.
    #[inline]
    pub fn velocity_change(&self, velocity: Vec3) -> Vec3 {
        let relative = velocity - self.surface_velocity;
        let approach = -relative.dot(self.normal);
        match self.friction {
            Friction::Stick => -relative,
            Friction::Coulomb(_) if approach <= 0.0 => Vec3::ZERO,
            Friction::Coulomb(mu) => {
                let sliding = relative + self.normal * approach;
                let speed = sliding.length();
                let braked = if speed > mu * approach { mu * approach / speed } else { 1.0 };
                self.normal * approach - sliding * braked
            }
        }
    }
}

/// Gap at which sphere tracing of a ball stops, as a fraction of the radius.
const TRACED: Real = 1e-3;
/// Largest number of steps of sphere tracing.
const MOST_TRACED: usize = 200;
/// Fraction of its radius by which a sliding ball is lifted, so that the surface under it does not stop it.
const LIFT: Real = 0.25;
/// Cosine between two normals above which their contacts count as one.
const SAME: Real = 0.9;

impl PosedObstacle {
    /// Returns the ratio of the grid's cell size to the requested one, if the grid is coarser than requested.
    pub(crate) fn coarsening(&self) -> Option<Real> {
        let Surface::Baked(baked) = &self.surface else { return None };
        Some(baked.grid.cell_size() / baked.asked_cell).filter(|ratio| *ratio > 1.01)
    }

    /// Returns the distance from the surface to a point in the coordinates of time 0; negative where particles must not
    /// be (m).
    pub(crate) fn gap_at_start(&self, point: Vec3) -> Real {
        self.surface.distance(point) * self.sign
    }

    /// Returns the unit normal that points away from the obstacle, at a point in the coordinates of time 0.
    pub(crate) fn normal_at_start(&self, point: Vec3) -> Vec3 {
        self.surface.normal(point) * self.sign
    }

    /// Returns the velocity with which the obstacle carries a point that sticks to it (m/s). The point belongs to the
    /// start pose before the step's motion, and to the end pose after it.
    pub(crate) fn carried_velocity(&self, point: Vec3, has_moved: bool, time_step: Real) -> Vec3 {
        if has_moved {
            (point - self.start.apply(self.end.undo(point))) / time_step
        } else {
            (self.end.apply(self.start.undo(point)) - point) / time_step
        }
    }

    /// Returns the contact at `point` with the obstacle at its end pose, if the surface is nearer than `reach` (m).
    #[inline]
    pub(crate) fn query(&self, point: Vec3, reach: Real, time_step: Real) -> Option<Contact> {
        let at_start = if self.moving { self.end.undo(point) } else { point };
        if let Some((low, high)) = self.bounds
            && (at_start.cmplt(low - reach).any() || at_start.cmpgt(high + reach).any())
        {
            return None;
        }
        let gap = self.surface.distance(at_start) * self.sign;
        if gap >= reach {
            return None;
        }
        let mut normal = self.normal_at_start(at_start);
        let mut surface_velocity = Vec3::ZERO;
        if self.moving {
            normal = self.end.rotation * normal;
            surface_velocity = (point - self.start.apply(at_start)) / time_step;
        }
        Some(Contact { gap, normal, surface_velocity, friction: self.friction })
    }

    /// Returns the contact that holds a particle on a sticky obstacle.
    pub(super) fn holding(&self, point: Vec3, time_step: Real) -> Contact {
        let surface_velocity = self.carried_velocity(point, false, time_step);
        let at_start = if self.moving { self.start.undo(point) } else { point };
        let normal = self.start.rotation * self.normal_at_start(at_start);
        Contact { gap: 0.0, normal, surface_velocity, friction: self.friction }
    }

    /// Visits the contacts of a ball that moves straight from one position to another while the obstacle moves from its
    /// start pose to its end pose: the first surface that it touches, or the nearest one at the end if that is nearer
    /// than `reach` (m); then the first surface that it would touch when it slides on along the first one. Gaps are
    /// those of the ball at the start of the step, along the normals.
    pub(super) fn sweep(
        &self,
        [from, to]: [Vec3; 2],
        radius: Real,
        reach: Real,
        time_step: Real,
        mut visit: impl FnMut(Contact),
    ) {
        // in the frame of the obstacle, in which it is at rest
        let (a, b) = if self.moving { (self.start.undo(from), self.end.undo(to)) } else { (from, to) };
        let margin = Vec3::splat(radius + reach);
        let (low, high) = (a.min(b) - margin, a.max(b) + margin);
        if self.bounds.is_some_and(|(min, max)| high.cmplt(min).any() || low.cmpgt(max).any()) {
            return;
        }
        let mut contact = |at: Vec3, gap: Real, normal: Vec3| {
            // the tangent plane at the contact moves with the obstacle from its start pose to its end pose
            let (mut first, mut last, mut turned) = (at, at, normal);
            if self.moving {
                (first, last) = (self.start.apply(at), self.end.apply(at));
                turned = self.end.rotation * normal;
            }
            let gap = gap + (from - first).dot(turned);
            let surface_velocity = (last - first) / time_step;
            visit(Contact { gap, normal: turned, surface_velocity, friction: self.friction });
        };
        let (at, gap) = self.trace(a, b, radius);
        if gap > reach.max(TRACED * radius) {
            return;
        }
        let normal = self.normal_at_start(at);
        contact(at, gap, normal);
        let rest = b - at;
        let slide = rest - normal * rest.dot(normal);
        if slide.length() > radius {
            let start = at + normal * (LIFT * radius);
            let (at, gap) = self.trace(start, start + slide, radius);
            let other = self.normal_at_start(at);
            if gap <= TRACED * radius && other.dot(normal) < SAME {
                contact(at, gap, other);
            }
        }
    }

    /// Traces a ball along a line (sphere tracing): returns the position of its first contact, or the end of the line,
    /// and the gap there (m).
    fn trace(&self, from: Vec3, to: Vec3, radius: Real) -> (Vec3, Real) {
        let (length, direction) = (from.distance(to), (to - from).normalize_or_zero());
        let (mut at, mut gap, mut done) = (from, self.gap_at_start(from) - radius, 0.0);
        for _ in 0..MOST_TRACED {
            if gap <= TRACED * radius || done >= length {
                break;
            }
            done = (done + gap).min(length);
            at = from + direction * done;
            gap = self.gap_at_start(at) - radius;
        }
        (at, gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::NoStore;
    use crate::math::{Quat, Random, vec3};

    fn posed(shape: Shape, inside: bool, end: Pose) -> PosedObstacle {
        let shape = PlacedShape::from(shape);
        PosedObstacle {
            bounds: shape.bounds().filter(|_| !inside).map(|b| (b.min, b.max)),
            surface: Surface::try_new(&shape, 0.1, &NoStore).unwrap(),
            sign: if inside { -1.0 } else { 1.0 },
            friction: Friction::Coulomb(0.5),
            moving: end != Pose::IDENTITY,
            start: Pose::IDENTITY,
            end,
        }
    }

    /// Checks that a sweep finds the same contact as small steps along the path, and that the gap leads exactly to it.
    #[test]
    fn ways_are_swept_like_in_small_steps() {
        let (radius, reach, time_step) = (0.05, 0.02, 0.1);
        let moved = Pose {
            translation: vec3(0.3, -0.2, 0.1),
            rotation: Quat::from_rotation_y(0.4),
            ..Pose::IDENTITY
        };
        let shell = Shape::Shell { shape: Shape::Sphere { radius: 0.5 }.into(), thickness: 0.01 };
        let all = [
            posed(Shape::Box { size: vec3(0.8, 0.3, 0.5) }, false, Pose::IDENTITY),
            posed(Shape::Sphere { radius: 0.9 }, true, Pose::IDENTITY),
            posed(shell, false, Pose::IDENTITY),
            posed(Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }, false, Pose::IDENTITY),
            posed(Shape::Box { size: vec3(0.8, 0.3, 0.5) }, false, moved),
        ];
        let mut random = Random::new(5);
        let mut n_touching = 0;
        for obstacle in &all {
            for _ in 0..400 {
                let (from, to) = (random.in_cube(), random.in_cube());
                let at = |s: Real| {
                    let (a, b) = (obstacle.start.undo(from), obstacle.end.undo(to));
                    obstacle.gap_at_start(a.lerp(b, s)) - radius
                };
                if at(0.0) < 0.0 {
                    continue;
                }
                let first = (0..=2000).map(|k| k as Real / 2000.0).find(|&s| at(s) <= 0.0);
                let mut found = None;
                obstacle.sweep([from, to], radius, reach, time_step, |contact| {
                    found = found.or(Some(contact));
                });
                match (first, found) {
                    (Some(first), Some(contact)) => {
                        n_touching += 1;
                        // the contact's plane goes through the point of first contact, also at the end of the step
                        let velocity = (to - from) / time_step;
                        let approach = (velocity - contact.surface_velocity).dot(contact.normal);
                        let (a, b) = (obstacle.start.undo(from), obstacle.end.undo(to));
                        let normal = obstacle.end.rotation.inverse() * contact.normal;
                        let expected = (b - a.lerp(b, first)).dot(normal);
                        let off = contact.gap + time_step * approach - expected;
                        assert!(off.abs() < 2e-3, "{off} at {first}");
                    }
                    (Some(first), None) => panic!("not found: touches at {first}"),
                    (None, Some(_)) => {
                        assert!(at(1.0) < reach || (0..=2000).any(|k| at(k as Real / 2000.0) < 1e-3))
                    }
                    (None, None) => assert!(at(1.0) > 0.99 * reach),
                }
            }
        }
        assert!(n_touching > 300, "{n_touching}");
    }

    /// Checks that a ball which slides on the floor of a room also finds the wall.
    #[test]
    fn what_slides_on_a_surface_meets_the_next_one() {
        let room = posed(Shape::Box { size: vec3(2.0, 1.0, 1.0) }, true, Pose::IDENTITY);
        let from = vec3(0.0, -0.45, 0.0);
        let mut found = Vec::new();
        room.sweep([from, from + vec3(3.0, -0.1, 0.0)], 0.05, 0.01, 1.0, |contact| found.push(contact));
        assert_eq!(found.len(), 2);
        assert!(found[0].normal.distance(Vec3::Y) < 1e-6 && found[1].normal.distance(-Vec3::X) < 1e-6);
        assert!(found[0].gap.abs() < 1e-3 && (found[1].gap - 0.95).abs() < 1e-3, "{found:?}");
    }
}
