//! Tests that a world driven by hand and saved as a scene with events gives the same run again.

use phyxel::material::{MaterialChange, Property};
use phyxel::math::vec3;
use phyxel::methods::{CATALOGUE, built_methods};
use phyxel::world::{Hold, World};
use phyxel_io::results::{Checkpoint, CheckpointHeader, ContentDigest, write_checkpoint};
use phyxel_io::scene::{ParseOptions, SceneFile, WorldOptions, with_events};
use std::io::Cursor;
use std::path::Path;

/// A scene; FLOWING stands for the key of a method that can flow, OTHER for that of any method.
const SCENE: &str = r#"# bodies by two methods
duration = "3 s"   # longer than anyone plays
frame_rate = 60

[materials.jelly]
density = 1000
youngs_modulus = "60 kPa"
poisson_ratio = 0.3
viscosity = "10 Pa.s"

[[bodies]]
name = "left"
material = "jelly"
method = "FLOWING"
shape.box = { size = [0.3, 0.2, 0.2] }
position = [0, 0.11, 0]
spacing = 0.03
sampling = "jittered"

[[bodies]]
name = "right"
material = "jelly"
method = "FLOWING"
shape.box = { size = [0.3, 0.2, 0.2] }
position = [0.4, 0.11, 0]
spacing = 0.03

[[bodies]]
name = "ball"
material = "jelly"
method = "OTHER"
shape.sphere = { radius = 0.12 }
position = [0, 0.4, 0]
spacing = 0.03

[[obstacles]]
name = "floor"
shape.half_space = { normal = [0, 1, 0] }

# written by hand
[[events]]
time = "0.5 s"
gravity = [0, -20, 0]
"#;

/// Returns the methods that can flow.
fn flowing_methods() -> Vec<&'static str> {
    built_methods().filter(|entry| !entry.abilities.flows.is_empty()).map(|entry| entry.key).collect()
}

/// Returns the scene with the ball driven by this method, and the other bodies by the last method that can flow.
fn scene(ball: &str) -> String {
    let flowing = flowing_methods();
    let flowing = flowing.last().expect("a method that can flow");
    SCENE.replace("FLOWING", flowing).replace("OTHER", ball)
}

fn build(text: &str) -> (SceneFile, World) {
    let methods: Vec<(&str, bool)> = CATALOGUE.iter().map(|e| (e.key, e.default_factory.is_some())).collect();
    let options = ParseOptions { methods: &methods, columns: None };
    let file = SceneFile::parse(text, "scene.toml", &options).unwrap_or_else(|error| panic!("{error}"));
    let world = file.build_world(Path::new("."), &WorldOptions::default());
    let world = world.unwrap_or_else(|error| panic!("{error}"));
    (file, world)
}

/// Performs actions of an imagined user at a frame.
fn play(world: &mut World, frame: u32) {
    match frame {
        3 => {
            let clay = MaterialChange::default().with(Property::YieldStress, 300.0);
            let clay = clay.with(Property::FlowRate, 100.0);
            world.set_material("left", clay).unwrap();
        }
        7..=9 => {
            let softer = 6e4 / f64::from(frame);
            let change = MaterialChange::default().with(Property::YoungsModulus, softer);
            world.set_material("ball", change).unwrap();
        }
        15 => world
            .drag(Hold::Nearest { body: "left".into(), point: vec3(0.1, 0.2, 0.0) }, vec3(0.1, 0.5, 0.1))
            .unwrap(),
        16..=40 => world.drag(Hold::Same, vec3(0.1, 0.5, 0.01 * f64::from(frame))).unwrap(),
        41 => world.release(),
        45 => world.set_gravity(vec3(0.1, 0.0, 1.0 / 3.0)).unwrap(),
        _ => {}
    }
}

const FRAMES: u32 = 60;

#[test]
fn a_kept_run_is_the_run() {
    let scene = scene(flowing_methods()[0]);
    let (_, mut driven) = build(&scene);
    let mut digests = Vec::new();
    for frame in 0..FRAMES {
        play(&mut driven, frame);
        driven.advance_to(f64::from(frame + 1) / 60.0).unwrap();
        digests.push(driven.digest());
    }
    let text = with_events(&scene, "scene.toml", driven.past_events(), driven.time()).unwrap();
    assert!(text.contains("duration = 1.0   # longer than anyone plays"), "{text}");
    let (file, mut replayed) = build(&text);
    assert_eq!(file.scene.n_frames(), FRAMES as usize);
    let mut checkpoint = Vec::new();
    let header = CheckpointHeader {
        engine_version: "test".into(),
        scene_digest: ContentDigest::of(text.as_bytes()),
        frame: 20,
    };
    for frame in 0..FRAMES {
        replayed.advance_to(f64::from(frame + 1) / 60.0).unwrap();
        assert_eq!(replayed.digest(), digests[frame as usize], "frame {}", frame + 1);
        if frame + 1 == 20 {
            write_checkpoint(&mut replayed, &header, &mut checkpoint).unwrap();
        }
    }
    assert_eq!(replayed.past_events(), driven.past_events());
    assert_eq!(replayed.ledger(), driven.ledger());

    // the same from a checkpoint in the middle, whose world has other columns than a newly built one
    let (_, mut resumed) = build(&text);
    Checkpoint::open(Cursor::new(&checkpoint)).unwrap().restore(&mut resumed).unwrap();
    assert_eq!(resumed.digest(), digests[19]);
    for frame in 20..FRAMES {
        resumed.advance_to(f64::from(frame + 1) / 60.0).unwrap();
    }
    assert_eq!(resumed.digest(), digests[FRAMES as usize - 1]);
}

/// Checks that an event which only the world can refuse is reported at its place.
#[test]
fn an_event_that_the_method_cannot_do_is_refused_at_its_place() {
    let Some(elastic) = built_methods().find(|entry| entry.abilities.flows.is_empty()) else { return };
    let text = scene(elastic.key)
        + "[[events]]\ntime = 1\nbody = \"ball\"\nplasticity = { yield_stress = 1, flow_rate = 1 }\n";
    let methods: Vec<(&str, bool)> = CATALOGUE.iter().map(|e| (e.key, e.default_factory.is_some())).collect();
    let file = SceneFile::parse(&text, "s", &ParseOptions { methods: &methods, columns: None }).unwrap();
    let error = file.build_world(Path::new("."), &WorldOptions::default()).err().unwrap();
    let line = text.lines().count() - 3;
    let shown = error.to_string();
    assert!(shown.starts_with(&format!("s:{line}:1: event at 1 s: ")), "{shown}");
    let refusal = format!("\"{}\" cannot run plastic materials; these can: ", elastic.key);
    assert!(shown.contains(&refusal), "{shown}");
}
