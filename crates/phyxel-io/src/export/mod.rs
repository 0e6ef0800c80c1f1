//! Export of the particles and surfaces of a result folder to the file formats of other programs.
//!
//! [`EXPORT_FORMATS`] is the only table of formats: lists, help, errors and the page in `docs` come from it. A format
//! is a layout with its writers. Choosing frames, refusing targets, writing to temporary files, progress and
//! interruption are common to all formats, and the writers do not handle them.
//!
//! A writer gets a [`FrameSelection`] (data common to all frames) and [`SelectedFrame`]s (data of one frame).

mod error;
mod frame_selection;
mod frames;
mod html;
mod npz;
mod number;
mod obj;
mod ply;
mod target;
mod usd;
mod vtp;
mod zip;

pub use error::ExportError;
pub use frame_selection::{ColumnHead, FrameSelection, Geometry, SelectedFrame};
pub use frames::FrameRange;

use crate::results::atomic::{Aside, Durability};
use crate::results::{Overwrite, SurfaceTable};
use crate::scene::{listed, nearest};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use target::TargetFolder;

/// A format that particles and surfaces are exported to.
#[derive(Clone, Copy)]
pub struct ExportFormat {
    /// Value of the option `--format`.
    pub key: &'static str,
    /// Endings of the files; the first one is that of the single file, or of the file of a frame.
    pub extensions: &'static [&'static str],
    /// Description of the written files.
    pub about: &'static str,
    /// Programs that read the format.
    pub programs: &'static str,
    /// Data that other formats keep and this one loses; empty if nothing is lost.
    pub lost: &'static str,
    /// True if the format holds surfaces.
    pub has_surfaces: bool,
    /// True if the format holds velocities, which motion blur needs.
    pub has_velocities: bool,
    layout: Layout,
}

/// Arrangement of the files of a format, with the functions that write them.
#[derive(Clone, Copy)]
enum Layout {
    /// One file with everything.
    OneFile(WholeWriter),
    /// A folder with a file per frame, optionally separate files for surfaces and an index file that lists all files.
    FilePerFrame { frame: FrameWriter, surface: Option<SurfaceWriter>, index: Option<IndexWriter> },
}

type WholeWriter = fn(&FrameSelection<'_>, &mut Outlet<'_>) -> Result<(), ExportError>;
type FrameWriter = fn(&FrameSelection<'_>, &SelectedFrame, &mut dyn Write) -> io::Result<()>;
type SurfaceWriter = fn(&SurfaceTable, &mut dyn Write) -> io::Result<()>;
type IndexWriter = fn(&[IndexEntry], &mut dyn Write) -> io::Result<()>;

/// A file of a frame, as listed in the index file.
struct IndexEntry {
    name: String,
    /// Time of the frame (s).
    time: f64,
    /// 0 for particles; for a surface, the index of its body plus 1.
    part: usize,
}

/// All formats; the recommended one is first.
pub const EXPORT_FORMATS: &[ExportFormat] = &[
    ExportFormat {
        key: "usd",
        extensions: &["usda"],
        about: "one file, animated: a mesh per surface with texture coordinates, normals, groups and velocities, and a point cloud \
                per body with ids, widths, velocities and all columns",
        programs: "Blender, Houdini, OpenUSD",
        lost: "",
        has_surfaces: true,
        has_velocities: true,
        layout: Layout::OneFile(usd::write),
    },
    ExportFormat {
        key: "vtp",
        extensions: &["vtp", "pvd"],
        about: "a folder: a file per frame with ids, bodies, radii, velocities and all columns, one per surface and frame, and a \
                .pvd with the times",
        programs: "ParaView, PyVista",
        lost: "",
        has_surfaces: true,
        has_velocities: true,
        layout: Layout::FilePerFrame {
            frame: vtp::frame,
            surface: Some(vtp::surface),
            index: Some(vtp::index),
        },
    },
    ExportFormat {
        key: "ply",
        extensions: &["ply"],
        about: "a folder: a file per frame, and one per surface and frame, in the layouts of a result's frames",
        programs: "Blender, meshio",
        lost: "times are only comments in the files",
        has_surfaces: true,
        has_velocities: true,
        layout: Layout::FilePerFrame { frame: ply::frame, surface: Some(ply::surface), index: None },
    },
    ExportFormat {
        key: "obj",
        extensions: &["obj"],
        about: "a folder: a file per frame with an object per body: its surface with texture coordinates, normals and groups, or points",
        programs: "Blender, PyVista, meshio",
        lost: "velocities, ids, radii and all columns; times are only comments in the files",
        has_surfaces: true,
        has_velocities: false,
        layout: Layout::FilePerFrame { frame: obj::frame, surface: None, index: None },
    },
    ExportFormat {
        key: "npz",
        extensions: &["npz"],
        about: "one file of NumPy arrays: positions[frame, particle, axis], velocities, ids, times and all columns; point sets as \
                SET_FIELD_FRAME",
        programs: "Python with NumPy",
        lost: "surfaces",
        has_surfaces: false,
        has_velocities: true,
        layout: Layout::OneFile(npz::write),
    },
    ExportFormat {
        key: "html",
        extensions: &["html"],
        about: "one file that plays the result: the viewer's page with particles, surfaces, obstacles, all columns and the ledger",
        programs: "any browser, without a server",
        lost: "directions of vectors; positions and columns are rounded to 1/65,535 of their range in the frame",
        has_surfaces: true,
        has_velocities: false,
        layout: Layout::OneFile(html::write),
    },
];

impl fmt::Debug for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExportFormat").field(&self.key).finish()
    }
}

impl ExportFormat {
    /// Returns the format with this key.
    ///
    /// # Errors
    /// When there is no such format; the error names the nearest key, or all keys.
    pub fn find(key: &str) -> Result<&'static Self, ExportError> {
        let keys = || EXPORT_FORMATS.iter().map(|format| format.key);
        let endings = || EXPORT_FORMATS.iter().flat_map(|format| format.extensions.iter().copied());
        if let Some(format) = EXPORT_FORMATS.iter().find(|format| format.key == key) {
            return Ok(format);
        }
        let by_ending = |ending: &str| {
            EXPORT_FORMATS.iter().find(|format| format.extensions.contains(&ending)).map(|format| format.key)
        };
        let near = nearest(key, keys()).or_else(|| nearest(key, endings()).and_then(by_ending));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", listed(keys(), "and")),
        };
        Err(ExportError::UnknownFormat { key: key.to_owned(), help })
    }

    /// Returns true if the format writes one file, false if it writes a folder.
    pub fn is_one_file(&self) -> bool {
        matches!(self.layout, Layout::OneFile(_))
    }

    /// Returns true if the file is a web page, to be opened directly in a browser.
    pub fn is_page(&self) -> bool {
        self.extension() == "html"
    }

    /// Returns the endings as one text: ".vtp, .pvd".
    pub fn endings(&self) -> String {
        let endings: Vec<String> = self.extensions.iter().map(|extension| format!(".{extension}")).collect();
        endings.join(", ")
    }

    fn extension(&self) -> &'static str {
        self.extensions.first().copied().unwrap_or(self.key)
    }
}

/// Returns the table of formats for the documentation, in Markdown.
pub fn formats_markdown() -> String {
    let mut text = String::from(
        "| `--format` | files | what is written | read by | what is lost |\n|---|---|---|---|---|\n",
    );
    for format in EXPORT_FORMATS {
        let lost = if format.lost.is_empty() { "nothing" } else { format.lost };
        let (key, endings) = (format.key, format.endings());
        text += &format!("| `{key}` | {endings} | {} | {} | {lost} |\n", format.about, format.programs);
    }
    text
}

/// Summary of a finished export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// File to open first.
    pub entry: PathBuf,
    /// Number of files.
    pub n_files: usize,
    /// Size of all files together (bytes).
    pub n_bytes: u64,
}

/// Output file of a writer of a single file, with the callback for finished frames.
struct Outlet<'a> {
    path: &'a Path,
    file: &'a mut File,
    watch: Watch<'a>,
}

impl Outlet<'_> {
    /// Returns the error for a failed write to the file.
    fn failed(&self, source: io::Error) -> ExportError {
        ExportError::write(self.path, source)
    }
}

/// Counts the finished frames and asks the caller whether to continue.
struct Watch<'a> {
    n_done: usize,
    tell: &'a mut dyn FnMut(usize) -> ControlFlow<()>,
}

impl Watch<'_> {
    fn frame_is_done(&mut self) -> Result<(), ExportError> {
        self.n_done += 1;
        self.check()
    }

    /// Asks the caller whether to continue, without counting a frame.
    fn check(&mut self) -> Result<(), ExportError> {
        match (self.tell)(self.n_done) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ExportError::Interrupted),
        }
    }
}

/// Writes the selected frames to `path`. `tell` gets the number of finished frames and decides whether to continue.
///
/// # Errors
/// When the target is not free or not writable, a frame cannot be read, or `tell` breaks. Partial output is then
/// removed, and earlier files stay unchanged.
pub fn export(
    selection: &FrameSelection<'_>,
    format: &ExportFormat,
    path: &Path,
    overwrite: Overwrite,
    tell: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Written, ExportError> {
    let mut watch = Watch { n_done: 0, tell };
    match format.layout {
        Layout::OneFile(write) => {
            target::check_file(format, path, overwrite)?;
            let mut aside = Aside::create(path).map_err(|error| target::refused(path, error))?;
            write(selection, &mut Outlet { path, file: aside.file(), watch })?;
            let size = aside.file().metadata().map_err(|source| ExportError::write(path, source))?.len();
            aside.finish(Durability::Process)?;
            Ok(Written { entry: path.to_owned(), n_files: 1, n_bytes: size })
        }
        Layout::FilePerFrame { frame, surface, index } => {
            let mut folder = TargetFolder::create(format, path, overwrite)?;
            let mut entries = Vec::new();
            for number in selection.numbers() {
                let mut selected = selection.frame(number)?;
                selected.keep_particles(|body| selection.shows_particles(body));
                let time = selected.time;
                if surface.is_none() || selection.bodies_of_particles().next().is_some() {
                    let name = folder.frame_name("", number);
                    folder.write(&name, |out| frame(selection, &selected, out))?;
                    entries.push(IndexEntry { name, time, part: 0 });
                }
                for (body, table) in selected.surfaces.iter().enumerate() {
                    if let (Some(surface), Some(table)) = (surface, table) {
                        let name = folder.frame_name(&selection.info().bodies[body].name, number);
                        folder.write(&name, |out| surface(table, out))?;
                        entries.push(IndexEntry { name, time, part: body + 1 });
                    }
                }
                watch.frame_is_done()?;
            }
            if let Some(index) = index {
                let name = folder.index_name();
                folder.write(&name, |out| index(&entries, out))?;
            }
            folder.finish()
        }
    }
}

/// Writes a whole file through a large buffer and returns its size (bytes).
fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<u64> {
    let mut out = BufWriter::with_capacity(1 << 18, File::create(path)?);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(file.metadata()?.len())
}
