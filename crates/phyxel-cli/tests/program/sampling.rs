//! Tests of warnings about bad sampling in `run`, `resume`, `compare` and `check`: time, severity and remedy.

use crate::support::{BLOCK, Ended, Workplace};

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
    assert_eq!(warnings(&resumed), said);
    let quiet = place.succeed(&["run", "scene.toml", "-o", "quiet", "-q"]);
    assert_eq!(quiet.stderr, "");
    let methods = ["--methods", "incremental,embedded", "--frames", "6", "--size", "64x48"];
    let compared = place.phyxel(&[&["compare", "scene.toml", "-o", "both"][..], &methods].concat());
    assert!(compared.stderr.contains("warning: `incremental`: "), "{}", compared.stderr);
}

#[test]
fn a_healthy_run_is_not_warned_of() {
    for sampling in ["lattice", "jittered", "relaxed"] {
        let place =
            Workplace::new(&BLOCK.replace("\"10 cm\"", &format!("\"5 cm\"\nsampling = \"{sampling}\"")));
        let ended = place.succeed(&["run", "scene.toml", "-o", "a"]);
        assert_eq!(ended.stderr, "", "{sampling}");
        let checked = place.succeed(&["check", "scene.toml"]);
        assert!(checked.stdout.contains("no warnings"), "{sampling}: {}", checked.stdout);
    }
}

/// Bodies that fuse may start inside each other: their particles are too near from the start.
#[test]
fn check_warns_of_a_start_with_crowded_particles() {
    let twin = "\n[[bodies]]\nname = \"twin\"\nmaterial = \"jelly\"\nfuse = true\nshape.box = { size = [0.5, 0.5, 0.5] }\n\
        rotation = { axis = [0, 0, 1], angle = \"10 deg\" }\nposition = [0.01, 0.36, 0.01]\nspacing = \"10 cm\"\n\
        \n[[obstacles]]\n";
    let scene = BLOCK
        .replacen("\n[[obstacles]]\n", twin, 1)
        .replace("name = \"block\"", "name = \"block\"\nfuse = true");
    let place = Workplace::new(&scene);
    let checked = place.succeed(&["check", "scene.toml"]);
    for words in ["drawn together, first", "at the start", "particles clump, first"] {
        assert!(checked.stdout.contains(words), "{words} is missing in\n{}", checked.stdout);
    }
}
