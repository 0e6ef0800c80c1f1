//! Material presets in scenes: the keys that `based_on` provides, and the documentation page of presets.

use super::problem::Problem;
use super::schema::{Kind, Table};
use super::spelling::{listed, nearest};
use phyxel::material::{PRESETS, PROPERTIES, Part, Preset, PropertyInfo};
use std::fmt::Write;
use std::ops::Range;
use toml_edit::{InlineTable, TableLike, Value};

/// Source of a table's absent keys, before the schema's defaults.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    /// There is no source.
    Nothing,
    /// The preset has an unknown name, so its keys are unknown, too.
    Unknown,
    /// Values of a preset.
    Table(InlineTable),
}

impl Base {
    /// Returns the base that a table names, if it can name one and does.
    pub(crate) fn named(table: &Table, source: &dyn TableLike) -> Option<Self> {
        let key = table.keys().find(|key| matches!(key.kind, Kind::Preset))?;
        let name = source.get(key.name)?;
        let preset = name.as_str().and_then(Preset::find);
        Some(preset.map_or(Self::Unknown, |preset| Self::Table(as_table(preset))))
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Table(table) => table.get(key),
            Self::Nothing | Self::Unknown => None,
        }
    }

    /// Returns the base of the table under a key.
    pub(crate) fn inner(&self, key: &str) -> Self {
        match (self, self.get(key)) {
            (_, Some(Value::InlineTable(table))) => Self::Table(table.clone()),
            (Self::Unknown, _) => Self::Unknown,
            _ => Self::Nothing,
        }
    }
}

/// Returns a preset in the form in which a scene would write it.
fn as_table(preset: &Preset) -> InlineTable {
    let table = |part: Part| {
        let values = preset.values.iter().map(|(property, value)| (property.info(), *value));
        let own = values.filter(|(info, _)| info.part == part);
        own.map(|(info, value)| (info.key, Value::from(value))).collect::<InlineTable>()
    };
    let mut material = table(Part::Matter);
    if preset.flows() {
        material.insert("plasticity", Value::InlineTable(table(Part::Creep)));
    }
    material
}

/// Returns a problem if there is no preset with this name.
pub(crate) fn unknown(name: &str, span: Range<usize>) -> Option<Problem> {
    if Preset::find(name).is_some() {
        return None;
    }
    let names = || PRESETS.iter().map(|preset| preset.name);
    let all = format!("there is {}", listed(names(), "and"));
    let help = match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`? {all}"),
        None => all,
    };
    Some(Problem::new(span, format!("there is no preset `{name}`")).with_help(help))
}

const HEAD: &str = "\
# Materials

This page is written from the table in the code; do not edit it by hand. `PHYXEL_BLESS=1 cargo test -p phyxel-io` renews it.

A material may be based on a preset and say only what is different:
```toml
[materials.clay]
based_on = \"modelling clay\"
density = 1900
plasticity.flow_rate = 40
```
Real materials vary by factors, with temperature, moisture and make. The numbers are where to begin; sources and choices
stand below the table. All keys: [scene reference](scene-reference.md#material).

";

/// Returns the properties that some preset has, as columns of tables.
pub fn preset_properties() -> impl Iterator<Item = &'static PropertyInfo> {
    PROPERTIES.iter().filter(|info| PRESETS.iter().any(|preset| preset.get(info.property).is_some()))
}

/// Returns the text of `docs/materials.md`.
pub fn materials_markdown() -> String {
    let mut text = HEAD.to_owned();
    // Writing to a string cannot fail.
    let mut row = |cells: &mut dyn Iterator<Item = String>| {
        let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
    };
    let heads = preset_properties().map(PropertyInfo::heading);
    row(&mut ["preset".to_owned()].into_iter().chain(heads));
    row(&mut std::iter::repeat_n("---".to_owned(), 1 + preset_properties().count()));
    for preset in PRESETS {
        let value = |info: &PropertyInfo| match preset.get(info.property) {
            Some(value) if value >= 1e5 => format!("{value:e}"),
            Some(value) => value.to_string(),
            None => "–".to_owned(),
        };
        row(&mut [preset.name.to_owned()].into_iter().chain(preset_properties().map(value)));
    }
    text.push_str("\n## Sources\n");
    for Preset { name, source, .. } in PRESETS {
        let _ = writeln!(text, "- **{name}**: {source}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_brings_its_numbers_and_passes_them_on() {
        let base = Base::Table(as_table(Preset::find("modelling clay").unwrap()));
        assert_eq!(base.get("density").and_then(Value::as_float), Some(1800.0));
        assert_eq!(base.inner("plasticity").get("flow_rate").and_then(Value::as_float), Some(100.0));
        assert!(matches!(base.inner("density"), Base::Nothing));
        assert!(matches!(Base::Unknown.inner("plasticity"), Base::Unknown));
    }
}
