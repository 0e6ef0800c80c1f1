//! `phyxel list`: lists methods, materials, shapes, formats and scenes, from the tables in the code.

use super::print;
use crate::failure::Failure;
use crate::scene_source::{self, number};
use crate::table::Table;
use clap::ValueEnum;
use phyxel::material::{PRESETS, PropertyInfo};
use phyxel::methods::CATALOGUE;
use phyxel_io::export::EXPORT_FORMATS;
use phyxel_io::results::FORMATS;
use phyxel_io::scene::preset_properties;
use phyxel_io::scene::schema::{Key, Kind, Presence, ROOT, Table as SceneTable};
use std::path::{Path, PathBuf};

/// Lists the methods, materials, shapes, formats or scenes that are available.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  phyxel list methods\n  phyxel list materials\n  phyxel list scenes")]
pub(crate) struct Args {
    /// Kind of things to list.
    #[arg(value_enum)]
    what: What,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// The published methods that drive bodies.
    Methods,
    /// The presets that materials can be based on, and the keys of a material.
    Materials,
    /// The shapes of bodies, obstacles and regions.
    Shapes,
    /// The files that are read and written.
    Formats,
    /// The scenes in the folder `scenes` here or above.
    Scenes,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let text = match args.what {
        What::Methods => methods().to_string(),
        What::Materials => materials(),
        What::Shapes => keys("shape", "shape").to_string(),
        What::Formats => formats().to_string(),
        What::Scenes => return scenes(),
    };
    print(&text)
}

fn materials() -> String {
    let (material, plasticity) =
        (keys("material", "key of a material"), keys("plasticity", "of its plasticity"));
    format!("{}\n{material}\n{plasticity}", presets())
}

/// Number of characters in a line of a source.
const SOURCE_WIDTH: usize = 72;

fn presets() -> Table {
    let heads = preset_properties().map(PropertyInfo::heading);
    let head: Vec<String> =
        ["preset".to_owned()].into_iter().chain(heads).chain(["source".to_owned()]).collect();
    let n_columns = head.len();
    let mut table = Table::with_head(head, 1..n_columns - 1);
    for preset in PRESETS {
        let value = |info: &PropertyInfo| preset.get(info.property).map_or_else(String::new, number);
        let cells = [preset.name.to_owned()].into_iter().chain(preset_properties().map(value));
        let mut cells: Vec<String> = cells.collect();
        for line in wrapped(preset.source, SOURCE_WIDTH) {
            cells.push(line);
            table.row(cells);
            cells = vec![String::new(); n_columns - 1];
        }
    }
    table
}

/// Splits a text into lines of at most `width` characters, if its words allow it.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn methods() -> Table {
    let mut table = Table::new(["method", "", "for", "paper"], &[]);
    for entry in CATALOGUE {
        let state = if entry.default_factory.is_some() { "" } else { "(not built yet)" };
        table.row([entry.key, state, entry.about, entry.paper].map(str::to_owned));
    }
    table
}

fn formats() -> Table {
    let mut table = Table::new(["ending", "", "what"], &[]);
    for format in FORMATS {
        table.row([format.extension, format.direction, format.about].map(str::to_owned));
    }
    for format in EXPORT_FORMATS {
        let what = format!("{}; for {}", format.about, format.programs);
        table.row([format.extensions.join(", "), format!("export --format {}", format.key), what]);
    }
    table
}

/// Returns the keys of a table of the scene format.
fn keys(table_name: &str, heading: &str) -> Table {
    let mut table = Table::new([heading, "default", "what"], &[]);
    let found = find_table(&ROOT, table_name, &mut Vec::new());
    for key in found.into_iter().flat_map(SceneTable::keys) {
        table.row([key.name.to_owned(), default(key), key.doc.to_owned()]);
    }
    table
}

fn default(key: &Key) -> String {
    match key.presence {
        Presence::Required => "required".into(),
        Presence::Default(value) => value.into(),
        Presence::Optional(meaning) => meaning.into(),
        Presence::ByRule => String::new(),
        Presence::UnlessPreset => "required without a preset".into(),
    }
}

/// Looks for a table by its name in the tree of tables, which has cycles: shapes are made of shapes.
fn find_table(
    table: &'static SceneTable,
    name: &str,
    seen: &mut Vec<&'static str>,
) -> Option<&'static SceneTable> {
    if table.name == name {
        return Some(table);
    }
    if seen.contains(&table.name) {
        return None;
    }
    seen.push(table.name);
    table.keys().find_map(|key| match key.kind.resolved() {
        Kind::Table(inner) | Kind::Tables(inner, _) | Kind::NamedTables(inner, _) => {
            find_table(inner, name, seen)
        }
        _ => None,
    })
}

/// Prints the scenes under the nearest folder `scenes`, with their titles.
fn scenes() -> Result<(), Failure> {
    let here =
        std::env::current_dir().map_err(|error| Failure::Run(format!("cannot tell where I am: {error}")))?;
    let Some(root) = here.ancestors().find(|folder| folder.join("scenes").is_dir()) else {
        return Err(Failure::Usage("there is no folder `scenes` here or above".into()));
    };
    let mut files = Vec::new();
    find_scenes(&root.join("scenes"), &mut files);
    files.sort();
    let mut table = Table::new(["scene", "title"], &[]);
    for file in &files {
        let shown = file.strip_prefix(&here).unwrap_or(file).display().to_string();
        table.row([
            shown,
            scene_source::title(file).unwrap_or_else(|| "(not valid: see phyxel check)".into()),
        ]);
    }
    print(&table.to_string())
}

fn find_scenes(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            find_scenes(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_name_what_there_is() {
        let methods = methods().to_string();
        assert!(CATALOGUE.iter().all(|entry| methods.contains(entry.key)), "{methods}");
        let shapes = keys("shape", "shape").to_string();
        assert!(shapes.contains("half_space") && shapes.contains("torus"), "{shapes}");
        let materials = materials();
        for word in ["youngs_modulus", "required", "bread dough", "yield_measure", "thickening_stress"] {
            assert!(materials.contains(word), "{word} is missing in\n{materials}");
        }
        let formats = formats().to_string();
        assert!(formats.contains("checkpoint"));
        for format in EXPORT_FORMATS {
            assert!(formats.contains(&format!("export --format {}", format.key)), "{formats}");
        }
        assert_eq!(wrapped("a bc  def g", 4), ["a bc", "def", "g"]);
        assert!(find_table(&ROOT, "no such table", &mut Vec::new()).is_none());
    }
}
