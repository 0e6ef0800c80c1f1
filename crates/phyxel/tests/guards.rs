//! Tests that failing runs end with a message, and that impossible descriptions are refused.

mod support;

use phyxel::contact::Axes;
use phyxel::geometry::Shape;
use phyxel::math::{Real, Vec3, vec3};
use phyxel::methods::StepError;
use phyxel::world::{Body, BuildError, World};
use support::{bar, elastic, grip_across_z};

#[test]
fn non_finite_state_names_body_particle_and_time() {
    let mut world = World::builder()
        .body(bar("good", [4, 4, 4], 0.05, elastic(1e5, 0.3)))
        .body(bar("bad", [4, 4, 4], 0.05, elastic(1e5, 0.3)).at(vec3(1.0, 1.0, 1.0)))
        .build()
        .unwrap();
    world.advance(0.01).unwrap();
    world.edit_particles(|particles| {
        let i = particles.id.iter().position(|&id| id == 100).unwrap();
        particles.velocity[i].x = Real::NAN;
    });
    let error = world.advance(0.01).unwrap_err();
    assert_eq!((error.body.as_str(), error.time), ("bad", 0.01));
    assert!(matches!(error.source, StepError::NonFinite { .. }));
    let text = error.to_string();
    assert!(text.contains("\"bad\"") && text.contains("time_step") && text.contains("0.01"), "{text}");
}

#[test]
fn torn_matter_ends_the_run_instead_of_crawling() {
    let mut world = World::builder()
        .gravity(Vec3::ZERO)
        .body(bar("b", [4, 4, 4], 0.05, elastic(10.0, 0.3)))
        .build()
        .unwrap();
    world.edit_particles(|particles| {
        particles.velocity[7] = vec3(1e6, 0.0, 0.0);
    });
    let error = world.advance(1.0).unwrap_err();
    assert!(matches!(error.source, StepError::Unstable { .. }), "{error}");
}

#[test]
fn impossible_descriptions_are_refused() {
    let block = || bar("b", [4, 4, 4], 0.05, elastic(1e5, 0.3));
    assert!(matches!(World::builder().build(), Err(BuildError::NoBodies)));
    let coarse = Body::new("b", Shape::Sphere { radius: 0.1 }, 0.5, elastic(1e5, 0.3));
    assert!(matches!(World::builder().body(coarse).build(), Err(BuildError::Fill { .. })));
    let nowhere = grip_across_z("g", "b", [5.0, 6.0], Axes::ALL, vec![]);
    let error = World::builder().body(block()).grip(nowhere).build().err().unwrap().to_string();
    assert!(error.contains("selects no particle"), "{error}");
    let orphan = grip_across_z("g", "c", [0.0, 1.0], Axes::ALL, vec![]);
    let error = World::builder().body(block()).grip(orphan).build().err().unwrap().to_string();
    assert!(error.contains("does not exist"), "{error}");
    let error = World::builder().body(block()).time_step(Some(1.0)).build().err().unwrap();
    let BuildError::TimeStep { limit, .. } = error else { panic!("{error}") };
    assert!(World::builder().body(block()).time_step(Some(0.99 * limit)).build().is_ok());
    let mut other = block();
    other.method = Some("elaston".into());
    assert!(matches!(World::builder().body(other).build(), Err(BuildError::UnknownMethod { .. })));
}

/// Checks that moved particles feel the forces of the new shape in the very first kick: speeds grow uniformly.
#[test]
fn edited_positions_are_felt_from_the_first_step() {
    let mut world = World::builder()
        .gravity(Vec3::ZERO)
        .body(bar("b", [4, 4, 6], 0.05, elastic(1e5, 0.3)))
        .build()
        .unwrap();
    world.edit_particles(|particles| particles.position.iter_mut().for_each(|p| p.z *= 1.05));
    assert!(world.ledger().elastic_energy.unwrap() > 0.1);
    world.advance(1e-5).unwrap();
    let first = world.ledger().max_speed;
    world.advance(1e-5).unwrap();
    let ratio = world.ledger().max_speed / first;
    assert!((ratio - 2.0).abs() < 0.01, "{ratio}");
}
