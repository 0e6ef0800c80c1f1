//! The measured world: an elastic block on a lattice at the moment when it hits the floor.

use crate::failure::Failure;
use crate::{clock, memory};
use phyxel::contact::{Friction, Obstacle};
use phyxel::geometry::Shape;
use phyxel::material::Material;
use phyxel::math::{Vec3, vec3};
use phyxel::world::{Body, World};
use serde_json::{Map, Value, json};

/// Spacing of the particles (m).
const SPACING: f64 = 0.02;
/// Velocity of the block just before the impact (m/s).
const VELOCITY: f64 = -2.0;
/// Steps before the clock starts: caches are warm and the floor is touched. Small blocks rebound within 15 steps.
const WARM_UP: usize = 5;

fn world(method: &str, particles: usize) -> Result<World, Failure> {
    let n_side = (particles as f64).cbrt().round().max(2.0);
    let side = n_side * SPACING;
    let material = Material::elastic(1e5, 0.3);
    let block = Body::new("block", Shape::Box { size: Vec3::splat(side) }, SPACING, material);
    let mut block = block.at(vec3(0.0, 0.5 * side + 1e-4, 0.0));
    block.velocity = vec3(0.0, VELOCITY, 0.0);
    let mut floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
    floor.friction = Friction::Coulomb(0.5);
    let built =
        World::builder().default_method(method).body(block).obstacle(floor).clock(clock::seconds).build();
    built.map_err(|error| Failure::Run(error.to_string()))
}

/// Advances by `n_steps` steps, or more if the step limit shrinks meanwhile. Returns the seconds that it took.
fn advance(world: &mut World, n_steps: usize) -> Result<f64, Failure> {
    // slightly less than the limit, because rounding could otherwise add an extra step
    let interval = world.time_step_limit().0 * n_steps as f64 * (1.0 - 1e-9);
    let start = clock::seconds();
    world.advance(interval).map_err(|error| Failure::Run(error.to_string()))?;
    Ok(clock::seconds() - start)
}

/// Returns the seconds spent in each stage so far.
fn stages(world: &World) -> Vec<(&'static str, f64)> {
    world.timings().stages().to_vec()
}

/// Times the block with the threads of the current pool. Times are in ns per particle per step.
pub(super) fn measure(method: &str, particles: usize, n_steps: usize) -> Result<Value, Failure> {
    let mut world = world(method, particles)?;
    advance(&mut world, WARM_UP)?;
    let before = stages(&world);
    let seconds = advance(&mut world, n_steps)?;
    let ledger = world.ledger();
    let n_particles = ledger.n_particles;
    let unit = 1e9 / (n_particles * ledger.n_steps.max(1)) as f64;
    let earlier = |name: &str| before.iter().find(|stage| stage.0 == name).map_or(0.0, |stage| stage.1);
    let by_stage: Map<String, Value> = stages(&world)
        .into_iter()
        .map(|(name, s)| (name.to_owned(), json!(unit * (s - earlier(name)))))
        .collect();
    let push = ledger.forces.iter().find(|force| force.0 == "floor").map_or(0.0, |force| force.1.y);
    let peak = memory::peak();
    Ok(json!({
        "method": method,
        "particles": n_particles,
        "threads": rayon::current_num_threads(),
        "steps": ledger.n_steps,
        "seconds": seconds,
        "stages": by_stage,
        "total": unit * seconds,
        "floor_force": push,
        "peak_bytes": peak,
        "peak_bytes_per_particle": peak.map(|bytes| bytes as f64 / n_particles as f64),
    }))
}
