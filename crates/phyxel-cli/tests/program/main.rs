//! End-to-end tests: they run the built program on real scenes and read its files back.

mod arguments;
mod comparing;
mod damage;
mod exporting;
mod incremental;
mod pictures;
mod reference;
mod results;
mod resuming;
mod sampling;
mod skinning;
mod support;
mod surfacing;
mod trouble;
mod viewing;
mod violent;
mod violent_scenes;
