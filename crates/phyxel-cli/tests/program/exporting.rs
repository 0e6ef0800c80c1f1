//! Tests of `phyxel export`: written files, messages, refused requests. The contents are tested in phyxel-io.

use crate::support::{BLOCK, Workplace, contents, repeat_last_frame};
use phyxel_io::export::EXPORT_FORMATS;
use phyxel_io::results::ResultFolder;

/// Makes a short run in the folder `a`.
fn run() -> Workplace {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "4", "-q"]);
    place
}

/// Returns the names of all entries of the folder.
fn names(place: &Workplace) -> Vec<String> {
    let entries = std::fs::read_dir(place.path(".")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn every_format_is_written_and_the_last_line_says_what() {
    let place = run();
    let before = contents(&place.path("a"));
    for format in EXPORT_FORMATS {
        let target = if format.is_one_file() {
            format!("x.{}", format.extensions[0])
        } else {
            format!("x_{}", format.key)
        };
        let export = ["export", "a", "--format", format.key, "-o", &target];
        let ended = place.succeed(&export);
        assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
        for word in [target.as_str(), "frames 0 to 4", "B\n"] {
            assert!(ended.stdout.contains(word), "{word} is missing in\n{}", ended.stdout);
        }
        let is_lacking = !format.has_velocities && !format.is_page();
        assert_eq!(ended.stderr.contains("warning: "), is_lacking, "{}", ended.stderr);
        let again = place.phyxel(&export);
        assert_eq!(again.code, Some(2));
        assert!(again.stderr.contains("--force") && again.stderr.contains(&target), "{}", again.stderr);
        let forced = place.succeed(&[&export[..], &["--force", "--frames", "2"]].concat());
        assert!(forced.stdout.contains("frame 2,"), "{}", forced.stdout);
        assert!(place.succeed(&[&export[..], &["--force", "-q"]].concat()).stdout.is_empty());
    }
    assert_eq!(names(&place), ["a", "scene.toml", "x.html", "x.npz", "x.usda", "x_obj", "x_ply", "x_vtp"]);
    assert!(contents(&place.path("a")) == before, "the result is only read");
    let frames = std::fs::read_dir(place.path("x_ply")).unwrap().count();
    assert_eq!(frames, 5);
}

#[test]
fn a_range_has_both_of_its_ends() {
    let place = run();
    for (range, names) in
        [("1..2", &["x_0001.ply", "x_0002.ply"][..]), ("4..", &["x_0004.ply"]), ("..0", &["x_0000.ply"])]
    {
        place.succeed(&["export", "a", "--format", "ply", "-o", "x", "--frames", range, "--force"]);
        let mut found: Vec<String> = std::fs::read_dir(place.path("x"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        found.sort();
        assert_eq!(found, names);
    }
}

#[test]
fn bad_requests_have_exit_code_2_a_remedy_and_write_nothing() {
    let place = run();
    std::fs::create_dir_all(place.path("empty/frames")).unwrap();
    std::fs::create_dir_all(place.path("empty/checkpoint")).unwrap();
    std::fs::copy(place.path("scene.toml"), place.path("empty/scene.toml")).unwrap();
    std::fs::create_dir(place.path("photos")).unwrap();
    std::fs::write(place.path("photos/cat.jpg"), b"cat").unwrap();
    let before = names(&place);
    let usd = ["--format", "usd", "-o", "x.usda"];
    let cases: [(&[&str], &str); 16] = [
        (&["missing", usd[0], usd[1], usd[2], usd[3]], "missing"),
        (&["photos", usd[0], usd[1], usd[2], usd[3]], "no result folder"),
        (&["scene.toml", usd[0], usd[1], usd[2], usd[3]], "no result folder"),
        (&["empty", usd[0], usd[1], usd[2], usd[3]], "no finished frames"),
        (&["a", "--format", "uds", "-o", "x.usda"], "did you mean `usd`?"),
        (&["a", "--format", "alembic", "-o", "x.abc"], "`vtp`"),
        (&["a", usd[0], usd[1], usd[2], usd[3], "--frames", "2..9"], "0 to 4"),
        (&["a", usd[0], usd[1], usd[2], usd[3], "--frames", "7"], "0 to 4"),
        (&["a", usd[0], usd[1], usd[2], usd[3], "--frames", "3..1"], "10..40"),
        (&["a", usd[0], usd[1], usd[2], usd[3], "--frames", "all"], "10..40"),
        (&["a", "--format", "usd", "-o", "x.abc"], ".usda"),
        (&["a", "--format", "vtp", "-o", "x.pvd"], "-o x"),
        (&["a", "--format", "npz", "-o", "missing/x.npz"], "make it first"),
        (&["a", "--format", "obj", "-o", "photos", "--force"], "cat.jpg"),
        (&["a", "--format", "ply", "-o", "a/frames", "--force"], "no export wrote"),
        (&["a", "--format", "ply"], "--output"),
    ];
    for (arguments, word) in cases {
        let ended = place.phyxel(&[&["export"], arguments].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
        assert!(ended.stdout.is_empty());
    }
    assert_eq!(names(&place), before);
    assert_eq!(std::fs::read(place.path("photos/cat.jpg")).unwrap(), b"cat");
}

#[cfg(target_os = "linux")]
#[test]
fn a_target_that_cannot_be_written_is_a_bad_request() {
    let place = run();
    for (format, target) in [("usd", "/proc/x.usda"), ("npz", "/proc/x.npz"), ("vtp", "/proc/x")] {
        let ended = place.phyxel(&["export", "a", "--format", format, "-o", target]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains("cannot write") && ended.stderr.contains(target), "{}", ended.stderr);
    }
}

/// A limit on the size of files simulates a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_message_and_leaves_nothing() {
    let place = run();
    let before = names(&place);
    for format in EXPORT_FORMATS {
        let target =
            if format.is_one_file() { format!("x.{}", format.extensions[0]) } else { "x".to_owned() };
        let program = env!("CARGO_BIN_EXE_phyxel");
        let (key, script) = (format.key, "trap '' XFSZ; ulimit -f 2; exec");
        let script = format!("{script} '{program}' export a --format {key} -o {target}");
        let output =
            std::process::Command::new("sh").args(["-c", &script]).current_dir(place.path(".")).output();
        let ended = crate::support::Ended::from(output.unwrap());
        assert_eq!(ended.code, Some(1), "{key}: {}", ended.stderr);
        assert!(ended.stderr.contains("cannot write"), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert_eq!(names(&place), before, "{key}");
    }
}

#[test]
fn a_damaged_frame_is_named_and_a_growing_result_has_what_is_there() {
    let place = run();
    // this is the state while a run continues: frames, but no end
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    let mut info = folder.run_info().unwrap();
    info.status = phyxel_io::results::Status::Running;
    std::fs::remove_file(place.path("a/frames/particles_0004.ply")).unwrap();
    let ended = place.phyxel(&["export", "a", "--format", "usd", "-o", "x.usda"]);
    assert!(ended.code == Some(1) && ended.stderr.contains("particles_0004.ply"), "{}", ended.stderr);
    info.frame_times.truncate(4);
    folder.write_run_info(&info).unwrap();
    let ended = place.succeed(&["export", "a", "--format", "usd", "-o", "x.usda"]);
    assert!(ended.stdout.contains("frames 0 to 3"), "{}", ended.stdout);
    let broken = folder.frame_path(3);
    std::fs::write(&broken, &std::fs::read(&broken).unwrap()[..300]).unwrap();
    let ended = place.phyxel(&["export", "a", "--format", "vtp", "-o", "x"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("particles_0003.ply"), "{}", ended.stderr);
    assert_eq!(names(&place), ["a", "scene.toml", "x.usda"]);
}

#[test]
fn frames_without_velocities_are_a_warning() {
    let place =
        Workplace::new(&BLOCK.replace("columns = [\"velocity\", \"stress\"]", "columns = [\"stress\"]"));
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "1", "-q"]);
    let ended = place.succeed(&["export", "a", "--format", "usd", "-o", "x.usda"]);
    assert!(ended.stderr.contains("\"velocity\" to [output] columns"), "{}", ended.stderr);
}

/// Ctrl-C during an export leaves no file, neither complete nor partial.
#[cfg(unix)]
#[test]
fn an_interrupted_export_leaves_nothing() {
    let place = Workplace::new(&BLOCK.replace("spacing = \"10 cm\"", "spacing = \"2 cm\""));
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "1", "-q"]);
    repeat_last_frame(&place.path("a"), 400);
    for (format, target) in [("usd", "x.usda"), ("vtp", "x")] {
        let mut command = place.command(&["export", "a", "--format", format, "-o", target]);
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let aside = place.path(&format!("{target}.tmp"));
        let begun = std::time::Instant::now();
        while !aside.exists() && begun.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let killed =
            std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let ended = crate::support::Ended::from(child.wait_with_output().unwrap());
        assert_eq!(ended.code, Some(130), "{}", ended.stderr);
        assert!(ended.stderr.contains("nothing was written"), "{}", ended.stderr);
        assert_eq!(names(&place), ["a", "scene.toml"]);
    }
}
