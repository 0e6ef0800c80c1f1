//! Scene files, mesh files, frames, checkpoints, exports and what the viewer shows, for the phyxel engine.

pub mod export;
pub mod mesh;
pub mod results;
pub mod scene;
pub mod surface;
pub mod viewer;
