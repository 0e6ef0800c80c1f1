//! Tests of warnings about bad sampling at the start of a run, and that healthy runs have none.

use crate::support::{BLOCK, Workplace};

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
