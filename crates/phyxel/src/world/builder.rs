//! Builder: checks the description of a world and builds it.

mod groups;
mod warnings;

pub(super) use groups::{Member, Methods};

use super::balance::Books;
use super::clearance::Placed;
use super::events::{Schedule, p_wave_modulus};
use super::moved_obstacles::MovedObstacles;
use super::{ActionError, Event, Interval, World};
use crate::contact::{
    BodyContacts, BodyTraits, Grip, GripMove, Holds, Obstacle, Pose, PosedObstacle, Surface,
};
use crate::forces::ForceField;
use crate::geometry::{Fill, FillError, Filled, GridStore, NoStore, PlacedShape, Spacing, fill};
use crate::material::Material;
use crate::math::{Real, Vec3};
use crate::methods::{CATALOGUE, MethodError, MethodFactory, Timings};
use crate::particles::Particles;
use crate::surface::Carried;
use std::sync::Arc;

/// Coulomb's coefficient of new bodies.
const DEFAULT_FRICTION: Real = 0.3;

/// A body, as a user describes it.
#[derive(Clone, Debug)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// Shape at time 0.
    pub shape: PlacedShape,
    /// Settings for filling the shape with particles.
    pub fill: Fill,
    /// Material of the body.
    pub material: Material,
    /// Key of the method that drives the body; the world's default if `None`.
    pub method: Option<String>,
    /// Velocity at time 0 (m/s).
    pub velocity: Vec3,
    /// Angular velocity at time 0 about its centre of mass (rad/s).
    pub angular_velocity: Vec3,
    /// Coulomb's coefficient against other bodies and own parts; the one between two bodies is the mean √(µ₁ µ₂).
    pub friction: Real,
    /// True if the body is bonded, where they touch, to other bodies of the same method that have this flag too.
    pub fuse: bool,
    /// Points that move with the body, such as the vertices of its mesh.
    pub carried: Carried,
}

impl Body {
    /// Creates a body at rest, filled with a lattice of the given spacing (m).
    pub fn new(
        name: impl Into<String>,
        shape: impl Into<PlacedShape>,
        spacing: Real,
        material: Material,
    ) -> Self {
        Self {
            name: name.into(),
            shape: shape.into(),
            fill: Fill::new(Spacing::Uniform(spacing)),
            material,
            method: None,
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            friction: DEFAULT_FRICTION,
            fuse: false,
            carried: Carried::default(),
        }
    }

    /// Places the body at a position (m).
    pub fn at(mut self, position: Vec3) -> Self {
        self.shape.placement.position = position;
        self
    }
}

/// Reason why a world cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The world has no body.
    #[error("a world needs at least one body")]
    NoBodies,
    /// A shape could not be filled.
    #[error("body \"{name}\": {source}")]
    Fill {
        /// Index of the body.
        body: usize,
        /// Name of the body.
        name: String,
        /// Reason of the failure.
        source: FillError,
    },
    /// A method cannot drive a body.
    #[error("{source}")]
    Method {
        /// Index of the body that causes the error, if it is a single body.
        body: Option<usize>,
        /// Reason of the failure.
        source: MethodError,
    },
    /// There is no method with this key.
    #[error("body \"{name}\": there is no method \"{method}\"")]
    UnknownMethod {
        /// Index of the body.
        body: usize,
        /// Name of the body.
        name: String,
        /// Unknown key.
        method: String,
    },
    /// A grip holds no particle.
    #[error("grip \"{name}\" {problem}")]
    Grip {
        /// Index of the grip.
        grip: usize,
        /// Name of the grip.
        name: String,
        /// Explains why.
        problem: String,
    },
    /// The requested step exceeds the stability limit.
    #[error(
        "time_step is {asked:.4e} s, over the stability limit of {limit:.4e} s ({reason}, body \"{body}\")"
    )]
    TimeStep {
        /// Requested step (s).
        asked: Real,
        /// Stability limit (s).
        limit: Real,
        /// Reason for the limit.
        reason: &'static str,
        /// Name of the body that sets the limit.
        body: String,
    },
    /// Bodies start inside each other.
    #[error(
        "bodies start inside each other: {pairs}. Move them apart, give both fuse = true to make them one piece, or switch \
         contact off"
    )]
    Overlap {
        /// Index of the second body of the first pair.
        body: usize,
        /// Names of the bodies, and the depths of their overlaps.
        pairs: String,
    },
    /// Bodies start inside obstacles.
    #[error(
        "bodies start inside obstacles: {pairs}. Move them apart, or hold by a grip what is to stay there"
    )]
    InObstacle {
        /// Index of the first such body.
        body: usize,
        /// Names of the bodies and obstacles, and the depths of their overlaps.
        pairs: String,
    },
    /// An event cannot happen.
    #[error("event at {time} s: {source}")]
    Event {
        /// Index of the event.
        event: usize,
        /// Time of the event (s).
        time: Real,
        /// Reason of the failure.
        source: ActionError,
    },
    /// The distances of an obstacle cannot be computed on a grid.
    #[error("obstacle \"{name}\": {problem}")]
    Obstacle {
        /// Index of the obstacle.
        obstacle: usize,
        /// Name of the obstacle.
        name: String,
        /// Explains why.
        problem: String,
    },
}

/// Collects the description of a world, then builds it.
#[derive(Debug)]
pub struct WorldBuilder {
    bodies: Vec<Body>,
    obstacles: Vec<Obstacle>,
    grips: Vec<Grip>,
    fields: Vec<ForceField>,
    gravity: Vec3,
    methods: Methods,
    time_step: Option<Real>,
    events: Vec<Event>,
    body_contact: bool,
    timings: Timings,
    grid_store: Arc<dyn GridStore>,
}

impl Default for WorldBuilder {
    /// Creates a builder with earth's gravity and the reference method as default.
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            obstacles: Vec::new(),
            grips: Vec::new(),
            fields: Vec::new(),
            gravity: Vec3::new(0.0, -9.81, 0.0),
            methods: Methods { given: Vec::new(), default: CATALOGUE[0].key.into() },
            time_step: None,
            events: Vec::new(),
            body_contact: true,
            timings: Timings::default(),
            grid_store: Arc::new(NoStore),
        }
    }
}

impl WorldBuilder {
    /// Adds a body.
    pub fn body(mut self, body: Body) -> Self {
        self.bodies.push(body);
        self
    }

    /// Adds an obstacle.
    pub fn obstacle(mut self, obstacle: Obstacle) -> Self {
        self.obstacles.push(obstacle);
        self
    }

    /// Adds a grip.
    pub fn grip(mut self, grip: Grip) -> Self {
        self.grips.push(grip);
        self
    }

    /// Adds a force field.
    pub fn force(mut self, field: ForceField) -> Self {
        self.fields.push(field);
        self
    }

    /// Sets gravity (m/s²).
    pub fn gravity(mut self, gravity: Vec3) -> Self {
        self.gravity = gravity;
        self
    }

    /// Adds a method with its settings, or a method of the caller; the last one added for a key is used.
    pub fn method(mut self, factory: impl MethodFactory + 'static) -> Self {
        self.methods.given.push(Arc::new(factory));
        self
    }

    /// Does the same as [`WorldBuilder::method`] with a boxed factory of any type.
    pub fn method_factory(mut self, factory: Box<dyn MethodFactory>) -> Self {
        self.methods.given.push(Arc::from(factory));
        self
    }

    /// Sets the key of the method that drives bodies without a method of their own.
    pub fn default_method(mut self, key: impl Into<String>) -> Self {
        self.methods.default = key.into();
        self
    }

    /// Sets the largest time step (s); `None` leaves the choice to the methods.
    pub fn time_step(mut self, time_step: Option<Real>) -> Self {
        self.time_step = time_step;
        self
    }

    /// Adds an event.
    pub fn event(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }

    /// Switches contact between bodies, and between parts of one body, on or off; it is on by default.
    pub fn body_contact(mut self, is_on: bool) -> Self {
        self.body_contact = is_on;
        self
    }

    /// Sets a clock that returns seconds, to measure the time of each stage.
    pub fn clock(mut self, clock: fn() -> Real) -> Self {
        self.timings = Timings::new(clock);
        self
    }

    /// Sets a store of the distance grids of mesh obstacles, whose computation takes seconds.
    pub fn grid_store(mut self, store: Arc<dyn GridStore>) -> Self {
        self.grid_store = store;
        self
    }

    /// Fills the bodies, builds the methods, and checks everything that can only be checked with particles.
    ///
    /// # Errors
    /// If the described world cannot be built.
    pub fn build(self) -> Result<World, BuildError> {
        if self.bodies.is_empty() {
            return Err(BuildError::NoBodies);
        }
        let filled = self.fill_bodies()?;
        let mut world = World {
            groups: Vec::new(),
            body_names: self.bodies.iter().map(|b| b.name.clone()).collect(),
            materials: self.bodies.iter().map(|b| b.material.clone()).collect(),
            start_modulus: self.bodies.iter().map(|b| p_wave_modulus(&b.material)).collect(),
            stiffening: vec![1.0; self.bodies.len()],
            schedule: Schedule::default(),
            pull: Vec::new(),
            posed: self.pose_obstacles(&filled)?,
            moved: MovedObstacles::default(),
            moves: vec![
                GripMove {
                    start: Pose::IDENTITY,
                    end: Pose::IDENTITY,
                    axes: Vec3::ZERO,
                    active: false
                };
                self.grips.len()
            ],
            body_contacts: BodyContacts::new(self.body_contact, self.body_traits()),
            grip_centers: vec![Vec3::ZERO; self.grips.len()],
            time: 0.0,
            next_id: filled.iter().map(|f| f.positions.len() as u64).sum(),
            largest_step: self.time_step,
            start_limit: Real::INFINITY,
            warnings: Vec::new(),
            interval: Interval::default(),
            books: Books::default(),
            obstacles: Vec::new(),
            grips: Vec::new(),
            fields: Vec::new(),
            gravity: self.gravity,
            methods: self.methods.clone(),
            timings: Timings::default(),
        };
        for (grip, step) in self.grips.iter().zip(&mut world.moves) {
            step.axes = grip.axes.mask();
        }
        let mut held = vec![0usize; self.grips.len()];
        for (_, members) in self.groups() {
            let first_id = |k: usize| filled[..k].iter().map(|f| f.positions.len() as u64).sum();
            let member = |&k: &usize| Member {
                index: k as u32,
                body: &self.bodies[k],
                points: &filled[k],
                first_id: first_id(k),
            };
            let members: Vec<Member<'_>> = members.iter().map(member).collect();
            let centers = &mut world.grip_centers;
            let hold = |particles: &Particles| self.hold(particles, centers, &mut held);
            let surroundings = (world.body_contacts.bodies(), &self.placed_obstacles(&world.posed)[..]);
            let (group, warnings) = self.methods.build_group(&members, surroundings, hold)?;
            world.groups.push(group);
            world.warnings.extend(warnings);
        }
        if let Some((k, grip)) = self.grips.iter().enumerate().find(|(k, _)| held[*k] == 0) {
            let problem = match self.bodies.iter().any(|b| b.name == grip.body) {
                true => format!("selects no particle of body \"{}\"", grip.body),
                false => format!("names body \"{}\", which does not exist", grip.body),
            };
            return Err(BuildError::Grip { grip: k, name: grip.name.clone(), problem });
        }
        self.check_time_step(&world)?;
        let overlaps = self.overlaps(&world)?;
        world.warnings.extend(overlaps);
        world.warnings.extend(self.obstacle_warnings(&world));
        (world.obstacles, world.grips, world.fields) = (self.obstacles, self.grips, self.fields);
        world.timings = self.timings;
        let times: Vec<Real> = self.events.iter().map(|event| event.time).collect();
        world.plan(self.events).map_err(|(event, source)| BuildError::Event {
            event,
            time: times[event],
            source,
        })?;
        let (value, reason) = world.time_step_limit();
        world.interval = Interval { time_step: value, reason, ..Interval::default() };
        world.start_limit = value;
        world.open_books();
        Ok(world)
    }

    /// Fills the bodies with particles; the limit on their number applies to all bodies together.
    fn fill_bodies(&self) -> Result<Vec<Filled>, BuildError> {
        let mut filled: Vec<Filled> = Vec::with_capacity(self.bodies.len());
        let mut n_taken = 0;
        for (body, b) in self.bodies.iter().enumerate() {
            let how = Fill { max_particles: b.fill.max_particles.saturating_sub(n_taken), ..b.fill };
            let failed = |source| BuildError::Fill { body, name: b.name.clone(), source };
            let points = fill(&b.shape, &how).map_err(failed)?;
            n_taken += points.positions.len();
            filled.push(points);
        }
        Ok(filled)
    }

    /// Returns the method keys in order of first use, with the bodies that use them.
    fn groups(&self) -> Vec<(String, Vec<usize>)> {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for (index, body) in self.bodies.iter().enumerate() {
            let key = self.methods.key(body);
            match groups.iter_mut().find(|g| g.0 == key) {
                Some(group) => group.1.push(index),
                None => groups.push((key.into(), vec![index])),
            }
        }
        groups
    }

    /// Returns the friction and the piece of matter of each body; bodies of one method that fuse are one piece.
    fn body_traits(&self) -> Vec<BodyTraits> {
        let mut traits: Vec<BodyTraits> = self
            .bodies
            .iter()
            .enumerate()
            .map(|(k, body)| BodyTraits { friction: body.friction, matter: k as u32 })
            .collect();
        for (_, members) in self.groups() {
            let fused: Vec<usize> = members.into_iter().filter(|&k| self.bodies[k].fuse).collect();
            fused.iter().for_each(|&k| traits[k].matter = fused[0] as u32);
        }
        traits
    }

    /// Returns the particles that grips hold; a particle that two grips select belongs to the first one.
    fn hold(&self, particles: &Particles, centers: &mut [Vec3], held: &mut [usize]) -> Holds {
        let mut holds = Holds::default();
        let mut taken = vec![false; particles.len()];
        for (k, grip) in self.grips.iter().enumerate() {
            let Some(body) = self.bodies.iter().position(|b| b.name == grip.body) else { continue };
            let (mut sum, mut mass) = (Vec3::ZERO, 0.0);
            for i in (0..particles.len()).filter(|&i| particles.body[i] as usize == body) {
                if taken[i] || grip.select.signed_distance(particles.position[i]) > 0.0 {
                    continue;
                }
                taken[i] = true;
                held[k] += 1;
                holds.particle.push(i as u32);
                holds.anchor.push(particles.position[i]);
                holds.grip.push(k as u32);
                sum += particles.position[i] * particles.mass[i];
                mass += particles.mass[i];
            }
            if mass > 0.0 {
                centers[k] = sum / mass;
            }
        }
        holds
    }

    fn pose_obstacles(&self, filled: &[Filled]) -> Result<Vec<PosedObstacle>, BuildError> {
        let smallest = filled.iter().flat_map(|f| &f.spacing).copied().fold(Real::INFINITY, Real::min);
        let one = |(k, o): (usize, &Obstacle)| {
            let failed =
                |e| BuildError::Obstacle { obstacle: k, name: o.name.clone(), problem: format!("{e}") };
            let surface = Surface::try_new(&o.shape, smallest, &*self.grid_store).map_err(failed)?;
            // a container has no bounds: particles anywhere outside of it must be found and kept in
            let bounds = o.shape.bounds().filter(|_| !o.inside).map(|b| (b.min, b.max));
            Ok(PosedObstacle {
                surface,
                bounds,
                sign: if o.inside { -1.0 } else { 1.0 },
                friction: o.friction,
                moving: !o.motion.is_still(),
                start: Pose::IDENTITY,
                end: Pose::IDENTITY,
            })
        };
        self.obstacles.iter().enumerate().map(one).collect()
    }

    /// Returns the obstacles where they start.
    fn placed_obstacles<'a>(&'a self, posed: &'a [PosedObstacle]) -> Vec<Placed<'a>> {
        let placed = |(o, posed): (&'a Obstacle, _)| Placed {
            name: &o.name,
            posed,
            pose: o.motion.pose(0.0, o.center()),
        };
        self.obstacles.iter().zip(posed).map(placed).collect()
    }

    fn check_time_step(&self, world: &World) -> Result<(), BuildError> {
        let Some(asked) = self.time_step else { return Ok(()) };
        for group in &world.groups {
            let limit = group.method.max_time_step(&group.particles);
            if asked > limit.stable {
                let body = group.particles.body[limit.particle.unwrap_or(0)] as usize;
                let body = self.bodies[body].name.clone();
                return Err(BuildError::TimeStep { asked, limit: limit.stable, reason: limit.reason, body });
            }
        }
        Ok(())
    }
}
