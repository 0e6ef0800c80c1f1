//! Tests of bad scenes, failing runs and full disks: a message, the right exit code, whole files, never a panic.

use crate::support::{BLOCK, Workplace, contents, elastic_method, flowing_method};
use phyxel_io::results::{ResultFolder, Status};

#[test]
fn a_bad_scene_shows_all_problems_with_their_places_and_writes_nothing() {
    let bad = BLOCK.replace("density = 1000", "densty = 1000").replace("\"50 kPa\"", "\"50 kg\"");
    let place = Workplace::new(&bad);
    let ended = place.phyxel(&["run", "scene.toml", "-o", "a"]);
    assert_eq!(ended.code, Some(2));
    let line = |word: &str| 1 + bad.lines().position(|line| line.contains(word)).unwrap();
    for word in [format!("scene.toml:{}:1", line("densty")), format!("scene.toml:{}:", line("50 kg"))] {
        assert!(ended.stderr.contains(&word), "{word} is missing in\n{}", ended.stderr);
    }
    assert!(ended.stderr.contains("density") && ended.stderr.contains('^'), "{}", ended.stderr);
    assert!(!ended.stderr.contains('\x1b'), "no colours where there is no terminal");
    assert!(ended.stdout.is_empty() && !place.path("a").exists() && !place.path("out").exists());
}

#[test]
fn scenes_that_are_not_there_or_no_text_are_refused() {
    let place = Workplace::new(BLOCK);
    std::fs::write(place.path("binary.toml"), [0xff, 0xfe, 0, 1]).unwrap();
    std::fs::write(place.path("empty.toml"), "").unwrap();
    for scene in ["missing.toml", "binary.toml", "empty.toml", "."] {
        for command in ["run", "check"] {
            let ended = place.phyxel(&[command, scene]);
            assert_eq!(ended.code, Some(2), "{command} {scene}: {}", ended.stderr);
            assert!(!ended.stderr.is_empty());
        }
    }
    assert!(!place.path("out").exists());
}

#[test]
fn what_only_the_engine_finds_is_shown_at_its_place_in_the_scene() {
    let place = Workplace::new(&BLOCK.replace("frame_rate = 100", "frame_rate = 100\ntime_step = \"1 s\""));
    let ended = place.phyxel(&["run", "scene.toml"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("scene.toml:6:") && ended.stderr.contains("stability limit"),
        "{}",
        ended.stderr
    );
    assert!(!place.path("out").exists());
}

#[test]
fn a_material_that_the_method_cannot_run_is_shown_at_its_key_with_methods_that_can() {
    let Some(elastic) = elastic_method() else { return };
    let keys = "viscosity = \"2 Pa.s\"\nplasticity = { yield_stress = \"1 kPa\", flow_rate = 10 }";
    let scene = BLOCK.replace("METHOD", elastic).replace("viscosity = \"2 Pa.s\"", keys);
    let line = 1 + scene.lines().position(|line| line.contains("plasticity")).unwrap();
    let place = Workplace::new(&scene);
    for command in ["run", "check"] {
        let ended = place.phyxel(&[command, "scene.toml"]);
        assert_eq!(ended.code, Some(2));
        let refusal = format!("\"{elastic}\" cannot run");
        let remedy = format!("\"{}\"", flowing_method());
        for word in [format!("scene.toml:{line}:14"), refusal, remedy, "^".to_owned()] {
            assert!(ended.stderr.contains(&word), "{word} is missing in\n{}", ended.stderr);
        }
    }
    assert!(!place.path("out").exists());
}

/// A force without bounds tears the block apart after 0.1 s.
#[test]
fn a_run_that_fails_names_body_particle_time_and_remedy_and_keeps_its_frames() {
    let scene = format!(
        "{BLOCK}\n[[forces]]\nlinear = {{ matrix = [[1e9, 0, 0], [0, 1e9, 0], [0, 0, 1e9]] }}\nfrom = 0.1\n"
    );
    let place = Workplace::new(&scene);
    let ended = place.phyxel(&["run", "scene.toml", "-o", "a"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for word in ["body \"block\"", "particle", "at 0.1", "time_step"] {
        assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
    }
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    let numbers = folder.frame_numbers().unwrap();
    assert!(numbers.len() >= 11, "{numbers:?}");
    assert!(numbers.iter().all(|&number| folder.read_frame(number).is_ok()));
    assert_eq!(folder.ledger().unwrap().rows.len(), numbers.len());
    let status = folder.run_info().unwrap().status;
    assert!(matches!(&status, Status::Failed(why) if why.contains("block")), "{status:?}");
    drop(folder);
    let before = contents(&place.path("a"));
    let again = place.phyxel(&["resume", "a"]);
    assert_eq!(again.code, Some(1), "the same bits fail in the same way");
    assert!(contents(&place.path("a")) == before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_made_is_a_message() {
    let place = Workplace::new(BLOCK);
    for output in ["/proc/phyxel/out", "scene.toml/out", "scene.toml"] {
        let ended = place.phyxel(&["run", "scene.toml", "-o", output]);
        assert!(matches!(ended.code, Some(1 | 2)), "{output}: {:?}", ended.code);
        assert!(ended.stderr.starts_with("error: ") && ended.stderr.contains(output), "{}", ended.stderr);
    }
}

/// A limit on the size of files simulates a full disk: writing fails in the middle of the run.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_message_and_leaves_whole_files() {
    let place = Workplace::new(BLOCK);
    // the ledger exceeds 4 kB after some frames; a frame of 8 particles does not
    let program = env!("CARGO_BIN_EXE_phyxel");
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec '{program}' run scene.toml -o a --set bodies.block.spacing=0.25"
    );
    let mut command = std::process::Command::new("sh");
    let output = command.args(["-c", &script]).current_dir(place.path(".")).output().unwrap();
    let ended = crate::support::Ended::from(output);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("cannot write"), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    let numbers = folder.frame_numbers().unwrap();
    assert!(numbers.len() > 3 && numbers.len() < 41, "{numbers:?}");
    assert!(numbers.iter().all(|&number| folder.read_frame(number).is_ok()));
    let status = folder.run_info().unwrap().status;
    assert!(matches!(&status, Status::Failed(why) if why.contains("cannot write")), "{status:?}");
    drop(folder);
    place.succeed(&["resume", "a", "-q"]);
    place.succeed(&["run", "scene.toml", "-o", "whole", "-q", "--set", "bodies.block.spacing=0.25"]);
    crate::support::assert_same_contents(&place.path("a"), &place.path("whole"));
}
