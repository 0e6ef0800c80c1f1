//! The generated documentation is in the repository and true.

use phyxel_io::scene::reference_markdown;
use phyxel_io::scene::schema::{Presence, all_tables};
use std::path::Path;

#[test]
fn the_scene_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene-reference.md");
    let expected = reference_markdown();
    if std::env::var_os("PHYXEL_BLESS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        found == expected,
        "docs/scene-reference.md is stale: run `PHYXEL_BLESS=1 cargo test -p phyxel-io` and commit it"
    );
}

#[test]
fn every_key_is_in_the_reference() {
    let text = reference_markdown();
    for table in all_tables() {
        let start = text.find(&format!("<a id=\"{}\"></a>", table.name)).unwrap();
        let section = text[start..].split("\n## ").next().unwrap();
        for key in table.keys() {
            let row = section.lines().find(|line| line.starts_with(&format!("| `{}` |", key.name)));
            let row = row.unwrap_or_else(|| panic!("{}.{}", table.name, key.name));
            assert!(row.contains(key.doc));
            if let Presence::Default(value) = key.presence {
                assert!(row.contains(&format!("`{value}`")), "{row}");
            }
        }
    }
}
