//! Changes to a scene from the command line: `--set materials.clay.youngs_modulus="2 MPa"`.
//!
//! The text is edited, not the description, so that the changed scene passes the same validation and can be stored with
//! the results, including its comments.

use super::problem::{Problem, SceneError};
use super::spelling::{listed, nearest};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};

/// Name under which problems with an override are reported.
const SOURCE_NAME: &str = "--set";

/// Applies overrides in order and returns the changed text.
///
/// A key is a dotted path; entries of arrays are given by name or by number from 0: `bodies.bar.spacing`,
/// `bodies.0.spacing`, `gravity.1`. Missing tables on the path are created. A value is TOML if it parses as such, else
/// a string; an empty value removes the key.
pub fn apply_overrides(
    text: &str,
    source_name: &str,
    overrides: &[(String, String)],
) -> Result<String, SceneError> {
    if overrides.is_empty() {
        return Ok(text.to_owned());
    }
    let mut document = parse(text, source_name)?;
    let mut problems = Vec::new();
    for (key, value) in overrides {
        if let Err(error) = apply(&mut document, key, value) {
            problems.push((format!("{key}={value}"), error));
        }
    }
    if problems.is_empty() { Ok(document.to_string()) } else { Err(joined(problems)) }
}

/// Returns the text of a scene with one method for all bodies, and the names of the bodies that had their own.
pub fn with_method(text: &str, source_name: &str, method: &str) -> Result<(String, Vec<String>), SceneError> {
    let mut document = parse(text, source_name)?;
    let mut named = Vec::new();
    let mut change = |body: &mut dyn TableLike| {
        if let Some(Item::Value(own)) = body.get_mut("method") {
            // replaces it in place, so that every line of the scene keeps its number
            replace(own, method.into());
            named.push(name_of(body).unwrap_or_default());
        }
    };
    match document.get_mut("bodies") {
        Some(Item::ArrayOfTables(bodies)) => bodies.iter_mut().for_each(|body| change(body)),
        Some(Item::Value(Value::Array(bodies))) => {
            bodies.iter_mut().filter_map(Value::as_inline_table_mut).for_each(|body| change(body));
        }
        // no bodies, or not a table: the validator reports it
        _ => {}
    }
    match document.get_mut("method") {
        Some(Item::Value(own)) => replace(own, method.into()),
        _ => drop(document.insert("method", Item::Value(method.into()))),
    }
    Ok((document.to_string(), named))
}

pub(super) fn parse(text: &str, source_name: &str) -> Result<DocumentMut, SceneError> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let message = format!("not valid TOML: {}", error.message());
        SceneError::new(source_name, text, vec![Problem::new(error.span().unwrap_or(0..0), message)])
    })
}

/// Returns one error for all bad overrides, each on a line of its own.
fn joined(problems: Vec<(String, Problem)>) -> SceneError {
    let mut text = String::new();
    let mut moved = Vec::with_capacity(problems.len());
    for (line, mut problem) in problems {
        let start = text.len();
        problem.span = start + problem.span.start..start + problem.span.end;
        moved.push(problem);
        // A line break in an override would change the count of lines.
        text.push_str(&line.replace(['\n', '\r'], " "));
        text.push('\n');
    }
    SceneError::new(SOURCE_NAME, text, moved)
}

/// Problem at one segment of a path.
struct Fault {
    /// Number of segments from the bad one to the end of the path.
    n_left: usize,
    message: String,
    help: Option<String>,
}

impl Fault {
    fn new(path: &[Key], message: String, help: Option<String>) -> Self {
        Self { n_left: path.len(), message, help }
    }
}

/// New value, or `None` to remove the key.
type Change = Option<Value>;

fn apply(document: &mut DocumentMut, key: &str, value: &str) -> Result<(), Problem> {
    let whole = 0..key.len();
    let path = Key::parse(key).map_err(|error| {
        let message = format!("bad key in the override `{key}={value}`: {}", error.message());
        Problem::new(whole.clone(), message).with_help("write dotted keys such as `materials.clay.density`")
    })?;
    let change: Change = match value.trim() {
        "" => None,
        trimmed => Some(trimmed.parse().unwrap_or_else(|_| Value::from(value))),
    };
    let change = change.map(|value| value.decorated(" ", ""));
    set_in_table(document.as_table_mut(), &path, change).map_err(|fault| {
        let at = path.len().saturating_sub(fault.n_left);
        let message = format!("bad override `{key}={value}`: {}", fault.message);
        Problem { span: segment_span(key, &path, at), message, help: fault.help }
    })
}

/// Returns the bytes of a segment in the text of its path; the whole path if it is written in an unusual way.
fn segment_span(text: &str, path: &[Key], index: usize) -> std::ops::Range<usize> {
    let mut start = 0;
    for (position, key) in path.iter().enumerate() {
        let Some(found) = text[start..].find(key.get()) else { break };
        let end = start + found + key.get().len();
        if position == index {
            return start + found..end;
        }
        start = end;
    }
    0..text.len()
}

fn set_in_table(table: &mut dyn TableLike, path: &[Key], change: Change) -> Result<(), Fault> {
    let Some((key, rest)) = path.split_first() else {
        return Err(Fault::new(path, "the key is empty".to_owned(), None));
    };
    let name = key.get();
    if rest.is_empty() {
        return set_key(table, path, name, change);
    }
    if !table.contains_key(name) {
        if change.is_none() {
            return Err(not_there(path, table));
        }
        // Dotted, so that the new key is written among the lines of its table, wherever that table is.
        let mut made = Table::new();
        made.set_implicit(true);
        made.set_dotted(true);
        table.insert(name, Item::Table(made));
    }
    match table.get_mut(name) {
        Some(item) => set_in_item(item, path, change),
        None => Err(not_there(path, table)),
    }
}

fn not_there(path: &[Key], table: &dyn TableLike) -> Fault {
    let name = path.first().map_or("", |key| key.get());
    let near = nearest(name, table.iter().map(|(known, _)| known));
    let help = near.map(|near| format!("did you mean `{near}`?"));
    Fault::new(path, format!("there is no `{name}` to remove"), help)
}

fn set_key(table: &mut dyn TableLike, path: &[Key], name: &str, change: Change) -> Result<(), Fault> {
    match (change, table.get_mut(name)) {
        (Some(new), Some(Item::Value(old))) => replace(old, new),
        (Some(new), _) => {
            table.insert(name, Item::Value(new));
        }
        (None, Some(_)) => {
            table.remove(name);
        }
        (None, None) => return Err(not_there(path, table)),
    }
    Ok(())
}

/// Replaces a value and keeps the blanks and comments around it.
pub(super) fn replace(old: &mut Value, mut new: Value) {
    *new.decor_mut() = old.decor().clone();
    *old = new;
}

/// Sets the value below `path[0]`, whose item is given.
fn set_in_item(item: &mut Item, path: &[Key], change: Change) -> Result<(), Fault> {
    match item {
        Item::Table(table) => set_in_table(table, &path[1..], change),
        Item::ArrayOfTables(tables) => set_in_tables(tables, path, change),
        Item::Value(value) => set_in_value(value, path, change),
        Item::None => Err(Fault::new(path, "there is nothing".to_owned(), None)),
    }
}

/// Sets the value below `path[0]`, whose value is given.
fn set_in_value(value: &mut Value, path: &[Key], change: Change) -> Result<(), Fault> {
    match value {
        Value::InlineTable(table) => set_in_inline_table(table, &path[1..], change),
        Value::Array(array) => set_in_array(array, path, change),
        other => {
            let name = path.first().map_or("", |key| key.get());
            let message = format!("`{name}` is a {} and has no keys", other.type_name());
            Err(Fault::new(path, message, None))
        }
    }
}

fn set_in_inline_table(table: &mut InlineTable, path: &[Key], change: Change) -> Result<(), Fault> {
    // Inside braces, a missing table is also created with braces.
    if let [key, _, ..] = path
        && !table.contains_key(key.get())
        && change.is_some()
    {
        table.insert(key.get(), Value::InlineTable(InlineTable::new()).decorated(" ", ""));
    }
    let result = set_in_table(table, path, change);
    if result.is_ok() {
        table.fmt();
    }
    result
}

fn set_in_tables(tables: &mut ArrayOfTables, path: &[Key], change: Change) -> Result<(), Fault> {
    let names: Vec<Option<String>> = tables.iter().map(|table| name_of(table)).collect();
    let index = find_entry(path, &names)?;
    let below = &path[2..];
    match (below.is_empty(), change) {
        (true, None) => {
            tables.remove(index);
            Ok(())
        }
        (true, Some(_)) => Err(whole_entry(path)),
        (false, change) => match tables.get_mut(index) {
            Some(table) => set_in_table(table, below, change),
            None => Err(whole_entry(path)),
        },
    }
}

fn set_in_array(array: &mut Array, path: &[Key], change: Change) -> Result<(), Fault> {
    let names: Vec<Option<String>> =
        array.iter().map(|value| value.as_inline_table().and_then(|table| name_of(table))).collect();
    let index = find_entry(path, &names)?;
    match (array.get_mut(index), change) {
        (Some(value), change) if path.len() > 2 => set_in_value(value, &path[1..], change),
        (Some(value), Some(new)) => {
            replace(value, new);
            Ok(())
        }
        (Some(_), None) => {
            array.remove(index);
            Ok(())
        }
        (None, _) => Err(whole_entry(path)),
    }
}

fn whole_entry(path: &[Key]) -> Fault {
    let help = "set the keys of the entry one by one".to_owned();
    Fault::new(&path[1..], "a whole table cannot be replaced".to_owned(), Some(help))
}

fn name_of(table: &dyn TableLike) -> Option<String> {
    table.get("name").and_then(Item::as_str).map(str::to_owned)
}

/// Returns the number of the entry that `path[1]` refers to in the array `path[0]`, by name, else by number.
fn find_entry(path: &[Key], names: &[Option<String>]) -> Result<usize, Fault> {
    let list = path.first().map_or("", |key| key.get());
    let Some(wanted) = path.get(1).map(Key::get) else {
        return Err(Fault::new(path, format!("`{list}` is an array"), None));
    };
    if let Some(index) = names.iter().position(|name| name.as_deref() == Some(wanted)) {
        return Ok(index);
    }
    if let Some(index) = wanted.parse::<usize>().ok().filter(|index| *index < names.len()) {
        return Ok(index);
    }
    let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    let help = match (nearest(wanted, known.iter().copied()), names.len()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, 0) => format!("`{list}` is empty"),
        (None, n_entries) if known.is_empty() => format!("give a number from 0 to {}", n_entries - 1),
        (None, n_entries) => {
            format!("there is {}, or a number from 0 to {}", listed(known, "and"), n_entries - 1)
        }
    };
    Err(Fault::new(&path[1..], format!("`{list}` has no entry `{wanted}`"), Some(help)))
}
