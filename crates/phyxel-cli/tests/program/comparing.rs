//! Tests of `phyxel compare`: written files, refused requests, and the files that an interrupted comparison leaves.

use crate::support::{
    BLOCK, Ended, Workplace, assert_same_contents, contents, elastic_method, flowing_method,
};
use phyxel::methods::built_methods;
use phyxel_io::results::{ResultFolder, Status};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Returns a scene that is slow enough for a GIF, which shows at most 50 frames per second.
pub(crate) fn block() -> String {
    BLOCK.replace("frame_rate = 100", "frame_rate = 25")
}

pub(crate) fn compare(place: &Workplace, arguments: &[&str]) -> Ended {
    place.phyxel(&[&["compare", "scene.toml", "--size", "96x72"][..], arguments].concat())
}

/// Returns the compared methods: the first and the last that are built.
fn pair() -> [&'static str; 2] {
    let keys: Vec<&str> = built_methods().map(|entry| entry.key).collect();
    [keys[0], keys[keys.len() - 1]]
}

/// The compared methods, as `--methods` expects them.
static PAIR: LazyLock<String> = LazyLock::new(|| pair().join(","));

/// Returns the arguments of a comparison of the two methods.
fn both() -> [&'static str; 4] {
    ["--methods", PAIR.as_str(), "-o", "both"]
}

/// Reads summary.csv: maps a quantity to the cells after the unit.
pub(crate) fn summary(place: &Workplace, folder: &str) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(place.path(folder).join("summary.csv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        (cells[0].clone(), cells[2..].to_vec())
    };
    text.lines().map(row).collect()
}

/// Returns width, height and number of frames of an animation.
pub(crate) fn gif(place: &Workplace, name: &str) -> (u16, u16, usize) {
    let options = gif::DecodeOptions::new();
    let mut decoder = options.read_info(std::fs::File::open(place.path(name)).unwrap()).unwrap();
    let mut n_frames = 0;
    while decoder.read_next_frame().unwrap().is_some() {
        n_frames += 1;
    }
    (decoder.width(), decoder.height(), n_frames)
}

/// Returns the width of a PNG file and its rows of RGB pixels.
pub(crate) fn pixels(place: &Workplace, name: &str) -> (usize, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(place.path(name)).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info.width as usize, bytes)
}

#[test]
fn a_comparison_has_runs_table_plots_sheet_and_animation() {
    let place = Workplace::new(&block());
    let [first, last] = pair();
    let setting = format!("methods.{last}.safety=0.25");
    let set = ["--set", &setting, "--color-by", "stress"];
    let ended = compare(&place, &[&both()[..], &set].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stderr);
    for word in
        ["quantity", first, last, "height_end", "wall_time_per_frame", "degenerate", "comparison in both"]
    {
        assert!(ended.stdout.contains(word), "{word} is missing in\n{}", ended.stdout);
    }
    for method in [first, last] {
        let info = place.info(&format!("both/{method}"));
        assert_eq!(
            (info.status, info.methods, info.frame_times.len()),
            (Status::Done, vec![method.into()], 11)
        );
        let scene = std::fs::read_to_string(place.path(&format!("both/{method}/scene.toml"))).unwrap();
        assert!(scene.contains(&format!("method = \"{method}\"")) && scene.contains("safety = 0.25"));
    }
    let table = summary(&place, "both");
    assert_eq!(table["quantity"], [first, last]);
    assert_eq!(
        (&table["status"], &table["frames"]),
        (&vec!["done".to_owned(); 2], &vec!["10.0".to_owned(); 2])
    );
    for (method, n_strays) in [first, last].iter().zip(&table["strays"]) {
        let ledger = ResultFolder::open(&place.path(&format!("both/{method}"))).unwrap().ledger().unwrap();
        assert_eq!(n_strays.is_empty(), ledger.numbers("strays").is_none(), "{method}: {n_strays}");
    }
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
    for word in ["total energy", "[J]", "time [s]", "steps per frame"] {
        assert!(plots.contains(word), "{word} is missing in the plots");
    }
    assert!([first, last].iter().all(|method| plots.contains(&format!(">{method}<"))), "names in the plots");
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
    let [first, last] = [first, last].map(|method| format!("both/{method}"));
    place.succeed(&["render", &last, "-o", "last.png", "--size", "48x36", "--quality", "draft"]);
    place.succeed(&["resume", &first, "--frames", "12", "-q"]);
    place.succeed(&["run", "scene.toml", "-o", "alone", "--set", &setting, "--frames", "12", "-q"]);
    assert_same_contents(&place.path(&first), &place.path("alone"));
}

#[test]
fn bodies_with_a_method_of_their_own_follow_the_comparison() {
    let [first, last] = pair();
    let own = format!("method = \"{last}\"\nspacing =");
    let place = Workplace::new(&block().replace("spacing =", &own));
    let ended = compare(&place, &[&both()[..], &["--frames", "1"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("`block`") && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    assert_eq!(place.info(&format!("both/{first}")).methods, [first]);
}

#[test]
fn bad_requests_are_refused_with_a_remedy_before_anything_runs() {
    let place = Workplace::new(&block());
    let [first, last] = pair();
    let misspelt = &last[..last.len() - 1];
    let refused = |methods: &str, more: &[&str], words: &[&str]| {
        let arguments = [&["--methods", methods, "-o", "both"][..], more].concat();
        let ended = compare(&place, &arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        for word in words {
            assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
        }
        assert!(ended.stdout.is_empty() && !place.path("both").exists(), "{arguments:?}");
    };
    let unknown = format!("no method `{misspelt}`");
    let meant = format!("did you mean `{last}`");
    refused(&format!("{first},{misspelt}"), &[], &[&unknown, &meant]);
    let twice = format!("`{first}` more than once");
    refused(&format!("{first},{last},{first}"), &[], &[&twice, "name each method once"]);
    refused(first, &[], &["two or more", "phyxel run"]);
    let compared = format!("`{first}` and `{last}`");
    refused(&PAIR, &["--set", "methods.fem.safety=1"], &["`fem` is not compared", &compared]);
    refused(&PAIR, &["--set", &format!("method={last}")], &["--methods", "leave this out"]);
    refused(&PAIR, &["--color-by", "heat"], &["--color-by heat", "`velocity` and `stress`"]);
    for name in ["fem", "mpm"] {
        refused(&format!("{first},{name}"), &[], &[&format!("no method `{name}`"), "built methods: "]);
    }
    // several problems at once
    let more = ["--set", "bodies.block.spacing=wide", "--set", "methods.x.y=1"];
    let words = ["did you mean", "more than once", "`x` is not compared", "\"wide\""];
    refused(&format!("{first},{misspelt},{first}"), &more, &words);
    assert_eq!(compare(&place, &["--methods", &PAIR]).code, Some(2), "no folder");
}

#[test]
fn what_a_method_cannot_do_is_shown_at_its_place_and_nothing_is_written() {
    let (Some(elastic), flowing) = (elastic_method(), flowing_method()) else { return };
    let methods = format!("{elastic},{flowing}");
    let both = ["--methods", &methods, "-o", "both"];
    let keys = "viscosity = \"2 Pa.s\"\nplasticity = { yield_stress = \"1 kPa\", flow_rate = 10 }";
    let scene = block().replace("viscosity = \"2 Pa.s\"", keys);
    let line = 1 + scene.lines().position(|line| line.contains("plasticity")).unwrap();
    let place = Workplace::new(&scene);
    let ended = compare(&place, &both);
    assert_eq!(ended.code, Some(2));
    for word in [
        format!("`{elastic}` cannot do this scene"),
        "plastic".to_owned(),
        format!("\"{flowing}\""),
        format!("scene.toml:{line}:14"),
        format!("leave `{elastic}` out"),
    ] {
        assert!(ended.stderr.contains(&word), "{word} is missing in\n{}", ended.stderr);
    }
    assert!(!place.path("both").exists());
    let column = compare(
        &place,
        &[
            &both[..],
            &["--set", "materials.jelly.plasticity=", "--set", "output.columns=[\"plastic_strain\"]"],
        ]
        .concat(),
    );
    let refusal = format!("`{elastic}` cannot do");
    assert!(column.code == Some(2) && column.stderr.contains(&refusal), "{}", column.stderr);
    // a problem that all methods share is reported once, without blaming a method
    let shared = compare(
        &place,
        &[&both[..], &["--set", "materials.jelly.plasticity=", "--set", "bodies.block.spacing=9"]].concat(),
    );
    assert_eq!(shared.stderr.matches("smaller spacing").count(), 1, "{}", shared.stderr);
    assert!(!shared.stderr.contains("cannot do"), "{}", shared.stderr);
}

#[test]
fn an_earlier_comparison_is_replaced_only_by_force_and_other_folders_never() {
    let place = Workplace::new(&block());
    let [first, last] = pair().map(|method| place.path(&format!("both/{method}")));
    let short = [&both()[..], &["--frames", "2", "-q"]].concat();
    assert_eq!(compare(&place, &short).code, Some(0));
    std::fs::write(place.path("both/notes.txt"), "mine").unwrap();
    let before = contents(&first);
    let refused = compare(&place, &short);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("both") && refused.stderr.contains("--force"), "{}", refused.stderr);
    assert!(contents(&first) == before);
    let forced = compare(&place, &[&both()[..], &["--frames", "1", "-q", "--force"]].concat());
    assert_eq!(forced.code, Some(0), "{}", forced.stderr);
    assert_eq!(contents(&last).len(), 3);
    assert_eq!(std::fs::read_to_string(place.path("both/notes.txt")).unwrap(), "mine");
    place.succeed(&["run", "scene.toml", "-o", "single", "--frames", "1", "-q"]);
    for folder in ["single", "scene.toml", "."] {
        let other = compare(&place, &["--methods", &PAIR, "-o", folder, "--force"]);
        assert_eq!(other.code, Some(2), "{folder}: {}", other.stderr);
        assert!(other.stderr.contains("no comparison"), "{}", other.stderr);
    }
    assert_eq!(contents(&place.path("single")).len(), 3);
}

#[cfg(unix)]
#[test]
fn an_interrupted_comparison_keeps_what_is_finished() {
    let place = Workplace::new(&block());
    let [first, last] = pair().map(|method| format!("both/{method}"));
    let arguments = [&["compare", "scene.toml", "--set", "bodies.block.spacing=0.04"][..], &both()].concat();
    let mut command = place.command(&arguments);
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let frame = place.path(&last).join("frames/particles_0001.ply");
    let start = std::time::Instant::now();
    while !frame.exists() {
        assert!(start.elapsed().as_secs() < 120, "no frame");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("phyxel resume {last}")), "{}", ended.stderr);
    assert_eq!(place.info(&first).status, Status::Done);
    assert_eq!(place.info(&last).status, Status::Interrupted);
    place.succeed(&["resume", &last, "-q"]);
    assert!(place.phyxel(&arguments).stderr.contains("--force"));
}
