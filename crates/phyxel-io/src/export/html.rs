//! Export to one HTML file that plays the result in a browser: the page of the viewer with its data inside.
//!
//! Every frame is a compact packet (`viewer::packet`), compressed (zlib) and in base64, in a separate element, so that
//! the page unpacks only the frames it shows. Arrays that are the same in many frames are in separate elements, too.
//! Data on all frames together (ranges of colours, ledger) is at the end.

use super::{ExportError, FrameSelection, Outlet};
use crate::mesh::base64;
use crate::results::{ResultError, ResultFolder};
use crate::viewer::{Replay, Selection, SharedArrays, ViewerError, page_around_data};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::{self, BufWriter, Write};

pub(super) fn write(selection: &FrameSelection<'_>, outlet: &mut Outlet<'_>) -> Result<(), ExportError> {
    let path = outlet.path;
    let failed = |source| ExportError::write(path, source);
    let folder = ResultFolder::open(selection.folder_path())?;
    // a damaged ledger is an error here; a page that is served only leaves out its plots
    folder.ledger()?;
    let mut replay = Replay::of_frames(folder, selection.numbers().collect()).map_err(refused)?;
    let mut out = BufWriter::with_capacity(1 << 18, &mut *outlet.file);
    let (before, after) = page_around_data();
    out.write_all(before.as_bytes()).map_err(failed)?;
    let bodies = 0..selection.info().bodies.len();
    let shown = Selection {
        particles: bodies.clone().map(|body| selection.shows_particles(body)).collect(),
        surfaces: bodies.map(|body| selection.shows_surface(body)).collect(),
    };
    let mut shared = SharedArrays::default();
    for index in 0..selection.n_frames() {
        let packet = replay.compact_packet(index, &shown, &mut shared).map_err(refused)?;
        for (number, bytes) in shared.fresh.drain(..) {
            element(&mut out, &format!("phyxel-shared-{number}"), &bytes).map_err(failed)?;
        }
        element(&mut out, &format!("phyxel-frame-{index}"), &packet).map_err(failed)?;
        outlet.watch.frame_is_done()?;
    }
    // `<` is escaped, because a name with `</script>` would end the element
    let info = replay.info().to_string().replace('<', "\\u003c");
    writeln!(out, "<script type=\"application/json\" id=\"phyxel-info\">{info}</script>").map_err(failed)?;
    out.write_all(after.as_bytes()).map_err(failed)?;
    out.flush().map_err(failed)
}

/// Writes bytes, compressed and in base64, into an element that browsers do not interpret.
fn element(out: &mut impl Write, id: &str, bytes: &[u8]) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::default());
    encoder.write_all(bytes)?;
    let text = base64::encode(&encoder.finish()?);
    writeln!(out, "<script type=\"text/plain\" id=\"{id}\">{text}</script>")
}

fn refused(error: ViewerError) -> ExportError {
    match error {
        ViewerError::Result(error) => error.into(),
        ViewerError::NoFrames(path) => ExportError::NoFrames(path),
        // not caused by the request, since all frames and rows come from the result itself
        other => ExportError::Result(ResultError::damaged("".as_ref(), other.to_string())),
    }
}
