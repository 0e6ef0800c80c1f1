//! Export to PLY files in the layouts of a result's frames, with the names of the bodies in comments.

use super::{FrameSelection, SelectedFrame};
use crate::results::{SurfaceTable, ply};
use std::io::{self, Write};

pub(super) fn frame(
    selection: &FrameSelection<'_>,
    selected: &SelectedFrame,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = selection.body_names().enumerate().map(|(index, name)| format!("body {index} {name}"));
    out.write_all(&ply::encode_table(&selected.particles, &names.collect::<Vec<_>>()))
}

pub(super) fn surface(table: &SurfaceTable, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&table.encode(&[]))
}
