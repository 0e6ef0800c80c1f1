//! End to end: the built program on real scenes, its files read back.

mod arguments;
mod comparing;
mod exporting;
mod pictures;
mod results;
mod resuming;
mod support;
mod trouble;
mod viewing;
