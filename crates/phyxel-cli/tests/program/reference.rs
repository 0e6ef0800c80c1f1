//! Tests of a comparison in which the run of the reference method fails.

use crate::comparing::{block, compare, gif, pixels, summary};
use crate::support::Workplace;
use phyxel::methods::built_methods;
use phyxel_io::results::Status;

/// Returns a scene in which a force pushes the block apart for a moment from 0.1 s on: too far for the reference
/// method, whose stable steps shrink with the stretch, but not for methods that follow large deformation.
fn torn_block() -> String {
    let free = block().replace(
        "[[obstacles]]\nname = \"floor\"\nshape.half_space = { normal = [0, 1, 0] }\nfriction = 0.4\n",
        "",
    );
    // steps that see the force
    let free = free.replace("frame_rate", "time_step = \"0.5 ms\"\nframe_rate");
    format!(
        "{free}\n[[forces]]\nlinear = {{ matrix = [[1e7, 0, 0], [0, 1e7, 0], [0, 0, 1e7]] }}\nfrom = 0.1\nuntil = 0.1015\n"
    )
}

#[test]
fn a_run_that_fails_does_not_stop_the_others() {
    let Some(other) = built_methods().map(|entry| entry.key).filter(|key| *key != "reference").last() else {
        return;
    };
    let place = Workplace::new(&torn_block());
    let ended = compare(&place, &["--methods", &format!("reference,{other}"), "-o", "both"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let done = format!("done: `{other}`");
    for word in ["1 of 2 runs failed", "`reference` at 0.10", "body \"block\"", &done] {
        assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
    }
    assert!(ended.stdout.contains("failed at 0.10"), "{}", ended.stdout);
    let table = summary(&place, "both");
    assert!(table["status"][0].starts_with("failed at 0.10") && table["status"][1] == "done");
    assert_eq!(place.info(&format!("both/{other}")).status, Status::Done);
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
