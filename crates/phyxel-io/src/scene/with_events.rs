//! Replacement of the events in the text of a scene: this is how a run driven by hand is saved.

use super::build::MEASURES;
use super::overrides::{parse, replace};
use super::problem::SceneError;
use phyxel::material::{Flow, MaterialChange, Part};
use phyxel::math::Vec3;
use phyxel::world::{Action, Event, Hold};
use toml_edit::{Array, ArrayOfTables, InlineTable, Item, Table, Value};

/// Returns the text of a scene with these events in place of its own, ending at `end`; everything else stays as
/// written. Numbers are read back to the same bits. Events at or after the end are left out, because nothing follows
/// them. If `end` is 0, the scene keeps its duration.
///
/// # Errors
/// If the text is not TOML.
pub fn with_events(text: &str, source_name: &str, events: &[Event], end: f64) -> Result<String, SceneError> {
    let mut document = parse(text, source_name)?;
    if end > 0.0 {
        match document.get_mut("duration") {
            Some(Item::Value(duration)) => replace(duration, end.into()),
            _ => drop(document.insert("duration", Item::Value(end.into()))),
        }
    }
    document.remove("events");
    let mut tables = ArrayOfTables::new();
    for event in events.iter().filter(|event| end <= 0.0 || event.time < end) {
        let mut table = event_table(event);
        table.decor_mut().set_prefix("\n");
        tables.push(table);
    }
    if !tables.is_empty() {
        document.insert("events", Item::ArrayOfTables(tables));
    }
    Ok(document.to_string())
}

fn vector(v: Vec3) -> Value {
    Value::Array(Array::from_iter(v.to_array()))
}

fn event_table(event: &Event) -> Table {
    let mut table = Table::new();
    let mut set = |key: &str, value: Value| drop(table.insert(key, Item::Value(value)));
    set("time", event.time.into());
    match &event.action {
        Action::Gravity(gravity) => set("gravity", vector(*gravity)),
        Action::Material { body, change } => {
            set("body", body.into());
            material_values(change).into_iter().for_each(|(key, value)| set(key, value));
        }
        Action::Drag { hold, to } => {
            let mut drag = InlineTable::new();
            match hold {
                Hold::Particle { body, id } => {
                    drag.insert("body", body.into());
                    drag.insert("particle", i64::from(*id).into());
                }
                Hold::Nearest { body, point } => {
                    drag.insert("body", body.into());
                    drag.insert("at", vector(*point));
                }
                Hold::Same => {}
            }
            drag.insert("to", vector(*to));
            set("drag", Value::InlineTable(drag));
        }
        Action::Release => set("release", true.into()),
    }
    table
}

fn material_values(change: &MaterialChange) -> Vec<(&'static str, Value)> {
    let given = |part: Part| {
        let own = change.values.iter().filter(move |(info, _)| info.part == part);
        own.filter_map(|(info, value)| Some((info.key, Value::from((*value)?))))
    };
    let mut values: Vec<(&'static str, Value)> = given(Part::Matter).collect();
    if change.flow == Some(Flow::None) {
        values.push(("elastic", true.into()));
        return values;
    }
    let mut creep: InlineTable = given(Part::Creep).collect();
    if let Some(Flow::Creep(measure)) = change.flow {
        let word = MEASURES.iter().find(|known| known.1 == measure).map_or("", |known| known.0);
        creep.insert("yield_measure", word.into());
    }
    if !creep.is_empty() {
        values.push(("plasticity", Value::InlineTable(creep)));
    }
    values
}
