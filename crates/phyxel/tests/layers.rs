//! Tests by the `use` lines that a module uses only lower layers and that methods never import each other.

use phyxel::methods::built_methods;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Modules and their layers, lowest first.
const LAYERS: &[(&str, u32)] = &[
    ("math", 0),
    ("frame", 1),
    ("kernels", 1),
    ("linear", 1),
    ("neighbors", 1),
    ("particles", 1),
    ("geometry", 2),
    ("mls", 2),
    ("material", 3),
    ("contact", 4),
    ("forces", 4),
    ("surface", 4),
    ("methods", 5),
    ("world", 6),
];

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Returns every `crate::NAME` of a text outside comments and tests.
fn modules_used(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let mut used = BTreeSet::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for part in line.split("crate::").skip(1) {
            let name = part.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
            used.insert(name.to_owned());
        }
    }
    used
}

fn layer(module: &str) -> u32 {
    let known = LAYERS.iter().find(|l| l.0 == module);
    known
        .unwrap_or_else(|| panic!("module `{module}` has no layer: add it to LAYERS and to ARCHITECTURE.md"))
        .1
}

#[test]
fn no_module_uses_a_higher_layer() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&source, &mut files);
    assert!(files.len() > 30);
    let mut n_edges = 0;
    for file in files {
        let relative = file.strip_prefix(&source).unwrap();
        let module = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        let is_test = relative.to_str().unwrap().contains("tests.rs");
        if module == "lib" || is_test {
            continue;
        }
        for used in modules_used(&fs::read_to_string(&file).unwrap()) {
            if used == module {
                continue;
            }
            n_edges += 1;
            assert!(
                layer(&used) < layer(module),
                "{} uses {used}, which is not below it",
                relative.display()
            );
        }
    }
    assert!(n_edges > 50);
}

#[test]
fn methods_do_not_import_each_other() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/methods");
    let methods: Vec<&str> = built_methods().map(|entry| entry.key).collect();
    assert!(methods.iter().all(|method| folder.join(method).is_dir()), "each method has a folder");
    for method in &methods {
        let mut files = Vec::new();
        source_files(&folder.join(method), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for other in methods.iter().filter(|m| *m != method) {
                for path in [format!("methods::{other}"), format!("super::{other}")] {
                    assert!(!text.contains(&path), "{} imports {other}", file.display());
                }
            }
        }
    }
}
