//! Fuzz targets: one function for each reader of files, texts and messages that come from outside.
//!
//! A target takes any bytes and must return: no panic, no second of work, no gigabyte of memory. A short run with fixed
//! random numbers is a test of this crate. The long run is guided by coverage (`scripts/fuzz.sh`).

mod mutation;
mod seeds;
mod targets;

pub use mutation::Mutation;

/// A reader under test.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name on the command line and of the folder of its corpus.
    pub name: &'static str,
    /// Reads bytes; returns true if the reader accepts them.
    pub read: fn(&[u8]) -> bool,
    /// Returns small inputs that the reader accepts.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "scene", read: targets::scene, seeds: seeds::scenes },
    Target { name: "units", read: targets::units, seeds: seeds::quantities },
    Target { name: "overrides", read: targets::overrides, seeds: seeds::overrides },
    Target { name: "obj", read: |bytes| targets::mesh(bytes, "obj"), seeds: seeds::obj_files },
    Target { name: "ply", read: |bytes| targets::mesh(bytes, "ply"), seeds: seeds::ply_files },
    Target { name: "stl", read: |bytes| targets::mesh(bytes, "stl"), seeds: seeds::stl_files },
    Target { name: "gltf", read: |bytes| targets::mesh(bytes, "gltf"), seeds: seeds::gltf_files },
    Target { name: "frame", read: targets::frame, seeds: seeds::frames },
    Target { name: "surface", read: targets::surface, seeds: seeds::surfaces },
    Target { name: "checkpoint", read: targets::checkpoint, seeds: seeds::checkpoints },
    Target { name: "state", read: targets::state, seeds: seeds::states },
    Target { name: "run_info", read: targets::run_info, seeds: seeds::run_infos },
    Target { name: "ledger", read: targets::ledger, seeds: seeds::ledgers },
    Target { name: "message", read: targets::message, seeds: seeds::messages },
];

/// Returns the target of a name.
pub fn find(name: &str) -> Option<Target> {
    TARGETS.iter().find(|target| target.name == name).copied()
}
