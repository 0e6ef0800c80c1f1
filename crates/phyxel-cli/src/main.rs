//! The phyxel program.

mod clock;
mod coloring;
mod commands;
mod failure;
mod frame_loop;
mod interrupt;
mod memory;
mod plot;
mod progress;
mod render;
mod scene_source;
mod skins;
mod staging;
mod summary;
mod surfaces;
mod table;
mod threads;
mod ticks;
mod view;
mod watch;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::Cli::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
