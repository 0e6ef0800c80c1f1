//! The phyxel program.
fn main() {}
