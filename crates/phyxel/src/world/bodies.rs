//! Adding and removing bodies and particles while a world runs.

use super::builder::Member;
use super::clearance::make_clear;
use super::events::p_wave_modulus;
use super::{Body, BodyId, BuildError, Group, World};
use crate::contact::{BodyTraits, Holds, TOUCHES_NOTHING};
use crate::geometry::fill;
use crate::math::{Real, Vec3, cube, max_over};
use crate::methods::MethodError;
use crate::neighbors::Grid;
use crate::particles::{PARTICLES, Parameter, Particles, Properties, Remap};
use std::ops::Range;

/// Distance between particles of a new body and of others below which the body is refused (sums of both contact radii).
/// If two lattices penetrate each other, some particles are always nearer.
const TOO_NEAR: Real = 0.87;

/// Allowed ratio of the spacing of new particles to that of their body.
const SPACINGS: Range<Real> = 0.75..1.5;

/// Particles that are added to a running world.
#[derive(Clone, Copy, Debug)]
pub struct NewParticles<'a> {
    /// Positions of the particles (m).
    pub positions: &'a [Vec3],
    /// Common velocity of the particles (m/s).
    pub velocity: Vec3,
    /// Edge of the cube of matter that each particle represents (m).
    pub spacing: Real,
}

impl NewParticles<'_> {
    /// Returns the particles, made of the matter of another one, with ids from the given one on.
    fn like(&self, particles: &Particles, model: usize, first_id: u64) -> Particles {
        let (n, volume) = (self.positions.len(), cube(self.spacing));
        let density = particles.mass[model] / particles.volume[model];
        Particles {
            id: (first_id..first_id + n as u64).map(|id| id as u32).collect(),
            body: vec![particles.body[model]; n],
            position: self.positions.to_vec(),
            velocity: vec![self.velocity; n],
            mass: vec![density * volume; n],
            volume: vec![volume; n],
            radius: vec![0.5 * self.spacing; n],
            contact_radius: vec![0.5 * self.spacing; n],
            impulse: Vec::new(),
            material: Properties::from_fn(|info| {
                Parameter::Uniform(particles.material[info.property].at(model))
            }),
        }
    }
}

/// Reason why a body, or particles of it, cannot be removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoveError {
    /// The body has been removed before.
    #[error("body \"{0}\" has been removed before")]
    Gone(String),
    /// The method of the body cannot lose particles.
    #[error("body \"{body}\": {reason}")]
    Refused {
        /// Name of the body.
        body: String,
        /// Explains why.
        reason: String,
    },
}

/// Message about particles that cannot get ids.
pub(super) const IDS_USED_UP: &str = "four billion particles have had ids, and there are no more";

impl Group {
    /// Drops bodies that have no particles, also where a checkpoint has fewer than the world that it is restored to.
    pub(super) fn drop_empty_bodies(&mut self) {
        let Self { bodies, particles, carried, .. } = self;
        let mut is_there = vec![false; bodies.iter().max().map_or(0, |last| *last as usize + 1)];
        for &body in &particles.body {
            if let Some(is_there) = is_there.get_mut(body as usize) {
                *is_there = true;
            }
        }
        bodies.retain(|&body| {
            if !is_there[body as usize] {
                carried.drop_body(body);
            }
            is_there[body as usize]
        });
    }

    /// Removes the particles for which `is_kept` is false, and the data that refers to them.
    fn remove(&mut self, is_kept: &[bool]) -> Result<(), MethodError> {
        let before = self.particles.clone();
        let mut remap = Remap::keep(PARTICLES, |i| is_kept[i], &before.mass);
        self.particles.visit_state(&mut remap);
        if let Err(error) = self.method.take_removals(&self.particles, &mut remap) {
            self.particles = before;
            return Err(error);
        }
        self.carried.loosen_remapped(&before, &remap);
        self.companions().visit_state(&mut remap);
        self.holds.drop_removed();
        self.drop_empty_bodies();
        let Self { particles, method, carried, .. } = self;
        let bonds = |i: usize, visit: &mut dyn FnMut(usize, Vec3)| method.visit_bonds(particles, i, visit);
        carried.follow(particles, &bonds, 0.0);
        Ok(())
    }
}

impl World {
    /// Adds a body to the running world, in a group of its own. It can touch all other bodies, but does not fuse with
    /// them. Before a checkpoint is restored, the same bodies must have been added in the same order.
    ///
    /// # Errors
    /// If the name is taken, the body cannot be filled or driven by its method, or it starts inside others or
    /// inside obstacles; nothing has changed then.
    pub fn add_body(&mut self, body: Body) -> Result<BodyId, BuildError> {
        self.with_jump(|world| world.build_body(body))
    }

    fn build_body(&mut self, body: Body) -> Result<BodyId, BuildError> {
        let index = self.body_names.len();
        if self.body_names.contains(&body.name) {
            let message = format!("there is, or was, a body \"{}\"; give it another name", body.name);
            let source = MethodError { body: None, message };
            return Err(BuildError::Method { body: Some(index), source });
        }
        let failed = |source| BuildError::Fill { body: index, name: body.name.clone(), source };
        let points = fill(&body.shape, &body.fill).map_err(failed)?;
        if !self.has_ids(points.positions.len()) {
            let source = MethodError { body: None, message: IDS_USED_UP.into() };
            return Err(BuildError::Method { body: Some(index), source });
        }
        let own = BodyTraits { friction: body.friction, matter: index as u32 };
        let traits: Vec<BodyTraits> = self.body_contacts.bodies().iter().copied().chain([own]).collect();
        let member = Member { index: index as u32, body: &body, points: &points, first_id: self.next_id };
        let surroundings = (&traits[..], &self.placed_obstacles()[..]);
        let (group, warnings) = self.methods.build_group(&[member], surroundings, |_| Holds::default())?;
        let n = if self.body_contacts.is_on() { self.n_too_near(&group.particles) } else { 0 };
        if n > 0 {
            let pairs = format!("\"{}\" and bodies that are there ({n} particles)", body.name);
            return Err(BuildError::Overlap { body: index, pairs });
        }
        self.next_id += points.positions.len() as u64;
        self.start_modulus.push(p_wave_modulus(&body.material));
        self.stiffening.push(1.0);
        self.body_contacts.set_bodies(traits);
        self.groups.push(group);
        self.warnings.extend(warnings);
        self.body_names.push(body.name);
        self.materials.push(body.material);
        Ok(BodyId(index as u32))
    }

    /// Adds unstressed particles to an existing body, each a cube of its matter, as for an extruder or an inflow. They
    /// join the matter near them.
    ///
    /// # Errors
    /// If the body has been removed, the spacing is not allowed, particles start deep inside obstacles, or the method
    /// takes no particles while it runs; nothing has changed then.
    pub fn add_particles(&mut self, body: BodyId, new: &NewParticles<'_>) -> Result<(), MethodError> {
        self.with_jump(|world| world.append_particles(body, new))
    }

    fn append_particles(&mut self, body: BodyId, new: &NewParticles<'_>) -> Result<(), MethodError> {
        let refuse = |message: &str| {
            let message = format!("body \"{}\": {message}", self.body_names[body.index()]);
            MethodError { body: Some(body.0), message }
        };
        let g = self.group_of(body.0).ok_or_else(|| refuse("it has been removed"))?;
        if !self.has_ids(new.positions.len()) {
            return Err(refuse(IDS_USED_UP));
        }
        let particles = &self.groups[g].particles;
        let is_own = |own: &u32| *own == body.0;
        let Some(model) = particles.body.iter().position(is_own).filter(|_| !new.positions.is_empty()) else {
            return Ok(());
        };
        let ratio = new.spacing / (2.0 * particles.radius[model]);
        if !SPACINGS.contains(&ratio) {
            let Range { start, end } = SPACINGS;
            return Err(refuse(&format!(
                "new particles have {ratio:.3} of its spacing; from {start} to {end} of it are stable"
            )));
        }
        let mut own = new.like(particles, model, self.next_id);
        make_clear(&mut own, &[], &self.placed_obstacles(), |_| "new particles")
            .map_err(|(_, pairs)| refuse(&format!("it would start inside obstacles: {pairs}")))?;
        let Group { particles, method, touching, slip, .. } = &mut self.groups[g];
        let (first, n) = (particles.len(), own.len());
        particles.append(own);
        if let Err(error) = method.take_births(particles, first) {
            particles.truncate(first);
            return Err(refuse(&error.message));
        }
        touching.resize(first + n, TOUCHES_NOTHING);
        slip.resize(first + n, Vec3::ZERO);
        self.next_id += n as u64;
        self.body_contacts.clear();
        Ok(())
    }

    /// Removes a body. Its id and name stay in use; the hand and grips release it.
    ///
    /// # Errors
    /// If the body has been removed before, or its method cannot lose particles; nothing has changed then.
    pub fn remove_body(&mut self, body: BodyId) -> Result<(), RemoveError> {
        self.remove_particles(body, |_, _| true).map(drop)
    }

    /// Removes the particles of a body for which `is_gone(particles, index)` is true, as for a sink, and returns their
    /// number. `particles` are those of the body's group. A body without particles counts as removed.
    ///
    /// # Errors
    /// If the body has been removed before, or its method cannot lose particles; nothing has changed then.
    pub fn remove_particles(
        &mut self,
        body: BodyId,
        is_gone: impl Fn(&Particles, usize) -> bool,
    ) -> Result<usize, RemoveError> {
        self.with_jump(|world| world.take_out(body, is_gone))
    }

    fn take_out(
        &mut self,
        body: BodyId,
        is_gone: impl Fn(&Particles, usize) -> bool,
    ) -> Result<usize, RemoveError> {
        let name = || self.body_names[body.index()].clone();
        let g = self.group_of(body.0).ok_or_else(|| RemoveError::Gone(name()))?;
        let group = &mut self.groups[g];
        group.method.take_impulses(&mut group.particles);
        let p = &group.particles;
        let is_kept: Vec<bool> = (0..p.len()).map(|i| p.body[i] != body.0 || !is_gone(p, i)).collect();
        let n_kept = is_kept.iter().filter(|is_kept| **is_kept).count();
        let n_gone = p.len() - n_kept;
        if n_gone == 0 {
            return Ok(0);
        }
        if n_kept == 0 {
            self.groups.remove(g);
        } else {
            let refused = |error: MethodError| RemoveError::Refused { body: name(), reason: error.message };
            group.remove(&is_kept).map_err(refused)?;
        }
        if self.group_of(body.0).is_none() {
            self.pull.retain(|pull| pull.body != body.0);
            self.interval.touches.retain(|touch| touch.body != body.0);
            self.interval.body_touches.retain(|touch| touch.body != body.0 && touch.other != body.index());
        }
        self.body_contacts.clear();
        Ok(n_gone)
    }

    /// Returns true if so many more particles can have ids of their own: ids are 32 bits wide.
    pub(super) fn has_ids(&self, n: usize) -> bool {
        self.next_id + n as u64 <= u64::from(u32::MAX)
    }

    /// Gives an impulse (N s) to a body, distributed evenly over its mass: its velocity changes by impulse/mass.
    pub fn push_body(&mut self, body: BodyId, impulse: Vec3) {
        let Some(g) = self.group_of(body.0) else { return };
        let Group { particles, method, .. } = &mut self.groups[g];
        let own: Vec<usize> = (0..particles.len()).filter(|&i| particles.body[i] == body.0).collect();
        let mass: Real = own.iter().map(|&i| particles.mass[i]).sum();
        let change = impulse / mass;
        for i in own {
            particles.push(i, change * particles.mass[i]);
            self.books.hand_work += particles.mass[i] * change.dot(particles.velocity[i] + change * 0.5);
        }
        method.take_impulses(particles);
    }

    /// Returns the number of new particles that are too near to those of the world.
    fn n_too_near(&self, new: &Particles) -> usize {
        let radius = |p: &Particles| max_over(p.len(), |i| p.contact_radius[i]).map_or(0.0, |m| m.0);
        let mut n = 0;
        for p in self.groups.iter().map(|g| &g.particles).filter(|p| !p.is_empty()) {
            let reach = TOO_NEAR * (radius(p) + radius(new));
            let grid = Grid::new(&p.position, reach);
            for i in 0..new.len() {
                let mut is_near = false;
                grid.visit_ball(new.position[i], reach, |j| {
                    let touch = new.contact_radius[i] + p.contact_radius[j as usize];
                    is_near |= new.position[i].distance(p.position[j as usize]) < TOO_NEAR * touch;
                });
                n += usize::from(is_near);
            }
        }
        n
    }
}
