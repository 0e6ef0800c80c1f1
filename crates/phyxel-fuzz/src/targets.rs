//! The readers, each as a function of bytes. Errors are also formatted: their messages show parts of the input.

use crate::seeds;
use phyxel::methods::CATALOGUE;
use phyxel::world::World;
use phyxel_io::results::{Checkpoint, ContentDigest, LedgerTable, RunInfo, SurfaceTable, ply};
use phyxel_io::scene::{Dimension, ParseOptions, SceneError, SceneFile, WorldOptions};
use phyxel_io::viewer::message::Request;
use phyxel_io::{mesh, scene};
use std::io::Cursor;
use std::path::Path;

/// Parses a scene with the methods of the catalogue.
pub(crate) fn parse_scene(bytes: &[u8]) -> Result<SceneFile, SceneError> {
    let methods: Vec<(&str, bool)> =
        CATALOGUE.iter().map(|entry| (entry.key, entry.default_factory.is_some())).collect();
    SceneFile::parse_bytes(bytes, "scene.toml", &ParseOptions { methods: &methods, columns: None })
}

/// Builds the world of the seed scene for a method, whose checkpoints are read.
pub(crate) fn world(method: &str) -> World {
    let file = parse_scene(seeds::scene(method).as_bytes()).expect("the seed scene is valid");
    file.build_world(Path::new("."), &WorldOptions::default()).expect("the seed scene can be built")
}

fn is_accepted<T, E: std::fmt::Display>(read: Result<T, E>) -> bool {
    read.inspect_err(|error| drop(error.to_string())).is_ok()
}

pub(crate) fn scene(bytes: &[u8]) -> bool {
    is_accepted(parse_scene(bytes))
}

/// The first byte chooses the dimension, the rest is the quantity.
pub(crate) fn units(bytes: &[u8]) -> bool {
    const DIMENSIONS: [Dimension; 6] = [
        Dimension::NONE,
        Dimension::LENGTH,
        Dimension::TIME,
        Dimension::PRESSURE,
        Dimension::VELOCITY,
        Dimension::ANGLE,
    ];
    let Some((&choice, text)) = bytes.split_first() else { return false };
    let dimension = DIMENSIONS[usize::from(choice) % DIMENSIONS.len()];
    let read = scene::parse_quantity(&String::from_utf8_lossy(text), dimension);
    is_accepted(read.inspect_err(|error| drop(error.help())))
}

/// Each line is an override `KEY=VALUE` of the seed scene.
pub(crate) fn overrides(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let split = |line: &str| line.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    let overrides: Vec<(String, String)> = text.lines().filter_map(split).collect();
    let changed = scene::apply_overrides(&seeds::scene(seeds::methods()[0]), "scene.toml", &overrides);
    is_accepted(changed.and_then(|text| parse_scene(text.as_bytes())))
}

pub(crate) fn mesh(bytes: &[u8], extension: &str) -> bool {
    is_accepted(mesh::read_bytes(bytes, extension))
}

pub(crate) fn frame(bytes: &[u8]) -> bool {
    is_accepted(ply::decode(bytes))
}

pub(crate) fn surface(bytes: &[u8]) -> bool {
    is_accepted(SurfaceTable::decode(bytes).inspect(|table| drop(table.triangles())))
}

/// Reads a whole checkpoint file, whose digest few changed ones have right.
pub(crate) fn checkpoint(bytes: &[u8]) -> bool {
    checkpoint_of(bytes, seeds::methods()[0])
}

fn checkpoint_of(bytes: &[u8], method: &str) -> bool {
    is_accepted(Checkpoint::open(Cursor::new(bytes)).and_then(|mut file| file.restore(&mut world(method))))
}

/// The first byte chooses the method, the rest is the state in a checkpoint that is right in all else.
pub(crate) fn state(bytes: &[u8]) -> bool {
    let Some((&choice, state)) = bytes.split_first() else { return false };
    let Ok(compressed) = zstd::bulk::compress(state, 1) else { return false };
    let mut file = [seeds::checkpoint_header(), &compressed].concat();
    let digest = ContentDigest::of(&file);
    file.extend(digest.0.to_le_bytes());
    let methods = seeds::methods();
    checkpoint_of(&file, methods[usize::from(choice) % methods.len()])
}

pub(crate) fn run_info(bytes: &[u8]) -> bool {
    let read = RunInfo::from_json(&String::from_utf8_lossy(bytes));
    is_accepted(read.inspect(|info| drop(info.tally.after(&info.tally))))
}

pub(crate) fn ledger(bytes: &[u8]) -> bool {
    let read = LedgerTable::parse(&String::from_utf8_lossy(bytes));
    is_accepted(read.inspect(|table| table.columns.iter().for_each(|column| drop(table.numbers(column)))))
}

pub(crate) fn message(bytes: &[u8]) -> bool {
    is_accepted(Request::parse(&String::from_utf8_lossy(bytes)).map(|request| request.kind()))
}
