//! Tests of help, lists, checks and measurements.

use crate::support::{BLOCK, Workplace};
use phyxel::methods::built_methods;
use serde_json::Value;

#[test]
fn every_command_has_help_with_examples() {
    let place = Workplace::new(BLOCK);
    for command in ["run", "check", "compare", "resume", "render", "export", "list", "schema", "bench"] {
        let help = place.succeed(&[command, "--help"]).stdout;
        assert!(help.contains("Example") && help.contains("phyxel "), "{command}: {help}");
    }
    assert!(place.succeed(&["--help"]).stdout.contains("Exit codes"));
    assert!(place.succeed(&["--version"]).stdout.starts_with("phyxel "));
}

#[test]
fn bad_arguments_have_exit_code_2() {
    let place = Workplace::new(BLOCK);
    let cases: [&[&str]; 11] = [
        &[],
        &["walk"],
        &["run"],
        &["run", "scene.toml", "--threads", "0"],
        &["run", "scene.toml", "--set", "duration"],
        &["run", "scene.toml", "--frames", "-3"],
        &["bench", "--method", "fem"],
        &["bench", "--paper", "jones-2013"],
        &["bench", "--paper", "jones-2014", "--figures", "3"],
        &["bench", "--paper", "jones-2014", "--particles", "100"],
        &["bench", "--figures", "5"],
    ];
    for arguments in cases {
        assert_eq!(place.phyxel(arguments).code, Some(2), "{arguments:?}");
    }
    assert!(!place.path("out").exists());
}

#[test]
fn lists_and_schema_come_from_the_tables() {
    let place = Workplace::new(BLOCK);
    let method = built_methods().next().unwrap().key;
    for (what, word) in
        [("methods", method), ("materials", "youngs_modulus"), ("shapes", "torus"), ("formats", "gif")]
    {
        assert!(place.succeed(&["list", what]).stdout.contains(word), "{what}");
    }
    let materials = place.succeed(&["list", "materials"]).stdout;
    for word in ["modelling clay", "flow rate [1/s]", "Sofuoglu", "based_on", "yield_measure"] {
        assert!(materials.contains(word), "{word} is missing in\n{materials}");
    }
    assert_eq!(place.phyxel(&["list", "scenes"]).code, Some(2), "there is no folder of scenes");
    std::fs::create_dir_all(place.path("scenes/deep")).unwrap();
    std::fs::copy(place.path("scene.toml"), place.path("scenes/deep/block.toml")).unwrap();
    std::fs::write(place.path("scenes/bad.toml"), "x = [").unwrap();
    let scenes = place.succeed(&["list", "scenes"]).stdout;
    assert!(scenes.contains("block.toml  Block") && scenes.contains("not valid"), "{scenes}");
    let schema: Value = serde_json::from_str(&place.succeed(&["schema"]).stdout).unwrap();
    assert!(schema["properties"]["bodies"].is_object());
}

#[test]
fn a_check_tells_what_will_happen_and_writes_nothing() {
    let place = Workplace::new(BLOCK);
    let text = place.succeed(&["check", "scene.toml", "--threads", "1"]).stdout;
    for word in [
        "block",
        "125",
        "jelly",
        "50000 Pa",
        "the method's own",
        "elastic",
        "0.1 m, lattice",
        "time step",
        "steps per frame",
        "40 of 0.01 s",
        "expected time",
        "no warnings",
    ] {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
    let with_ball_at = |height: &str| {
        format!(
            "{BLOCK}\n[[bodies]]\nname = \"ball\"\nmaterial = \"jelly\"\nshape.sphere = {{ radius = 0.1 }}\nposition = [0, {height}, 0]\nspacing = 0.05\n"
        )
    };
    place.add_scene("near.toml", &with_ball_at("0.68"));
    let text = place.succeed(&["check", "near.toml"]).stdout;
    assert!(text.contains("warnings\n  - bodies \"block\" and \"ball\" overlap"), "{text}");
    place.add_scene("inside.toml", &with_ball_at("0.35"));
    let ended = place.phyxel(&["run", "inside.toml", "--output", "out"]);
    assert_eq!(ended.code, Some(2));
    for part in ["bodies start inside each other: \"block\" and \"ball\"", "inside.toml:32:1", "fuse = true"]
    {
        assert!(ended.stderr.contains(part), "{part} is missing in\n{}", ended.stderr);
    }
    assert!(!place.path("out").exists());
}

#[test]
fn a_bench_prints_a_table_and_writes_json() {
    let place = Workplace::new(BLOCK);
    let ended = place.succeed(&[
        "bench",
        "--particles",
        "64,125",
        "--threads",
        "1,2",
        "--steps",
        "4",
        "--json",
        "b.json",
    ]);
    assert_eq!(
        ended.stdout.lines().filter(|line| line.trim_start().starts_with(['6', '1'])).count(),
        4,
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("forces") && ended.stdout.contains("speed-up"));
    let json: Value = serde_json::from_str(&std::fs::read_to_string(place.path("b.json")).unwrap()).unwrap();
    assert_eq!(json["runs"][3]["particles"], 125);
    assert_eq!(json["runs"][3]["threads"], 2);
}
