//! Conversion of validated sections to the plain description.

use super::description::*;
use super::schema::SHAPE_KEYS;
use super::section::{Gap, Section, Value};
use super::{events, settings};
use phyxel::material::{Flow, Law, PROPERTIES, Part, Property, YieldMeasure};
use phyxel::math::Vec3;
use phyxel::surface::CarryOrder;

pub(crate) type Built<T> = Result<T, Gap>;

/// Builds the description of a scene without problems.
pub(crate) fn scene(root: &Section) -> Built<Scene> {
    let materials = root.named("materials")?;
    let bodies = root.sections("bodies")?;
    let method = optional(root, "method", |section, key| section.text(key).cloned())?;
    let grips = root.sections("grips")?.iter().enumerate();
    let obstacles = root.sections("obstacles")?.iter().enumerate();
    let output = root.section("output")?;
    Ok(Scene {
        format: root.integer("format")?,
        title: optional(root, "title", |section, key| section.text(key).cloned())?,
        duration: root.number("duration")?,
        frame_rate: root.number("frame_rate")?,
        gravity: root.vector("gravity")?,
        contact: root.boolean("contact")?,
        on_trouble: choice(root, "on_trouble", &[("warn", OnTrouble::Warn), ("stop", OnTrouble::Stop)])?,
        time_step: optional(root, "time_step", Section::number)?,
        methods: settings::methods(root.section("methods")?)?,
        materials: materials.iter().map(|(name, section)| material(name, section)).collect::<Built<_>>()?,
        bodies: bodies
            .iter()
            .map(|section| body(section, method.as_deref(), materials))
            .collect::<Built<_>>()?,
        grips: grips.map(|(index, section)| grip(section, index, bodies)).collect::<Built<_>>()?,
        obstacles: obstacles.map(|(index, section)| obstacle(section, index)).collect::<Built<_>>()?,
        forces: root.sections("forces")?.iter().map(force).collect::<Built<_>>()?,
        events: root
            .sections("events")?
            .iter()
            .map(|section| events::event(section, materials))
            .collect::<Built<_>>()?,
        output: Output {
            columns: output.texts("columns")?.clone(),
            checkpoint_every: output.integer("checkpoint_every")?,
        },
        method,
    })
}

/// Returns the name of a grip or obstacle: its own, or its kind and its number counted from 1.
pub(crate) fn name_or_number(section: &Section, index: usize) -> String {
    section.text("name").cloned().unwrap_or_else(|_| format!("{}_{}", section.table.name, index + 1))
}

/// Reads a value that may be absent.
pub(crate) fn optional<T>(
    section: &Section,
    key: &'static str,
    get: impl Fn(&Section, &'static str) -> Built<T>,
) -> Built<Option<T>> {
    if section.has(key) { get(section, key).map(Some) } else { Ok(None) }
}

/// Returns the meaning of the word given for a choice.
pub(crate) fn choice<T: Clone>(section: &Section, key: &'static str, meanings: &[(&str, T)]) -> Built<T> {
    let word = section.text(key)?;
    meanings
        .iter()
        .find(|(known, _)| known == word)
        .map(|found| found.1.clone())
        .ok_or_else(|| section.gap(key))
}

/// Reads a direction and returns it as a unit vector.
fn direction(section: &Section, key: &'static str) -> Built<Vec3> {
    section.vector(key)?.try_normalize().ok_or_else(|| section.gap(key))
}

/// Builds a material without problems.
pub(crate) fn material(name: &str, section: &Section) -> Built<Material> {
    let creep = if section.has("plasticity") { Some(section.section("plasticity")?) } else { None };
    let mut values = phyxel::material::Material {
        law: optional(section, "law", |section, key| {
            let laws: Vec<(&str, Law)> = Law::ALL.iter().map(|&(law, word, _)| (word, law)).collect();
            choice(section, key, &laws)
        })?,
        flow: match creep {
            Some(creep) => Flow::Creep(choice(creep, "yield_measure", &MEASURES)?),
            None => Flow::None,
        },
        ..Default::default()
    };
    for info in &PROPERTIES {
        let home = match info.part {
            Part::Matter => Some(section),
            Part::Creep => creep,
        };
        if let Some(home) = home {
            values[info.property] = varying(home, info.key)?;
        }
    }
    let based_on = optional(section, "based_on", |section, key| section.text(key).cloned())?;
    Ok(Material { name: name.to_owned(), based_on, values })
}

/// Returns the path of a property below its material.
pub(crate) fn property_path(property: Property) -> String {
    let info = property.info();
    match info.part {
        Part::Matter => info.key.to_owned(),
        Part::Creep => format!("plasticity.{}", info.key),
    }
}

/// Measures of stress with their scene words.
pub(crate) const MEASURES: [(&str, YieldMeasure); 2] =
    [("total", YieldMeasure::Total), ("deviatoric", YieldMeasure::Deviatoric)];

pub(crate) fn varying(section: &Section, key: &'static str) -> Built<Varying> {
    let Ok(table) = section.section(key) else {
        return section.number(key).map(Varying::Uniform);
    };
    if table.has("along") {
        let axis = direction(table, "along")?;
        return Ok(Varying::Along { axis, from: table.number("from")?, to: table.number("to")? });
    }
    Ok(Varying::Inside {
        region: placed_shape(table.section("inside")?)?,
        value: table.number("value")?,
        outside: table.number("outside")?,
    })
}

/// Builds a shape whose table contains its placement.
pub(crate) fn placed_shape(section: &Section) -> Built<PlacedShape> {
    Ok(PlacedShape { shape: shape(section)?, placement: placement(section)? })
}

fn placement(section: &Section) -> Built<Placement> {
    Ok(Placement {
        scale: section.number("scale")?,
        rotation: rotation(section)?,
        position: section.vector("position")?,
    })
}

fn rotation(section: &Section) -> Built<Rotation> {
    let Some(rotation) = optional(section, "rotation", |section, key| {
        let table = section.section(key)?;
        Ok(Rotation { axis: direction(table, "axis")?, angle: table.number("angle")? })
    })?
    else {
        return Ok(Rotation::NONE);
    };
    Ok(rotation)
}

/// Builds the shape of a shape table.
pub(crate) fn shape(section: &Section) -> Built<Shape> {
    let name = SHAPE_KEYS.iter().map(|key| key.name).find(|name| section.has(name));
    let name = name.ok_or_else(|| section.gap("shape"))?;
    let parts = |section: &Section| -> Built<Vec<PlacedShape>> {
        section.sections(name)?.iter().map(placed_shape).collect()
    };
    Ok(match name {
        "union" => Shape::Union(parts(section)?),
        "difference" => Shape::Difference(parts(section)?),
        "intersection" => Shape::Intersection(parts(section)?),
        _ => simple_shape(name, section.section(name)?)?,
    })
}

fn simple_shape(name: &'static str, table: &Section) -> Built<Shape> {
    let radius = || table.number("radius");
    let height = || table.number("height");
    Ok(match name {
        "box" if table.has("size") => Shape::Box { center: Vec3::ZERO, size: table.vector("size")? },
        "box" => {
            let (min, max) = (table.vector("min")?, table.vector("max")?);
            Shape::Box { center: 0.5 * min + 0.5 * max, size: max - min }
        }
        "sphere" => Shape::Sphere { radius: radius()? },
        "cylinder" => Shape::Cylinder { radius: radius()?, height: height()? },
        "capsule" => Shape::Capsule { radius: radius()?, height: height()? },
        "cone" => Shape::Cone { radius: radius()?, height: height()? },
        "torus" => Shape::Torus { radius: radius()?, tube_radius: table.number("tube_radius")? },
        "ellipsoid" => Shape::Ellipsoid { radii: table.vector("radii")? },
        "star" => Shape::Star {
            points: table.integer("points")?,
            radius: radius()?,
            inner_radius: table.number("inner_radius")?,
            height: height()?,
        },
        "half_space" => {
            Shape::HalfSpace { normal: direction(table, "normal")?, offset: table.number("offset")? }
        }
        "mesh" => Shape::Mesh { file: table.text("file")?.clone() },
        _ => return Err(table.gap(name)),
    })
}

/// Builds the shape of a body or obstacle: the shape has a table of its own, with the placement beside it.
fn shape_beside_placement(section: &Section) -> Built<PlacedShape> {
    Ok(PlacedShape { shape: shape(section.section("shape")?)?, placement: placement(section)? })
}

fn body(section: &Section, scene_method: Option<&str>, materials: &[(String, Section)]) -> Built<Body> {
    let material = section.text("material")?;
    let own_method = section.text("method").ok().map(String::as_str);
    let sampling = match section.text("sampling")?.as_str() {
        "lattice" => Sampling::Lattice,
        "jittered" => Sampling::Jittered,
        "relaxed" => Sampling::Relaxed,
        _ => return Err(section.gap("sampling")),
    };
    Ok(Body {
        name: section.text("name")?.clone(),
        material: materials
            .iter()
            .position(|(name, _)| name == material)
            .ok_or_else(|| section.gap("material"))?,
        method: own_method.or(scene_method).ok_or_else(|| section.gap("method"))?.to_owned(),
        shape: shape_beside_placement(section)?,
        resolution: resolution(section)?,
        sampling,
        seed: section.integer("seed")?,
        velocity: section.vector("velocity")?,
        angular_velocity: section.vector("angular_velocity")?,
        friction: section.number("friction")?,
        fuse: section.boolean("fuse")?,
        surface: optional(section, "surface", |body, key| surface(body.section(key)?))?,
    })
}

fn surface(section: &Section) -> Built<Surface> {
    let order: Option<u32> = optional(section, "order", Section::integer)?;
    let order = if order == Some(0) { CarryOrder::Zero } else { CarryOrder::First };
    let edge = optional(section, "edge", Section::number)?;
    let uvs = optional(section, "uvs", Section::boolean)?.unwrap_or(false);
    let mesh = Surface::Mesh { order, edge, uvs };
    let skin = Surface::Skin {
        radius: optional(section, "radius", Section::number)?,
        smoothing: optional(section, "smoothing", Section::integer)?,
        cell: optional(section, "cell", Section::number)?,
    };
    choice(section, "kind", &[("mesh", mesh), ("skin", skin)])
}

fn resolution(section: &Section) -> Built<Resolution> {
    if section.has("particles") {
        return section.integer("particles").map(Resolution::Particles);
    }
    let Ok(table) = section.section("spacing") else {
        return section.number("spacing").map(Resolution::Spacing);
    };
    let axis = direction(table, "along")?;
    Ok(Resolution::SpacingAlong { axis, from: table.number("from")?, to: table.number("to")? })
}

fn motion(section: &Section) -> Built<Motion> {
    let keyframe = |section: &Section| -> Built<Keyframe> {
        Ok(Keyframe {
            time: section.number("time")?,
            translation: section.vector("translation")?,
            rotation: rotation(section)?,
        })
    };
    let ease = choice(section, "ease", &[("linear", Ease::Linear), ("smooth", Ease::Smooth)])?;
    Ok(Motion { keyframes: section.sections("motion")?.iter().map(keyframe).collect::<Built<_>>()?, ease })
}

fn grip(section: &Section, index: usize, bodies: &[Section]) -> Built<Grip> {
    let body = section.text("body")?;
    let axes = section.text("axes")?;
    Ok(Grip {
        name: name_or_number(section, index),
        body: bodies
            .iter()
            .position(|other| other.text("name").is_ok_and(|name| name == body))
            .ok_or_else(|| section.gap("body"))?,
        select: placed_shape(section.section("select")?)?,
        axes: ['x', 'y', 'z'].map(|axis| axes.contains(axis)),
        motion: motion(section)?,
        release: optional(section, "release", Section::number)?,
    })
}

fn obstacle(section: &Section, index: usize) -> Built<Obstacle> {
    let friction = match section.entries.get("friction").map(|entry| &entry.value) {
        Some(Value::Number(coefficient)) => Friction::Coulomb(*coefficient),
        Some(Value::Text(_)) => Friction::Stick,
        _ => return Err(section.gap("friction")),
    };
    Ok(Obstacle {
        name: name_or_number(section, index),
        shape: shape_beside_placement(section)?,
        shell: optional(section, "shell", Section::number)?,
        inside: section.boolean("inside")?,
        friction,
        motion: motion(section)?,
    })
}

fn force(section: &Section) -> Built<Force> {
    let field = if section.has("acceleration") {
        ForceField::Acceleration(section.vector("acceleration")?)
    } else if section.has("drag") {
        ForceField::Drag(section.number("drag")?)
    } else {
        let linear = section.section("linear")?;
        ForceField::Linear { matrix: linear.matrix("matrix")?, center: linear.vector("center")? }
    };
    Ok(Force { field, from: section.number("from")?, until: optional(section, "until", Section::number)? })
}
