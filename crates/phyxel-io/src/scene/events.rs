//! Conversion of sections to events of the engine, and checks that involve more than one key.

use super::build::{self, Built, choice, optional};
use super::problem::Problem;
use super::section::Section;
use phyxel::material::{Flow, MaterialChange, PROPERTIES, Part, Property, PropertyInfo};
use phyxel::world::{Action, Event, Hold};

/// Returns the properties that events may change.
fn changing() -> impl Iterator<Item = &'static PropertyInfo> {
    PROPERTIES.iter().filter(|info| info.may_change)
}

/// Returns the keys of an event that change a material, except `material` itself.
fn material_keys() -> impl Iterator<Item = &'static str> {
    let scalars = changing().filter(|info| info.part == Part::Matter).map(|info| info.key);
    scalars.chain(["plasticity", "elastic"])
}

/// Builds an event without problems.
pub(crate) fn event(section: &Section, materials: &[(String, Section)]) -> Built<Event> {
    let action = if section.has("gravity") {
        Action::Gravity(section.vector("gravity")?)
    } else if section.has("release") {
        Action::Release
    } else if section.has("drag") {
        drag(section.section("drag")?)?
    } else {
        let change = match section.text("material") {
            Ok(name) => {
                let found = materials.iter().find(|(other, _)| other == name);
                whole_change(name, &found.ok_or_else(|| section.gap("material"))?.1)?
            }
            Err(_) => change(section)?,
        };
        Action::Material { body: section.text("body")?.clone(), change }
    };
    Ok(Event { time: section.number("time")?, action })
}

fn drag(section: &Section) -> Built<Action> {
    let body = || section.text("body").cloned();
    let hold = if section.has("particle") {
        Hold::Particle { body: body()?, id: section.integer("particle")? }
    } else if section.has("at") {
        Hold::Nearest { body: body()?, point: section.vector("at")? }
    } else {
        Hold::Same
    };
    Ok(Action::Drag { hold, to: section.vector("to")? })
}

fn change(section: &Section) -> Built<MaterialChange> {
    let creep = section.section("plasticity").ok();
    let mut change = MaterialChange::default();
    for info in changing() {
        let home = match info.part {
            Part::Matter => Some(section),
            Part::Creep => creep,
        };
        if let Some(home) = home {
            change.values[info.property] = optional(home, info.key, Section::number)?;
        }
    }
    if let Some(creep) = creep {
        let measure = optional(creep, "yield_measure", |flow, key| choice(flow, key, &build::MEASURES))?;
        change.flow = measure.map(Flow::Creep);
    }
    if section.has("elastic") {
        change.flow = Some(Flow::None);
    }
    Ok(change)
}

/// Returns the change to all values of another material.
fn whole_change(name: &str, section: &Section) -> Built<MaterialChange> {
    let material = build::material(name, section)?;
    MaterialChange::to_material(&material.values).map_err(|key| section.gap(key))
}

/// Reports every problem of the events that involves more than one key; names are checked with the other references.
pub(crate) fn check(root: &Section, problems: &mut Vec<Problem>) {
    for event in root.sections_or_none("events") {
        check_time(root, event, problems);
        // otherwise a key that seems to be missing may be present with a problem of its own
        if event.is_whole {
            check_material(root, event, problems);
        }
        if let Some(drag) = event.section("drag").ok().filter(|drag| drag.is_whole) {
            check_drag(drag, problems);
        }
        for key in ["elastic", "release"] {
            if event.boolean(key) == Ok(false) {
                let problem = Problem::new(event.span_of(key), format!("`{key}` can only be true"));
                problems.push(problem.with_help("leave it out"));
            }
        }
    }
}

fn check_time(root: &Section, event: &Section, problems: &mut Vec<Problem>) {
    let (Ok(time), Ok(end)) = (event.number("time"), root.number("duration")) else { return };
    if time >= end {
        let message = format!("the event is at {time} s, but the scene ends at {end} s");
        problems.push(
            Problem::new(event.span_of("time"), message).with_help("move it forward, or raise `duration`"),
        );
    }
}

fn check_material(root: &Section, event: &Section, problems: &mut Vec<Problem>) {
    let own = || material_keys().filter(|key| event.has(key));
    if !event.has("body") {
        for key in own().chain(["material"].into_iter().filter(|key| event.has(key))) {
            let problem = Problem::new(event.span_of(key), format!("`{key}` needs the `body` that changes"));
            problems.push(problem.with_help("add `body = \"bar\"` to the event"));
        }
        return;
    }
    if let (true, Some(key)) = (event.has("material"), own().next()) {
        let message = format!("`{key}` and `material` exclude each other");
        problems.push(
            Problem::new(event.span_of(key), message)
                .with_help("give the other material this value, or leave `material` out"),
        );
    }
    if event.has("plasticity") && event.has("elastic") {
        let message = "`elastic` and `plasticity` exclude each other";
        problems.push(Problem::new(event.span_of("elastic"), message).with_help("keep one of the two"));
    }
    let flows = event.section("plasticity").ok();
    if let Some(flow) = flows.filter(|flow| flow.entries.is_empty()) {
        let problem = Problem::new(flow.span.clone(), "`plasticity` names nothing that changes");
        problems.push(problem.with_help("for example `plasticity = { yield_stress = \"2 kPa\" }`"));
    }
    if event.has("material") {
        check_other_material(root, event, problems);
    } else if own().next().is_none() {
        let problem = Problem::new(event.span_of("body"), "the event names nothing that changes");
        problems.push(problem.with_help("for example `youngs_modulus = \"20 kPa\"`, or `material`"));
    }
}

/// Checks that a body can change to another material.
fn check_other_material(root: &Section, event: &Section, problems: &mut Vec<Problem>) {
    let (Ok(materials), Ok(other)) = (root.named("materials"), event.text("material")) else { return };
    let find = |name: &String| materials.iter().find(|(known, _)| known == name).map(|found| &found.1);
    let body = root.sections_or_none("bodies").iter().find(|body| body.text("name") == event.text("body"));
    let Some(new) = find(other) else { return };
    let mut report = |message: String, help: &str| {
        problems.push(Problem::new(event.span_of("material"), message).with_help(help));
    };
    let Ok(new) = build::material(other, new) else { return };
    let now = body.and_then(|body| body.text("material").ok()).and_then(find);
    if let Some(now) = now.and_then(|now| build::material(other, now).ok()) {
        if now.values[Property::Density] != new.values[Property::Density] {
            let message = format!("material `{other}` has another density than the body");
            report(message, "mass cannot change while it runs: give both materials the same density");
        }
        if now.values.law != new.values.law {
            let message = format!("material `{other}` has another law than the body's");
            report(message, "the law cannot change while it runs: give both materials the same one");
        }
    }
    let scalars = new.values.scalars().filter(|(property, _)| property.info().may_change);
    for (property, _) in scalars.filter(|(_, value)| value.uniform().is_none()) {
        let message = format!("`{}` of material `{other}` varies over the body", property.info().key);
        report(message, "only the material of the start may vary; give a single value");
    }
}

fn check_drag(drag: &Section, problems: &mut Vec<Problem>) {
    let (particle, at) = (drag.has("particle"), drag.has("at"));
    if particle && at {
        let problem = Problem::new(drag.span_of("at"), "`at` and `particle` exclude each other");
        problems.push(problem.with_help("keep one of the two"));
    }
    if drag.has("body") && !particle && !at {
        let problem = Problem::new(drag.span_of("body"), "which particle of the body is dragged?");
        problems.push(problem.with_help("add `at = [x, y, z]`, or `particle` with its id"));
    }
    if !drag.has("body") && (particle || at) {
        let key = if particle { "particle" } else { "at" };
        let problem = Problem::new(drag.span_of(key), format!("`{key}` needs the `body` of the particle"));
        problems.push(problem.with_help("add `body = \"bar\"` beside it"));
    }
}
