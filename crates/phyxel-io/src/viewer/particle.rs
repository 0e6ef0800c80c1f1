//! Values of one particle, as JSON for the page.

use crate::results::ParticleTable;
use phyxel::frame::Frame;
use serde_json::{Value, json};

/// Returns the values of a particle of a running world; `None` if there is no such row.
pub fn particle_of_frame(
    frame_index: usize,
    row: usize,
    frame: &Frame,
    body_names: &[String],
) -> Option<Value> {
    let head = Head {
        frame: frame_index,
        row,
        id: *frame.id.get(row)?,
        body: *frame.body.get(row)?,
        position: *frame.position.get(row)?,
        radius: *frame.radius.get(row)?,
    };
    let columns = frame.columns.iter();
    Some(
        head.answer(
            body_names,
            columns.map(|c| (c.name.as_str(), c.unit, c.n_components, c.values.as_slice())),
        ),
    )
}

/// Returns the values of a particle of a frame that was read; `None` if there is no such row.
pub(super) fn particle_of_table(
    frame_index: usize,
    row: usize,
    table: &ParticleTable,
    body_names: &[String],
) -> Option<Value> {
    let head = Head {
        frame: frame_index,
        row,
        id: *table.id.get(row)?,
        body: *table.body.get(row)?,
        position: *table.position.get(row)?,
        radius: *table.radius.get(row)?,
    };
    let columns = table.columns.iter();
    Some(head.answer(
        body_names,
        columns.map(|c| (c.name.as_str(), c.unit.as_str(), c.n_components, c.values.as_slice())),
    ))
}

/// Values that every particle has.
struct Head {
    frame: usize,
    row: usize,
    id: u32,
    body: u32,
    position: [f32; 3],
    radius: f32,
}

impl Head {
    /// Returns the answer in JSON; columns are given as name, unit, number of components and values.
    fn answer<'a>(
        &self,
        body_names: &[String],
        columns: impl Iterator<Item = (&'a str, &'a str, usize, &'a [f32])>,
    ) -> Value {
        let mut values = vec![value("position", "m", &self.position), value("radius", "m", &[self.radius])];
        values.extend(columns.filter_map(|(name, unit, n, all)| {
            Some(value(name, unit, all.get(self.row * n..(self.row + 1) * n)?))
        }));
        json!({
            "type": "particle",
            "frame": self.frame,
            "row": self.row,
            "id": self.id,
            "body": body_names.get(self.body as usize),
            "values": values,
        })
    }
}

fn value(name: &str, unit: &str, numbers: &[f32]) -> Value {
    json!({ "name": name, "unit": unit, "value": numbers })
}
