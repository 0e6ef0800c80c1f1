//! Wavefront OBJ: an object per body with its particles as vertices and point elements. The format has no place for more.

use super::number::push_joined;
use super::{Moment, Take};
use std::io::{self, Write};

/// Point elements on a line: few enough for readers whose lines have an end (VTK's: 100000 characters), many enough for those
/// that complain about every line with points (Blender).
const POINTS_PER_LINE: usize = 1024;

pub(super) fn frame(take: &Take<'_>, moment: &Moment, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# phyxel particles, SI units, y up")?;
    writeln!(out, "# frame {}, time {:?} s", moment.number, moment.time)?;
    let mut n_written = 0;
    let mut line = String::new();
    for (body, name) in take.body_names().enumerate() {
        // a blank ends the name for some readers
        let name = name.replace(|c: char| c.is_whitespace() || c.is_control(), "_");
        writeln!(out, "o {name}")?;
        let rows = moment.rows_of(body);
        for &row in &rows {
            line.clear();
            line.push_str("v ");
            push_joined(&mut line, &moment.particles.position[row], " ");
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        // vertices are counted from 1, over all objects
        let numbers: Vec<usize> = (n_written + 1..=n_written + rows.len()).collect();
        for chunk in numbers.chunks(POINTS_PER_LINE) {
            let words: Vec<String> = chunk.iter().map(usize::to_string).collect();
            writeln!(out, "p {}", words.join(" "))?;
        }
        n_written += rows.len();
    }
    Ok(())
}
