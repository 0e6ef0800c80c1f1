//! Example of a user-defined method outside the engine: particles are joined to their rest neighbours by springs.
//! `cargo run --release -p phyxel --example own_method`

use phyxel::math::{Real, Vec3, sum_over};
use phyxel::methods::{
    Change, Connectivity, Energies, Matter, Method, MethodError, MethodFactory, StepContext, StepError,
    StepReport, TimeStepLimit, explicit,
};
use phyxel::neighbors::{Bonds, Points, nearest};
use phyxel::particles::{Particles, StateVisitor};
use phyxel::prelude::*;

#[derive(Clone, Copy, Debug)]
struct Springs {
    stiffness: Real,
}

struct SpringMethod {
    stiffness: Real,
    bonds: Bonds,
}

impl MethodFactory for Springs {
    fn key(&self) -> &str {
        "springs"
    }

    fn clone_box(&self) -> Box<dyn MethodFactory> {
        Box::new(*self)
    }

    fn build(&self, particles: &mut Particles, _matter: &Matter) -> Result<Box<dyn Method>, MethodError> {
        let x = &particles.position;
        let neighbors = nearest(Points { positions: x, keys: &particles.body }, 18).symmetrized();
        let bonds = Bonds::new(neighbors, |i, j| x[j] - x[i]);
        Ok(Box::new(SpringMethod { stiffness: self.stiffness, bonds }))
    }
}

impl SpringMethod {
    fn force(&self, x: &[Vec3], i: usize) -> Vec3 {
        let range = self.bonds.neighbors().range(i);
        let row = self.bonds.neighbors().row(i).iter().zip(&self.bonds.vectors()[range]);
        row.map(|(&j, rest)| {
            let bond = x[j as usize] - x[i];
            bond.normalize_or_zero() * (bond.length() - rest.length()) * self.stiffness
        })
        .sum()
    }
}

impl Method for SpringMethod {
    fn max_time_step(&self, particles: &Particles) -> TimeStepLimit {
        let lightest = particles.mass.iter().copied().fold(Real::INFINITY, Real::min);
        let stable = (lightest / (18.0 * self.stiffness)).sqrt();
        TimeStepLimit { value: 0.5 * stable, stable, reason: "springs", particle: None }
    }

    fn step(
        &mut self,
        particles: &mut Particles,
        ctx: &mut StepContext<'_>,
    ) -> Result<StepReport, StepError> {
        let force: Vec<Vec3> = (0..particles.len()).map(|i| self.force(&particles.position, i)).collect();
        explicit::kick(particles, ctx, &force, ctx.time_step);
        explicit::meet_before_moving(particles, ctx);
        explicit::drift(particles, ctx, &force);
        Ok(StepReport::default())
    }

    fn changed(&mut self, _particles: &Particles, _change: Change) {}

    fn visit_state(&mut self, _visitor: &mut dyn StateVisitor) {}

    fn connectivity(&self, _body: u32) -> Connectivity {
        Connectivity::Bonds
    }

    fn visit_bonds(&self, _particles: &Particles, i: usize, visit: &mut dyn FnMut(usize, Vec3)) {
        let range = self.bonds.neighbors().range(i);
        let row = self.bonds.neighbors().row(i).iter().zip(&self.bonds.vectors()[range]);
        row.for_each(|(&j, &rest)| visit(j as usize, rest));
    }

    fn energies(&self, _particles: &Particles) -> Energies {
        Energies::default()
    }

    fn current_volume(&self, particles: &Particles) -> Real {
        sum_over(particles.len(), |i| particles.volume[i])
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let block = Body::new("block", Shape::Box { size: Vec3::splat(0.2) }, 0.025, Material::default())
        .at(vec3(0.0, 0.2, 0.0));
    let floor =
        Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into()).with_friction(0.5);
    let springs = Springs { stiffness: 500.0 };
    let mut world =
        World::builder().method(springs).default_method("springs").body(block).obstacle(floor).build()?;
    for _ in 0..30 {
        world.advance(1.0 / 30.0)?;
    }
    println!("after 1 s: max speed {:.4} m/s", world.ledger().max_speed);
    Ok(())
}
