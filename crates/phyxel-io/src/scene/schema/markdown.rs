//! Scene reference of the documentation, generated from the schema tables.

use super::{Kind, Presence, Quantity, Referent, Table, VectorRule, all_tables};
use crate::scene::units::Dimension;
use std::fmt::Write;

const HEAD: &str = "\
# Scene reference

This page is written from the tables in the code; do not edit it by hand. `PHYXEL_BLESS=1 cargo test -p phyxel-io` renews it.

A scene is a TOML file. Lengths are in metres, y is up, and a bare number is in SI. A string may carry a unit: `\"20 cm\"`,
`\"0.5 MPa\"`, `\"1800 kg/m3\"`, `\"30 deg\"`, `\"2 ms\"`, `\"50 Pa.s\"`. Units can be multiplied (`Pa.s`, `Pa·s`, `Pa*s`), divided (`m/s`)
and raised to a power (`m/s2`, `m/s^2`, `m/s²`). An unknown key is an error, and all errors of a file are shown at once.

Symbols: m (km, dm, cm, mm, um, nm), in, ft; s (ms, us, ns), min, h; g (kg, mg, ug), t; Pa (mPa, hPa, kPa, MPa, GPa), bar;
N, J (m, u, k, M); rad (mrad), deg, °; rpm; Hz (kHz, MHz); %.

Limits: a number is at most 1e15 in SI, and at least 1e-15 where it must be greater than 0; a name has at most 100 bytes; a
shape has at most 200 parts; there are at most 10,000 bodies, materials, grips, obstacles and forces each; a scene file has at
most 2 MB, a mesh file 2 GB, and both are regular files. The data of a glTF file is in it or in its folder.
";

/// Returns the text of `docs/scene-reference.md`.
pub fn reference_markdown() -> String {
    let mut text = HEAD.to_owned();
    for table in all_tables() {
        write_table(&mut text, table);
    }
    text
}

fn write_table(text: &mut String, table: &'static Table) {
    let heading = if table.heading.starts_with("The ") {
        table.heading.to_owned()
    } else {
        format!("`{}`", table.heading)
    };
    // Writing to a string cannot fail.
    let _ = write!(text, "\n## {heading}\n<a id=\"{}\"></a>\n\n{}\n", table.name, table.doc);
    for rule in table.rules {
        let _ = writeln!(text, "{}", rule.describe());
    }
    text.push_str("\n| key | value | default | meaning |\n|---|---|---|---|\n");
    for key in table.keys() {
        let default = match key.presence {
            Presence::Required => "required".to_owned(),
            Presence::Default(value) => format!("`{value}`"),
            Presence::Optional(meaning) => meaning.to_owned(),
            Presence::ByRule => String::new(),
            Presence::UnlessPreset => "required without a preset".to_owned(),
        };
        let mut doc = key.doc.to_owned();
        if let Kind::Choice(choices) = key.kind {
            let meanings = choices.iter().map(|(word, meaning)| format!("`\"{word}\"`: {meaning}"));
            let _ = write!(doc, " {}.", meanings.collect::<Vec<_>>().join("; "));
        }
        let _ = writeln!(text, "| `{}` | {} | {default} | {doc} |", key.name, value_text(&key.kind));
    }
}

/// Returns the table cell that describes the values of a key.
fn value_text(kind: &Kind) -> String {
    let link = |table: &Table| format!("[{}](#{})", table.name.replace('_', " "), table.name);
    match &kind.resolved() {
        Kind::Quantity(quantity) => quantity_text(quantity),
        Kind::QuantityOrWord(quantity, word) => format!("{}, or `\"{word}\"`", quantity_text(quantity)),
        Kind::QuantityOrTable(quantity, table) => format!("{}, or {}", quantity_text(quantity), link(table)),
        Kind::Integer(min, max) if min == max => format!("{min}"),
        Kind::Integer(min, i64::MAX) => format!("whole number, at least {min}"),
        Kind::Integer(min, max) => format!("whole number from {min} to {max}"),
        Kind::Boolean => "true or false".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Name => "name".to_owned(),
        Kind::Choice(choices) => {
            choices.iter().map(|(word, _)| format!("`\"{word}\"`")).collect::<Vec<_>>().join(" or ")
        }
        Kind::Columns => "array of names".to_owned(),
        Kind::Axes => "some of `x`, `y`, `z` in one string".to_owned(),
        Kind::Method => "name of a method".to_owned(),
        Kind::Preset => "name of a preset".to_owned(),
        Kind::Reference(Referent::Material) => "name of a material".to_owned(),
        Kind::Reference(Referent::Body) => "name of a body".to_owned(),
        Kind::Vector(dimension, rule) => {
            let unit = if *dimension == Dimension::NONE {
                String::new()
            } else {
                format!(" [{}]", dimension.unit())
            };
            let rule = match rule {
                VectorRule::Any => "",
                VectorRule::Positive => ", each greater than 0",
                VectorRule::Direction => ", not all 0",
            };
            format!("three numbers{unit}{rule}")
        }
        Kind::Matrix(dimension) => format!("three rows of three numbers [{}]", dimension.unit()),
        Kind::Derived(_) => String::new(),
        Kind::Table(table) => link(table),
        Kind::Tables(table, 0) => format!("array of {}", link(table)),
        Kind::Tables(table, min) => format!("array of {}, at least {min}", link(table)),
        Kind::NamedTables(table, _) => format!("tables of {}", link(table)),
    }
}

fn quantity_text(quantity: &Quantity) -> String {
    let kind = quantity.dimension.describe();
    let kind = kind.split_once(' ').map_or(kind.as_str(), |(_, noun)| noun).to_owned();
    let unit = quantity.dimension.unit();
    let unit = if unit.is_empty() { unit } else { format!(" [{unit}]") };
    match (quantity.range.min, quantity.range.max) {
        (None, None) => format!("{kind}{unit}"),
        _ => format!("{kind}{unit}, {}", quantity.range.describe()),
    }
}
