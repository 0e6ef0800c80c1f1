//! The result folder of a run: frames, ledger, checkpoints and metadata.
//!
//! ```text
//! DIR/run.json                      RunInfo: version, bodies, status, frame times, timings
//! DIR/scene.toml                    the scene as it was run
//! DIR/meshes/DIGEST.EXT             the mesh files that the scene names
//! DIR/ledger.csv                    one row of sums per frame
//! DIR/frames/particles_0000.ply     the particles, readable by other programs
//! DIR/frames/surface_BODY_0000.ply  the surface of a body, if one was requested
//! DIR/checkpoint/frame_0000.state   the engine's own state, to resume from; the last two are kept
//! ```
//! A comparison ([`ComparisonFolder`]) is a folder of such folders.
//!
//! Every file is written under a temporary name and then renamed; only the ledger grows in place, row by row, and is
//! cut back on resuming. What `run.json` lists is on the disk, and so is everything up to a checkpoint before the
//! checkpoint appears: a loss of power costs at most the frames since then. Every file carries a checksum or is named
//! by one, which is checked whenever the file is read (`seal`, `verification`).

pub(crate) mod atomic;
mod checkpoint;
mod comparison;
mod continuation;
mod digest;
mod error;
mod folder;
mod ledger;
mod meshes;
pub mod ply;
mod recorder;
mod removal;
mod run_info;
mod seal;
mod surface_file;
mod verification;

pub use checkpoint::{Checkpoint, CheckpointError, CheckpointHeader, write_checkpoint};
pub use comparison::ComparisonFolder;
pub use continuation::Start;
pub use digest::ContentDigest;
pub use error::ResultError;
pub(crate) use folder::parse_scene;
pub use folder::{Overwrite, ResultFolder};
pub(crate) use ledger::cells as ledger_cells;
pub use ledger::{LedgerTable, LedgerWriter};
pub use meshes::{BundledScene, MeshCopy, bundle_meshes};
pub use ply::{ParticleColumn, ParticleTable, PlyError, PointSetTable};
pub use recorder::Recorder;
pub(crate) use run_info::body_to_json;
pub use run_info::{BodyInfo, RunInfo, Status, Tally};
pub use surface_file::{SurfaceKind, SurfaceTable};
pub use verification::{Damage, Part, Verification};

/// A file format that the program reads or writes, for lists and documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Ending of its files.
    pub extension: &'static str,
    /// Direction: "read", "written", or both.
    pub direction: &'static str,
    /// Description of the content.
    pub about: &'static str,
}

/// All formats, in the order in which they are listed.
pub const FORMATS: &[Format] = &[
    Format { extension: "toml", direction: "read", about: "scenes" },
    Format { extension: "obj", direction: "read", about: "meshes: Wavefront OBJ" },
    Format { extension: "stl", direction: "read", about: "meshes: STL, binary and text" },
    Format { extension: "ply", direction: "read", about: "meshes: PLY, binary and text" },
    Format { extension: "glb, gltf", direction: "read", about: "meshes: glTF 2" },
    Format {
        extension: "ply",
        direction: "written",
        about: "frames: particles with their columns, binary little-endian",
    },
    Format {
        extension: "csv",
        direction: "written",
        about: "ledger: energy, momentum, forces, one row per frame",
    },
    Format {
        extension: "json",
        direction: "written",
        about: "what is known of a run: bodies, frame times, status, timings",
    },
    Format {
        extension: "state",
        direction: "written and read",
        about: "checkpoints: the engine's state in full precision",
    },
    Format { extension: "png", direction: "written", about: "pictures and contact sheets" },
    Format { extension: "gif", direction: "written", about: "animations" },
    Format { extension: "svg", direction: "written", about: "plots of comparisons" },
];
