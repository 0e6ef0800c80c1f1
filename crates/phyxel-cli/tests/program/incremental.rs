//! Tests of warnings about bad sampling of the incremental method in `run`, `resume` and `compare`: time, severity and
//! remedy.

use crate::support::{Ended, Workplace};
use phyxel::methods::built_methods;

/// Scene of very plastic matter that a force squeezes to a sheet much thinner than the spacing, without any repulsion.
const SQUEEZED: &str = r#"
method = "incremental"
gravity = [0, 0, 0]
contact = false
duration = "0.2 s"
frame_rate = 50

[materials.matter]
density = 1000
youngs_modulus = "0.1 MPa"
poisson_ratio = 0.3
viscosity = "400 Pa.s"
plasticity = { yield_stress = "200 Pa", flow_rate = 60, yield_measure = "total" }

[[bodies]]
name = "block"
material = "matter"
shape.box = { size = [0.4, 0.4, 0.4] }
spacing = "5 cm"

[[forces]]
linear = { matrix = [[0, 0, 0], [0, -12000, 0], [0, 0, 0]] }

[methods.incremental]
repulsion = 0

[output]
checkpoint_every = 2
"#;

fn warnings(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().filter(|line| line.starts_with("warning: ")).collect()
}

#[test]
fn a_run_says_when_the_sampling_turned_bad_how_bad_it_got_and_what_to_change() {
    let place = Workplace::new(SQUEEZED);
    let whole = place.succeed(&["run", "scene.toml", "-o", "whole"]);
    let said = warnings(&whole);
    for words in [
        ["drawn together, first at frame ", ", worst at frame ", "spacings of another", "`spacing`"],
        ["particles clump, first at frame ", ", worst at frame ", " % of them", "`stabilization`"],
    ] {
        let is_said = |line: &&&str| words.iter().all(|word| line.contains(word));
        assert!(said.iter().any(|line| is_said(&line)), "{words:?} is missing in\n{}", whole.stderr);
    }
    // a run that is resumed remembers the frames before
    place.succeed(&["run", "scene.toml", "-o", "stopped", "--frames", "8"]);
    let resumed = place.succeed(&["resume", "stopped", "--frames", "10"]);
    let at_the_end = |all: &[&str]| {
        let is_later = |line: &&&str| line.contains("worst at frame") && !line.contains("first and worst");
        all.iter().filter(is_later).map(|line| (*line).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(at_the_end(&warnings(&resumed)), at_the_end(&said));
    let quiet = place.succeed(&["run", "scene.toml", "-o", "quiet", "-q"]);
    assert_eq!(quiet.stderr, "");
    let other = built_methods().filter(|entry| !entry.abilities.flows.is_empty());
    let Some(other) = other.map(|entry| entry.key).find(|key| *key != "incremental") else { return };
    let methods = format!("incremental,{other}");
    let arguments = ["--methods", &methods, "--frames", "6", "--size", "64x48"];
    let compared = place.phyxel(&[&["compare", "scene.toml", "-o", "both"][..], &arguments].concat());
    assert!(compared.stderr.contains("warning: `incremental`: "), "{}", compared.stderr);
}
