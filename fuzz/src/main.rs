//! LibFuzzer on one of the targets; `PHYXEL_FUZZ_TARGET` names it.

#![no_main]

use phyxel_fuzz::{TARGETS, Target, find};
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("PHYXEL_FUZZ_TARGET").unwrap_or_default();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    find(&name).unwrap_or_else(|| panic!("PHYXEL_FUZZ_TARGET must be one of {}", names.join(", ")))
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (TARGET.read)(bytes);
});
