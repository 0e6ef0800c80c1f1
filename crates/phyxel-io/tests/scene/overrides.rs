//! Tests of overrides by `--set KEY=VALUE`.

use crate::{FULL, SHORT, any_method, parse};
use phyxel::material::Property;
use phyxel::math::{Vec3, vec3};
use phyxel::methods::SettingValue;
use phyxel_io::scene::SceneFile;
use phyxel_io::scene::description::*;
use phyxel_io::scene::{apply_overrides, with_method};

fn changed(text: &str, overrides: &[(&str, &str)]) -> Result<String, String> {
    let owned: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    apply_overrides(text, "scene.toml", &owned).map_err(|error| error.to_string())
}

pub(crate) fn set(text: &str, overrides: &[(&str, &str)]) -> SceneFile {
    let text = changed(text, overrides).unwrap_or_else(|error| panic!("{error}"));
    parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn no_override_changes_nothing() {
    assert_eq!(changed(FULL, &[]).unwrap(), FULL);
    let same = changed(FULL, &[("materials.clay.density", "1800")]).unwrap();
    assert_eq!(same, FULL, "the same value leaves every blank and comment");
}

#[test]
fn values_are_replaced_and_comments_stay() {
    let text = changed(FULL, &[("materials.clay.youngs_modulus", "2 MPa")]).unwrap();
    let expected = FULL.replace(
        "youngs_modulus = \"0.2 MPa\"           # stiff",
        "youngs_modulus = \"2 MPa\"           # stiff",
    );
    assert_eq!(text, expected);
    let quoted = changed(FULL, &[("materials.clay.youngs_modulus", "\"2 MPa\"")]).unwrap();
    assert_eq!(quoted, expected);
}

#[test]
fn entries_go_by_name_or_number() {
    for key in ["bodies.bar.spacing", "bodies.0.spacing", "bodies.\"bar\".spacing"] {
        assert_eq!(set(FULL, &[(key, "2 cm")]).scene.bodies[0].resolution, Resolution::Spacing(0.02));
    }
    let file =
        set(FULL, &[("gravity.1", "-1.62"), ("grips.left.motion.1.time", "0.4"), ("grips.1.axes", "y")]);
    assert_eq!(file.scene.gravity, vec3(0.0, -1.62, 0.0));
    assert_eq!(file.scene.grips[0].motion.keyframes[1].time, 0.4);
    assert_eq!(file.scene.grips[1].axes, [false, true, false]);
    let inline = "bodies = [{ name = \"a\", material = \"m\", spacing = 1 }]\n";
    let text = changed(inline, &[("bodies.a.spacing", "2")]).unwrap();
    assert_eq!(text, inline.replace("spacing = 1", "spacing = 2"));
}

/// Returns the key of a setting that every method has, for `--set`.
fn safety_key() -> String {
    format!("methods.{}.safety", any_method())
}

fn safety(file: &SceneFile) -> SettingValue {
    file.scene.methods.get(any_method(), "safety").unwrap()
}

#[test]
fn missing_keys_and_tables_are_made_in_their_places() {
    let file = set(
        SHORT,
        &[
            ("title", "made"),
            (&safety_key(), "0.9"),
            ("output.checkpoint_every", "5"),
            ("bodies.bar.velocity", "[1, 0, 0]"),
            ("bodies.bar.rotation", "{ axis = [0, 1, 0], angle = \"90 deg\" }"),
            ("materials.clay.viscosity", "5 Pa.s"),
        ],
    );
    assert_eq!(file.scene.title.as_deref(), Some("made"));
    assert_eq!(safety(&file), SettingValue::Number(0.9));
    assert_eq!(file.scene.output.checkpoint_every, 5);
    assert_eq!(file.scene.bodies[0].velocity, Vec3::X);
    assert_eq!(file.scene.bodies[0].shape.placement.rotation.axis, Vec3::Y);
    assert_eq!(file.scene.materials[0].values[Property::Viscosity], Varying::Uniform(5.0));
}

#[test]
fn nested_tables_are_made_inside_entries_and_braces() {
    let two = format!("{SHORT}[[bodies]]\nname = \"second\"\nmaterial = \"clay\"\nspacing = 1\n");
    let file =
        set(&two, &[("bodies.second.shape.box.size", "[1, 2, 3]"), ("bodies.bar.shape.sphere.radius", "3")]);
    assert_eq!(file.scene.bodies[0].shape.shape, Shape::Sphere { radius: 3.0 });
    let expected = Shape::Box { center: Vec3::ZERO, size: vec3(1.0, 2.0, 3.0) };
    assert_eq!(file.scene.bodies[1].shape.shape, expected);
    let inline = format!("methods = {{}}\n{SHORT}");
    let headed = format!("{SHORT}[methods.{}]\n", any_method());
    for text in [inline, headed] {
        let file = set(&text, &[(&safety_key(), "0.7")]);
        assert_eq!(safety(&file), SettingValue::Number(0.7));
    }
}

#[test]
fn an_empty_value_removes_a_key_so_that_an_alternative_can_take_its_place() {
    let file = set(SHORT, &[("bodies.bar.spacing", ""), ("bodies.bar.particles", "77")]);
    assert_eq!(file.scene.bodies[0].resolution, Resolution::Particles(77));
    assert_eq!(set(FULL, &[("grips.left", "")]).scene.grips.len(), 1);
    let error = changed(SHORT, &[("bodies.bar.spacin", "")]).unwrap_err();
    assert!(
        error.contains("there is no `spacin` to remove") && error.contains("did you mean `spacing`?"),
        "{error}"
    );
}

#[test]
fn bad_overrides_are_named_all_at_once() {
    let error = changed(
        FULL,
        &[("bodies.brr.spacing", "1"), ("duration.x", "1"), ("a..b", "1"), ("bodies.9.name", "x"), ("", "3")],
    )
    .unwrap_err();
    for part in [
        "--set:1:8: bad override `bodies.brr.spacing=1`: `bodies` has no entry `brr`",
        "help: did you mean `bar`?",
        "--set:2:1: bad override `duration.x=1`: `duration` is a string and has no keys",
        "--set:3:1: bad key in the override `a..b=1`",
        "--set:4:8: bad override `bodies.9.name=x`: `bodies` has no entry `9`",
        "help: there is `bar`, `ball` and `graded`, or a number from 0 to 2",
        "--set:5:1: ",
    ] {
        assert!(error.contains(part), "{part}\n{error}");
    }
}

#[test]
fn a_wrong_key_or_value_is_found_by_the_validation() {
    let text = changed(SHORT, &[("materials.clay.densty", "3"), ("duration", "3 kg")]).unwrap();
    let error = parse(&text).unwrap_err().to_string();
    assert!(error.contains("unknown key `densty`") && error.contains("\"3 kg\" is a mass"), "{error}");
    let broken = changed("a = = 1", &[("b", "1")]).unwrap_err();
    assert!(broken.starts_with("scene.toml:1:5: not valid TOML"), "{broken}");
}

/// Checks that one method replaces those of all bodies; the lines of the scene keep their numbers and comments.
#[test]
fn one_method_takes_the_place_of_all_others() {
    let bodies = "[[bodies]] # first\nname = \"a\"\nmethod = \"old\" # own\n\n[[bodies]]\nname = \"b\"\n";
    let (text, named) = with_method(&format!("method = 'old'\n{bodies}"), "x", "new").unwrap();
    assert_eq!(named, ["a"]);
    let expected = format!("method = \"new\"\n{}", bodies.replace("old", "new"));
    assert_eq!(text, expected);
    let inline = "bodies = [{ name = \"a\", method = \"old\" }]\n[materials.m]\ndensity = 1\n";
    let (text, named) = with_method(inline, "x", "new").unwrap();
    let expected =
        "bodies = [{ name = \"a\", method = \"new\" }]\nmethod = \"new\"\n[materials.m]\ndensity = 1\n";
    assert_eq!((text.as_str(), named.len()), (expected, 1));
    assert_eq!(with_method("bodies = 3\n", "x", "new").unwrap().1, [""; 0]);
    assert!(with_method("a = [", "x", "new").unwrap_err().to_string().contains("not valid TOML"));
}
