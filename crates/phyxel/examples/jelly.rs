//! Example of a jelly block that is simulated without any files: `cargo run --release -p phyxel --example jelly`

use phyxel::prelude::*;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let jelly = Material::elastic(40e3, 0.4);
    let block =
        Body::new("block", Shape::Box { size: Vec3::splat(0.2) }, 0.02, jelly).at(vec3(0.0, 0.3, 0.0));
    let floor =
        Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into()).with_friction(0.5);
    // a user-defined field: wind that grows with height
    let wind = Field::Custom(Arc::new(|at| vec3(2.0 * at.position.y, 0.0, 0.0)));
    let mut world = World::builder().body(block).obstacle(floor).force(ForceField::always(wind)).build()?;
    for frame in 1..=60 {
        world.advance(1.0 / 60.0)?;
        let ledger = world.ledger();
        let height = world.frame(&[]).position.iter().fold(0f32, |top, p| top.max(p[1]));
        println!(
            "frame {frame:2}: top at {height:.3} m, {:2} steps, floor carries {:6.2} N",
            ledger.n_steps, ledger.forces[0].1.y
        );
    }
    Ok(())
}
