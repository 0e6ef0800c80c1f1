//! Tests of `phyxel surface`: written files, messages, refused requests.

use crate::support::{BLOCK, Workplace, contents, repeat_last_frame};
use phyxel_io::results::{ResultFolder, SurfaceKind, SurfaceTable};
use std::collections::{BTreeMap, HashSet};

/// Makes a short run in the folder `a`.
fn run(scene: &str) -> Workplace {
    let place = Workplace::new(scene);
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "4", "-q"]);
    place
}

fn two_bodies() -> String {
    let ball = BLOCK.split("[[bodies]]").nth(1).unwrap().split("[[obstacles]]").next().unwrap();
    let ball = ball.replace("\"block\"", "\"ball\"").replace("[0, 0.35, 0]", "[2, 0.35, 0]");
    BLOCK.replace("[[obstacles]]", &format!("[[bodies]]{ball}\n[[obstacles]]"))
}

/// Returns the surface files of a result.
fn surfaces(place: &Workplace) -> BTreeMap<String, Vec<u8>> {
    contents(&place.path("a")).into_iter().filter(|(name, _)| name.starts_with("surface")).collect()
}

/// Returns the volume by tetrahedra, and checks that every edge occurs once in each direction.
fn volume_of_closed(surface: &SurfaceTable) -> f64 {
    let mut edges = HashSet::new();
    let mut volume = 0.0;
    for [a, b, c] in surface.triangles() {
        assert!([(a, b), (b, c), (c, a)].into_iter().all(|edge| edges.insert(edge)), "an edge comes twice");
        let [p, q, r] = [a, b, c].map(|v| surface.position[v as usize].map(f64::from));
        let cross = [q[1] * r[2] - q[2] * r[1], q[2] * r[0] - q[0] * r[2], q[0] * r[1] - q[1] * r[0]];
        volume += (p[0] * cross[0] + p[1] * cross[1] + p[2] * cross[2]) / 6.0;
    }
    assert!(edges.iter().all(|&(a, b)| edges.contains(&(b, a))), "it has a hole");
    volume
}

#[test]
fn skins_have_the_volume_of_the_ledger_and_the_run_tells_of_them() {
    let place = run(&two_bodies());
    let before = contents(&place.path("a"));
    let ended = place.succeed(&["surface", "a"]);
    for word in ["a/frames", "10 skins of `block` and `ball`", "frames 0 to 4", "triangles", "s each\n"] {
        assert!(ended.stdout.contains(word), "{word} is missing in\n{}", ended.stdout);
    }
    assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
    assert_eq!(ended.stderr, "");
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    let volumes = folder.ledger().unwrap().numbers("volume").unwrap();
    for (frame, volume) in volumes.iter().enumerate() {
        let particles = folder.read_frame(frame).unwrap();
        for (body, middle) in [("block", 0.0), ("ball", 2.0)] {
            let surface = folder.read_surface(body, frame).unwrap();
            assert_eq!(surface.time, particles.time);
            assert!((surface.position[0][0] - middle).abs() < 0.6, "{body} is at {:?}", surface.position[0]);
            assert_eq!(surface.velocity.len(), surface.position.len());
            let ratio = volume_of_closed(&surface) / (0.5 * volume);
            assert!((ratio - 1.0).abs() < 0.005, "{body}, frame {frame}: {ratio}");
        }
    }
    let mean = |rows: &[[f32; 3]], k: usize| rows.iter().map(|row| row[k]).sum::<f32>() / rows.len() as f32;
    let start = folder.read_surface("block", 0).unwrap();
    assert!((mean(&start.velocity, 1) + 2.0).abs() < 0.05 && (mean(&start.velocity, 0) - 0.5).abs() < 0.05);
    assert!(place.info("a").bodies.iter().all(|body| body.surface == Some(SurfaceKind::Skin)));
    let mut after = contents(&place.path("a"));
    after.retain(|name, _| !name.starts_with("surface"));
    assert!(after == before, "particles and ledger are only read");
    // the result is still valid
    place.succeed(&["resume", "a", "--frames", "5", "-q"]);
}

#[test]
fn one_body_some_frames_and_the_same_bytes_for_any_number_of_threads() {
    let place = run(&two_bodies());
    let skin = ["surface", "a", "--body", "ball", "--frames", "1..2", "--threads"];
    place.succeed(&[&skin[..], &["1"]].concat());
    let first = surfaces(&place);
    assert_eq!(first.keys().collect::<Vec<_>>(), ["surface_ball_0001.ply", "surface_ball_0002.ply"]);
    let kinds: Vec<_> = place.info("a").bodies.iter().map(|body| body.surface).collect();
    assert_eq!(kinds, [None, Some(SurfaceKind::Skin)]);
    for n_threads in ["2", "3"] {
        place.succeed(&[&skin[..], &[n_threads, "--force"]].concat());
        assert!(surfaces(&place) == first, "{n_threads} threads");
    }
    // other frames are added, and settings change the skin
    place.succeed(&["surface", "a", "--body", "ball", "--frames", "3", "-q"]);
    assert_eq!(surfaces(&place).len(), 3);
    let n_vertices = || {
        let folder = ResultFolder::open(&place.path("a")).unwrap();
        folder.read_surface("ball", 1).unwrap().position.len()
    };
    let coarse = n_vertices();
    place.succeed(&["surface", "a", "--body", "ball", "--frames", "1", "--cell", "0.4", "--force", "-q"]);
    assert!(n_vertices() > 2 * coarse);
    place.succeed(&[
        "surface",
        "a",
        "--body",
        "ball",
        "--frames",
        "1",
        "--radius",
        "7 cm",
        "--smoothing",
        "0",
        "--force",
    ]);
    assert!(n_vertices() < coarse);
}

#[test]
fn bad_requests_have_exit_code_2_a_remedy_and_write_nothing() {
    let few = BLOCK.replace("spacing = \"10 cm\"", "spacing = \"25 cm\"");
    let place = run(&few);
    std::fs::create_dir_all(place.path("empty/frames")).unwrap();
    std::fs::create_dir_all(place.path("empty/checkpoint")).unwrap();
    std::fs::copy(place.path("scene.toml"), place.path("empty/scene.toml")).unwrap();
    std::fs::create_dir(place.path("photos")).unwrap();
    let before = contents(&place.path("a"));
    let info = std::fs::read(place.path("a/run.json")).unwrap();
    let cases: [(&[&str], &str); 14] = [
        (&["missing"], "missing"),
        (&["photos"], "no result folder"),
        (&["scene.toml"], "no result folder"),
        (&["empty"], "no finished frames"),
        (&["a", "--frames", "2..9"], "0 to 4"),
        (&["a", "--frames", "3..1"], "10..40"),
        (&["a", "--body", "blok"], "did you mean `block`?"),
        (&["a", "--body", "clay"], "the result has `block`"),
        (&["a", "--radius", "-1"], "greater than 0"),
        (&["a", "--radius", "0"], "greater than 0"),
        (&["a", "--radius", "3 kg"], "kg"),
        (&["a", "--cell", "0.01"], "from 0.2 to 2"),
        (&["a", "--cell", "nan"], "from 0.2 to 2"),
        (&["a", "--radius", "1 mm"], "0 of 8 particles hang together"),
    ];
    for (arguments, word) in cases {
        let ended = place.phyxel(&[&["surface"], arguments].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
        assert!(ended.stdout.is_empty());
    }
    assert!(contents(&place.path("a")) == before);
    assert_eq!(std::fs::read(place.path("a/run.json")).unwrap(), info);
}

#[test]
fn earlier_surfaces_are_replaced_only_by_force_and_meshes_only_as_a_whole() {
    let place = run(BLOCK);
    place.succeed(&["surface", "a", "--frames", "1..2", "-q"]);
    let first = surfaces(&place);
    let ended = place.phyxel(&["surface", "a", "--smoothing", "3"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("surface_block_0001.ply exists") && ended.stderr.contains("--force"),
        "{}",
        ended.stderr
    );
    assert!(surfaces(&place) == first);
    // as if the body had carried a mesh
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    let mut info = folder.run_info().unwrap();
    info.bodies[0].surface = Some(SurfaceKind::Mesh);
    folder.write_run_info(&info).unwrap();
    for (arguments, word) in [
        (&["surface", "a", "--frames", "3"][..], "a mesh of its own"),
        (&["surface", "a", "--frames", "1", "--force"], "leave --frames out"),
    ] {
        let ended = place.phyxel(arguments);
        assert_eq!(ended.code, Some(2));
        assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
        assert!(surfaces(&place) == first);
    }
    place.succeed(&["surface", "a", "--force", "-q"]);
    assert_eq!(surfaces(&place).len(), 5);
    assert_eq!(place.info("a").bodies[0].surface, Some(SurfaceKind::Skin));
}

#[test]
fn a_damaged_frame_and_a_busy_folder_are_named() {
    let place = run(BLOCK);
    let folder = ResultFolder::open_to_write(&place.path("a")).unwrap();
    let ended = place.phyxel(&["surface", "a"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("being written by another run"), "{}", ended.stderr);
    let broken = folder.frame_path(2);
    drop(folder);
    std::fs::write(&broken, &std::fs::read(&broken).unwrap()[..300]).unwrap();
    let ended = place.phyxel(&["surface", "a"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("particles_0002.ply"), "{}", ended.stderr);
    // the files written before are complete
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    assert_eq!(folder.surface_numbers("block").unwrap(), [0, 1]);
    folder.read_surface("block", 1).unwrap();
}

/// New skins take the place of earlier ones all at once, or not at all.
#[test]
fn a_command_that_fails_midway_leaves_no_mixture_of_old_and_new() {
    let place = run(BLOCK);
    place.succeed(&["surface", "a", "-q"]);
    let first = contents(&place.path("a"));
    let frame = place.path("a/frames/particles_0003.ply");
    let whole = std::fs::read(&frame).unwrap();
    std::fs::write(&frame, &whole[..whole.len() - 1]).unwrap();
    let ended = place.phyxel(&["surface", "a", "--smoothing", "3", "--force"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("particles_0003.ply"), "{}", ended.stderr);
    std::fs::write(&frame, &whole).unwrap();
    assert!(contents(&place.path("a")) == first);
    place.succeed(&["surface", "a", "--smoothing", "3", "--force", "-q"]);
    let second = surfaces(&place);
    assert!(second.len() == 5 && second.iter().all(|(name, bytes)| first[name] != *bytes));
}

#[test]
fn frames_without_velocities_are_a_warning() {
    let place = run(&BLOCK.replace("columns = [\"velocity\", \"stress\"]", "columns = [\"stress\"]"));
    let ended = place.succeed(&["surface", "a", "--frames", "4"]);
    assert!(ended.stderr.contains("\"velocity\" to [output]"), "{}", ended.stderr);
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    assert!(folder.read_surface("block", 4).unwrap().velocity.is_empty());
}

/// A limit on the size of files simulates a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_message_and_leaves_nothing() {
    let place = run(BLOCK);
    let before = contents(&place.path("a"));
    let script = format!("trap '' XFSZ; ulimit -f 2; exec '{}' surface a", env!("CARGO_BIN_EXE_phyxel"));
    let output = std::process::Command::new("sh").args(["-c", &script]).current_dir(place.path(".")).output();
    let ended = crate::support::Ended::from(output.unwrap());
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("cannot write"), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(contents(&place.path("a")) == before);
    assert_eq!(place.info("a").bodies[0].surface, None);
}

/// After Ctrl-C the finished frames are complete, and the message says how to continue.
#[cfg(unix)]
#[test]
fn an_interrupted_command_keeps_what_is_whole() {
    let place = run(&BLOCK.replace("spacing = \"10 cm\"", "spacing = \"5 cm\""));
    repeat_last_frame(&place.path("a"), 600);
    let mut command = place.command(&["surface", "a"]);
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    let begun = std::time::Instant::now();
    while folder.surface_numbers("block").unwrap().len() < 3 && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ended = crate::support::Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    let there = folder.surface_numbers("block").unwrap();
    assert!(there.len() >= 3 && there.len() < 600);
    assert!(ended.stderr.contains(&format!("--frames {}..599", there.len())), "{}", ended.stderr);
    assert!(there.iter().all(|&frame| folder.read_surface("block", frame).is_ok()));
    assert_eq!(place.info("a").bodies[0].surface, Some(SurfaceKind::Skin));
    let names = contents(&place.path("a")).into_keys();
    assert_eq!(names.filter(|name| name.ends_with(".tmp")).count(), 0);
}
