//! Frames as binary little-endian PLY files: x y z, id, body, radius, then the requested columns.
//!
//! The element `vertex` has the particles. Point sets are further elements with x y z, body and their columns. A vector
//! column has three properties: `vx vy vz` for the velocity, `NAME_x NAME_y NAME_z` for others. Header
//! comments hold the time and the units. The reader accepts the files of this writer, with properties in any order.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub(super) use reader::split_header;
pub use reader::{decode, decode_columns};
pub use writer::{encode, encode_table};

/// Particles that were read from a file, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParticleTable {
    /// Time of the frame (s).
    pub time: f64,
    /// World positions (m).
    pub position: Vec<[f32; 3]>,
    /// Stable ids.
    pub id: Vec<u32>,
    /// Index of the body of each particle.
    pub body: Vec<u32>,
    /// Half the local spacing (m).
    pub radius: Vec<f32>,
    /// The other columns.
    pub columns: Vec<ParticleColumn>,
    /// Points besides the particles.
    pub point_sets: Vec<PointSetTable>,
}

/// Named points of a frame that are not particles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSetTable {
    /// Name of the set.
    pub name: String,
    /// World positions (m).
    pub position: Vec<[f32; 3]>,
    /// Index of the body, or of the obstacle, of each point.
    pub body: Vec<u32>,
    /// The other columns.
    pub columns: Vec<ParticleColumn>,
}

impl ParticleTable {
    /// Returns the rows of a column of vectors; `None` if there is no such column.
    pub fn vectors(&self, name: &str) -> Option<&[[f32; 3]]> {
        let is_wanted = |column: &&ParticleColumn| column.name == name && column.n_components == 3;
        self.columns.iter().find(is_wanted).map(|column| column.values.as_chunks().0)
    }
}

/// A column of a [`ParticleTable`].
#[derive(Clone, Debug, PartialEq)]
pub struct ParticleColumn {
    /// Name of the column, as requested in the scene.
    pub name: String,
    /// SI unit of the values; empty if the file does not name it.
    pub unit: String,
    /// Number of components: 1 for scalars, 3 for vectors.
    pub n_components: usize,
    /// Values, row after row.
    pub values: Vec<f32>,
}

/// Reason why a file cannot be read as a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlyError {
    /// The file is not PLY, or not binary little-endian PLY.
    #[error("not a binary little-endian PLY file")]
    NotPly,
    /// The header cannot be understood.
    #[error("PLY header: {0}")]
    Header(String),
    /// A property or comment that every frame has is missing.
    #[error("not a frame of phyxel: there is no {0}")]
    Missing(&'static str),
    /// The file ends too early.
    #[error("the file is cut off: {expected} bytes of data expected, {found} found")]
    Truncated {
        /// Size of the particles according to the header (bytes).
        expected: usize,
        /// Size of the data in the file (bytes).
        found: usize,
    },
    /// The file has bytes after its data.
    #[error("the file has {0} bytes after its data")]
    TooLong(usize),
}

/// Name of the element of the particles.
const PARTICLES: &str = "vertex";

/// Returns the names of the properties of a column.
fn property_names(name: &str, n_components: usize) -> Vec<String> {
    match (name, n_components) {
        ("velocity", 3) => ["vx", "vy", "vz"].map(str::to_owned).to_vec(),
        (_, 3) => ["x", "y", "z"].map(|axis| format!("{name}_{axis}")).to_vec(),
        _ => vec![name.to_owned()],
    }
}

/// Returns the prefix of a column's name in comments: nothing for particles, the name of the set for others.
fn prefix(element: &str) -> String {
    if element == PARTICLES { String::new() } else { format!("{element}.") }
}
