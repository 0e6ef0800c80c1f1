//! Tests that runs that are killed, interrupted or extended end with the same bytes as runs that were never stopped.

use crate::support::{BLOCK, Ended, Workplace, assert_same_contents};
use phyxel::methods::built_methods;
use phyxel_io::results::Status;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Settings of a block finer than that of the other tests, so that the run lasts long enough to be stopped.
const SLOW: [&str; 2] = ["--set", "bodies.block.spacing=0.05"];
const N_FRAMES: usize = 40;

fn whole(place: &Workplace) {
    place.succeed(&[&["run", "scene.toml", "-o", "whole", "-q"][..], &SLOW].concat());
}

fn start(place: &Workplace) -> Child {
    let mut command = place.command(&[&["run", "scene.toml", "-o", "stopped"][..], &SLOW].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_for_frame(folder: &Path, number: usize) {
    let frame = folder.join(format!("frames/particles_{number:04}.ply"));
    let start = Instant::now();
    while !frame.exists() {
        assert!(start.elapsed() < Duration::from_secs(120), "no frame {number}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_killed_run_goes_on_with_the_same_bytes() {
    let place = Workplace::new(BLOCK);
    whole(&place);
    let mut child = start(&place);
    wait_for_frame(&place.path("stopped"), 17);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(place.info("stopped").status, Status::Running, "the run was over before it was killed");
    let resumed = place.succeed(&["resume", "stopped"]);
    let from =
        resumed.stderr.trim().strip_prefix("going on from frame ").and_then(|number| number.parse().ok());
    assert!(
        from.is_some_and(|frame: usize| frame.is_multiple_of(7) && (14..N_FRAMES).contains(&frame)),
        "{}",
        resumed.stderr
    );
    assert_same_contents(&place.path("whole"), &place.path("stopped"));
    let info = place.info("stopped");
    assert_eq!((info.status, info.frame_times.len()), (Status::Done, N_FRAMES + 1));
    assert_eq!(info.frame_times, place.info("whole").frame_times);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_finishes_its_frame_and_goes_on_with_the_same_bytes() {
    let place = Workplace::new(BLOCK);
    whole(&place);
    let child = start(&place);
    wait_for_frame(&place.path("stopped"), 9);
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stderr.contains("phyxel resume stopped"), "{}", ended.stderr);
    let info = place.info("stopped");
    let last = info.frame_times.len() - 1;
    assert_eq!(info.status, Status::Interrupted);
    assert!((9..N_FRAMES).contains(&last));
    assert!(
        place.path(&format!("stopped/checkpoint/frame_{last:04}.state")).exists(),
        "no checkpoint at the end"
    );
    place.succeed(&["resume", "stopped", "--threads", "1"]);
    assert_same_contents(&place.path("whole"), &place.path("stopped"));
}

/// Sends a signal to a run, which must end by itself; returns what it said.
#[cfg(unix)]
fn signalled(child: Child, signal: &str) -> Ended {
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    Ended::from(child.wait_with_output().unwrap())
}

/// A run that is stopped before or after its first frame, by any signal, says so and goes on with the same bytes.
#[cfg(unix)]
#[test]
fn every_signal_at_any_time_ends_in_a_checkpoint() {
    let methods = || built_methods().map(|entry| entry.key);
    for (k, method) in methods().chain(methods()).enumerate() {
        let place = Workplace::new(&BLOCK.replace("METHOD", method));
        whole(&place);
        for signal in ["-INT", "-TERM", "-HUP"] {
            let child = start(&place);
            // the lock is made when the scene is read, before the first frame is written
            let begun = Instant::now();
            while !place.path("stopped/.lock").exists() && begun.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(11 * k as u64));
            let ended = signalled(child, signal);
            assert_eq!(ended.code, Some(130), "{method} {signal}: {}", ended.stderr);
            assert_eq!(place.info("stopped").status, Status::Interrupted, "{method} {signal}");
            place.succeed(&["verify", "stopped"]);
            place.succeed(&["resume", "stopped", "-q"]);
            assert_same_contents(&place.path("whole"), &place.path("stopped"));
            std::fs::remove_dir_all(place.path("stopped")).unwrap();
        }
    }
}

#[test]
fn a_run_can_be_made_longer_after_its_end() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "long", "--frames", "12", "-q"]);
    place.succeed(&["run", "scene.toml", "-o", "short", "--frames", "5", "-q"]);
    let nothing = place.succeed(&["resume", "short"]);
    assert!(nothing.stdout.contains("nothing to do"), "{}", nothing.stdout);
    place.succeed(&["resume", "short", "--frames", "12", "-q"]);
    assert_same_contents(&place.path("long"), &place.path("short"));
    let (long, short) = (place.info("long").tally, place.info("short").tally);
    assert_eq!((long.n_steps, long.particle_steps), (short.n_steps, short.particle_steps));
}

/// Events before the checkpoint, at it and after it; the second body splits one material of the method into two.
const EVENTS: &str = r#"
[[bodies]]
name = "other"
material = "jelly"
shape.box = { size = [0.3, 0.3, 0.3] }
position = [0.8, 0.2, 0]
spacing = "10 cm"

[[events]]
time = "55 ms"
body = "block"
youngs_modulus = "20 kPa"
[[events]]
time = "0.1 s"
drag = { body = "other", at = [0.8, 0.35, 0], to = [0.8, 1, 0] }
[[events]]
time = "0.14 s"
body = "other"
viscosity = 5
[[events]]
time = "0.203 s"
gravity = [1, -3, 0]
[[events]]
time = "0.3 s"
body = "block"
youngs_modulus = "80 kPa"
poisson_ratio = 0.2
"#;

#[test]
fn a_run_with_events_goes_on_with_the_same_bytes() {
    for entry in built_methods() {
        let place = Workplace::new(&(BLOCK.replace("METHOD", entry.key) + EVENTS));
        place.succeed(&["run", "scene.toml", "-o", "whole", "-q"]);
        // an event is at the time of frame 14: it acts after the checkpoint
        place.succeed(&["run", "scene.toml", "-o", "stopped", "--frames", "14", "-q"]);
        place.succeed(&["resume", "stopped", "--frames", "27", "-q", "--threads", "1"]);
        place.succeed(&["resume", "stopped", "--frames", "40", "-q"]);
        assert_same_contents(&place.path("whole"), &place.path("stopped"));
    }
}

#[test]
fn a_killed_run_with_events_goes_on_with_the_same_bytes() {
    let place = Workplace::new(&(BLOCK.to_owned() + EVENTS));
    whole(&place);
    let mut child = start(&place);
    wait_for_frame(&place.path("stopped"), 17);
    child.kill().unwrap();
    child.wait().unwrap();
    place.succeed(&["resume", "stopped", "-q"]);
    assert_same_contents(&place.path("whole"), &place.path("stopped"));
}

/// The result folder is complete: the mesh and the scene that it came from may be deleted.
#[test]
fn a_run_with_a_mesh_goes_on_when_the_mesh_file_is_gone() {
    let scene = BLOCK
        .replace("shape.box = { size = [0.5, 0.5, 0.5] }", "shape.mesh = { file = \"models/prism.obj\" }");
    let place = Workplace::new(&scene);
    std::fs::create_dir(place.path("models")).unwrap();
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\n";
    let faces = "f 1 3 2\nf 4 5 6\nf 1 2 5 4\nf 2 3 6 5\nf 3 1 4 6\n";
    std::fs::write(place.path("models/prism.obj"), format!("{corners}{faces}")).unwrap();
    place.succeed(&["run", "scene.toml", "-o", "whole", "--frames", "8", "-q"]);
    place.succeed(&["run", "scene.toml", "-o", "stopped", "--frames", "3", "-q"]);
    std::fs::remove_dir_all(place.path("models")).unwrap();
    std::fs::remove_file(place.path("scene.toml")).unwrap();
    assert_eq!(std::fs::read_dir(place.path("stopped/meshes")).unwrap().count(), 1);
    place.succeed(&["resume", "stopped", "--frames", "8", "-q"]);
    assert_same_contents(&place.path("whole"), &place.path("stopped"));
    place.succeed(&["render", "stopped", "-o", "a.png", "--size", "48x48", "--quality", "draft"]);
}

#[test]
fn a_damaged_checkpoint_leads_to_the_one_before_and_a_changed_scene_is_refused() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "2", "-q"]);
    let checkpoint = place.path("a/checkpoint/frame_0002.state");
    let bytes = std::fs::read(&checkpoint).unwrap();
    std::fs::write(&checkpoint, &bytes[..bytes.len() - 40]).unwrap();
    let damaged = place.succeed(&["resume", "a", "--frames", "4"]);
    assert!(
        damaged.stderr.contains("frame_0002.state") && damaged.stderr.contains("going on from frame 0"),
        "{}",
        damaged.stderr
    );
    let scene = std::fs::read_to_string(place.path("a/scene.toml")).unwrap();
    std::fs::write(place.path("a/scene.toml"), scene.replace("50 kPa", "60 kPa")).unwrap();
    let changed = place.phyxel(&["resume", "a", "--frames", "6"]);
    assert_eq!(changed.code, Some(1));
    assert!(changed.stderr.contains("scene.toml"), "{}", changed.stderr);
    std::fs::write(place.path("a/scene.toml"), scene).unwrap();
    place.succeed(&["resume", "a", "--frames", "6", "-q"]);
}

#[test]
fn what_is_no_result_cannot_be_resumed() {
    let place = Workplace::new(BLOCK);
    assert_eq!(place.phyxel(&["resume", "."]).code, Some(2));
    let missing = place.phyxel(&["resume", "missing"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("missing"), "{}", missing.stderr);
}
