//! Tests that every value of a good scene reaches the description, in SI units.

use crate::{FULL, SHORT, parse};
use phyxel::material::{Law, Property, YieldMeasure};
use phyxel::math::{Mat3, Vec3, vec3};
use phyxel_io::scene::description::*;
use std::f64::consts::PI;

fn placed(shape: Shape) -> PlacedShape {
    PlacedShape { shape, placement: Placement { scale: 1.0, rotation: Rotation::NONE, position: Vec3::ZERO } }
}

#[test]
fn the_full_scene_has_its_settings() {
    let scene = parse(FULL).unwrap_or_else(|error| panic!("{error}")).scene;
    assert_eq!((scene.format, scene.title.as_deref()), (1, Some("Clay bar, twisted and let go")));
    assert_eq!((scene.duration, scene.frame_rate, scene.time_step), (2.0, 30.0, Some(0.001)));
    assert_eq!((scene.gravity, scene.method.as_deref()), (vec3(0.0, -9.81, 0.0), Some("first")));
    assert_eq!(scene.n_frames(), 60);
    let output = Output { columns: vec!["velocity".into(), "stress".into()], checkpoint_every: 10 };
    assert_eq!(scene.output, output);
}

#[test]
fn the_full_scene_has_its_materials_and_forces() {
    let scene = parse(FULL).unwrap().scene;
    let named = |name: &str, values| Material { name: name.into(), based_on: None, values };
    let flow_rate = Varying::Along { axis: Vec3::X, from: 40.0, to: 0.0 };
    let clay = phyxel::material::Material { law: Some(Law::NeoHookean), ..Default::default() }
        .with(Property::Density, 1800.0)
        .with(Property::YoungsModulus, 0.2e6)
        .with(Property::Viscosity, 50.0)
        .creeping(YieldMeasure::Deviatoric, 2e3, flow_rate);
    let region = placed(Shape::Box { center: Vec3::splat(0.5), size: Vec3::ONE });
    let density = Varying::Along { axis: Vec3::Z, from: 1000.0, to: 2000.0 };
    let blend = phyxel::material::Material::default()
        .with(Property::Density, density)
        .with(Property::YoungsModulus, Varying::Inside { region, value: 1e6, outside: 2e6 });
    let (clay, blend) = (named("clay", clay), named("blend", blend));
    assert_eq!(scene.materials.len(), 3);
    assert_eq!((&scene.materials[0], &scene.materials[2]), (&clay, &blend));
    let matrix = Mat3::from_cols(vec3(1.0, 4.0, 7.0), vec3(2.0, 5.0, 8.0), vec3(3.0, 6.0, 9.0));
    let forces = [
        Force { field: ForceField::Acceleration(vec3(0.0, 0.0, 2.0)), from: 0.0, until: Some(0.3) },
        Force { field: ForceField::Linear { matrix, center: Vec3::Y }, from: 0.0, until: None },
        Force { field: ForceField::Drag(0.5), from: 0.0, until: None },
    ];
    assert_eq!(scene.forces, forces);
}

#[test]
fn the_full_scene_has_its_bodies() {
    let scene = parse(FULL).unwrap().scene;
    let [bar, ball, graded] = scene.bodies.as_slice() else { panic!("three bodies") };
    assert_eq!((bar.name.as_str(), bar.material, bar.method.as_str()), ("bar", 0, "first"));
    assert_eq!(bar.shape.shape, Shape::Box { center: Vec3::ZERO, size: vec3(1.0, 0.25, 0.25) });
    let rotation = bar.shape.placement.rotation;
    assert_eq!((rotation.axis, bar.shape.placement.position), (Vec3::Z, vec3(0.0, 0.5, 0.0)));
    assert!((rotation.angle - PI / 6.0).abs() < 1e-15);
    assert_eq!((bar.resolution, bar.sampling, bar.seed), (Resolution::Spacing(0.05), Sampling::Lattice, 7));
    assert!((bar.velocity - vec3(10.0, 0.0, 0.0)).length() < 1e-14);
    assert!((bar.angular_velocity - vec3(0.0, PI, 0.0)).length() < 1e-14);

    assert_eq!((ball.material, ball.method.as_str()), (2, "second"));
    assert_eq!((ball.resolution, ball.sampling), (Resolution::Particles(5000), Sampling::Relaxed));
    let cut = PlacedShape {
        shape: Shape::HalfSpace { normal: Vec3::Y, offset: -0.05 },
        placement: Placement { scale: 2.0, rotation: Rotation::NONE, position: Vec3::Y },
    };
    let expected = Shape::Difference(vec![placed(Shape::Sphere { radius: 0.1 }), cut]);
    assert_eq!(ball.shape, placed(expected));

    assert_eq!(graded.shape.shape, Shape::Mesh { file: "meshes/graded.obj".into() });
    assert_eq!(graded.resolution, Resolution::SpacingAlong { axis: Vec3::X, from: 0.02, to: 0.05 });
}

#[test]
fn the_full_scene_has_its_grips_and_obstacles() {
    let scene = parse(FULL).unwrap().scene;
    let [left, second] = scene.grips.as_slice() else { panic!("two grips") };
    assert_eq!((left.name.as_str(), left.body, left.axes), ("left", 0, [true; 3]));
    assert_eq!((left.release, left.motion.ease), (Some(0.6), Ease::Smooth));
    let keys = &left.motion.keyframes;
    assert_eq!((keys[0].time, keys[0].translation, keys[0].rotation), (0.0, Vec3::ZERO, Rotation::NONE));
    assert_eq!((keys[1].time, keys[1].translation), (0.5, vec3(0.0, 0.2, 0.0)));
    assert!((keys[1].rotation.angle - 0.75 * PI).abs() < 1e-15 && keys[1].rotation.axis == Vec3::X);
    assert_eq!((second.name.as_str(), second.body, second.axes), ("grip_2", 1, [true, false, true]));
    assert_eq!(second.select.placement.position, vec3(1.0, 2.0, 3.0));
    assert_eq!((second.release, second.motion.keyframes.len()), (None, 0));

    let [floor, can] = scene.obstacles.as_slice() else { panic!("two obstacles") };
    assert_eq!((floor.name.as_str(), floor.friction, floor.inside), ("floor", Friction::Coulomb(0.5), false));
    assert_eq!(floor.shape.shape, Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 });
    assert_eq!((can.name.as_str(), can.friction, can.inside), ("obstacle_2", Friction::Stick, true));
    assert_eq!((can.shell, can.motion.ease, can.motion.keyframes.len()), (Some(0.01), Ease::Linear, 2));
}

#[test]
fn the_short_scene_has_the_defaults() {
    let scene = parse(SHORT).unwrap_or_else(|error| panic!("{error}")).scene;
    assert_eq!((scene.frame_rate, scene.gravity, scene.title), (30.0, vec3(0.0, -9.81, 0.0), None));
    assert_eq!(scene.time_step, None);
    assert_eq!(scene.output, Output { columns: vec!["velocity".into()], checkpoint_every: 30 });
    let body = &scene.bodies[0];
    assert_eq!((body.seed, body.sampling, body.velocity), (1, Sampling::Lattice, Vec3::ZERO));
    assert!(scene.grips.is_empty() && scene.obstacles.is_empty() && scene.forces.is_empty());
}

#[test]
fn every_shape_is_read() {
    let shapes = [
        ("box = { size = [1, 2, 3] }", Shape::Box { center: Vec3::ZERO, size: vec3(1.0, 2.0, 3.0) }),
        ("sphere = { radius = 1 }", Shape::Sphere { radius: 1.0 }),
        ("cylinder = { radius = 1, height = 2 }", Shape::Cylinder { radius: 1.0, height: 2.0 }),
        ("capsule = { radius = 1, height = 2 }", Shape::Capsule { radius: 1.0, height: 2.0 }),
        ("cone = { radius = 1, height = 2 }", Shape::Cone { radius: 1.0, height: 2.0 }),
        ("torus = { radius = 2, tube_radius = 1 }", Shape::Torus { radius: 2.0, tube_radius: 1.0 }),
        ("ellipsoid = { radii = [1, 2, 3] }", Shape::Ellipsoid { radii: vec3(1.0, 2.0, 3.0) }),
        (
            "star = { radius = 2, inner_radius = 1, height = 3, points = 6 }",
            Shape::Star { points: 6, radius: 2.0, inner_radius: 1.0, height: 3.0 },
        ),
        ("mesh = { file = \"a.ply\" }", Shape::Mesh { file: "a.ply".into() }),
        ("union = [{ sphere.radius = 1 }]", Shape::Union(vec![placed(Shape::Sphere { radius: 1.0 })])),
        (
            "intersection = [{ sphere.radius = 1 }]",
            Shape::Intersection(vec![placed(Shape::Sphere { radius: 1.0 })]),
        ),
    ];
    for (text, expected) in shapes {
        let scene = SHORT.replace("sphere = { radius = 1 }", text);
        let file = parse(&scene).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.scene.bodies[0].shape.shape, expected);
    }
}

#[test]
fn tables_may_be_inline_dotted_or_headed() {
    let inline = r#"
duration = 1
method = "first"
materials = { clay = { density = 1800, youngs_modulus = 1e5, poisson_ratio = 0.3 } }
bodies = [{ name = "bar", material = "clay", shape = { sphere = { radius = 1 } }, spacing = 0.1 }]
"#;
    let dotted = r#"
duration = 1
method = "first"
materials.clay.density = 1800
materials.clay.youngs_modulus = 1e5
materials.clay.poisson_ratio = 0.3
[[bodies]]
name = "bar"
material = "clay"
spacing = 0.1
[bodies.shape.sphere]
radius = 1
"#;
    let short = parse(SHORT).unwrap().scene;
    assert_eq!(parse(inline).unwrap_or_else(|error| panic!("{error}")).scene, short);
    assert_eq!(parse(dotted).unwrap_or_else(|error| panic!("{error}")).scene, short);
    assert_eq!(parse(&SHORT.replace('\n', "\r\n")).unwrap().scene, short);
    assert_eq!(parse(&format!("\u{feff}{SHORT}")).unwrap().scene, short);
}

#[test]
fn a_scene_without_method_is_good_if_every_body_has_one() {
    let own = SHORT.replace("method = \"first\"\n", "").replace("spacing", "method = \"first\"\nspacing");
    let scene = parse(&own).unwrap_or_else(|error| panic!("{error}")).scene;
    assert_eq!((scene.method, scene.bodies[0].method.as_str()), (None, "first"));
}

#[test]
fn a_whole_number_of_frames_is_not_rounded_up() {
    let n_frames = |duration: &str, rate: &str| {
        let text = SHORT.replace("duration = 1", &format!("duration = {duration}\nframe_rate = {rate}"));
        parse(&text).unwrap().scene.n_frames()
    };
    assert_eq!(n_frames("0.7", "30"), 21);
    assert_eq!(n_frames("0.1", "30"), 3);
    assert_eq!(n_frames("0.101", "30"), 4);
    assert_eq!(n_frames("1e-9", "1"), 1);
}

#[test]
fn spans_point_at_values_and_later_stages_can_complain() {
    let file = parse(FULL).unwrap();
    let text_at = |path: &str| &FULL[file.spans.get(path).unwrap_or_else(|| panic!("{path}"))];
    assert_eq!(text_at("time_step"), "\"1 ms\"");
    assert_eq!(text_at("materials.clay"), "clay");
    assert_eq!(text_at("bodies.0"), "[[bodies]]");
    assert_eq!(text_at("bodies.0.name"), "\"bar\"");
    assert_eq!(text_at("bodies.0.material"), "\"clay\"");
    assert_eq!(text_at("bodies.2.shape.mesh.file"), "\"meshes/graded.obj\"");
    assert_eq!(text_at("bodies.2.spacing"), "{ along = [1, 0, 0], from = \"2 cm\", to = \"5 cm\" }");
    assert_eq!(text_at("bodies.1.shape.difference.0"), "{ sphere = { radius = \"10 cm\" } }");
    assert_eq!(text_at("grips.0.select"), "select");
    assert_eq!(text_at("grips.0.motion.1.time"), "\"0.5 s\"");
    assert_eq!(text_at("output.columns.1"), "\"stress\"");
    assert_eq!(file.spans.get("bodies.1.spacing"), None, "not in the file");

    let error = file.error_at("bodies.2.shape.mesh.file", "no such file", None).to_string();
    let line = FULL.lines().position(|line| line.contains("graded.obj")).unwrap() + 1;
    assert!(error.starts_with(&format!("scene.toml:{line}:23: no such file\n")), "{error}");
}
