//! `phyxel schema`: the scene file's JSON Schema.

use super::print;
use crate::failure::Failure;
use crate::scene_source;

/// Prints the JSON Schema of scene files, for editors.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  phyxel schema > scene.schema.json\n  then write `#:schema scene.schema.json` at the top of a scene"
)]
pub(crate) struct Args {}

/// Runs the command.
pub(crate) fn run(_args: &Args) -> Result<(), Failure> {
    let schema = phyxel_io::scene::json_schema(&scene_source::methods());
    let text = serde_json::to_string_pretty(&schema).map_err(|error| Failure::Run(error.to_string()))?;
    print(&(text + "\n"))
}
