//! Rigid bodies: six numbers move all particles of a body. It is no published method of this program's catalogue but a
//! companion of all of them: rigid bodies fall, slide, roll, are held, dragged and pushed, and press on deformable ones.
//!
//!   x_i = p + R X_i,  v_i = v + ω × (x_i − p),  m v̇ = Σ f_i,  L̇ = Σ (x_i − p) × f_i,  ω = R I⁻¹ Rᵀ L
//! An impulse J on particle i changes the velocity of particle j by J/m + (R I⁻¹ Rᵀ (r_i × J)) × r_j, r = x − p. Contacts
//! and grips are solved by projected Gauss-Seidel with swept contact, so that speed does not limit steps at obstacles.
//! The momentum L is the state, and R follows it by the midpoint rule: free flight keeps both momenta to rounding.
//!
//! Moments of inertia are those of the particles as points: about its axis, a square bar of width l and spacing a misses
//! (a/l)² of it.

use super::rows::{Jointed, Rows};
use super::{
    Change, Connectivity, ElasticEnergy, Energies, Matter, Method, MethodError, MethodFactory, StepContext,
    StepError, StepReport, TimeStepLimit,
};
use crate::contact::Other;
use crate::frame::{FrameColumn, PointSet};
use crate::material::MaterialChange;
use crate::math::{Mat3, Quat, Real, Vec3, outer, polar, sum_over, symmetric_eigen};
use crate::methods::ContactResponse;
use crate::neighbors::{Bonds, Points, nearest};
use crate::particles::{Carry, PARTICLES, Particles, Remap, StateData, StateItem, StateVisitor};

/// Ratio of the moments of inertia below which a body has no extent across its axis.
const FLATNESS: Real = 1e-9;
/// Number of sweeps over the contacts of a step.
const SWEEPS: usize = 60;
/// Fraction of an overlap that a step removes, without a change of velocity.
const PARTED: Real = 0.3;
/// Largest angle by which a body turns in a step (rad).
const LARGEST_TURN: Real = 0.3;
/// Neighbours that a particle is bonded to, for contact and carried points.
const N_BONDS: usize = 18;
/// Name of the set of rigid bodies, in checkpoints.
const RIGID_BODIES: &str = "rigid bodies";

/// Settings of rigid bodies. Bodies with the method "rigid" use them when the builder is given this factory.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Largest time step (s).
    pub time_step: Real,
}

impl Default for Params {
    fn default() -> Self {
        Self { time_step: 1.0 / 120.0 }
    }
}

impl MethodFactory for Params {
    fn key(&self) -> &str {
        "rigid"
    }

    fn clone_box(&self) -> Box<dyn MethodFactory> {
        Box::new(*self)
    }

    fn build(&self, particles: &mut Particles, matter: &Matter) -> Result<Box<dyn Method>, MethodError> {
        Ok(Box::new(Rigid::build(*self, particles, matter)?))
    }
}

/// The rigid bodies of a group: constants and state.
#[derive(Debug)]
pub struct Rigid {
    params: Params,
    bonds: Bonds,
    /// Body of each particle, as an index into the lists of this method.
    body_of: Vec<u32>,
    /// X_i: position in the body's own frame (m).
    rest: Vec<Vec3>,
    bodies: Vec<BodyFacts>,
    // state, by body
    /// p: centre of mass (m).
    place: Vec<Vec3>,
    /// R
    rotation: Vec<Mat3>,
    /// v (m/s)
    velocity: Vec<Vec3>,
    /// L about the centre of mass (kg m²/s).
    spin: Vec<Vec3>,
    // of the present rotation
    inverse_inertia: Vec<Mat3>,
    /// ω (rad/s)
    turning: Vec<Vec3>,
    /// r_i: lever of each particle about its body's centre (m).
    lever: Vec<Vec3>,
}

#[derive(Clone, Copy, Debug)]
struct BodyFacts {
    /// Index of the body in the world.
    index: u32,
    mass: Real,
    /// I⁻¹ in the body's own frame (1/(kg m²)).
    inverse_inertia: Mat3,
}

/// Returns the moment of inertia of particles about the origin: Σ m (|r|² − r rᵀ) (kg m²).
fn inertia(levers: impl Iterator<Item = (Real, Vec3)>) -> Mat3 {
    levers.fold(Mat3::ZERO, |sum, (m, r)| sum + (Mat3::IDENTITY * r.length_squared() - outer(r, r)) * m)
}

impl Rigid {
    fn build(params: Params, particles: &Particles, matter: &Matter) -> Result<Self, MethodError> {
        let x = &particles.position;
        let n = particles.len();
        let mut method = Self {
            params,
            bonds: Bonds::default(),
            body_of: vec![0; n],
            rest: x.clone(),
            bodies: Vec::new(),
            place: vec![Vec3::ZERO; matter.bodies.len()],
            rotation: vec![Mat3::IDENTITY; matter.bodies.len()],
            velocity: Vec::new(),
            spin: Vec::new(),
            inverse_inertia: Vec::new(),
            turning: Vec::new(),
            lever: vec![Vec3::ZERO; n],
        };
        for (b, body) in matter.bodies.iter().enumerate() {
            let facts = method.find_facts(particles, b, body.index);
            if facts.inverse_inertia == Mat3::ZERO {
                let message =
                    format!("body \"{}\" has too few particles to turn: choose a smaller spacing", body.name);
                return Err(MethodError { body: Some(body.index), message });
            }
            method.bodies.push(facts);
        }
        method.find_bonds(particles);
        method.fit_momenta(particles);
        method.derive();
        Ok(method)
    }

    /// Moves the frame of a body to the centre of its mass; returns its mass and inertia.
    fn find_facts(&mut self, particles: &Particles, b: usize, index: u32) -> BodyFacts {
        let own: Vec<usize> = (0..particles.len()).filter(|&i| particles.body[i] == index).collect();
        let mass: Real = own.iter().map(|&i| particles.mass[i]).sum();
        let center = own.iter().map(|&i| self.rest[i] * particles.mass[i]).sum::<Vec3>() / mass;
        for &i in &own {
            (self.body_of[i], self.rest[i]) = (b as u32, self.rest[i] - center);
        }
        self.place[b] += self.rotation[b] * center;
        self.facts(particles, &own, index)
    }

    /// Returns mass and inertia of a body. One without extent across an axis never turns.
    fn facts(&self, particles: &Particles, own: &[usize], index: u32) -> BodyFacts {
        let mass: Real = own.iter().map(|&i| particles.mass[i]).sum();
        let inertia = inertia(own.iter().map(|&i| (particles.mass[i], self.rest[i])));
        let moments = symmetric_eigen(inertia).0;
        let can_turn = moments.min_element() > FLATNESS * moments.max_element();
        let inverse_inertia = if can_turn { inertia.inverse() } else { Mat3::ZERO };
        BodyFacts { index, mass, inverse_inertia }
    }

    /// Bonds every particle to the nearest ones of its body.
    fn find_bonds(&mut self, particles: &Particles) {
        let points = Points { positions: &self.rest, keys: &particles.body };
        let neighbors = nearest(points, N_BONDS).symmetrized();
        self.bonds = Bonds::new(neighbors, |i, j| self.rest[j] - self.rest[i]);
    }

    /// Rebuilds what follows from state that was loaded, also if it has fewer bodies or particles.
    fn restore(&mut self, particles: &Particles) {
        if self.lever.len() != particles.len() || self.bodies.len() != self.place.len() {
            self.lever.resize(particles.len(), Vec3::ZERO);
            let facts = |b: usize| {
                let own: Vec<usize> =
                    (0..particles.len()).filter(|&i| self.body_of[i] as usize == b).collect();
                let index = own.first().map_or(0, |&i| particles.body[i]);
                self.facts(particles, &own, index)
            };
            self.bodies = (0..self.place.len()).map(facts).collect();
            self.find_bonds(particles);
        }
        self.follow_rotations();
    }

    /// Takes the momenta of the particles.
    fn fit_momenta(&mut self, particles: &Particles) {
        let mut momentum = vec![Vec3::ZERO; self.bodies.len()];
        self.spin = vec![Vec3::ZERO; self.bodies.len()];
        for i in 0..particles.len() {
            let b = self.body_of[i] as usize;
            let own = particles.velocity[i] * particles.mass[i];
            momentum[b] += own;
            self.spin[b] += (particles.position[i] - self.place[b]).cross(own);
        }
        self.velocity = momentum.iter().zip(&self.bodies).map(|(p, body)| *p / body.mass).collect();
    }

    /// Computes what follows from the rotations.
    fn follow_rotations(&mut self) {
        let turned = |(r, body): (&Mat3, &BodyFacts)| *r * body.inverse_inertia * r.transpose();
        self.inverse_inertia = self.rotation.iter().zip(&self.bodies).map(turned).collect();
        for i in 0..self.rest.len() {
            self.lever[i] = self.rotation[self.body_of[i] as usize] * self.rest[i];
        }
    }

    /// Computes what follows from rotations and momenta.
    fn derive(&mut self) {
        self.follow_rotations();
        self.turning = self.inverse_inertia.iter().zip(&self.spin).map(|(i, l)| *i * *l).collect();
    }

    /// Writes positions and velocities of the particles.
    fn place_particles(&self, particles: &mut Particles) {
        for i in 0..particles.len() {
            particles.position[i] = self.place[self.body_of[i] as usize] + self.lever[i];
            particles.velocity[i] = self.velocity_at(i);
        }
    }

    /// Moves and turns the bodies by their momenta: the turning of the middle of the step, found from its beginning.
    fn drift(&mut self, time_step: Real) {
        for b in 0..self.bodies.len() {
            self.place[b] += self.velocity[b] * time_step;
            let turn = |turning: Vec3, duration: Real, r: Mat3| {
                Mat3::from_quat(Quat::from_scaled_axis(turning * duration)) * r
            };
            let middle = turn(self.turning[b], 0.5 * time_step, self.rotation[b]);
            let turning = middle * self.bodies[b].inverse_inertia * middle.transpose() * self.spin[b];
            self.rotation[b] = polar(turn(turning, time_step, self.rotation[b])).0;
        }
    }

    /// Moves each body out of its deepest overlap by a part of it, without a change of velocity.
    fn part(&mut self, rows: &Rows) {
        let mut shift = vec![Vec3::ZERO; self.bodies.len()];
        for row in rows.contacts().filter(|row| row.gap < 0.0) {
            let push = row.normal * (-PARTED * row.gap);
            let sides = [Some((row.particle, push)), own_side(row.other).map(|j| (j, -push))];
            for (i, push) in sides.into_iter().flatten() {
                let own = &mut shift[self.body_of[i] as usize];
                if push.length() > own.length() {
                    *own = push;
                }
            }
        }
        self.place.iter_mut().zip(shift).for_each(|(place, shift)| *place += shift);
    }
}

fn own_side(other: Other) -> Option<usize> {
    if let Other::Own(j) = other { Some(j) } else { None }
}

impl Jointed for Rigid {
    fn velocity_at(&self, i: usize) -> Vec3 {
        let b = self.body_of[i] as usize;
        self.velocity[b] + self.turning[b].cross(self.lever[i])
    }

    fn mobility(&self, i: usize) -> Mat3 {
        let (b, r) = (self.body_of[i] as usize, self.lever[i]);
        let cross = Mat3::from_cols(Vec3::X.cross(r), Vec3::Y.cross(r), Vec3::Z.cross(r));
        // (I⁻¹ (r × J)) × r = [×r] I⁻¹ [×r]ᵀ J
        Mat3::IDENTITY * (1.0 / self.bodies[b].mass) + cross * self.inverse_inertia[b] * cross.transpose()
    }

    fn push(&mut self, i: usize, impulse: Vec3) {
        let (b, torque) = (self.body_of[i] as usize, self.lever[i].cross(impulse));
        self.velocity[b] += impulse / self.bodies[b].mass;
        self.spin[b] += torque;
        self.turning[b] += self.inverse_inertia[b] * torque;
    }
}

impl Method for Rigid {
    fn max_time_step(&self, _particles: &Particles) -> TimeStepLimit {
        let fastest = self.turning.iter().map(|w| w.length()).fold(0.0, Real::max);
        let by_turning = LARGEST_TURN / fastest.max(Real::MIN_POSITIVE);
        let reason = if by_turning < self.params.time_step { "turning" } else { "rigid" };
        let value = by_turning.min(self.params.time_step);
        TimeStepLimit { value, stable: by_turning, reason, particle: None }
    }

    fn contact_response(&self) -> ContactResponse {
        ContactResponse::SweptRows
    }

    fn step(
        &mut self,
        particles: &mut Particles,
        ctx: &mut StepContext<'_>,
    ) -> Result<StepReport, StepError> {
        let dt = ctx.time_step;
        let decay = ctx.fields.decay(dt);
        self.velocity.iter_mut().chain(&mut self.spin).chain(&mut self.turning).for_each(|v| *v *= decay);
        let forces: Vec<Vec3> = (0..particles.len())
            .map(|i| {
                ctx.fields.acceleration(particles.position[i], particles.velocity[i]) * particles.mass[i]
            })
            .collect();
        forces.iter().enumerate().for_each(|(i, force)| self.push(i, *force * dt));
        let mut rows = Rows::find(self, particles, ctx);
        // parts of one body cannot press on each other
        rows.retain(|row| own_side(row.other).is_none_or(|j| self.body_of[j] != self.body_of[row.particle]));
        rows.push_all(self);
        for _ in 0..SWEEPS {
            rows.sweep(self, particles, dt);
        }
        rows.book(particles, ctx);
        self.drift(dt);
        self.part(&rows);
        self.derive();
        let before = particles.position.clone();
        self.place_particles(particles);
        for (i, force) in forces.iter().enumerate() {
            let moved = particles.position[i] - before[i];
            ctx.work.total += force.dot(moved);
            ctx.work.fields += (*force - ctx.fields.gravity * particles.mass[i]).dot(moved);
        }
        ctx.work.is_booked = true;
        Ok(StepReport { iterations: SWEEPS, ..StepReport::default() })
    }

    fn take_impulses(&mut self, particles: &mut Particles) {
        if particles.impulse.is_empty() {
            return;
        }
        for (i, impulse) in std::mem::take(&mut particles.impulse).into_iter().enumerate() {
            self.push(i, impulse);
        }
        (0..particles.len()).for_each(|i| particles.velocity[i] = self.velocity_at(i));
    }

    fn joint_mobility(&self, _particles: &Particles, i: usize) -> Option<Real> {
        Some(1.0 / self.bodies[self.body_of[i] as usize].mass)
    }

    /// Removes particles; the bodies that are left keep their motion, turning about what is their centre then.
    fn take_removals(&mut self, particles: &Particles, remap: &mut Remap) -> Result<(), MethodError> {
        self.visit_state(remap);
        self.lever.truncate(particles.len());
        let mut kept: Vec<usize> = self.body_of.iter().map(|&b| b as usize).collect();
        kept.sort_unstable();
        kept.dedup();
        let before = (self.bodies.clone(), self.place.clone(), self.rotation.clone());
        self.bodies = kept.iter().map(|&b| before.0[b]).collect();
        self.place = kept.iter().map(|&b| before.1[b]).collect();
        self.rotation = kept.iter().map(|&b| before.2[b]).collect();
        for b in 0..kept.len() {
            let index = self.bodies[b].index;
            self.bodies[b] = self.find_facts(particles, b, index);
        }
        self.find_bonds(particles);
        self.fit_momenta(particles);
        self.derive();
        Ok(())
    }

    /// Accepts every material: its elastic properties have no meaning.
    fn change_material(
        &mut self,
        _particles: &Particles,
        _body: u32,
        _change: &MaterialChange,
    ) -> Result<(), MethodError> {
        Ok(())
    }

    /// Restores from state, or fits place and momenta to particles that were moved; the shape stays.
    fn changed(&mut self, particles: &Particles, change: Change) {
        if change == Change::Restored {
            self.restore(particles);
        } else {
            for (b, body) in self.bodies.iter().enumerate() {
                let own = || (0..particles.len()).filter(|&i| self.body_of[i] as usize == b);
                let weighted = |i: usize| particles.position[i] * particles.mass[i];
                let center = own().map(weighted).sum::<Vec3>() / body.mass;
                let moment = own().fold(Mat3::ZERO, |sum, i| {
                    sum + outer(particles.position[i] - center, self.rest[i]) * particles.mass[i]
                });
                (self.place[b], self.rotation[b]) = (center, polar(moment).0);
            }
            self.fit_momenta(particles);
            self.derive();
        }
    }

    fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let mut item = |name, unit, data| {
            visitor.visit(StateItem { name, unit, set: RIGID_BODIES, carry: Carry::Copy, data })
        };
        item("place", "m", StateData::Vectors(&mut self.place));
        item("rotation", "1", StateData::Matrices(&mut self.rotation));
        item("place_velocity", "m/s", StateData::Vectors(&mut self.velocity));
        item("spin", "kg m2/s", StateData::Vectors(&mut self.spin));
        item("turning", "rad/s", StateData::Vectors(&mut self.turning));
        let mut item =
            |name, unit, carry, data| visitor.visit(StateItem { name, unit, set: PARTICLES, carry, data });
        item("rigid_body", "1", Carry::Index(RIGID_BODIES), StateData::Integers(&mut self.body_of));
        item("rigid_rest", "m", Carry::Copy, StateData::Vectors(&mut self.rest));
    }

    fn energies(&self, _particles: &Particles) -> Energies {
        Energies { elastic: Some(ElasticEnergy::default()), plastic_work: 0.0 }
    }

    fn current_volume(&self, particles: &Particles) -> Real {
        sum_over(particles.len(), |i| particles.volume[i])
    }

    fn connectivity(&self, _body: u32) -> Connectivity {
        Connectivity::Bonds
    }

    fn visit_bonds(&self, _particles: &Particles, i: usize, visit: &mut dyn FnMut(usize, Vec3)) {
        let range = self.bonds.neighbors().range(i);
        let row = self.bonds.neighbors().row(i).iter().zip(&self.bonds.vectors()[range]);
        row.for_each(|(&j, &rest)| visit(j as usize, rest));
    }

    /// Returns the poses of the bodies: centres of mass and rotations (axis times angle).
    fn point_sets(&self, _particles: &Particles) -> Vec<PointSet> {
        let rotation = self.rotation.iter().map(|r| Quat::from_mat3(r).to_scaled_axis().as_vec3().to_array());
        let column = FrameColumn {
            name: "rotation".into(),
            unit: "rad",
            n_components: 3,
            values: rotation.flatten().collect(),
        };
        vec![PointSet {
            name: "rigid_bodies".into(),
            position: self.place.iter().map(|place| place.as_vec3().to_array()).collect(),
            body: self.bodies.iter().map(|body| body.index).collect(),
            columns: vec![column],
        }]
    }
}
