//! Tests of events: their content, and the messages about bad ones.

use crate::bad_scenes::assert_bad;
use crate::{SHORT, parse};
use phyxel::material::{Flow, MaterialChange, Property, YieldMeasure};
use phyxel::math::vec3;
use phyxel::world::{Action, Event, Hold};
use phyxel_io::scene::with_events;

/// Returns the short scene with an event. The scene has 11 lines; the event starts in line 12, with `time` in line 13.
fn with_event(event: &str) -> String {
    format!("{SHORT}[[events]]\ntime = \"0.5 s\"\n{event}\n")
}

fn action(event: &str) -> Action {
    let file = parse(&with_event(event)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file.scene.events[0].time, 0.5);
    file.scene.events[0].action.clone()
}

fn material(change: MaterialChange) -> Action {
    Action::Material { body: "bar".into(), change }
}

#[test]
fn every_kind_of_event_is_read_in_si() {
    assert_eq!(action("gravity = [0, \"-1 cm/s2\", 0]"), Action::Gravity(vec3(0.0, -0.01, 0.0)));
    assert_eq!(action("release = true"), Action::Release);
    let change = MaterialChange::default()
        .with(Property::YoungsModulus, 2e4)
        .with(Property::PoissonRatio, 0.4)
        .with(Property::Viscosity, 3.0);
    let text = "body = \"bar\"\nyoungs_modulus = \"20 kPa\"\npoisson_ratio = \"40 %\"\nviscosity = 3";
    assert_eq!(action(text), material(change));
    let flow = MaterialChange::default().with(Property::YieldStress, 2e3);
    let flow = flow.flowing(Flow::Creep(YieldMeasure::Total));
    let text = "body = \"bar\"\nplasticity = { yield_stress = \"2 kPa\", yield_measure = \"total\" }";
    assert_eq!(action(text), material(flow));
    let off = MaterialChange::default().flowing(Flow::None);
    assert_eq!(action("body = \"bar\"\nelastic = true"), material(off));
    let to = vec3(0.0, 1.0, 0.5);
    let drag = |hold| Action::Drag { hold, to };
    let body = || "bar".to_owned();
    assert_eq!(action("drag = { to = [0, 1, \"50 cm\"] }"), drag(Hold::Same));
    assert_eq!(
        action("drag = { body = \"bar\", particle = 12, to = [0, 1, 0.5] }"),
        drag(Hold::Particle { body: body(), id: 12 })
    );
    assert_eq!(
        action("drag = { body = \"bar\", at = [0, 1, 0], to = [0, 1, 0.5] }"),
        drag(Hold::Nearest { body: body(), point: vec3(0.0, 1.0, 0.0) })
    );
}

/// Checks a change to another material, with all values of its preset; law and density stay those of the body.
#[test]
fn another_material_is_all_its_values() {
    let event = "body = \"bar\"\nmaterial = \"wax\"\n[materials.wax]\nbased_on = \"modelling clay\"\npoisson_ratio = 0.2";
    let Action::Material { change, .. } = action(event) else { panic!("a material") };
    let moduli = [Property::YoungsModulus, Property::PoissonRatio].map(|p| change.values[p]);
    assert_eq!(moduli, [Some(2e6), Some(0.2)]);
    assert_eq!(change.values[Property::YieldStress], Some(120e3));
    assert_eq!(change.flow, Some(Flow::Creep(YieldMeasure::Deviatoric)));
    let elastic = "body = \"bar\"\nmaterial = \"gum\"\n[materials.gum]\ndensity = 1800\nyoungs_modulus = 3\npoisson_ratio = 0";
    let Action::Material { change, .. } = action(elastic) else { panic!("a material") };
    assert_eq!(change.flow, Some(Flow::None));
    assert_eq!(change.values[Property::Viscosity], Some(0.0));
}

#[test]
fn every_mistake_has_its_place_and_its_advice() {
    let bad = |event: &str, line: usize, column: usize, message: &str, help: &str| {
        assert_bad(&with_event(event), line, column, message, help);
    };
    bad(
        "",
        12,
        1,
        "[[events]] needs `gravity`, `body`, `drag` or `release`",
        "for example `gravity = [0, 1, 0]`",
    );
    bad(
        "body = \"bar\"",
        14,
        8,
        "the event names nothing that changes",
        "for example `youngs_modulus = \"20 kPa\"`, or `material`",
    );
    bad("body = \"baar\"\nviscosity = 1", 14, 8, "there is no body `baar`", "did you mean `bar`?");
    bad(
        "gravity = [0, 0, 0]\nviscosity = 1",
        15,
        13,
        "`viscosity` needs the `body` that changes",
        "add `body = \"bar\"` to the event",
    );
    bad(
        "body = \"bar\"\nyoungs_modulus = 0",
        15,
        18,
        "`youngs_modulus` must be greater than 0 Pa, found 0 Pa",
        "",
    );
    bad(
        "gravity = [0, 0, 0]\nrelease = true",
        15,
        1,
        "`release` and `gravity` exclude each other",
        "keep one of the two",
    );
    bad("release = false", 14, 11, "`release` can only be true", "leave it out");
    bad("body = \"bar\"\nelastic = false", 15, 11, "`elastic` can only be true", "leave it out");
    bad(
        "body = \"bar\"\nplasticity = {}",
        15,
        14,
        "`plasticity` names nothing that changes",
        "for example `plasticity = { yield_stress = \"2 kPa\" }`",
    );
    bad(
        "drag = { body = \"bar\", to = [0, 0, 0] }",
        14,
        17,
        "which particle of the body is dragged?",
        "add `at = [x, y, z]`, or `particle` with its id",
    );
    bad(
        "drag = { particle = 3, to = [0, 0, 0] }",
        14,
        21,
        "`particle` needs the `body` of the particle",
        "add `body = \"bar\"` beside it",
    );
    bad(
        "drag = { body = \"bar\", particle = 3, at = [0, 0, 0], to = [0, 0, 0] }",
        14,
        43,
        "`at` and `particle` exclude each other",
        "keep one of the two",
    );
    let late = with_event("release = true").replace("0.5 s", "1 s");
    let help = "move it forward, or raise `duration`";
    assert_bad(&late, 13, 8, "the event is at 1 s, but the scene ends at 1 s", help);
    // a value with a problem is not reported as missing
    bad(
        "drag = { body = \"bar\", at = [0, 0], to = [0, 0, 0] }",
        14,
        29,
        "`at` must have 3 components, found 2",
        "for example `[1, 0.5, \"25 cm\"]`",
    );
}

#[test]
fn a_material_that_the_body_cannot_become_is_refused() {
    let other = |material: &str| {
        with_event(&format!("body = \"bar\"\nmaterial = \"other\"\n[materials.other]\n{material}"))
    };
    let density = other("density = 1000\nyoungs_modulus = 1e5\npoisson_ratio = 0.3");
    assert_bad(
        &density,
        15,
        12,
        "material `other` has another density than the body",
        "mass cannot change while it runs: give both materials the same density",
    );
    let law = other("density = 1800\nyoungs_modulus = 1e5\npoisson_ratio = 0.3\nlaw = \"corotated\"");
    assert_bad(
        &law,
        15,
        12,
        "material `other` has another law than the body's",
        "the law cannot change while it runs: give both materials the same one",
    );
    let varying = other(
        "density = 1800\nyoungs_modulus = { along = [1, 0, 0], from = 1, to = 2 }\npoisson_ratio = 0.3",
    );
    assert_bad(
        &varying,
        15,
        12,
        "`youngs_modulus` of material `other` varies over the body",
        "only the material of the start may vary; give a single value",
    );
    let both = other("density = 1800\nyoungs_modulus = 1e5\npoisson_ratio = 0.3")
        .replace("material = \"other\"", "material = \"other\"\nviscosity = 1");
    assert_bad(
        &both,
        16,
        13,
        "`viscosity` and `material` exclude each other",
        "give the other material this value, or leave `material` out",
    );
}

/// Checks that all problems of all events are reported at once.
#[test]
fn all_problems_are_shown_at_once() {
    let text = format!(
        "{SHORT}[[events]]\ntime = 3\nbody = \"nobody\"\nyoungs_modulus = \"2 m\"\n[[events]]\ntime = 0.1\ngravity = 3\n"
    );
    assert_eq!(parse(&text).unwrap_err().problems.len(), 4);
}

/// Checks that events are read back bitwise: numbers without a finite decimal fraction, and very small and large ones.
#[test]
fn events_are_written_so_that_they_read_back_the_same() {
    let odd = [0.1 + 0.2, 1.0 / 3.0, 5e-324, 999_999_999_999_999.9, -0.0, 1e-7, 123_456_789.123_456_79];
    let mut events: Vec<Event> = Vec::new();
    for (k, &x) in odd.iter().enumerate() {
        let time = 0.999 / (k + 1) as f64;
        let mut add = |action| events.push(Event { time, action });
        add(Action::Gravity(vec3(x, -x, 1.0 / x.max(1e-15))));
        let mut change = MaterialChange::default()
            .with(Property::YoungsModulus, x.abs().max(1e-15))
            .with(Property::Viscosity, x.abs());
        if k % 2 == 0 {
            change = change.with(Property::PoissonRatio, 0.1 + 0.2).with(Property::YieldStress, x.abs());
            change = change.with(Property::FlowRate, 0.1 * k as f64).with(Property::Hardening, 0.3);
            let measures = [None, Some(YieldMeasure::Total), Some(YieldMeasure::Deviatoric)];
            change.flow = measures[k % 3].map(Flow::Creep);
        } else {
            change = change.flowing(Flow::None);
        }
        add(material(change));
        add(Action::Drag {
            hold: Hold::Nearest { body: "bar".into(), point: vec3(x, 0.7, x) },
            to: vec3(x, x, x),
        });
        add(Action::Drag { hold: Hold::Particle { body: "bar".into(), id: u32::MAX }, to: vec3(x, x, x) });
        add(Action::Drag { hold: Hold::Same, to: vec3(x, 0.1, x) });
        add(Action::Release);
    }
    let own = "duration = 1         # short\n# a word\n[[events]]\ntime = 0.2\nrelease = true\n";
    let text = SHORT.replace("duration = 1\n", own);
    let written = with_events(&text, "scene.toml", &events, 1.0).unwrap();
    let file = parse(&written).unwrap_or_else(|error| panic!("{error}"));
    let bits = |events: &[Event]| format!("{events:?}");
    assert_eq!(bits(&file.scene.events), bits(&events), "{written}");
    // everything else is unchanged
    assert!(written.starts_with("method = \"first\"\nduration = 1.0         # short\n"), "{written}");
    assert!(written.contains("\nshape.sphere = { radius = 1 }\nspacing = 0.1\n"), "{written}");
    assert_eq!(with_events(&written, "scene.toml", &events, 1.0).unwrap(), written);

    let end = 1.0 / 3.0;
    let shorter = parse(&with_events(&text, "scene.toml", &events, end).unwrap()).unwrap().scene;
    assert_eq!(shorter.duration, end);
    assert!(shorter.events.iter().all(|event| event.time < end) && !shorter.events.is_empty());
    let start = parse(&with_events(&text, "scene.toml", &events, 0.0).unwrap()).unwrap().scene;
    assert_eq!((start.duration, start.events.len()), (1.0, events.len()), "nothing has run yet");
}
