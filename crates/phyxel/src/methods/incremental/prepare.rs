//! Construction of the method from particles, and restoration from a checkpoint.

use super::spans::Spans;
use super::{BodyFacts, History, Incremental, Params, RestFacts, Tallies};
use crate::forces::{SphPressure, SphViscosity, Viscosity, repulsion};
use crate::material::{LameParameter, Law};
use crate::math::{Mat3, Real, Vec3};
use crate::methods::explicit::{MISSED, highest_frequency};
use crate::methods::flow_step::FlowStep;
use crate::methods::stiffness::Stiffness;
use crate::methods::thin_bodies::refuse_thin_bodies;
use crate::methods::{Matter, MethodError, keys};
use crate::neighbors::{Neighbors, Points, nearest};
use crate::particles::Particles;

/// Returns the room of each particle, the distance that it keeps from others: at most that of its nearest neighbour
/// (m).
fn rooms(particles: &Particles, keys: &[u32]) -> Vec<Real> {
    let x = &particles.position;
    let lists = nearest(Points { positions: x, keys }, 1);
    let distance = |i: usize| lists.row(i).first().map_or(Real::INFINITY, |&j| x[i].distance(x[j as usize]));
    (0..x.len()).map(|i| repulsion::room(distance(i), 2.0 * particles.radius[i])).collect()
}

impl Incremental {
    pub(super) fn build(
        params: Params,
        particles: &mut Particles,
        matter: &Matter,
    ) -> Result<Self, MethodError> {
        let n = particles.len();
        let n_bodies = matter.bodies.iter().map(|b| b.index as usize + 1).max().unwrap_or(0);
        let unknown = BodyFacts { law: Law::Corotated, measure: Default::default(), piece: 0 };
        let mut bodies = vec![unknown; n_bodies];
        for body in &matter.bodies {
            bodies[body.index as usize] = BodyFacts {
                law: body.law.unwrap_or(Law::Corotated),
                measure: body.flow.measure(),
                piece: body.matter,
            };
        }
        let mut piece_sizes = vec![0; n_bodies];
        for &body in &particles.body {
            piece_sizes[bodies[body as usize].piece as usize] += 1;
        }
        let stored_rest = params.history == History::StoredRest;
        let lame = LameParameter::new(&particles.material, n);
        let mut method = Self {
            stiffness: Stiffness::new(particles, &lame),
            lame,
            bodies,
            piece_sizes,
            full_support: particles.radius.iter().map(|r| params.support * 2.0 * r).collect(),
            room: rooms(particles, &keys(&matter.pieces(), particles)),
            gradient: vec![Mat3::IDENTITY; n],
            hardening: vec![0.0; n],
            shear_stress: vec![0.0; n],
            plastic_strain: vec![0.0; n],
            plastic_work: vec![0.0; n],
            flow_fraction: vec![0.0; n],
            force: vec![Vec3::ZERO; n],
            listed_position: Vec::new(),
            listed_gradient: Vec::new(),
            checked_position: Vec::new(),
            strain_since: vec![0.0; n],
            residual: Vec::new(),
            listed_residual: Vec::new(),
            base: Vec::new(),
            residual_stiffness: Vec::new(),
            spans: Spans::default(),
            plastic_gradient: if stored_rest { vec![Mat3::IDENTITY; n] } else { Vec::new() },
            tallies: Tallies::default(),
            neighbors: Neighbors::default(),
            metric: Vec::new(),
            stretch: Vec::new(),
            support: Vec::new(),
            bond_facts: Vec::new(),
            push: Vec::new(),
            time_scale: 0.0,
            weights: Vec::new(),
            responses: Vec::new(),
            carriers: Vec::new(),
            increments: Vec::new(),
            before: Vec::new(),
            viscous: Viscosity::default(),
            sph: SphViscosity::default(),
            pressure: SphPressure::default(),
            rest: RestFacts::default(),
            params,
        };
        if method.has_spans() {
            method.base = vec![Mat3::IDENTITY; n];
        }
        method.renew_all_lists(particles);
        method.tallies.n_renewals = 0;
        method.forces_at(particles);
        refuse_thin_bodies(particles, matter, |i| method.is_degenerate(i))?;
        method.pressure.find_rest_density(&method.neighbors, particles, &method.support);
        method.find_rest_limits(particles);
        method.before.clone_from(&particles.position);
        Ok(method)
    }

    /// Finds the limit 2/ω_max of the undeformed bodies by power iteration.
    fn find_rest_limits(&mut self, particles: &mut Particles) {
        let rest = particles.position.clone();
        let mass = particles.mass.clone();
        let smallest = self.full_support.iter().copied().fold(Real::INFINITY, Real::min);
        let (highest, fastest) = highest_frequency(&rest, &mass, smallest, |x, force| {
            particles.position.copy_from_slice(&rest);
            self.respond(particles, FlowStep::NONE);
            if !self.has_stored_rest() && !self.has_spans() {
                self.before.clone_from(&rest);
                self.compose(x);
            }
            particles.position.copy_from_slice(x);
            self.forces_at(particles);
            force.copy_from_slice(&self.force);
            self.forget();
        });
        particles.position = rest;
        self.rest =
            RestFacts { time_step: 2.0 / (highest * (1.0 + MISSED)), fastest, time_scale: self.time_scale };
        self.forces_at(particles);
    }

    /// Resets the method to the undeformed state.
    fn forget(&mut self) {
        self.gradient.fill(Mat3::IDENTITY);
        self.residual.fill(Vec3::ZERO);
        self.strain_since.fill(0.0);
        self.tallies = Tallies::default();
    }

    /// Computes what follows from the number and the materials of the particles.
    pub(super) fn follow_particles(&mut self, particles: &Particles) {
        self.piece_sizes.fill(0);
        for &body in &particles.body {
            self.piece_sizes[self.bodies[body as usize].piece as usize] += 1;
        }
        self.full_support = particles.radius.iter().map(|r| self.params.support * 2.0 * r).collect();
        self.lame = LameParameter::new(&particles.material, particles.len());
        self.stiffness.forget_absent(particles);
    }

    /// Rebuilds derived data after state was loaded.
    pub(super) fn restore(&mut self, particles: &Particles) {
        self.follow_particles(particles);
        self.before.clone_from(&particles.position);
        self.find_lists(particles);
        self.residual.resize(self.neighbors.n_bonds(), Vec3::ZERO);
        if self.has_spans() {
            self.listed_residual.resize(self.neighbors.n_bonds(), Vec3::ZERO);
            self.restore_spans();
            return;
        }
        // forces are state: recomputing them from the rounded result would not give exactly those of the last step
        self.respond(particles, FlowStep::NONE);
    }

    /// Follows particles that the caller has moved: they deform as in a step.
    pub(super) fn moved(&mut self, particles: &Particles) {
        if !self.has_stored_rest() && !self.has_spans() {
            self.compose(&particles.position);
            let old = self.old_pieces(particles);
            if old.contains(&true) {
                self.renew_lists(particles, &old);
            }
        }
        self.forces_at(particles);
        if self.has_spans() {
            let old = self.old_pieces(particles);
            if old.contains(&true) {
                self.renew_lists(particles, &old);
                self.forces_at(particles);
            }
        }
    }
}
