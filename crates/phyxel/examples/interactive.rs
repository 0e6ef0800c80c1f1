//! Example of a loop as in a game: bodies are spawned, pushed and removed, an obstacle follows the player, and contacts
//! and rays are queried.
//! `cargo run --release -p phyxel --example interactive`

use phyxel::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let jelly = Material::elastic(40e3, 0.3).with(Property::Viscosity, 20.0);
    let block = |name: &str, at: Vec3| {
        Body::new(name, Shape::Box { size: Vec3::splat(0.2) }, 0.04, jelly.clone()).at(at)
    };
    let floor =
        Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into()).with_friction(0.5);
    let mut paddle = Obstacle::new("paddle", Shape::Box { size: vec3(0.1, 0.4, 0.6) }.into());
    paddle.shape.placement.position = vec3(-0.6, 0.2, 0.0);
    let mut world = World::builder()
        .body(block("first", vec3(0.0, 0.11, 0.0)))
        .obstacle(floor)
        .obstacle(paddle)
        .build()?;
    let paddle = world.obstacle("paddle").ok_or("no paddle")?;
    let mut spawned = Vec::new();

    for frame in 0..90 {
        // spawns a body every half second, and pushes it sideways
        if frame % 30 == 0 {
            let body = world.add_body(block(&format!("spawned {frame}"), vec3(0.0, 0.6, 0.0)))?;
            world.push_body(body, vec3(4.0, 0.0, 0.0));
            spawned.push(body);
        }
        // the paddle follows the player's hand
        world.move_obstacle(paddle, vec3(0.6 * (0.05 * Real::from(frame)).sin(), 0.0, 0.0), Vec3::ZERO);
        world.advance(1.0 / 60.0)?;

        // prints the bodies that touch obstacles, and their impulses
        for contact in world.contacts() {
            if let TouchingSide::Obstacle(obstacle) = contact.other
                && frame % 15 == 0
            {
                let (body, what) = (&world.body_names()[contact.body.index()], obstacle.index());
                println!(
                    "frame {frame:2}: {body} touches obstacle {what} with {:.2} N s",
                    contact.impulse.length()
                );
            }
        }
        // removes the body that the player looks at, if it was spawned
        let look = world.cast_ray(vec3(1.0, 1.0, 0.0), vec3(-1.0, -0.9, 0.0));
        if let Some(hit) = look.filter(|hit| frame > 45 && spawned.contains(&hit.body)) {
            println!("frame {frame:2}: removes {} at {:.2}", world.body_names()[hit.body.index()], hit.point);
            world.remove_body(hit.body)?;
            spawned.retain(|body| *body != hit.body);
        }
    }
    println!("{} particles are left", world.n_particles());
    Ok(())
}
