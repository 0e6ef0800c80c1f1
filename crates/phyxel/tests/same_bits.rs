//! Tests that short runs have the bits that `src/bits.txt` tells, on every machine: another processor, C library or
//! system must give the same. A change that moves numbers renews the file:
//! `PHYXEL_BLESS=1 cargo test --release -p phyxel --test same_bits`.

mod support;

use phyxel::methods::{Abilities, built_methods, rigid};
use phyxel::prelude::*;
use support::saving::on_threads;
use support::{elastic, grip_across_z};

/// Frames (1/60 s) of a run.
const FRAMES: u32 = 4;

/// Returns a half space under a slope, a star that turns and a mesh.
fn obstacles() -> [Obstacle; 3] {
    let floor = Shape::HalfSpace { normal: vec3(0.1, 1.0, 0.0).normalize(), offset: 0.0 };
    let star = Shape::Star { points: 5, radius: 0.2, inner_radius: 0.1, height: 0.1 };
    let mut star = Obstacle::new("star", PlacedShape::from(star)).with_friction(0.2);
    star.shape.placement.position = vec3(0.6, 0.1, 0.0);
    let turns = [vec3(0.0, 0.4, 0.0), vec3(0.5, 0.0, 0.2)].into_iter().zip([0.0, 0.1]);
    let keys = turns.map(|(rotation, time)| Keyframe { time, rotation, translation: Vec3::ZERO }).collect();
    star.motion = Motion::try_new(keys, Ease::Smooth).unwrap();
    let cone = Shape::Cone { radius: 0.2, height: 0.2 }.triangulate(12).unwrap();
    let mut cone = Obstacle::new("cone", PlacedShape::from(Shape::Mesh(cone.into())));
    cone.shape.placement.position = vec3(-0.7, 0.2, 0.0);
    [Obstacle::new("floor", floor.into()).with_friction(0.4), star, cone]
}

/// Returns bodies of all shapes and of all materials that the method can run: every law, elastic and flowing.
fn bodies(method: &str, abilities: &Abilities) -> Vec<Body> {
    let mut materials: Vec<Material> = Vec::new();
    for law in abilities.laws {
        let mut elastic = elastic(1e5, 0.35).with(Property::Viscosity, 5.0);
        elastic.law = Some(*law);
        materials.push(elastic.clone());
        if !abilities.flows.is_empty() {
            materials.push(elastic.creeping(YieldMeasure::Deviatoric, 300.0, 200.0));
        }
    }
    let shapes = [
        Shape::Sphere { radius: 0.12 },
        Shape::Mesh(Shape::Torus { radius: 0.1, tube_radius: 0.08 }.triangulate(16).unwrap().into()),
        Shape::Cylinder { radius: 0.14, height: 0.24 },
        Shape::Ellipsoid { radii: vec3(0.16, 0.1, 0.12) },
    ];
    let samplings = [Sampling::Lattice, Sampling::Jittered];
    let kind = |k: usize| {
        let place = vec3(0.6 * (k % 3) as Real - 0.6, 0.45 + 0.35 * (k / 3) as Real, 0.0);
        let (shape, material) = (shapes[k % shapes.len()].clone(), materials[k % materials.len()].clone());
        let mut body = Body::new(format!("body_{k}"), shape, 0.04, material).at(place);
        body.fill.sampling = samplings[k % samplings.len()];
        body.shape.placement.rotation = Quat::from_axis_angle(vec3(0.6, 0.0, 0.8), 0.7);
        body.velocity = vec3(0.0, -6.0, 0.2);
        body.angular_velocity = vec3(1.0, 2.0, 3.0);
        body.method = Some(method.into());
        body
    };
    (0..materials.len().max(shapes.len())).map(kind).collect()
}

/// Builds a world with such bodies, a held bar and a rigid box.
fn world(method: &str, abilities: &Abilities) -> World {
    let mut graded = Body::new("bar", Shape::Box { size: vec3(0.1, 0.1, 0.5) }, 0.04, elastic(2e5, 0.3));
    graded = graded.at(vec3(1.4, 0.6, 0.0));
    graded.fill.spacing = Spacing::Along { axis: Vec3::Z, from: 0.03, to: 0.05 };
    graded.method = Some(method.into());
    let mut rigid_box = Body::new("box", Shape::Box { size: Vec3::splat(0.16) }, 0.04, Material::default());
    rigid_box = rigid_box.at(vec3(0.0, 0.12, 0.5));
    rigid_box.fill.sampling = Sampling::Relaxed;
    rigid_box.method = Some("rigid".into());
    rigid_box.angular_velocity = vec3(3.0, 1.0, -2.0);
    let turn = Keyframe { time: 0.05, translation: vec3(0.0, 0.02, 0.0), rotation: vec3(0.1, 0.2, 0.8) };
    let mut builder = World::builder()
        .method(rigid::Params::default())
        .body(graded)
        .body(rigid_box)
        .force(ForceField::always(Field::Drag(0.3)))
        .grip(grip_across_z("hand", "bar", [-0.25, -0.2], Axes::ALL, vec![turn]));
    for body in bodies(method, abilities) {
        builder = builder.body(body);
    }
    obstacles().into_iter().fold(builder, WorldBuilder::obstacle).build().unwrap()
}

/// Returns the digest of the state at the end of a run.
fn digest(method: &str, abilities: &Abilities) -> u64 {
    let mut world = world(method, abilities);
    for frame in 1..=FRAMES {
        world.advance_to(Real::from(frame) / 60.0).unwrap();
    }
    let forces = world.ledger().forces;
    for (name, force) in forces.iter().filter(|force| force.0 != "hand") {
        assert!(*force != Vec3::ZERO, "{method}: {name} was not touched");
    }
    world.digest()
}

#[test]
fn same_bits_on_every_machine() {
    let digests = on_threads(2, || built_methods().map(|e| (e.key, digest(e.key, &e.abilities))).collect());
    let digests: Vec<(&str, u64)> = digests;
    let text: String = digests.iter().map(|(key, digest)| format!("{key} {digest:016x}\n")).collect();
    if std::env::var_os("PHYXEL_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/bits.txt"), text).unwrap();
        return;
    }
    assert_eq!(
        phyxel::BITS,
        text,
        "results have other bits. If they are meant to: `PHYXEL_BLESS=1 cargo test --release -p phyxel --test \
         same_bits`, and **Results change** in CHANGELOG.md"
    );
}
