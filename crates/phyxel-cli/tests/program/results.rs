//! Tests of the files of a run, and that they do not depend on the number of threads.

use crate::support::{BLOCK, Workplace, assert_same_contents, contents, with_any_method};
use phyxel_io::results::{ResultFolder, Status};

#[test]
fn a_run_leaves_frames_ledger_scene_and_information() {
    let place = Workplace::new(BLOCK);
    let ended = place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "5"]);
    assert!(
        ended.stdout.contains("ns per particle per step") && ended.stdout.contains("forces"),
        "{}",
        ended.stdout
    );
    assert_eq!(ended.stderr, "", "no bar where there is no terminal");
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    assert_eq!(folder.frame_numbers().unwrap(), [0, 1, 2, 3, 4, 5]);
    let frame = folder.read_frame(5).unwrap();
    assert_eq!((frame.time, frame.id.len()), (0.05, 125));
    assert!(frame.id.is_sorted() && frame.columns.len() == 2);
    let ledger = folder.ledger().unwrap();
    assert_eq!(ledger.numbers("time").unwrap(), [0.0, 0.01, 0.02, 0.03, 0.04, 0.05]);
    assert!(ledger.numbers("floor_force_y").unwrap()[5] > 0.0);
    let info = folder.run_info().unwrap();
    assert_eq!((info.status, info.title.as_str(), info.n_frames), (Status::Done, "Block", 5));
    assert_eq!((info.bodies[0].name.as_str(), info.bodies[0].n_particles), ("block", 125));
    assert_eq!(info.frame_particles, [125; 6]);
    assert!(info.tally.n_steps > 0 && info.tally.stages.iter().any(|stage| stage.0 == "forces"));
    assert_eq!(folder.scene_text().unwrap(), with_any_method(BLOCK));
}

#[test]
fn the_duration_decides_the_frames_and_the_folder_is_named_after_the_scene() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-q", "--set", "duration=0.055"]);
    let folder = ResultFolder::open(&place.path("out/scene")).unwrap();
    assert_eq!(
        folder.frame_numbers().unwrap().last(),
        Some(&6),
        "the last frame is at the end or just after it"
    );
}

#[test]
fn overrides_are_in_the_scene_that_is_kept() {
    let place = Workplace::new(BLOCK);
    let set = ["--set", "materials.jelly.youngs_modulus=80 kPa", "--set", "bodies.block.spacing=0.25"];
    place.succeed(&[&["run", "scene.toml", "-o", "a", "--frames", "1"][..], &set].concat());
    let kept = std::fs::read_to_string(place.path("a/scene.toml")).unwrap();
    assert!(kept.contains("youngs_modulus = \"80 kPa\"") && kept.contains("spacing = 0.25"), "{kept}");
    assert_eq!(place.info("a").frame_particles, [8, 8]);
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let place = Workplace::new(BLOCK);
    for threads in ["1", "2", "3"] {
        place.succeed(&["run", "scene.toml", "-o", threads, "--frames", "20", "--threads", threads, "-q"]);
    }
    assert_same_contents(&place.path("1"), &place.path("2"));
    assert_same_contents(&place.path("1"), &place.path("3"));
    assert_eq!(place.info("3").n_threads, 3);
    assert!(contents(&place.path("1")).len() == 22);
}

#[test]
fn an_existing_result_is_refused_and_replaced_only_by_force() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "3", "-q"]);
    std::fs::write(place.path("a/notes.txt"), "mine").unwrap();
    let before = contents(&place.path("a"));
    let refused = place.phyxel(&["run", "scene.toml", "-o", "a", "--frames", "1"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("phyxel resume a") && refused.stderr.contains("--force"),
        "{}",
        refused.stderr
    );
    assert!(contents(&place.path("a")) == before);
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "1", "--force", "-q"]);
    assert_eq!(contents(&place.path("a")).len(), 3);
    assert_eq!(std::fs::read_to_string(place.path("a/notes.txt")).unwrap(), "mine");
}

#[test]
fn a_folder_of_something_else_is_never_touched() {
    let place = Workplace::new(BLOCK);
    std::fs::create_dir_all(place.path("photos/frames")).unwrap();
    std::fs::write(place.path("photos/frames/1.jpg"), "photo").unwrap();
    let refused = place.phyxel(&["run", "scene.toml", "-o", "photos", "--force"]);
    assert_eq!(refused.code, Some(2));
    assert_eq!(std::fs::read_to_string(place.path("photos/frames/1.jpg")).unwrap(), "photo");
    assert_eq!(std::fs::read_dir(place.path("photos")).unwrap().count(), 1);
}
