//! Scene files, mesh files, frames and checkpoints for the phyxel engine.

pub mod mesh;
pub mod results;
pub mod scene;
