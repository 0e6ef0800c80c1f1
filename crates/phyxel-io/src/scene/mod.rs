//! Scene files: reading TOML text into a validated plain description in SI units.
//!
//! The format is a set of tables of keys ([`schema`]), from which the validation, the JSON Schema for editors and the
//! scene reference of the documentation follow. Reading collects all problems of a file, each with its place. `world`
//! turns a scene into a world of the engine.

mod body_surfaces;
mod build;
mod checks;
pub mod description;
mod events;
mod file;
mod node;
mod overrides;
mod presets;
mod problem;
pub mod schema;
mod section;
mod settings;
mod spans;
mod spelling;
mod units;
mod unknown;
mod validate;
mod values;
mod with_events;
mod world;

pub use file::{LARGEST_FILE, ParseOptions, SceneFile};
pub use overrides::{apply_overrides, with_method};
pub use presets::{materials_markdown, preset_properties};
pub use problem::{Problem, SceneError, line_column, shown_part};
pub use schema::{json_schema, reference_markdown};
pub use spans::Spans;
pub use spelling::{listed, nearest};
pub use units::{Dimension, UnitError, parse_quantity};
pub use values::LARGEST_NUMBER;
pub use with_events::with_events;
pub use world::{BuiltScene, WorldOptions};
