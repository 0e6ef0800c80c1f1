//! Tests of laws, plasticity and presets of materials.

use crate::bad_scenes::{assert_bad, only, with_line};
use crate::{SHORT, parse};
use phyxel::material::{Flow, Law, PRESETS, Property, YieldMeasure};
use phyxel::math::Vec3;
use phyxel_io::scene::apply_overrides;
use phyxel_io::scene::description::{Material, PlacedShape, Varying};

/// Returns the short scene with more lines in its material, from line 7 on.
fn with_keys(keys: &str) -> String {
    with_line(6, &format!("poisson_ratio = 0.3\n{keys}"))
}

/// Returns the short scene with these lines as its material, from line 4 on.
fn with_material(keys: &str) -> String {
    SHORT.replace("density = 1800\nyoungs_modulus = 1e5\npoisson_ratio = 0.3", keys)
}

fn material(text: &str) -> Material {
    let mut file = parse(text).unwrap_or_else(|error| panic!("{error}"));
    file.scene.materials.remove(0)
}

/// Returns the material of the short scene with these keys, which must make it flow.
fn plasticity(keys: &str) -> phyxel::material::Material<PlacedShape> {
    let values = material(&with_keys(keys)).values;
    assert_ne!(values.flow, Flow::None);
    values
}

#[test]
fn without_the_keys_a_material_is_elastic_with_the_methods_law() {
    let clay = material(SHORT);
    assert_eq!((clay.values.law, clay.values.flow, clay.based_on), (None, Flow::None, None));
}

#[test]
fn every_law_can_be_named() {
    for &(law, word, _) in Law::ALL {
        assert_eq!(material(&with_keys(&format!("law = \"{word}\""))).values.law, Some(law));
    }
    let (line, column, message, help) = only(&with_keys("law = \"neohookean\""));
    assert_eq!((line, column), (7, 7));
    assert!(message.starts_with("`law` must be \"corotated\" or "), "{message}");
    assert_eq!(help, "did you mean \"neo_hookean\"?");
}

#[test]
fn plasticity_has_its_defaults_and_may_vary() {
    let plain = plasticity("plasticity = { yield_stress = \"2 kPa\", flow_rate = 40 }");
    let uniform = Varying::Uniform;
    let found: Vec<&Varying> = plain.scalars().skip(4).map(|(_, value)| value).collect();
    assert_eq!(found, [2e3, 40.0, 0.0, 0.0].map(uniform).iter().collect::<Vec<_>>());
    assert_eq!(plain.flow, Flow::Creep(YieldMeasure::Deviatoric));
    let varying = plasticity(
        "[materials.clay.plasticity]\nyield_stress = { inside.sphere.radius = 1, value = 1, outside = 2 }\n\
         flow_rate = { along = [0, 2, 0], from = 40, to = 0 }\nhardening = { along = [1, 0, 0], from = -1, to = 0.5 }\n\
         thickening_stress = { along = [0, 0, 1], from = \"1 kPa\", to = \"2 kPa\" }\nyield_measure = \"total\"",
    );
    assert!(matches!(varying[Property::YieldStress], Varying::Inside { value: 1.0, outside: 2.0, .. }));
    assert_eq!(varying[Property::FlowRate], Varying::Along { axis: Vec3::Y, from: 40.0, to: 0.0 });
    assert_eq!(varying[Property::Hardening], Varying::Along { axis: Vec3::X, from: -1.0, to: 0.5 });
    assert_eq!(varying[Property::ThickeningStress], Varying::Along { axis: Vec3::Z, from: 1e3, to: 2e3 });
    assert_eq!(varying.flow, Flow::Creep(YieldMeasure::Total));
}

#[test]
fn all_mistakes_of_a_plasticity_are_found_at_once() {
    let keys = "plasticity = { yield_stress = -1, flow_rate = \"3 Pa\", hardening = -1.5, thickening_stress = -2, \
                yield_measure = \"mises\", strain_rate = 1 }";
    let error = parse(&with_keys(keys)).unwrap_err();
    let messages: Vec<&str> = error.problems.iter().map(|problem| problem.message.as_str()).collect();
    let expected = [
        "`yield_stress` must be at least 0 Pa, found -1 Pa",
        "`flow_rate`: \"3 Pa\" is a pressure, expected a rate",
        "`hardening` must be at least -1, found -1.5",
        "`thickening_stress` must be at least 0 Pa, found -2 Pa",
        "`yield_measure` must be \"deviatoric\" or \"total\", found \"mises\"",
        "unknown key `strain_rate`",
    ];
    assert_eq!(messages, expected, "{error}");
    assert!(error.problems.iter().all(|problem| error.line_column(problem.span.start).0 == 7));
    let rate = with_keys("plasticity = { yield_stress = 1, flow_rate = -3 }");
    assert_bad(&rate, 7, 46, "`flow_rate` must be at least 0 1/s, found -3 1/s", "");
    let missing = with_keys("plasticity = { yield_stress = 1 }");
    let message = "missing key `flow_rate` in `plasticity`";
    assert_bad(&missing, 7, 14, message, "for example `flow_rate = \"30 1/s\"`");
    let word = with_keys("plasticity = false");
    let message = "`plasticity` must be a table, found a boolean";
    assert_bad(&word, 7, 14, message, "for example `plasticity = { ... }`");
}

#[test]
fn a_blend_with_one_end_misses_the_other() {
    let blend = |table: &str| with_keys(&format!("plasticity = {{ yield_stress = 1, flow_rate = {table} }}"));
    let message = "missing key `to` in `flow_rate`";
    assert_bad(&blend("{ along = [1, 0, 0], from = 40 }"), 7, 46, message, "for example `to = \"30 1/s\"`");
    let message = "missing key `outside` in `flow_rate`";
    let region = blend("{ inside.sphere.radius = 1, value = 40 }");
    assert_bad(&region, 7, 46, message, "for example `outside = \"30 1/s\"`");
    let error = parse(&blend("{ from = 40 }")).unwrap_err();
    let messages: Vec<&str> = error.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["missing key `along` in `flow_rate`", "missing key `to` in `flow_rate`"]);
    let message = "`flow_rate` needs `along` or `inside`";
    assert_bad(&blend("{}"), 7, 46, message, "for example `along = [0, 1, 0]`");
}

#[test]
fn softening_needs_something_to_soften() {
    let text = with_keys("plasticity = { yield_stress = 0, flow_rate = 1, hardening = -0.1 }");
    let help = "raise `yield_stress`, or leave `hardening` at 0 or more";
    assert_bad(&text, 7, 61, "`hardening` lowers a `yield_stress` that is 0 everywhere", help);
    let blend = "{ along = [1, 0, 0], from = 0, to = 5 }";
    for (yield_stress, hardening) in [("0", "0"), ("1", "-0.1"), (blend, "-0.1"), ("0", blend)] {
        let keys = format!(
            "plasticity = {{ yield_stress = {yield_stress}, flow_rate = 1, hardening = {hardening} }}"
        );
        plasticity(&keys);
    }
}

#[test]
fn every_preset_gives_all_its_numbers() {
    for preset in PRESETS {
        let found = material(&with_material(&format!("based_on = \"{}\"", preset.name)));
        assert_eq!((found.based_on.as_deref(), found.values.law), (Some(preset.name), None));
        for (property, value) in found.values.scalars() {
            let expected = preset.get(property).or(property.info().default);
            assert_eq!(value.uniform(), expected, "{}: {}", preset.name, property.info().key);
        }
        let expected = if preset.flows() { Flow::Creep(YieldMeasure::Deviatoric) } else { Flow::None };
        assert_eq!(found.values.flow, expected, "{}", preset.name);
    }
}

#[test]
fn a_scene_overrides_single_keys_of_a_preset() {
    let text = with_material(
        "based_on = \"modelling clay\"\ndensity = { along = [1, 0, 0], from = 1700, to = 1900 }\nviscosity = 0\n\
         law = \"neo_hookean\"\nplasticity = { flow_rate = 40, yield_measure = \"total\" }",
    );
    let clay = material(&text).values;
    assert_eq!(clay[Property::Density], Varying::Along { axis: Vec3::X, from: 1700.0, to: 1900.0 });
    let uniform = |properties: [Property; 2]| properties.map(|p| clay[p].uniform());
    assert_eq!(uniform([Property::YoungsModulus, Property::Viscosity]), [Some(2e6), Some(0.0)]);
    assert_eq!(clay.law, Some(Law::NeoHookean));
    assert_eq!(uniform([Property::YieldStress, Property::FlowRate]), [Some(120e3), Some(40.0)]);
    assert_eq!(clay[Property::Hardening].uniform(), Some(0.02));
    assert_eq!(clay.flow, Flow::Creep(YieldMeasure::Total));

    let short = with_material("based_on = \"modelling clay\"");
    let changes = [("materials.clay.plasticity.flow_rate".to_owned(), "7".to_owned())];
    let changed = apply_overrides(&short, "scene.toml", &changes).unwrap();
    assert_eq!(material(&changed).values[Property::FlowRate], Varying::Uniform(7.0));

    let soft = with_material("based_on = \"wax\"\nplasticity = { yield_stress = 0, hardening = -0.1 }");
    let (line, _, message, _) = only(&soft);
    assert_eq!((line, message.as_str()), (5, "`hardening` lowers a `yield_stress` that is 0 everywhere"));
}

#[test]
fn an_elastic_preset_has_no_plasticity_to_complete() {
    let rubber = with_material("based_on = \"rubber\"\nplasticity = { flow_rate = 40 }");
    let message = "missing key `yield_stress` in `plasticity`";
    assert_bad(&rubber, 5, 14, message, "for example `yield_stress = \"0.5 MPa\"`");
}

#[test]
fn unknown_presets_are_answered_with_those_that_there_are() {
    let all = "there is `modelling clay`, `bread dough`, `chewing gum`, `rubber`, `wax` and `lead`";
    let near = with_material("based_on = \"modeling clay\"");
    let help = format!("did you mean `modelling clay`? {all}");
    assert_bad(&near, 4, 12, "there is no preset `modeling clay`", &help);
    // keys that the preset would have provided are not reported as missing
    let far = with_material("based_on = \"honey\"\nplasticity = { flow_rate = 1 }");
    assert_bad(&far, 4, 12, "there is no preset `honey`", all);
    let (_, _, message, help) = only(&with_material("based_on = 3"));
    assert_eq!(message, "`based_on` must be a string, found an integer");
    assert_eq!(help, "for example `based_on = \"modelling clay\"`");
    let misspelt = with_material("base_on = \"wax\"");
    assert_bad(&misspelt, 4, 1, "unknown key `base_on`", "did you mean `based_on`?");
}
