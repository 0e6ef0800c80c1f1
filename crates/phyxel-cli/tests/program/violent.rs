//! Violent scenes end clean, with a warning or with an error: none goes wrong in silence.

use crate::support::Workplace;
use crate::violent_scenes::{energy_missing, violent_scene};
use phyxel_io::results::ResultFolder;

/// Seed and numbers of the scenes; `cargo run --release -p phyxel-cli --example violent` runs sixty.
const SEED: u64 = 1;
const NUMBERS: [usize; 10] = [0, 2, 3, 5, 8, 14, 17, 18, 21, 24];

#[test]
fn violent_scenes_never_go_wrong_in_silence() {
    for number in NUMBERS {
        let scene = violent_scene(SEED, number);
        let place = Workplace::new(&scene.text);
        let ended = place.phyxel(&["run", "scene.toml", "-o", "a", "--frames", "9"]);
        assert!([Some(0), Some(1)].contains(&ended.code), "{}: {}", scene.name, ended.stderr);
        if ended.code == Some(1) {
            assert!(
                ended.stderr.contains("the run failed at") || ended.stderr.contains("stopped after frame")
            );
            continue;
        }
        let ledger = ResultFolder::open(&place.path("a")).unwrap().ledger().unwrap();
        let missing = energy_missing(&ledger);
        let is_warned = ended.stderr.contains("the energy balance does not close");
        assert!(missing < 5.01 || is_warned, "{}: {missing:.1} %\n{}", scene.name, ended.stderr);
        for volume in ledger.numbers("least_volume_ratio").unwrap() {
            let is_warned = ended.stderr.contains("matter loses its volume");
            assert!(volume > 0.59 || is_warned, "{}: {volume}", scene.name);
        }
    }
}
