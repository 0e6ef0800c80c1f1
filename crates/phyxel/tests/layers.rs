//! Tests by the text of the sources that a module uses only lower layers, that methods never import each other, that
//! no other place names a method, and that what decides bits uses the engine's own elementary functions.

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

/// Returns the lines of a text that are no comments, with their numbers.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Returns the part of a source before its tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap()
}

/// Returns every `crate::NAME` of a text outside comments and tests.
fn modules_used(text: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for (_, line) in code_lines(without_tests(text)) {
        for part in line.split("crate::").skip(1) {
            let name = part.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
            used.insert(name.to_owned());
        }
    }
    used
}

/// Checks that no path of a source climbs out of its module by `super::`, where [`modules_used`] would not see it.
fn assert_stays_inside(relative: &Path, text: &str) {
    let is_root = relative.ends_with("mod.rs");
    let depth = relative.iter().count() - usize::from(is_root);
    let climb = "super::".repeat(depth);
    for (number, line) in code_lines(without_tests(text)) {
        assert!(!line.contains(&climb), "{}:{number} climbs out of its module: {line}", relative.display());
    }
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
        let text = fs::read_to_string(&file).unwrap();
        assert_stays_inside(relative, &text);
        for used in modules_used(&text) {
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

/// Functions of the standard library whose last bits depend on the C library, the processor or the compiler.
const OTHER_BITS_ELSEWHERE: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "exp2",
    "exp_m1", "gamma", "hypot", "ln", "ln_1p", "log", "log10", "log2", "mul_add", "powf", "powi", "sin",
    "sin_cos", "sinh", "tan", "tanh",
];

/// Returns the first function of [`OTHER_BITS_ELSEWHERE`] that a line calls or names.
fn platform_function(line: &str) -> Option<&'static str> {
    let called = |name: &&&str| line.contains(&format!(".{name}("));
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let named = |name: &&&str| {
        let mut paths = ["Real", "f64", "f32"].into_iter().map(|scalar| format!("{scalar}::{name}"));
        paths.any(|path| line.match_indices(&path).any(|(at, _)| ends(&line[at + path.len()..])))
    };
    OTHER_BITS_ELSEWHERE.iter().find(|name| called(name) || named(name)).copied()
}

/// Checks that worlds, scenes, meshes and skins have the same bits on every machine: only `math::elementary`, which is
/// built on sums and products alone, computes elementary functions. Pictures and plots may differ.
#[test]
fn elementary_functions_are_the_engines_own() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = vec![crates.join("phyxel-cli/src/skins.rs")];
    for name in ["phyxel", "phyxel-io", "phyxel-skin"] {
        source_files(&crates.join(name).join("src"), &mut files);
    }
    let is_test = |file: &Path| {
        let name = file.file_stem().unwrap().to_str().unwrap();
        name.ends_with("tests") || name == "testing" || file.iter().any(|part| part == "tests")
    };
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !is_test(file.strip_prefix(crates).unwrap())) {
        let text = fs::read_to_string(file).unwrap();
        for (number, line) in code_lines(without_tests(&text)) {
            if let Some(name) = platform_function(line) {
                found.push(format!("{}:{number}: {name}", file.display()));
            }
        }
    }
    assert!(found.is_empty(), "use the functions of `phyxel::math` instead:\n{}", found.join("\n"));
}

#[test]
fn platform_functions_are_found() {
    for line in ["x.exp()", "(a + b).powi(2)", "v.map(Real::ln)", "f64::atan2(y, x)"] {
        assert!(platform_function(line).is_some(), "{line}");
    }
    for line in ["exp(x)", "x.expect(\"\")", "Real::lnx", "world.logged()", "x.sqrt()"] {
        assert!(platform_function(line).is_none(), "{line}");
    }
}

#[test]
fn methods_do_not_import_each_other() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/methods");
    let folders =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir());
    let names: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    // every folder is a method, but for the building blocks of explicit steps
    let methods: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != "explicit").collect();
    assert!(built_methods().all(|entry| methods.contains(&entry.key)), "each method has a folder");
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

/// Returns true if a file, given by its path below `crates`, belongs to a method: its sources, or its own tests in a
/// folder or a file of its name.
fn belongs_to(path: &Path, key: &str) -> bool {
    let is_named = path.iter().any(|part| part == key) || path.file_stem().is_some_and(|stem| stem == key);
    let is_source = path.starts_with("phyxel/src/methods");
    is_named && (is_source || path.iter().any(|part| part == "tests"))
}

/// Returns true if a line may name all methods: in the catalogue, and in the list of rows of the conformance tests.
fn may_name_all(path: &Path, line: &str) -> bool {
    path == Path::new("phyxel/src/methods/catalogue.rs")
        || (path == Path::new("phyxel/tests/conformance/main.rs") && line.contains("::ROW"))
}

/// Returns true if a line names a method: quoted, as a table of settings, or as a module.
fn names(line: &str, key: &str) -> bool {
    let quoted = [format!("\"{key}\""), format!("\"{key}\\\""), format!("'{key}'")];
    let inside = [format!("methods::{key}"), format!("methods.{key}")];
    let is_identifier = |c: char| c.is_alphanumeric() || c == '_';
    let mut modules = line.match_indices(key).filter(|(at, _)| line[at + key.len()..].starts_with("::"));
    quoted.iter().chain(&inside).any(|pattern| line.contains(pattern))
        || modules.any(|(at, _)| !line[..at].ends_with(is_identifier))
}

/// Checks that a method can be deleted with its folder, its line in the catalogue and its own tests: no other file of
/// the workspace names it.
#[test]
fn no_method_is_named_outside_its_folder() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    source_files(crates, &mut files);
    assert!(files.len() > 300, "{} files", files.len());
    let mut found = Vec::new();
    for file in &files {
        let path = file.strip_prefix(crates).unwrap();
        let text = fs::read_to_string(file).unwrap();
        for (number, line) in code_lines(&text).filter(|(_, line)| !may_name_all(path, line)) {
            for key in built_methods().map(|entry| entry.key) {
                if names(line, key) && !belongs_to(path, key) {
                    found.push(format!("{}:{number}: {key}", path.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "methods are named outside their folders:\n{}", found.join("\n"));
}

#[test]
fn names_of_methods_are_found() {
    let own = ["x == \"own\"", "\"a \\\"own\\\"\"", "'own'", "use methods::own", "[methods.own]", "(own::X)"];
    for line in own {
        assert!(names(line, "own"), "{line}");
    }
    for line in ["\"own_position\"", "--space=own", "its_own::x", "own(table)", "mod own;"] {
        assert!(!names(line, "own"), "{line}");
    }
}
