//! Obstacles of any shape, static or moving, with Coulomb friction; and the service that methods ask.

use super::bodies::Meeting;
use super::{Motion, Pose};
use crate::geometry::{DistanceGrid, DistanceGridError, PlacedShape, Placement, Shape};
use crate::math::{CHUNK, Real, Vec3};
use crate::particles::Particles;
use rayon::prelude::*;
use std::sync::Arc;

/// How an obstacle's surface resists sliding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction {
    /// Coulomb's coefficient µ.
    Coulomb(Real),
    /// Whatever touches is held there for good.
    Stick,
}

/// What answers an obstacle's distance queries, in the coordinates of time 0.
#[derive(Clone, Debug)]
pub(crate) enum Surface {
    /// A half-space: the points with `normal · x < offset`.
    Plane {
        /// Unit vector.
        normal: Vec3,
        /// [m]
        offset: Real,
    },
    /// The shape itself.
    Exact(PlacedShape),
    /// Distances baked on a grid: meshes are slow to ask.
    Baked(Baked),
}

/// A grid in the shape's own frame, and where that frame is.
#[derive(Clone, Debug)]
pub(crate) struct Baked {
    grid: Arc<DistanceGrid>,
    placement: Placement,
    /// The cell size that was asked for, in the shape's frame; a grid that would not fit into memory has larger ones.
    asked_cell: Real,
    /// Thickness of the wall of a hollow shape, in the shape's frame: kept off the grid, whose cells may be coarser.
    wall: Option<Real>,
}

/// Nodes of a baked grid at the most: 128 MB.
const MAX_GRID_NODES: usize = 32_000_000;

impl Surface {
    /// Bakes shapes that are slow to ask, with cells of half the smallest spacing of the bodies.
    pub(crate) fn try_new(shape: &PlacedShape, spacing: Real) -> Result<Self, DistanceGridError> {
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
        let grid = DistanceGrid::bake(solid, cell, 4.0 * cell, MAX_GRID_NODES)?;
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
    /// World distance, and −1 where the inner side of a wall is the nearer one.
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

/// An obstacle: particles stay outside (or inside) it.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// Names it in the ledger.
    pub name: String,
    /// Its shape at time 0.
    pub shape: PlacedShape,
    /// Keeps particles in instead of out.
    pub inside: bool,
    /// Resistance to sliding.
    pub friction: Friction,
    /// How it moves; about its own position.
    pub motion: Motion,
}

impl Obstacle {
    /// A resting obstacle without friction.
    pub fn new(name: impl Into<String>, shape: PlacedShape) -> Self {
        let motion = Motion::still();
        Self { name: name.into(), shape, inside: false, friction: Friction::Coulomb(0.0), motion }
    }

    /// What it turns about: the centre of its bounds at time 0, its position where it has none. [m]
    pub fn center(&self) -> Vec3 {
        self.shape.bounds().map_or(self.shape.placement.position, |b| b.center())
    }

    /// How fast points of its surface move at a time, at the most; for infinite shapes without their turning. [m/s]
    pub(crate) fn surface_speed(&self, time: Real) -> Real {
        const MOMENT: Real = 1e-4;
        let center = self.center();
        let (now, next) = (self.motion.pose(time, center), self.motion.pose(time + MOMENT, center));
        let reach = self.shape.bounds().map_or(0.0, |b| 0.5 * b.size().length());
        let turned = now.rotation.angle_between(next.rotation);
        (now.translation.distance(next.translation) + turned * reach) / MOMENT
    }

    /// With Coulomb friction.
    pub fn with_friction(mut self, mu: Real) -> Self {
        self.friction = Friction::Coulomb(mu);
        self
    }
}

/// An obstacle prepared for queries, where it is in this step.
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

/// What a query finds.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// Distance from the surface, negative inside. [m]
    pub gap: Real,
    /// Unit normal, away from the obstacle.
    pub normal: Vec3,
    /// Velocity of the surface there. [m/s]
    pub surface_velocity: Vec3,
    /// Resistance to sliding.
    pub friction: Friction,
}

/// A particle this near (in radii) to the surface is touching it.
const TOUCHING: Real = 1e-4;

impl Contact {
    /// The change of velocity that the obstacle causes: no motion into it, and Coulomb's cone for the rest.
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

impl PosedObstacle {
    /// How much coarser than asked for the baked distances are, if they are.
    pub(crate) fn coarsening(&self) -> Option<Real> {
        let Surface::Baked(baked) = &self.surface else { return None };
        Some(baked.grid.cell_size() / baked.asked_cell).filter(|ratio| *ratio > 1.01)
    }

    /// Distance from the surface in the coordinates of time 0, negative where a particle must not be. [m]
    pub(crate) fn gap_at_start(&self, point: Vec3) -> Real {
        self.surface.distance(point) * self.sign
    }

    /// How the obstacle carries a point that sticks to it: before the step's motion it is on the start pose, after it on
    /// the end pose. [m/s]
    fn carried_velocity(&self, point: Vec3, phase: Phase, time_step: Real) -> Vec3 {
        match phase {
            Phase::BeforeMoving => (self.end.apply(self.start.undo(point)) - point) / time_step,
            Phase::AfterMoving | Phase::AfterKick => {
                (point - self.start.apply(self.end.undo(point))) / time_step
            }
        }
    }

    /// The contact at `point`, if the surface is nearer than `reach`.
    #[inline]
    fn query(&self, point: Vec3, reach: Real, time_step: Real) -> Option<Contact> {
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
        let mut normal = self.surface.normal(at_start) * self.sign;
        let mut surface_velocity = Vec3::ZERO;
        if self.moving {
            normal = self.end.rotation * normal;
            surface_velocity = (point - self.start.apply(at_start)) / time_step;
        }
        Some(Contact { gap, normal, surface_velocity, friction: self.friction })
    }
}

/// When in a step contacts are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    BeforeMoving,
    AfterMoving,
    AfterKick,
}

/// In [`Contacts::touching`]: touches nothing, touches something, or (from here on) is held by obstacle number value − STUCK.
const TOUCHES_NOTHING: u32 = 0;
const TOUCHES: u32 = 1;
pub(super) const STUCK: u32 = 2;

/// The obstacles and other bodies of a step, for the particles of one group.
pub struct Contacts<'a> {
    pub(crate) obstacles: &'a [PosedObstacle],
    pub(crate) time_step: Real,
    /// Which particles touch something, or stick to which obstacle; kept from step to step.
    pub(crate) touching: &'a mut Vec<u32>,
    /// Change of velocity that contacts have given each particle before it moves; scratch of one step. [m/s]
    pub(crate) given: &'a mut Vec<Vec3>,
    pub(crate) impulses: &'a mut [Vec3],
    /// The other bodies.
    pub(crate) bodies: Meeting<'a>,
}

impl Contacts<'_> {
    /// How many obstacles there are.
    pub fn n_obstacles(&self) -> usize {
        self.obstacles.len()
    }

    /// The contact of a point with an obstacle, if its surface is nearer than `reach`.
    pub fn query(&self, obstacle: usize, point: Vec3, reach: Real) -> Option<Contact> {
        self.obstacles[obstacle].query(point, reach, self.time_step)
    }

    /// Whether a particle is held by a sticky obstacle.
    pub fn is_stuck(&self, particle: usize) -> bool {
        self.touching.get(particle).is_some_and(|mark| *mark >= STUCK)
    }

    /// Books an impulse [N s] that an obstacle gave to the bodies, for methods that solve contacts themselves.
    pub fn book(&mut self, obstacle: usize, impulse: Vec3) {
        self.impulses[obstacle] += impulse;
    }

    /// For explicit methods, before moving: the velocities of the particles that touch. To be called after everything that
    /// changes velocities, and as often: all calls of a step share one cone of friction.
    pub fn settle_before_moving(&mut self, particles: &mut Particles) {
        self.respond(particles, Phase::BeforeMoving);
    }

    /// For explicit methods, after moving: pushes particles out of obstacles and apart, and takes the velocity into obstacles
    /// from them.
    pub fn resolve(&mut self, particles: &mut Particles) {
        self.respond(particles, Phase::AfterMoving);
    }

    /// For explicit methods, after a kick at the end of the step: the velocities of the particles that touch.
    pub fn settle(&mut self, particles: &mut Particles) {
        self.respond(particles, Phase::AfterKick);
    }

    /// Bodies first: obstacles do not give way, so they have the last word. What is pressed between both needs a second round.
    fn respond(&mut self, particles: &mut Particles, phase: Phase) {
        let is_between = self.bodies.is_near() && !self.obstacles.is_empty();
        let rounds = if is_between && phase != Phase::AfterMoving { 2 } else { 1 };
        for _ in 0..rounds {
            self.bodies.respond(particles, phase, self.time_step);
            self.meet_obstacles(particles, phase);
        }
    }

    fn meet_obstacles(&mut self, particles: &mut Particles, phase: Phase) {
        let (obstacles, time_step) = (self.obstacles, self.time_step);
        if obstacles.is_empty() {
            return;
        }
        self.touching.resize(particles.len(), TOUCHES_NOTHING);
        self.given.resize(particles.len(), Vec3::ZERO);
        let Particles { position, velocity, mass, contact_radius, .. } = particles;
        let rows = position.par_chunks_mut(CHUNK).zip(velocity.par_chunks_mut(CHUNK));
        let rows = rows.zip(mass.par_chunks(CHUNK)).zip(contact_radius.par_chunks(CHUNK));
        let rows = rows.zip(self.touching.par_chunks_mut(CHUNK)).zip(self.given.par_chunks_mut(CHUNK));
        // one partial sum per chunk, added in order: the same bits for any number of threads
        let partial: Vec<Vec<Vec3>> = rows
            .map(|(((((position, velocity), mass), radius), touching), given)| {
                let mut impulses = vec![Vec3::ZERO; obstacles.len()];
                for i in 0..position.len() {
                    // only marked particles have been given anything
                    let marked = touching[i] != TOUCHES_NOTHING;
                    if phase != Phase::AfterMoving && !marked {
                        continue;
                    }
                    // what was given before in this step, and booked then, is decided anew together with what came since
                    let earlier = if phase == Phase::BeforeMoving { given[i] } else { Vec3::ZERO };
                    let without = velocity[i] - earlier;
                    let mut now = without;
                    let mut last = None;
                    let point =
                        TouchingPoint { position: &mut position[i], radius: radius[i], mark: touching[i] };
                    touching[i] = respond_one(obstacles, phase, time_step, point, |touch, obstacle| {
                        let change = match touch {
                            Touch::Slides(contact) => contact.velocity_change(now),
                            Touch::Stuck(carried) => carried - now,
                        };
                        now += change;
                        impulses[obstacle] += change * mass[i];
                        last = Some(obstacle);
                    });
                    if let Some(obstacle) = last {
                        impulses[obstacle] -= earlier * mass[i];
                        velocity[i] = now;
                    }
                    if phase == Phase::BeforeMoving && last.is_some() {
                        given[i] = now - without;
                    } else if marked {
                        given[i] = Vec3::ZERO;
                    }
                }
                impulses
            })
            .collect();
        for chunk in partial {
            self.impulses.iter_mut().zip(chunk).for_each(|(sum, part)| *sum += part);
        }
    }
}

/// What a particle meets.
enum Touch {
    Slides(Contact),
    Stuck(Vec3),
}

/// A particle that may touch.
struct TouchingPoint<'a> {
    position: &'a mut Vec3,
    radius: Real,
    mark: u32,
}

/// One particle against all obstacles; returns its new mark. `meet` gets what it touches and the obstacle's number.
#[inline]
fn respond_one(
    obstacles: &[PosedObstacle],
    phase: Phase,
    time_step: Real,
    point: TouchingPoint<'_>,
    mut meet: impl FnMut(Touch, usize),
) -> u32 {
    let TouchingPoint { position, radius, mark } = point;
    if mark >= STUCK {
        let k = (mark - STUCK) as usize;
        meet(Touch::Stuck(obstacles[k].carried_velocity(*position, phase, time_step)), k);
        return mark;
    }
    let mut mark = TOUCHES_NOTHING;
    for (k, obstacle) in obstacles.iter().enumerate() {
        let Some(contact) = obstacle.query(*position, radius * (1.0 + TOUCHING), time_step) else { continue };
        if phase == Phase::AfterMoving && contact.gap < radius {
            *position += contact.normal * (radius - contact.gap);
        }
        if contact.friction == Friction::Stick {
            meet(Touch::Stuck(obstacle.carried_velocity(*position, phase, time_step)), k);
            return k as u32 + STUCK;
        }
        mark = TOUCHES;
        meet(Touch::Slides(contact), k);
    }
    mark
}
