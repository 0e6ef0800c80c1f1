//! Tests of `phyxel compare`: written files, refused requests, and the files that a failed run leaves.

use crate::support::{BLOCK, Ended, Workplace, assert_same_contents, contents};
use phyxel_io::results::Status;
use std::collections::BTreeMap;

/// Returns a scene that is slow enough for a GIF, which shows at most 50 frames per second.
fn block() -> String {
    BLOCK.replace("frame_rate = 100", "frame_rate = 25")
}

/// Returns a scene in which a force pushes the block apart for a moment from 0.1 s on: too far for the reference
/// method, whose stable steps shrink with the stretch, but not for the embedded one.
fn torn_block() -> String {
    let free = block().replace(
        "[[obstacles]]\nname = \"floor\"\nshape.half_space = { normal = [0, 1, 0] }\nfriction = 0.4\n",
        "",
    );
    format!(
        "{free}\n[[forces]]\nlinear = {{ matrix = [[1e7, 0, 0], [0, 1e7, 0], [0, 0, 1e7]] }}\nfrom = 0.1\nuntil = 0.1015\n"
    )
}

fn compare(place: &Workplace, arguments: &[&str]) -> Ended {
    place.phyxel(&[&["compare", "scene.toml", "--size", "96x72"][..], arguments].concat())
}

const BOTH: [&str; 4] = ["--methods", "reference,embedded", "-o", "both"];

/// Reads summary.csv: maps a quantity to the cells after the unit.
fn summary(place: &Workplace, folder: &str) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(place.path(folder).join("summary.csv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        (cells[0].clone(), cells[2..].to_vec())
    };
    text.lines().map(row).collect()
}

/// Returns width, height and number of frames of an animation.
fn gif(place: &Workplace, name: &str) -> (u16, u16, usize) {
    let options = gif::DecodeOptions::new();
    let mut decoder = options.read_info(std::fs::File::open(place.path(name)).unwrap()).unwrap();
    let mut n_frames = 0;
    while decoder.read_next_frame().unwrap().is_some() {
        n_frames += 1;
    }
    (decoder.width(), decoder.height(), n_frames)
}

/// Returns the width of a PNG file and its rows of RGB pixels.
fn pixels(place: &Workplace, name: &str) -> (usize, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(place.path(name)).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info.width as usize, bytes)
}

#[test]
fn a_comparison_has_runs_table_plots_sheet_and_animation() {
    let place = Workplace::new(&block());
    let set = ["--set", "methods.embedded.safety=0.25", "--color-by", "stress"];
    let ended = compare(&place, &[&BOTH[..], &set].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stderr);
    for word in [
        "quantity",
        "reference",
        "embedded",
        "height_end",
        "wall_time_per_frame",
        "degenerate",
        "comparison in both",
    ] {
        assert!(ended.stdout.contains(word), "{word} is missing in\n{}", ended.stdout);
    }
    for method in ["reference", "embedded"] {
        let info = place.info(&format!("both/{method}"));
        assert_eq!(
            (info.status, info.methods, info.frame_times.len()),
            (Status::Done, vec![method.into()], 11)
        );
        let scene = std::fs::read_to_string(place.path(&format!("both/{method}/scene.toml"))).unwrap();
        assert!(scene.contains(&format!("method = \"{method}\"")) && scene.contains("safety = 0.25"));
    }
    let table = summary(&place, "both");
    assert_eq!(table["quantity"], ["reference", "embedded"]);
    assert_eq!(
        (&table["status"], &table["frames"]),
        (&vec!["done".to_owned(); 2], &vec!["10.0".to_owned(); 2])
    );
    assert_eq!(table["strays"][0], "", "the reference method has no strays");
    let number = |name: &str, k: usize| table[name][k].parse::<f64>().unwrap();
    for k in 0..2 {
        assert!((number("particles_end", k) - 125.0).abs() < 1e-9);
        assert!(number("total_energy_end", k) < number("total_energy_start", k));
        assert!(
            (0.4..0.8).contains(&number("height_end", k)) && (0.45..0.9).contains(&number("spread_end", k))
        );
        assert!(number("steps", k) > 0.0 && number("wall_time_per_frame", k) > 0.0);
    }
    let series = std::fs::read_to_string(place.path("both/series.csv")).unwrap();
    assert_eq!(series.lines().count(), 1 + 2 * 11);
    let plots = std::fs::read_to_string(place.path("both/plots.svg")).unwrap();
    for word in ["total energy", "[J]", "time [s]", "steps per frame", ">reference<", ">embedded<"] {
        assert!(plots.contains(word), "{word} is missing in the plots");
    }
    let (width, _, n_frames) = gif(&place, "both/compare.gif");
    assert!(width > 2 * 96 && n_frames == 11, "{n_frames} frames");
    let (width, sheet) = pixels(&place, "both/sheet.png");
    assert!(width > 6 * 96);
    // the names, dark on light, stand before the first column
    let names = width - 6 * (96 + 5);
    let is_dark = |pixel: &[u8]| pixel.iter().all(|&byte| byte < 110);
    let n_dark =
        sheet.chunks(3 * width).flat_map(|row| row[..3 * names].chunks(3)).filter(|p| is_dark(p)).count();
    assert!(n_dark > 100, "{n_dark} pixels of ink before the rows");
    // the runs are ordinary results
    place.succeed(&["render", "both/embedded", "-o", "last.png", "--size", "48x36", "--quality", "draft"]);
    place.succeed(&["resume", "both/reference", "--frames", "12", "-q"]);
    place.succeed(&[
        "run",
        "scene.toml",
        "-o",
        "alone",
        "--set",
        "methods.embedded.safety=0.25",
        "--frames",
        "12",
        "-q",
    ]);
    assert_same_contents(&place.path("both/reference"), &place.path("alone"));
}

#[test]
fn bodies_with_a_method_of_their_own_follow_the_comparison() {
    let place = Workplace::new(&block().replace("spacing =", "method = \"embedded\"\nspacing ="));
    let ended = compare(&place, &[&BOTH[..], &["--frames", "1"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("`block`") && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    assert_eq!(place.info("both/reference").methods, ["reference"]);
}

#[test]
fn bad_requests_are_refused_with_a_remedy_before_anything_runs() {
    let place = Workplace::new(&block());
    let methods = |list: &'static str| ["--methods", list, "-o", "both"];
    let cases: [(&[&str], &[&str]); 7] = [
        (&methods("reference,embeded"), &["no method `embeded`", "did you mean `embedded`"]),
        (&methods("reference,embedded,reference"), &["`reference` more than once", "name each method once"]),
        (&methods("reference"), &["two or more", "phyxel run"]),
        (
            &[&BOTH[..], &["--set", "methods.elaston.safety=1"]].concat(),
            &["`elaston` is not compared", "`reference` and `embedded`"],
        ),
        (&[&BOTH[..], &["--set", "method=embedded"]].concat(), &["--methods", "leave this out"]),
        (&[&BOTH[..], &["--color-by", "heat"]].concat(), &["--color-by heat", "`velocity` and `stress`"]),
        // several problems at once
        (
            &[
                &methods("reference,embeded,reference")[..],
                &["--set", "bodies.block.spacing=wide", "--set", "methods.x.y=1"],
            ]
            .concat(),
            &["did you mean", "more than once", "`x` is not compared", "\"wide\""],
        ),
    ];
    for (arguments, words) in cases {
        let ended = compare(&place, arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        for word in words {
            assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
        }
        assert!(ended.stdout.is_empty() && !place.path("both").exists(), "{arguments:?}");
    }
    assert_eq!(compare(&place, &["--methods", "reference,embedded"]).code, Some(2), "no folder");
    // methods that are not built, if there are any
    for entry in phyxel::methods::CATALOGUE.iter().filter(|entry| entry.default_factory.is_none()) {
        let ended = compare(&place, &["--methods", &format!("reference,{}", entry.key), "-o", "both"]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("`{}` is not built", entry.key)), "{}", ended.stderr);
    }
}

#[test]
fn what_a_method_cannot_do_is_shown_at_its_place_and_nothing_is_written() {
    let keys = "viscosity = \"2 Pa.s\"\nplasticity = { yield_stress = \"1 kPa\", flow_rate = 10 }";
    let scene = block().replace("viscosity = \"2 Pa.s\"", keys);
    let line = 1 + scene.lines().position(|line| line.contains("plasticity")).unwrap();
    let place = Workplace::new(&scene);
    let ended = compare(&place, &BOTH);
    assert_eq!(ended.code, Some(2));
    let place_of_key = format!("scene.toml:{line}:14");
    for word in [
        "`reference` cannot do this scene",
        "plastic",
        "\"embedded\"",
        &place_of_key,
        "leave `reference` out",
    ] {
        assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
    }
    assert!(!place.path("both").exists());
    let column = compare(
        &place,
        &[
            &BOTH[..],
            &["--set", "materials.jelly.plasticity=", "--set", "output.columns=[\"plastic_strain\"]"],
        ]
        .concat(),
    );
    assert!(column.code == Some(2) && column.stderr.contains("`reference` cannot do"), "{}", column.stderr);
    // a problem that all methods share is reported once, without blaming a method
    let shared = compare(
        &place,
        &[&BOTH[..], &["--set", "materials.jelly.plasticity=", "--set", "bodies.block.spacing=9"]].concat(),
    );
    assert_eq!(shared.stderr.matches("smaller spacing").count(), 1, "{}", shared.stderr);
    assert!(!shared.stderr.contains("cannot do"), "{}", shared.stderr);
}

#[test]
fn an_earlier_comparison_is_replaced_only_by_force_and_other_folders_never() {
    let place = Workplace::new(&block());
    let short = [&BOTH[..], &["--frames", "2", "-q"]].concat();
    assert_eq!(compare(&place, &short).code, Some(0));
    std::fs::write(place.path("both/notes.txt"), "mine").unwrap();
    let before = contents(&place.path("both/reference"));
    let refused = compare(&place, &short);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("both") && refused.stderr.contains("--force"), "{}", refused.stderr);
    assert!(contents(&place.path("both/reference")) == before);
    let forced = compare(&place, &[&BOTH[..], &["--frames", "1", "-q", "--force"]].concat());
    assert_eq!(forced.code, Some(0), "{}", forced.stderr);
    assert_eq!(contents(&place.path("both/embedded")).len(), 3);
    assert_eq!(std::fs::read_to_string(place.path("both/notes.txt")).unwrap(), "mine");
    place.succeed(&["run", "scene.toml", "-o", "single", "--frames", "1", "-q"]);
    for folder in ["single", "scene.toml", "."] {
        let other = compare(&place, &["--methods", "reference,embedded", "-o", folder, "--force"]);
        assert_eq!(other.code, Some(2), "{folder}: {}", other.stderr);
        assert!(other.stderr.contains("no comparison"), "{}", other.stderr);
    }
    assert_eq!(contents(&place.path("single")).len(), 3);
}

#[test]
fn a_run_that_fails_does_not_stop_the_others() {
    let place = Workplace::new(&torn_block());
    let ended = compare(&place, &BOTH);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for word in ["1 of 2 runs failed", "`reference` at 0.10", "body \"block\"", "done: `embedded`"] {
        assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
    }
    assert!(ended.stdout.contains("failed at 0.10"), "{}", ended.stdout);
    let table = summary(&place, "both");
    assert!(table["status"][0].starts_with("failed at 0.10") && table["status"][1] == "done");
    assert_eq!(place.info("both/embedded").status, Status::Done);
    assert!(matches!(place.info("both/reference").status, Status::Failed(_)));
    assert!(place.info("both/reference").frame_times.len() < 5);
    assert_eq!(gif(&place, "both/compare.gif").2, 11, "the failed run holds its last frame");
    let plots = std::fs::read_to_string(place.path("both/plots.svg")).unwrap();
    assert!(plots.contains("reference (failed at 0.10"));
    // the sheet shows the failure in red, and nothing else is red
    let (_, sheet) = pixels(&place, "both/sheet.png");
    let n_red = sheet.chunks(3).filter(|p| p[0] > 150 && p[1] < 80 && p[2] < 70).count();
    assert!(n_red > 20, "{n_red} red pixels");
}

#[cfg(unix)]
#[test]
fn an_interrupted_comparison_keeps_what_is_finished() {
    let place = Workplace::new(&block());
    let arguments = [&["compare", "scene.toml", "--set", "bodies.block.spacing=0.04"][..], &BOTH].concat();
    let mut command = place.command(&arguments);
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let frame = place.path("both/embedded/frames/particles_0001.ply");
    let start = std::time::Instant::now();
    while !frame.exists() {
        assert!(start.elapsed().as_secs() < 120, "no frame");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stderr.contains("phyxel resume both/embedded"), "{}", ended.stderr);
    assert_eq!(place.info("both/reference").status, Status::Done);
    assert_eq!(place.info("both/embedded").status, Status::Interrupted);
    place.succeed(&["resume", "both/embedded", "-q"]);
    assert!(place.phyxel(&arguments).stderr.contains("--force"));
}
