//! Scene files, mesh files, frames, checkpoints and exports for the phyxel engine.

pub mod export;
pub mod mesh;
pub mod results;
pub mod scene;
pub mod surface;
