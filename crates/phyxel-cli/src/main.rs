//! The phyxel program.

#[allow(
    dead_code,
    unused_imports,
    reason = "called by the render command, which comes with the reader of frames"
)]
mod render;

fn main() {}
