//! Tests of building a world from scene text: problems that are found only when meshes are read and shapes are filled.

use phyxel::material::{Flow, Law};
use phyxel::methods::{CATALOGUE, built_methods};
use phyxel::world::World;
use phyxel_io::scene::{ParseOptions, SceneError, SceneFile, WorldOptions};
use std::fs;
use std::path::PathBuf;

/// A scene; METHOD stands for the key of a method.
const SCENE: &str = r#"method = "METHOD"
duration = 1
frame_rate = 30
#TIME_STEP
[materials.m]
density = 1000
youngs_modulus = "0.1 MPa"
poisson_ratio = 0.3
[[bodies]]
name = "b"
material = "m"
shape.box = { size = [0.2, 0.2, 0.2] }
spacing = 0.05
[[grips]]
body = "b"
select.box = { min = [-1, -1, -1], max = [1, -0.05, 1] }
[output]
columns = ["velocity"]
"#;

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("phyxel_world_{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Builds a scene; METHOD becomes a method that is built.
fn build(text: &str) -> Result<World, SceneError> {
    let text = text.replace("METHOD", built_methods().next().unwrap().key);
    let methods: Vec<(&str, bool)> = CATALOGUE.iter().map(|e| (e.key, e.default_factory.is_some())).collect();
    let options = ParseOptions { methods: &methods, columns: None };
    let file = SceneFile::parse(&text, "scene.toml", &options)?;
    file.build_world(&folder(), &WorldOptions { max_particles: 100_000, ..WorldOptions::default() })
}

/// Builds a scene with one line changed, and expects an error with this message on that line.
fn refused(from: &str, to: &str, message: &str) {
    let text = SCENE.replace(from, to);
    assert_ne!(text, SCENE, "{from}");
    let error = build(&text).err().unwrap_or_else(|| panic!("{to} was accepted"));
    let shown = error.to_string();
    assert!(shown.contains(message), "{to}: {shown}");
    let line = text.lines().position(|l| l.contains(to.lines().next().unwrap())).unwrap() + 1;
    let place = error.line_column(error.problems[0].span.start).0;
    assert_eq!(place, line, "{shown}");
}

#[test]
fn a_good_scene_makes_a_world() {
    let world = build(SCENE).unwrap();
    assert_eq!(world.n_particles(), 64);
    assert_eq!(world.body_names(), ["b"]);
    assert!((world.ledger().volume - 0.008).abs() < 1e-12);
}

#[test]
fn what_does_not_fit_is_reported_at_its_place() {
    refused("spacing = 0.05", "spacing = 0.5", "only 1 particles fit");
    refused("spacing = 0.05", "spacing = 1e-5", "the limit is 100000");
    refused("spacing = 0.05", "particles = 3", "at least 4");
    refused("max = [1, -0.05, 1]", "max = [1, -0.5, 1]", "selects no particle");
    refused("#TIME_STEP", "time_step = \"20 ms\"", "stability limit");
    refused("[\"velocity\"]", "[\"velocity\", \"temperature\"]", "no column \"temperature\"");
}

#[test]
fn bad_meshes_are_reported_at_their_place() {
    let bad = [
        ("missing.obj", None, "missing.obj"),
        ("empty.obj", Some(""), ""),
        ("corrupt.obj", Some("v 1 2\nf 1 2 9\nrubbish"), ""),
        ("words.stl", Some("not a mesh at all"), ""),
        ("odd.xyz", Some("1 2 3"), "obj"),
        ("flat.obj", Some("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n"), "no inside"),
    ];
    for (name, content, message) in bad {
        if let Some(content) = content {
            fs::write(folder().join(name), content).unwrap();
        }
        let from = "shape.box = { size = [0.2, 0.2, 0.2] }";
        let to = format!("shape.mesh = {{ file = \"{name}\" }}");
        let text = SCENE.replace(from, &to);
        let error = build(&text).err().unwrap_or_else(|| panic!("{name} was accepted")).to_string();
        assert!(error.contains(message) && error.contains("scene.toml:1"), "{name}: {error}");
    }
}

#[test]
fn all_bad_meshes_are_reported_at_once() {
    let body =
        "\n[[bodies]]\nname = \"c\"\nmaterial = \"m\"\nspacing = 0.05\nshape.mesh = { file = \"two.obj\" }\n";
    let text =
        SCENE.replace("shape.box = { size = [0.2, 0.2, 0.2] }", "shape.mesh = { file = \"one.obj\" }") + body;
    assert_eq!(build(&text).err().unwrap().problems.len(), 2);
}

/// Checks that materials which a method cannot run are refused, with the caret under the key that asks for them.
#[test]
fn materials_that_a_method_cannot_run_are_reported_at_their_key() {
    let Some(elastic) = built_methods().find(|entry| entry.abilities.flows.is_empty()) else { return };
    let scene = SCENE.replace("METHOD", elastic.key);
    let at = |keys: &str, word: &str, message: &str| {
        let text = scene.replace("poisson_ratio = 0.3", keys);
        let error = build(&text).err().unwrap_or_else(|| panic!("{keys} was accepted"));
        let problem = &error.problems[0];
        assert!(problem.message.contains("body \"b\"") && problem.message.contains(message), "{error}");
        assert!(problem.message.contains("these can: \""), "{error}");
        assert_eq!(&text[problem.span.clone()], word, "{error}");
    };
    let laws = Law::ALL.iter().filter(|law| !elastic.abilities.laws.contains(&law.0));
    for &(law, word, _) in laws {
        let refusal = elastic.refusal(Some(law), Flow::None).unwrap().message;
        assert!(refusal.contains(&format!("cannot run the law \"{word}\"")), "{refusal}");
        let word = format!("\"{word}\"");
        at(&format!("poisson_ratio = 0.3\nlaw = {word}"), &word, &refusal);
    }
    let plastic = "cannot run plastic materials";
    let table = "{ yield_stress = 1, flow_rate = 1 }";
    at(&format!("poisson_ratio = 0.3\nplasticity = {table}"), table, plastic);
    at("poisson_ratio = 0.3\nplasticity.yield_stress = 1\nplasticity.flow_rate = 1", "plasticity", plastic);
    at("poisson_ratio = 0.3\nbased_on = \"wax\"", "\"wax\"", plastic);
    for law in elastic.abilities.laws {
        let keys = format!("poisson_ratio = 0.3\nlaw = \"{}\"", law.key());
        assert!(build(&scene.replace("poisson_ratio = 0.3", &keys)).is_ok(), "{keys}");
    }
    let rubber = scene.replace("poisson_ratio = 0.3", "based_on = \"rubber\"");
    assert!(build(&rubber).is_ok());
}

/// Checks that meshes are also read for regions of varying scalars.
#[test]
fn a_region_of_plasticity_may_be_a_mesh() {
    let region = "{ inside.mesh.file = \"nowhere.obj\", value = 1, outside = 2 }";
    let keys = format!("poisson_ratio = 0.3\nplasticity = {{ yield_stress = 1, flow_rate = {region} }}");
    let error = build(&SCENE.replace("poisson_ratio = 0.3", &keys)).err().unwrap().to_string();
    assert!(error.contains("nowhere.obj") && error.contains("scene.toml:9:"), "{error}");
}

/// Checks that a mesh body is filled like the same shape without a mesh, here a box that is not centred at the origin.
#[test]
fn mesh_bodies_are_filled() {
    let cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\nf 1 5 8 4\n";
    fs::write(folder().join("cube.obj"), cube).unwrap();
    let text = SCENE
        .replace(
            "shape.box = { size = [0.2, 0.2, 0.2] }",
            "shape.mesh = { file = \"cube.obj\" }\nscale = 0.2",
        )
        .replace("max = [1, -0.05, 1]", "max = [1, 0.05, 1]");
    let world = build(&text).unwrap();
    assert_eq!(world.n_particles(), 64);
    assert!((world.ledger().volume - 0.008).abs() < 1e-9);
}

/// Surfaces are made before shapes are filled, and their edges are as long as the spacing.
#[test]
fn too_many_particles_are_refused_before_a_surface_is_made_for_them() {
    let with_surface = "spacing = 1e-4\nsurface = { kind = \"mesh\" }";
    refused("spacing = 0.05", with_surface, "particles would be needed");
}

#[test]
fn surfaces_of_too_many_triangles_are_refused() {
    let with_surface = "surface = { kind = \"mesh\", edge = 1e-6 }\nspacing = 0.05";
    refused("spacing = 0.05", with_surface, "triangles would be needed");
}

#[test]
fn shapes_that_reach_farther_than_frames_can_hold_are_refused() {
    let scaled = "shape.box = { size = [1e9, 1e9, 1e9] }\nscale = 1e9";
    let text = SCENE.replace("shape.box = { size = [0.2, 0.2, 0.2] }", scaled);
    let error = build(&text).err().unwrap().to_string();
    assert!(error.contains("reaches farther than 1e15 m"), "{error}");
}

/// A slanting needle has little volume, but a lattice over its bounds has points without end.
#[test]
fn a_needle_is_refused_soon() {
    let needle = "shape.union = [{ ellipsoid = { radii = [0.1, 0.24, 1e8] }, rotation = { axis = [1, 0.3, 0], angle = 0.4 } }]";
    let text = SCENE.replace("shape.box = { size = [0.2, 0.2, 0.2] }", needle);
    let text = text.replace("spacing = 0.05", "particles = 200");
    let begin = std::time::Instant::now();
    assert!(build(&text).is_err());
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
}
