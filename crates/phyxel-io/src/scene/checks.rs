//! Checks of conditions between tables: names, references, order of motions, shapes of bodies, thresholds that depend
//! on each other.

use super::build::{self, name_or_number};
use super::problem::Problem;
use super::section::Section;
use super::spelling::{listed, nearest};
use super::{events, settings};
use phyxel::math::Vec3;
use phyxel::methods::built_methods;
use std::collections::BTreeMap;
use std::ops::Range;

/// Largest number of frames: far more than useful, so that a duration in the wrong unit does not fill the disk.
const MAX_FRAMES: f64 = 1e6;
/// Largest number of bodies, of materials, of grips, of obstacles and of forces.
const MAX_ENTRIES: usize = 10_000;
/// Largest number of shapes in one combined shape; each query of a combination asks all of them.
const MAX_PARTS: usize = 200;

/// Returns every problem that involves more than one table. `names_a_method` is true if the scene names a method, even
/// a wrong one; the section has valid values only and does not show it.
pub(crate) fn check(root: &Section, names_a_method: bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    check_numbers(root, &mut problems);
    if !problems.is_empty() {
        return problems;
    }
    check_frames(root, &mut problems);
    check_names(root, &mut problems);
    if !names_a_method {
        check_methods(root, &mut problems);
    }
    check_references(root, &mut problems);
    check_body_shapes(root, &mut problems);
    check_parts(root, &mut problems);
    check_surfaces(root, &mut problems);
    check_materials(root, &mut problems);
    settings::check(root, &mut problems);
    events::check(root, &mut problems);
    for grip in root.sections_or_none("grips") {
        check_motion(grip, &mut problems);
        check_start(grip, &mut problems);
    }
    for obstacle in root.sections_or_none("obstacles") {
        check_motion(obstacle, &mut problems);
    }
    problems
}

/// Reports lists that are too long for the other checks to look through.
fn check_numbers(root: &Section, problems: &mut Vec<Problem>) {
    let n_materials = root.named("materials").map_or(0, Vec::len);
    let lists = ["bodies", "grips", "obstacles", "forces"].map(|key| (key, root.sections_or_none(key).len()));
    for (key, n_entries) in lists.into_iter().chain([("materials", n_materials)]) {
        if n_entries > MAX_ENTRIES {
            let message = format!("{n_entries} {key} are more than {MAX_ENTRIES}");
            problems.push(Problem::new(root.span_of(key), message));
        }
    }
}

/// Reports keys of meshes that are given for skins, and keys of skins that are given for meshes.
fn check_surfaces(root: &Section, problems: &mut Vec<Problem>) {
    const KEYS: [(&str, &[&str]); 2] =
        [("mesh", &["order", "edge", "uvs"]), ("skin", &["radius", "smoothing", "cell"])];
    for body in root.sections_or_none("bodies") {
        let Ok(surface) = body.section("surface") else { continue };
        let Ok(kind) = surface.text("kind") else { continue };
        for (other, keys) in KEYS.iter().filter(|(other, _)| other != kind) {
            for key in keys.iter().filter(|key| surface.has(key)) {
                let message = format!("`{key}` is for surfaces of kind \"{other}\", this one is a {kind}");
                problems.push(Problem::new(surface.span_of(key), message));
            }
        }
        let shape = body.section("shape");
        if surface.has("edge") && shape.is_ok_and(|shape| shape.has("mesh")) {
            let message = "`edge` is for shapes; a mesh from a file keeps its edges".to_owned();
            problems.push(Problem::new(surface.span_of("edge"), message));
        }
    }
}

fn check_frames(root: &Section, problems: &mut Vec<Problem>) {
    let (Ok(duration), Ok(frame_rate)) = (root.number("duration"), root.number("frame_rate")) else { return };
    if duration * frame_rate > MAX_FRAMES {
        let message = format!("{:.0} frames are more than {MAX_FRAMES}", duration * frame_rate);
        problems.push(
            Problem::new(root.span_of("duration"), message)
                .with_help("lower `duration` or `frame_rate`; a bare number is in seconds"),
        );
    }
}

fn check_names(root: &Section, problems: &mut Vec<Problem>) {
    let mut names: BTreeMap<String, &'static str> = BTreeMap::new();
    for list in ["bodies", "grips", "obstacles"] {
        for (index, section) in root.sections_or_none(list).iter().enumerate() {
            // A body without a valid name has already been reported.
            if list == "bodies" && !section.has("name") {
                continue;
            }
            let name = name_or_number(section, index);
            let kind = section.table.name;
            match names.get(&name) {
                Some(other_kind) => problems.push(
                    Problem::new(
                        section.span_of("name"),
                        format!("the name `{name}` is taken by another {other_kind}"),
                    )
                    .with_help("bodies, grips and obstacles have names of their own"),
                ),
                None => drop(names.insert(name, kind)),
            }
        }
    }
}

fn check_methods(root: &Section, problems: &mut Vec<Problem>) {
    for body in root.sections_or_none("bodies").iter().filter(|body| !body.has("method")) {
        let called =
            body.text("name").map_or_else(|_| "the body".to_owned(), |name| format!("body `{name}`"));
        let problem = Problem::new(body.span.clone(), format!("{called} has no method"));
        problems.push(match built_methods().next() {
            Some(entry) => {
                let line = format!("method = \"{}\"", entry.key);
                problem.with_help(format!("add `{line}` at the top of the scene, or to the body"))
            }
            None => problem,
        });
    }
}

fn check_references(root: &Section, problems: &mut Vec<Problem>) {
    let materials: Vec<&str> = match root.named("materials") {
        Ok(materials) => materials.iter().map(|(name, _)| name.as_str()).collect(),
        Err(_) => Vec::new(),
    };
    for section in root.sections_or_none("bodies").iter().chain(root.sections_or_none("events")) {
        if let Ok(material) = section.text("material") {
            problems.extend(missing_referent("material", material, &materials, section.span_of("material")));
        }
    }
    let bodies = root.sections_or_none("bodies").iter();
    let bodies: Vec<&str> = bodies.filter_map(|body| body.text("name").ok()).map(String::as_str).collect();
    let events = root.sections_or_none("events");
    let drags = events.iter().filter_map(|event| event.section("drag").ok());
    for section in root.sections_or_none("grips").iter().chain(events).chain(drags) {
        if let Ok(body) = section.text("body") {
            problems.extend(missing_referent("body", body, &bodies, section.span_of("body")));
        }
    }
}

fn missing_referent(kind: &str, name: &str, known: &[&str], span: Range<usize>) -> Option<Problem> {
    if known.contains(&name) {
        return None;
    }
    let problem = Problem::new(span, format!("there is no {kind} `{name}`"));
    Some(match nearest(name, known.iter().copied()) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        // The existing ones may lack a name because of another problem.
        None if known.is_empty() => problem,
        None => problem.with_help(format!("there is {}", listed(known.iter().copied(), "and"))),
    })
}

fn check_body_shapes(root: &Section, problems: &mut Vec<Problem>) {
    for body in root.sections_or_none("bodies") {
        let Ok(shape) = body.section("shape").and_then(build::shape) else { continue };
        if !shape.is_bounded() {
            problems.push(
                Problem::new(body.span_of("shape"), "the shape of a body must be finite")
                    .with_help("a half space is infinite; intersect it with a finite shape"),
            );
        }
    }
}

/// Reports combined shapes of too many parts, of bodies, obstacles, grips and materials that vary.
fn check_parts(root: &Section, problems: &mut Vec<Problem>) {
    let sections = |list| root.sections_or_none(list).iter();
    let beside = sections("bodies").chain(sections("obstacles")).map(|section| (section, "shape"));
    let materials = root.named("materials").into_iter().flatten().map(|(_, material)| material);
    let plasticity = materials.clone().filter_map(|material| material.section("plasticity").ok());
    let varying = materials.chain(plasticity).flat_map(|section| {
        section
            .entries
            .keys()
            .map(move |key| (section, *key))
            .filter(|(section, key)| section.section(key).is_ok_and(|value| value.has("inside")))
    });
    for (section, key) in beside.chain(sections("grips").map(|grip| (grip, "select"))).chain(varying) {
        let Ok(shape) = section.section(key) else { continue };
        let n_parts = shape.n_inner();
        if n_parts > MAX_PARTS {
            let message =
                format!("a shape of {n_parts} parts is too much work, at most {MAX_PARTS} are allowed");
            problems.push(
                Problem::new(section.span_of(key), message)
                    .with_help("divide it into several bodies or obstacles, or make it a mesh"),
            );
        }
    }
}

/// Reports a yield stress that starts at 0 and can only fall.
fn check_materials(root: &Section, problems: &mut Vec<Problem>) {
    for (_, material) in root.named("materials").into_iter().flatten() {
        let Ok(plasticity) = material.section("plasticity") else { continue };
        let largest = |key| build::varying(plasticity, key).map(|value| value.range().1);
        let (Ok(yield_stress), Ok(hardening)) = (largest("yield_stress"), largest("hardening")) else {
            continue;
        };
        if yield_stress == 0.0 && hardening < 0.0 {
            let message = "`hardening` lowers a `yield_stress` that is 0 everywhere";
            problems.push(
                Problem::new(plasticity.span_of("hardening"), message)
                    .with_help("raise `yield_stress`, or leave `hardening` at 0 or more"),
            );
        }
    }
}

fn check_motion(section: &Section, problems: &mut Vec<Problem>) {
    let mut last: Option<f64> = None;
    for keyframe in section.sections_or_none("motion") {
        let Ok(time) = keyframe.number("time") else { continue };
        if let Some(last) = last.filter(|last| time <= *last) {
            let message = format!("keys of a motion must be in order of time: {time} s comes after {last} s");
            problems.push(Problem::new(keyframe.span_of("time"), message));
        }
        last = Some(time);
    }
}

/// Reports a first key of a grip's motion at time 0 with a displacement: a grip takes its particles where they are.
fn check_start(grip: &Section, problems: &mut Vec<Problem>) {
    let Some(first) = grip.sections_or_none("motion").first() else { return };
    if first.number("time").is_ok_and(|time| time > 0.0) {
        return;
    }
    let is_moved = first.vector("translation").is_ok_and(|translation| translation != Vec3::ZERO);
    let is_turned = first.section("rotation").is_ok_and(|turn| turn.number("angle").is_ok_and(|a| a != 0.0));
    if is_moved || is_turned {
        let moved_key = if is_moved { "translation" } else { "rotation" };
        problems.push(
            Problem::new(
                first.span_of(moved_key),
                "the first key of a grip's motion must be where the particles are",
            )
            .with_help("begin with `{ time = 0 }`"),
        );
    }
}
