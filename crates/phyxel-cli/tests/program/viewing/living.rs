//! Tests of live runs: commands over the WebSocket, their effects, and that a saved run gives the same bits again.

use super::{Packet, Socket, Viewer};
use crate::support::{BLOCK, Workplace, elastic_method, flowing_method};
use phyxel_io::results::ResultFolder;
use serde_json::{Value, json};

/// Scene of soft clay; FLOWING stands for the key of a method that supports every change that pages can make.
const CLAY: &str = r#"
title = "Clay"
method = "FLOWING"
duration = "10 s"
frame_rate = 50

[materials.clay]
density = 1000
youngs_modulus = "50 kPa"
poisson_ratio = 0.3
viscosity = "5 Pa.s"

[[bodies]]
name = "left"
material = "clay"
shape.box = { size = [0.4, 0.4, 0.4] }
position = [-0.4, 0.3, 0]
spacing = "8 cm"

[[bodies]]
name = "right"
material = "clay"
shape.box = { size = [0.4, 0.4, 0.4] }
position = [0.4, 0.3, 0]
spacing = "8 cm"

[[obstacles]]
name = "floor"
shape.half_space = { normal = [0, 1, 0] }
friction = 0.4
"#;

fn clay() -> String {
    CLAY.replace("FLOWING", flowing_method())
}

impl Socket {
    /// Returns the next snapshot that this page has not seen.
    fn next(&mut self, columns: &[&str]) -> Packet {
        self.ask(&json!({ "type": "next", "columns": columns }));
        self.packet()
    }

    /// Returns the first snapshot from a frame on.
    fn wait_for_frame(&mut self, frame: u64) -> Packet {
        loop {
            let packet = self.next(&[]);
            if packet.header["frame"].as_u64().unwrap() >= frame {
                return packet;
            }
        }
    }

    /// Sends a message and waits for a state that fits.
    fn order(&mut self, message: &Value, is_it: impl Fn(&Value) -> bool) -> Value {
        self.ask(message);
        loop {
            let state = self.text_of_type("state");
            if is_it(&state) {
                return state;
            }
        }
    }

    fn pause(&mut self) -> Value {
        self.order(&json!({ "type": "pause" }), |state| state["running"] == false)
    }

    /// Computes `n_steps` frames of a run that is paused at frame `from`, and returns the last.
    fn steps(&mut self, n_steps: u64, from: u64) -> Packet {
        (0..n_steps).for_each(|_| self.ask(&json!({ "type": "step" })));
        let packet = self.wait_for_frame(from + n_steps);
        assert_eq!(packet.header["frame"], from + n_steps, "no more than was asked for");
        packet
    }
}

fn parameter<'a>(message: &'a Value, body: &str, key: &str) -> &'a Value {
    let all = message["parameters"].as_array().unwrap();
    all.iter().find(|entry| entry["body"] == body && entry["key"] == key).unwrap_or(&Value::Null)
}

#[test]
fn a_live_run_shows_frames_no_faster_than_real_time() {
    let place = Workplace::new(BLOCK);
    let viewer = Viewer::start(&place, &["scene.toml"]);
    // the time before the first page connects does not count
    std::thread::sleep(std::time::Duration::from_secs(3));
    let start = std::time::Instant::now();
    let (mut socket, info) = viewer.socket();
    assert_eq!((&info["mode"], &info["gravity"]), (&json!("live"), &json!([0.0, -9.81, 0.0])));
    let last = socket.wait_for_frame(30);
    let elapsed = start.elapsed().as_secs_f64();
    let time = last.header["time"].as_f64().unwrap();
    assert!(time < elapsed + 0.05, "{time} s simulated in {elapsed} s");
    assert_eq!(
        last.header["ledger"].as_array().unwrap().len(),
        info["ledger"]["columns"].as_array().unwrap().len()
    );
    let told = loop {
        let speed = socket.text_of_type("state")["speed"].as_f64().unwrap();
        if speed > 0.0 {
            break speed;
        }
    };
    let own = last.header["frame"].as_f64().unwrap() / 100.0 / elapsed;
    assert!(told < 1.2 && told > 0.4 * own, "{told} is told, {own} was seen");
}

#[test]
fn pause_step_and_reset_do_what_they_say_and_all_pages_see_it() {
    let place = Workplace::new(BLOCK);
    let viewer = Viewer::start(&place, &["scene.toml"]);
    let (mut socket, _) = viewer.socket();
    socket.wait_for_frame(3);
    let frame = socket.pause()["frame"].as_u64().unwrap();
    let (mut other, _) = viewer.socket();
    let seen = other.next(&["speed"]);
    assert_eq!(seen.header["frame"], frame, "who comes later sees the same");
    assert_eq!(seen.floats("column").len(), 125);
    socket.steps(3, frame);
    assert_eq!(other.next(&["speed"]).header["frame"], frame + 3);
    let state = socket.order(&json!({ "type": "reset" }), |state| state["frame"] == 0);
    assert_eq!(state["running"], false);
    assert_eq!(other.next(&["speed"]).header["frame"], 0);
    other.ask(&json!({ "type": "next", "columns": [] }));
    socket.order(&json!({ "type": "play" }), |state| state["running"] == true);
    other.packet();
}

/// Other columns are sent at once, also while the run is paused.
#[test]
fn columns_can_be_changed_while_paused() {
    let place = Workplace::new(BLOCK);
    let viewer = Viewer::start(&place, &["scene.toml"]);
    let (mut socket, _) = viewer.socket();
    socket.wait_for_frame(2);
    socket.pause();
    for column in ["speed", "stress", "mass"] {
        let packet = socket.next(&[column]);
        assert_eq!(packet.header["arrays"][3]["column"], column);
    }
    socket.ask(&json!({ "type": "next", "columns": ["warmth"] }));
    assert!(socket.text_of_type("error")["message"].as_str().unwrap().contains("warmth"));
    let frame = socket.next(&["speed"]).header["frame"].clone();
    socket.ask(&json!({ "type": "particle", "frame": frame, "row": 7 }));
    let particle = socket.text_of_type("particle");
    assert_eq!(
        (&particle["id"], &particle["row"], &particle["body"]),
        (&json!(7), &json!(7), &json!("block"))
    );
}

#[test]
fn surfaces_come_with_the_particles_they_cover() {
    let surface = "[bodies.surface]\nkind = \"mesh\"\n\n[[obstacles]]";
    let place = Workplace::new(&clay().replace("[[obstacles]]", surface));
    let viewer = Viewer::start(&place, &["scene.toml"]);
    let (mut socket, info) = viewer.socket();
    assert_eq!(
        (&info["bodies"][0]["surface"], &info["bodies"][1]["surface"]),
        (&json!(null), &json!("mesh"))
    );
    let packet = socket.wait_for_frame(2);
    let surfaces = packet.header["surfaces"].as_array().unwrap();
    assert_eq!((surfaces.len(), &surfaces[0]["body"]), (1, &json!(1)));
    let names: Vec<&Value> = surfaces[0]["arrays"].as_array().unwrap().iter().map(|a| &a["name"]).collect();
    assert_eq!(names, ["position", "normal", "index"]);
}

#[test]
fn sliders_fit_the_method_and_change_the_material() {
    let place = Workplace::new(&clay());
    let viewer = Viewer::start(&place, &["scene.toml"]);
    let (mut socket, info) = viewer.socket();
    let modulus = parameter(&info, "left", "youngs_modulus");
    assert_eq!((&modulus["value"], &modulus["scale"]), (&json!(5e4), &json!("log")));
    assert_eq!((&modulus["low"], &modulus["high"]), (&json!(5e2), &json!(5e6)));
    assert_eq!(parameter(&info, "left", "plasticity")["value"], 0.0);
    socket.pause();
    let set = |key: &str, value: f64| json!({ "type": "set", "body": "left", "key": key, "value": value });
    let changed = |key: &'static str, value: f64| {
        move |state: &Value| parameter(state, "left", key)["value"] == json!(value)
    };
    let state = socket.order(&set("youngs_modulus", 1e4), changed("youngs_modulus", 1e4));
    assert_eq!(parameter(&state, "right", "youngs_modulus")["value"], json!(5e4), "one body is meant");
    socket.order(&set("poisson_ratio", 0.45), changed("poisson_ratio", 0.45));
    socket.order(&set("viscosity", 0.0), changed("viscosity", 0.0));
    let state = socket.order(&set("yield_stress", 300.0), changed("yield_stress", 300.0));
    assert_eq!(parameter(&state, "left", "plasticity")["value"], 1.0, "it flows from now on");
    socket.order(&set("plasticity", 0.0), changed("plasticity", 0.0));
    for (key, value) in
        [("youngs_modulus", 1e9), ("poisson_ratio", 0.5), ("density", 1.0), ("viscosity", -1.0)]
    {
        socket.ask(&set(key, value));
        socket.text_of_type("error");
    }
    if let Some(elastic) = elastic_method() {
        let place = Workplace::new(&BLOCK.replace("METHOD", elastic));
        let viewer = Viewer::start(&place, &["scene.toml"]);
        assert!(parameter(&viewer.socket().1, "block", "yield_stress").is_null(), "{elastic} cannot flow");
    }
}

/// The log of events must reproduce a run: changed by hand, saved, and run by the program, it gives the same bits.
#[test]
fn a_saved_live_run_gives_the_same_bits() {
    let place = Workplace::new(&clay());
    let viewer = Viewer::start(&place, &["scene.toml", "--threads", "1"]);
    let (mut socket, _) = viewer.socket();
    // the commands come at arbitrary frames, as in real use
    socket.wait_for_frame(2);
    socket.ask(&json!({ "type": "set", "body": "left", "key": "youngs_modulus", "value": 8e3 }));
    let frame = socket.wait_for_frame(4).header["frame"].clone();
    socket.ask(&json!({ "type": "drag", "frame": frame, "row": 20, "to": [-0.6, 0.9, 0.1] }));
    for k in 0..6 {
        socket.ask(&json!({ "type": "drag", "to": [-0.6 + 0.1 * f64::from(k), 0.9, 0.1] }));
        socket.next(&[]);
    }
    socket.ask(&json!({ "type": "gravity", "value": [1.0, -2.5, 0.25] }));
    socket.ask(&json!({ "type": "set", "body": "right", "key": "yield_stress", "value": 200.0 }));
    socket.ask(&json!({ "type": "set", "body": "right", "key": "flow_rate", "value": 50.0 }));
    socket.next(&[]);
    socket.ask(&json!({ "type": "release" }));
    let frame = socket.pause()["frame"].as_u64().unwrap();
    let last = socket.steps(4, frame);
    socket.ask(&json!({ "type": "save" }));
    let saved = socket.text_of_type("scene");
    assert_eq!(saved["name"], "scene-live.toml");
    let text = saved["text"].as_str().unwrap();
    std::fs::write(place.path("live.toml"), text).unwrap();
    place.succeed(&["run", "live.toml", "-o", "again", "-q", "--threads", "2"]);
    let folder = ResultFolder::open(&place.path("again")).unwrap();
    let frame = last.header["frame"].as_u64().unwrap() as usize;
    let numbers = folder.frame_numbers().unwrap();
    assert_eq!(numbers.last(), Some(&frame), "the scene ends where it was saved");
    let table = folder.read_frame(frame).unwrap();
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&last.floats("position")), bits(table.position.as_flattened()), "{text}");
    // the result must differ from a run without changes
    place.succeed(&["run", "scene.toml", "-o", "untouched", "-q", "--frames", &frame.to_string()]);
    let untouched = ResultFolder::open(&place.path("untouched")).unwrap().read_frame(frame).unwrap();
    assert_ne!(untouched.position, table.position);
}

#[test]
fn a_run_that_fails_says_so_and_can_be_reset() {
    let scene = format!(
        "{BLOCK}\n[[forces]]\nlinear = {{ matrix = [[1e9, 0, 0], [0, 1e9, 0], [0, 0, 1e9]] }}\nfrom = 0.1\n"
    );
    let place = Workplace::new(&scene);
    let viewer = Viewer::start(&place, &["scene.toml"]);
    let (mut socket, _) = viewer.socket();
    let failed = |state: &Value| state["error"].is_string();
    let state = socket.order(&json!({ "type": "play" }), failed);
    assert_eq!(state["running"], false);
    let message = state["error"].as_str().unwrap();
    assert!(message.contains("block") && message.contains("time_step"), "{message}");
    socket.ask(&json!({ "type": "play" }));
    assert!(socket.text_of_type("error")["message"].as_str().unwrap().contains("reset"));
    let state = socket.order(&json!({ "type": "reset" }), |state| state["error"].is_null());
    assert_eq!(state["frame"], 0);
    socket.order(&json!({ "type": "play" }), |state| state["running"] == true);
    socket.wait_for_frame(2);
}

/// Absurd numbers may end the run, but not the server.
#[test]
fn absurd_numbers_end_a_run_at_the_most() {
    let place = Workplace::new(BLOCK);
    let viewer = Viewer::start(&place, &["scene.toml"]);
    let (mut socket, _) = viewer.socket();
    let far = json!([1e15, -1e15, 1e15]);
    for message in [
        json!({ "type": "drag", "frame": 0, "row": 0, "to": far }),
        json!({ "type": "gravity", "value": far }),
    ] {
        socket.order(&json!({ "type": "reset" }), |state| state["frame"] == 0);
        socket.order(&json!({ "type": "play" }), |state| state["running"] == true);
        socket.ask(&message);
        let mut state = socket.text_of_type("state");
        for _ in 0..2 {
            if state["error"].is_null() {
                state = socket.text_of_type("state");
            }
        }
    }
    socket.order(&json!({ "type": "reset" }), |state| state["frame"] == 0 && state["error"].is_null());
    socket.order(&json!({ "type": "play" }), |state| state["running"] == true);
    socket.wait_for_frame(3);
}

#[test]
fn nobody_watches_nothing_is_computed() {
    let place = Workplace::new(BLOCK);
    let viewer = Viewer::start(&place, &["scene.toml"]);
    let (mut socket, _) = viewer.socket();
    socket.wait_for_frame(5);
    drop(socket);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let (mut one, _) = viewer.socket();
    let frame = one.next(&[]).header["frame"].as_u64().unwrap();
    assert!(frame < 25, "0.3 s are 30 frames; it is at frame {frame}");
    one.wait_for_frame(frame + 3);
}

/// The page that pulls keeps its hold until it releases or disconnects.
#[test]
fn one_page_pulls_at_a_time() {
    let place = Workplace::new(BLOCK);
    let viewer = Viewer::start(&place, &["scene.toml"]);
    let ((mut one, _), (mut two, _)) = (viewer.socket(), viewer.socket());
    one.pause();
    let frame = one.next(&[]).header["frame"].clone();
    let grab = json!({ "type": "drag", "frame": frame, "row": 3, "to": [0.0, 2.0, 0.0] });
    one.order(&grab, |_| true);
    two.ask(&grab);
    assert!(two.text_of_type("error")["message"].as_str().unwrap().contains("another page"));
    drop(one);
    let mut is_free = false;
    for _ in 0..100 {
        two.ask(&grab);
        two.ask(&json!({ "type": "particle", "frame": frame, "row": 0 }));
        // the answer to the second request comes after the messages about the first
        let mut is_refused = false;
        while !is_free {
            let message = two.text();
            is_refused |= message["type"] == "error";
            is_free = message["type"] == "state";
            if message["type"] == "particle" && is_refused {
                break;
            }
        }
        if is_free {
            break;
        }
    }
    assert!(is_free, "a page that left holds nothing");
}

#[test]
fn bad_scenes_are_refused_as_by_run() {
    let place = Workplace::new(&BLOCK.replace("density = 1000", "densty = 1000"));
    for arguments in [&["scene.toml"][..], &["missing.toml"], &["scene.toml", "--set", "x=1"]] {
        let run = place.phyxel(&[&["run", "-o", "a"], arguments].concat());
        let view = place.phyxel(&[&["view", "--no-open", "--port", "0"], arguments].concat());
        assert_eq!((view.code, &view.stderr), (Some(2), &run.stderr), "{arguments:?}");
        assert!(view.stdout.is_empty());
    }
    let ended = place.phyxel(&["view", ".", "--no-open", "--port", "0"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("no result folder"), "{}", ended.stderr);
}
