//! Scene files, mesh files, frames, checkpoints, exports and what the viewer shows, for the phyxel engine.

pub mod export;
mod grid_cache;
mod input_file;
pub mod mesh;
pub mod results;
pub mod scene;
pub mod surface;
pub mod viewer;

pub use grid_cache::GridCache;
pub use input_file::read_file;
