//! Tests that the generated documentation in the repository is up to date.

use phyxel::material::{PRESETS, Property};
use phyxel_io::scene::schema::{Presence, all_tables};
use phyxel_io::scene::{materials_markdown, reference_markdown};
use std::path::Path;

fn is_up_to_date(page: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    if std::env::var_os("PHYXEL_BLESS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        found == expected,
        "docs/{page} is stale: run `PHYXEL_BLESS=1 cargo test -p phyxel-io` and commit it"
    );
}

#[test]
fn the_scene_reference_is_up_to_date() {
    is_up_to_date("scene-reference.md", &reference_markdown());
}

#[test]
fn the_page_of_materials_is_up_to_date_and_has_every_preset_with_its_source() {
    let text = materials_markdown();
    for preset in PRESETS {
        assert!(
            text.contains(&format!("\n| {} | {} |", preset.name, preset.get(Property::Density).unwrap())),
            "{}",
            preset.name
        );
        assert!(text.contains(preset.source), "{}", preset.name);
    }
    is_up_to_date("materials.md", &text);
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
