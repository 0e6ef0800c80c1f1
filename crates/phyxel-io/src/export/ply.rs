//! PLY in the layouts of a result's frames, with the names of the bodies in comments.

use super::{Moment, Take};
use crate::results::{SurfaceTable, ply};
use std::io::{self, Write};

pub(super) fn frame(take: &Take<'_>, moment: &Moment, out: &mut dyn Write) -> io::Result<()> {
    let names = take.body_names().enumerate().map(|(index, name)| format!("body {index} {name}"));
    out.write_all(&ply::encode_table(&moment.particles, &names.collect::<Vec<_>>()))
}

pub(super) fn surface(table: &SurfaceTable, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&table.encode(&[]))
}
