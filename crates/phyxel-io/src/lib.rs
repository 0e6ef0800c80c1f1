//! Scene files, mesh files, frames and checkpoints for the phyxel engine.

pub mod results;
pub mod scene;
