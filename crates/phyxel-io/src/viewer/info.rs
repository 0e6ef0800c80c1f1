//! The first message to a page: what is the same for the whole run, live or replayed.

use super::Scenery;
use crate::results::{BodyInfo, body_to_json};
use serde_json::{Value, json};

/// Lower and upper corner of a box (m).
pub type PageBounds = [[f32; 3]; 2];

/// A column that a page can show.
#[derive(Clone, Copy, Debug)]
pub struct PageColumnInfo<'a> {
    /// Name of the column.
    pub name: &'a str,
    /// SI unit.
    pub unit: &'a str,
    /// Number of components, 1 or 3.
    pub n_components: usize,
    /// Smallest and largest value of the run, if they are known.
    pub range: Option<[f32; 2]>,
}

/// Content of the first message.
#[derive(Clone, Copy, Debug)]
pub struct PageInfo<'a> {
    /// "live" or "replay".
    pub mode: &'a str,
    /// Title of the scene.
    pub title: &'a str,
    /// Version of the program that computes, or computed, the run.
    pub version: &'a str,
    /// Number of frames.
    pub n_frames: usize,
    /// Number of the first frame.
    pub first_frame: usize,
    /// Frames per second.
    pub frame_rate: f64,
    /// Bodies of the scene.
    pub bodies: &'a [BodyInfo],
    /// Columns of the frames.
    pub columns: &'a [PageColumnInfo<'a>],
    /// Bounds of the particles.
    pub bounds: PageBounds,
    /// Obstacles.
    pub scenery: &'a Scenery,
    /// Ledger, as its own functions write it.
    pub ledger: &'a Value,
    /// Messages to the user.
    pub notes: &'a [String],
}

impl PageInfo<'_> {
    /// Returns the message.
    pub fn to_json(&self) -> Value {
        let column = |column: &PageColumnInfo<'_>| {
            json!({
                "name": column.name,
                "unit": column.unit,
                "components": column.n_components,
                "range": column.range,
            })
        };
        json!({
            "type": "info",
            "mode": self.mode,
            "title": self.title,
            "version": self.version,
            "frames": self.n_frames,
            "first_frame": self.first_frame,
            "frame_rate": self.frame_rate,
            "bodies": self.bodies.iter().map(body_to_json).collect::<Vec<Value>>(),
            "columns": self.columns.iter().map(column).collect::<Vec<Value>>(),
            "bounds": self.bounds,
            "obstacles": self.scenery.info(),
            "ledger": self.ledger,
            "notes": self.notes,
        })
    }
}

/// Returns the bounds of particles with their radii; a unit box about the origin if there are none.
pub fn page_bounds(positions: &[[f32; 3]], radii: &[f32]) -> PageBounds {
    let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    for (position, radius) in positions.iter().zip(radii) {
        for axis in 0..3 {
            bounds[0][axis] = bounds[0][axis].min(position[axis] - radius);
            bounds[1][axis] = bounds[1][axis].max(position[axis] + radius);
        }
    }
    if bounds.as_flattened().iter().all(|x| x.is_finite()) { bounds } else { [[-0.5; 3], [0.5; 3]] }
}

/// Returns the middle of bounds.
pub fn page_middle([low, high]: PageBounds) -> [f32; 3] {
    [0, 1, 2].map(|axis| 0.5 * (low[axis] + high[axis]))
}
