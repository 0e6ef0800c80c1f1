//! End to end: the built program on real scenes, its files read back.

mod arguments;
mod comparing;
mod exporting;
mod pictures;
mod results;
mod resuming;
mod sampling;
mod skinning;
mod support;
mod surfacing;
mod trouble;
mod viewing;
