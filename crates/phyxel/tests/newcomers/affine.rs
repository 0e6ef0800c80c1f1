//! A test method whose degrees of freedom are not the particles: twelve numbers move each body. It is explicit, or
//! implicit with long steps and swept contact.
//!
//!   x_i = p + A X_i,  v_i = v + B X_i,  W = k/2 |A − R|²,  R = polar(A),  k = E V
//!   m v̇ = Σ f_i,  Ḃ M = Σ f_i X_iᵀ − k (A − R),  M = Σ m_i X_i X_iᵀ
//! An impulse J on particle i changes the velocity of particle j of the same body by (1/m + X_iᵀ M⁻¹ X_j) J; in
//! implicit steps M + Δt² k replaces M. Contacts and grips are solved by projected Gauss-Seidel within every iteration.

use phyxel::frame::{FrameColumn, PointSet};
use phyxel::material::Property;
use phyxel::math::{Mat3, Real, Vec3, double_dot, outer, polar, sum_over, symmetric_eigen, symmetric_part};
use phyxel::methods::rows::{Jointed, Rows};
use phyxel::methods::{
    Change, Connectivity, ContactResponse, ElasticEnergy, Energies, Matter, Method, MethodError,
    MethodFactory, StepContext, StepError, StepReport, TimeStepLimit,
};
use phyxel::neighbors::{Bonds, Points, nearest};
use phyxel::particles::{Carry, Particles, StateData, StateItem, StateVisitor};

/// Settings of the explicit and the implicit kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Affine {
    pub(crate) is_implicit: bool,
}

impl Affine {
    pub(crate) const EXPLICIT: Self = Self { is_implicit: false };
    pub(crate) const IMPLICIT: Self = Self { is_implicit: true };
}

/// Time step of the implicit kind (s).
pub(crate) const LONG_STEP: Real = 1.0 / 30.0;
/// Fraction of the stable step that the explicit kind takes.
const SAFETY: Real = 0.5;
/// Number of iterations of an implicit step.
pub(crate) const ITERATIONS: usize = 8;
const SWEEPS: usize = 40;
/// Damping of the explicit kind: time in which a stretch relaxes (stable steps).
const DAMPING: Real = 0.1;
/// Fraction of an overlap that a step removes.
const PARTED: Real = 0.3;

impl MethodFactory for Affine {
    fn key(&self) -> &str {
        if self.is_implicit { "affine_implicit" } else { "affine" }
    }

    fn clone_box(&self) -> Box<dyn MethodFactory> {
        Box::new(*self)
    }

    fn build(&self, particles: &mut Particles, matter: &Matter) -> Result<Box<dyn Method>, MethodError> {
        let x = &particles.position;
        let neighbors = nearest(Points { positions: x, keys: &particles.body }, 18).symmetrized();
        let bonds = Bonds::new(neighbors, |i, j| x[j] - x[i]);
        let mut method = AffineMethod {
            is_implicit: self.is_implicit,
            bonds,
            body_of: Vec::new(),
            rest: vec![Vec3::ZERO; particles.len()],
            bodies: Vec::new(),
            place: Vec::new(),
            shape: Vec::new(),
            velocity: Vec::new(),
            rate: Vec::new(),
        };
        for body in &matter.bodies {
            let own: Vec<usize> = (0..particles.len()).filter(|&i| particles.body[i] == body.index).collect();
            let mass: Real = own.iter().map(|&i| particles.mass[i]).sum();
            let center: Vec3 =
                own.iter().map(|&i| particles.position[i] * particles.mass[i]).sum::<Vec3>() / mass;
            own.iter().for_each(|&i| method.rest[i] = particles.position[i] - center);
            let moment = own
                .iter()
                .fold(Mat3::ZERO, |sum, &i| sum + outer(method.rest[i], method.rest[i]) * particles.mass[i]);
            let stiffness = particles.material[Property::YoungsModulus].at(own[0]) * body.volume;
            method.bodies.push(AffineBody { index: body.index, mass, moment, stiffness });
            method.place.push(center);
            method.shape.push(Mat3::IDENTITY);
        }
        let number = |&body: &u32| method.bodies.iter().position(|b| b.index == body).unwrap();
        method.body_of = particles.body.iter().map(number).collect();
        method.velocity = vec![Vec3::ZERO; method.bodies.len()];
        method.rate = vec![Mat3::ZERO; method.bodies.len()];
        method.fit_velocities(particles);
        Ok(Box::new(method))
    }
}

#[derive(Clone, Copy)]
struct AffineBody {
    index: u32,
    mass: Real,
    moment: Mat3,
    stiffness: Real,
}

/// Returns the step at which explicit steps become unstable (s).
fn stable_step(body: &AffineBody) -> Real {
    2.0 * (symmetric_eigen(body.moment).0.min_element() / body.stiffness).sqrt()
}

struct AffineMethod {
    is_implicit: bool,
    bonds: Bonds,
    /// Body and rest position of each particle.
    body_of: Vec<usize>,
    rest: Vec<Vec3>,
    /// Facts and the state p, A, v, B of each body.
    bodies: Vec<AffineBody>,
    place: Vec<Vec3>,
    shape: Vec<Mat3>,
    velocity: Vec<Vec3>,
    rate: Vec<Mat3>,
}

/// The bodies of a method with the inertia of a step.
struct Joints<'a> {
    method: &'a mut AffineMethod,
    inertia: &'a [Mat3],
}

impl Jointed for Joints<'_> {
    fn velocity_at(&self, i: usize) -> Vec3 {
        self.method.velocity_at(i)
    }

    fn mobility(&self, i: usize) -> Mat3 {
        let (b, rest) = (self.method.body_of[i], self.method.rest[i]);
        Mat3::IDENTITY * (1.0 / self.method.bodies[b].mass + rest.dot(self.inertia[b] * rest))
    }

    fn push(&mut self, i: usize, impulse: Vec3) {
        self.method.push(i, impulse, self.inertia);
    }
}

impl AffineMethod {
    fn velocity_at(&self, i: usize) -> Vec3 {
        let b = self.body_of[i];
        self.velocity[b] + self.rate[b] * self.rest[i]
    }

    /// Fits the velocities of the bodies to the particles: same momentum and same Σ m v Xᵀ.
    fn fit_velocities(&mut self, particles: &Particles) {
        for (b, body) in self.bodies.iter().enumerate() {
            let (mut momentum, mut moment) = (Vec3::ZERO, Mat3::ZERO);
            for i in (0..particles.len()).filter(|&i| self.body_of[i] == b) {
                momentum += particles.velocity[i] * particles.mass[i];
                moment += outer(particles.velocity[i], self.rest[i]) * particles.mass[i];
            }
            self.velocity[b] = momentum / body.mass;
            self.rate[b] = moment * body.moment.inverse();
        }
    }

    fn push(&mut self, i: usize, impulse: Vec3, inertia: &[Mat3]) {
        let b = self.body_of[i];
        self.velocity[b] += impulse / self.bodies[b].mass;
        self.rate[b] += outer(impulse, inertia[b] * self.rest[i]);
    }

    /// Returns the time in which a stretch relaxes (s).
    fn relaxation(&self, b: usize) -> Real {
        DAMPING * stable_step(&self.bodies[b])
    }
}

impl Method for AffineMethod {
    fn max_time_step(&self, _particles: &Particles) -> TimeStepLimit {
        if self.is_implicit {
            return TimeStepLimit { value: LONG_STEP, stable: Real::INFINITY, reason: "own", particle: None };
        }
        let stable = self.bodies.iter().map(stable_step).fold(Real::INFINITY, Real::min);
        TimeStepLimit { value: SAFETY * stable, stable, reason: "stiffness", particle: None }
    }

    /// Shows the body frames: where each body's origin is, and the axes of its map.
    fn point_sets(&self, _particles: &Particles) -> Vec<PointSet> {
        let axis = |k: usize| {
            let values = self.shape.iter().flat_map(|a| a.col(k).as_vec3().to_array()).collect();
            FrameColumn { name: format!("axis_{k}"), unit: "1", n_components: 3, values }
        };
        vec![PointSet {
            name: "nodes".into(),
            position: self.place.iter().map(|place| place.as_vec3().to_array()).collect(),
            body: self.bodies.iter().map(|body| body.index).collect(),
            columns: (0..3).map(axis).collect(),
        }]
    }

    fn contact_response(&self) -> ContactResponse {
        if self.is_implicit { ContactResponse::SweptRows } else { ContactResponse::Rows }
    }

    fn take_impulses(&mut self, particles: &mut Particles) {
        if particles.impulse.is_empty() {
            return;
        }
        let inertia: Vec<Mat3> = self.bodies.iter().map(|b| b.moment.inverse()).collect();
        for (i, impulse) in std::mem::take(&mut particles.impulse).into_iter().enumerate() {
            self.push(i, impulse, &inertia);
        }
        (0..particles.len()).for_each(|i| particles.velocity[i] = self.velocity_at(i));
    }

    fn joint_mobility(&self, _particles: &Particles, i: usize) -> Option<Real> {
        Some(1.0 / self.bodies[self.body_of[i]].mass)
    }

    fn step(
        &mut self,
        particles: &mut Particles,
        ctx: &mut StepContext<'_>,
    ) -> Result<StepReport, StepError> {
        let dt = ctx.time_step;
        let inertia: Vec<Mat3> = self
            .bodies
            .iter()
            .map(|b| {
                let added = if self.is_implicit { dt * dt * b.stiffness } else { 0.0 };
                (b.moment + Mat3::IDENTITY * added).inverse()
            })
            .collect();
        // fields act on the particles
        let plain: Vec<Mat3> = self.bodies.iter().map(|b| b.moment.inverse()).collect();
        for i in 0..particles.len() {
            let a = ctx.fields.acceleration(particles.position[i], particles.velocity[i]);
            self.push(i, a * (particles.mass[i] * dt), &plain);
        }
        let (velocity, rate) = (self.velocity.clone(), self.rate.clone());
        let mut rows = Rows::default();
        let iterations = if self.is_implicit { ITERATIONS } else { 1 };
        for iteration in 0..iterations {
            // global step: elastic forces about the present rotation, and all impulses so far
            for b in 0..self.bodies.len() {
                let body = &self.bodies[b];
                let (shape, k) = (self.shape[b], body.stiffness);
                self.velocity[b] = velocity[b];
                self.rate[b] = if self.is_implicit {
                    let rotation = polar(shape + self.rate[b] * dt).0;
                    (rate[b] * body.moment - (shape - rotation) * (dt * k)) * inertia[b]
                } else {
                    let rotation = polar(shape).0;
                    let strain_rate = rotation * symmetric_part(rotation.transpose() * rate[b]);
                    let force = (shape - rotation) * k + strain_rate * (k * self.relaxation(b));
                    rate[b] - force * inertia[b] * dt
                };
            }
            let mut joints = Joints { method: self, inertia: &inertia };
            if iteration == 0 {
                rows = Rows::find(&joints, particles, ctx);
            }
            rows.push_all(&mut joints);
            for _ in 0..SWEEPS {
                rows.sweep(&mut joints, particles, dt);
            }
        }
        rows.book(particles, ctx);
        for b in 0..self.bodies.len() {
            self.place[b] += self.velocity[b] * dt;
            self.shape[b] += self.rate[b] * dt;
        }
        // overlaps are removed without a change of velocity: each body by its deepest one
        let mut shift = vec![Vec3::ZERO; self.bodies.len()];
        for row in rows.contacts().filter(|row| row.gap < 0.0) {
            let b = self.body_of[row.particle];
            let push = row.normal * (-PARTED * row.gap);
            if push.length() > shift[b].length() {
                shift[b] = push;
            }
        }
        self.place.iter_mut().zip(shift).for_each(|(place, shift)| *place += shift);
        for i in 0..particles.len() {
            let b = self.body_of[i];
            particles.position[i] = self.place[b] + self.shape[b] * self.rest[i];
            particles.velocity[i] = self.velocity_at(i);
        }
        Ok(StepReport { iterations, ..StepReport::default() })
    }

    fn changed(&mut self, particles: &Particles, change: Change) {
        if change == Change::Restored {
            return;
        }
        for (b, body) in self.bodies.iter().enumerate() {
            let own = || (0..particles.len()).filter(|&i| self.body_of[i] == b);
            let center = own().map(|i| particles.position[i] * particles.mass[i]).sum::<Vec3>() / body.mass;
            let moment = own().fold(Mat3::ZERO, |sum, i| {
                sum + outer(particles.position[i] - center, self.rest[i]) * particles.mass[i]
            });
            self.place[b] = center;
            self.shape[b] = moment * body.moment.inverse();
        }
        self.fit_velocities(particles);
    }

    fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let mut item = |name, unit, data| {
            visitor.visit(StateItem { name, unit, set: "affine bodies", carry: Carry::Copy, data })
        };
        item("place", "m", StateData::Vectors(&mut self.place));
        item("shape", "1", StateData::Matrices(&mut self.shape));
        item("place_velocity", "m/s", StateData::Vectors(&mut self.velocity));
        item("shape_rate", "1/s", StateData::Matrices(&mut self.rate));
    }

    fn energies(&self, _particles: &Particles) -> Energies {
        let energy = |b: usize| {
            let stretch = self.shape[b] - polar(self.shape[b]).0;
            0.5 * self.bodies[b].stiffness * double_dot(stretch, stretch)
        };
        let deviatoric = (0..self.bodies.len()).map(energy).sum();
        let elastic = ElasticEnergy { deviatoric, ..ElasticEnergy::default() };
        Energies { elastic: Some(elastic), plastic_work: 0.0 }
    }

    fn current_volume(&self, particles: &Particles) -> Real {
        sum_over(particles.len(), |i| particles.volume[i] * self.shape[self.body_of[i]].determinant())
    }

    fn connectivity(&self, _body: u32) -> Connectivity {
        Connectivity::Bonds
    }

    fn visit_bonds(&self, _particles: &Particles, i: usize, visit: &mut dyn FnMut(usize, Vec3)) {
        let range = self.bonds.neighbors().range(i);
        let row = self.bonds.neighbors().row(i).iter().zip(&self.bonds.vectors()[range]);
        row.for_each(|(&j, &rest)| visit(j as usize, rest));
    }
}
