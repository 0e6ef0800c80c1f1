//! Tests that the documents match the repository.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the words of a text that look like paths of this repository.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || "`()[],;\"|".contains(c);
    text.split(is_end).map(|word| word.trim_end_matches(['.', ':'])).filter(|word| {
        ["crates/", "scenes/", "docs/", ".ci/"].iter().any(|start| word.starts_with(start))
            && !word.contains(['*', '<'])
    })
}

#[test]
fn paths_in_documents_exist() {
    let mut n_paths = 0;
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        for path in paths(&text) {
            n_paths += 1;
            assert!(root().join(path).exists(), "{document} names {path}, which does not exist");
        }
    }
    assert!(n_paths > 20);
}

/// The tree in ARCHITECTURE.md has every module folder of the sources, and nothing else.
#[test]
fn architecture_lists_every_folder_of_the_sources() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let tree = text.split("```").nth(1).unwrap();
    let mut crate_folder = String::new();
    let mut listed = Vec::new();
    for line in tree.lines().filter(|line| !line.trim().is_empty()) {
        let word = line.split_whitespace().next().unwrap();
        if line.starts_with(' ') {
            listed.push(format!("{crate_folder}{word}"));
        } else {
            crate_folder = word.to_owned();
            listed.push(word.to_owned());
        }
    }
    for path in &listed {
        assert!(root().join(path).exists(), "ARCHITECTURE.md lists {path}, which does not exist");
    }
    for name in ["phyxel", "phyxel-io", "phyxel-cli"] {
        let source = root().join("crates").join(name).join("src");
        for entry in fs::read_dir(&source).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
            let path = format!("crates/{name}/src/{}/", entry.file_name().unwrap().to_str().unwrap());
            assert!(listed.contains(&path), "{path} is missing in ARCHITECTURE.md");
        }
    }
}
