//! Validation of a parsed file against the schema, which collects every problem.

use super::file::ParseOptions;
use super::node::Node;
use super::presets::Base;
use super::problem::{MAX_PROBLEMS, Problem};
use super::schema::{Key, Kind, Presence, Rule, Table};
use super::section::{Entry, Section, Value};
use super::spans::{Spans, join};
use super::spelling::listed;
use super::values::long_name;
use std::collections::BTreeMap;
use std::ops::Range;
use toml_edit::TableLike;

/// Largest number of entries of an array of tables; each costs a kilobyte or more.
const MAX_ENTRIES: usize = 50_000;

/// State of the validation of one file.
pub(crate) struct Validator<'a> {
    pub(crate) options: &'a ParseOptions<'a>,
    pub(crate) problems: Vec<Problem>,
    /// Number of problems that are counted only, because there are so many.
    pub(crate) n_left_off: usize,
    pub(crate) spans: Spans,
}

/// Place of a value: its dotted path, its name in messages, and its bytes in the text.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
    /// True if the value is an entry of the array of that name.
    pub(crate) is_entry: bool,
    /// True if the value is in the file. Defaults are not, and leave no span.
    pub(crate) is_given: bool,
}

impl Place {
    pub(crate) fn root() -> Self {
        Self { path: String::new(), name: String::new(), span: 0..0, is_entry: false, is_given: true }
    }

    /// Returns the place of a key in the table at this place.
    pub(crate) fn key(&self, name: &str, span: Range<usize>) -> Self {
        let path = join(&self.path, name);
        Self { path, name: name.to_owned(), span, is_entry: false, is_given: self.is_given }
    }

    /// Returns the place of an entry of the array at this place.
    pub(crate) fn entry(&self, index: usize, span: Range<usize>) -> Self {
        let path = join(&self.path, index);
        Self { path, name: self.name.clone(), span, is_entry: true, is_given: self.is_given }
    }

    /// Returns the name of the value in messages.
    pub(crate) fn called(&self) -> String {
        if self.is_entry { format!("an entry of `{}`", self.name) } else { format!("`{}`", self.name) }
    }
}

/// Keys of a table that the file has, and keys that its misspelt keys probably mean.
struct Given {
    present: BTreeMap<&'static str, Range<usize>>,
    meant: Vec<&'static str>,
}

impl Given {
    fn has(&self, name: &str) -> bool {
        self.present.contains_key(name) || self.meant.contains(&name)
    }
}

impl<'a> Validator<'a> {
    pub(crate) fn new(options: &'a ParseOptions<'a>) -> Self {
        Self { options, problems: Vec::new(), n_left_off: 0, spans: Spans::default() }
    }

    pub(crate) fn report(&mut self, problem: Problem) {
        match self.has_enough_problems() {
            true => self.n_left_off += 1,
            false => self.problems.push(problem),
        }
    }

    pub(crate) fn has_enough_problems(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    fn n_problems(&self) -> usize {
        self.problems.len() + self.n_left_off
    }

    /// Checks all keys of a table. An absent key is taken from the base, if it has it, or is the schema's default.
    pub(crate) fn table(
        &mut self,
        table: &'static Table,
        source: &dyn TableLike,
        base: &Base,
        place: &Place,
    ) -> Section {
        let n_problems = self.n_problems();
        let named = Base::named(table, source);
        let base = named.as_ref().unwrap_or(base);
        let mut given = Given { present: BTreeMap::new(), meant: Vec::new() };
        let mut entries = BTreeMap::new();
        for (name, item) in source.iter() {
            let key_span = source.key(name).and_then(|key| key.span()).unwrap_or_else(|| place.span.clone());
            let Some(key) = table.key(name) else {
                given.meant.extend(self.unknown_key(table, name, key_span));
                continue;
            };
            let Some(node) = Node::of_item(item) else { continue };
            given.present.insert(key.name, key_span.clone());
            let span = item.span().unwrap_or(key_span);
            let inner = place.key(name, span.clone());
            if inner.is_given {
                self.spans.record(&inner.path, span.clone());
            }
            if let Some(value) = self.value(&key.kind, node, &base.inner(key.name), &inner) {
                entries.insert(key.name, Entry { span, is_given: place.is_given, value });
            }
        }
        // With a misspelt `based_on`, the keys that the preset would have provided are not reported as missing.
        let is_meant = |key: &&Key| matches!(key.kind, Kind::Preset) && given.meant.contains(&key.name);
        let base = if table.keys().any(|key| is_meant(&key)) { &Base::Unknown } else { base };
        for key in table.keys().filter(|key| !given.has(key.name)) {
            if let Some(entry) = self.absent_key(table, key, base, place) {
                entries.insert(key.name, entry);
            }
        }
        let mut section = Section { table, span: place.span.clone(), entries, is_whole: true };
        for rule in table.rules {
            self.rule(rule, &section, &given, place);
        }
        section.is_whole = self.n_problems() == n_problems;
        section
    }

    /// Returns the default of an absent key, or reports a problem if the key is required.
    fn absent_key(
        &mut self,
        table: &'static Table,
        key: &'static Key,
        base: &Base,
        place: &Place,
    ) -> Option<Entry> {
        let value = match (base.get(key.name), key.presence) {
            (Some(value), _) => value.clone(),
            // A test parses the defaults of all tables, so that a bad one cannot reach a user.
            (None, Presence::Default(text)) => text.parse().ok()?,
            (None, Presence::UnlessPreset) if matches!(base, Base::Unknown) => return None,
            (None, Presence::Required | Presence::UnlessPreset) => {
                self.report(missing(table, key, place));
                return None;
            }
            (None, Presence::Optional(_) | Presence::ByRule) => return None,
        };
        let mut inner = place.key(key.name, place.span.clone());
        inner.is_given = false;
        let value = self.value(&key.kind, Node::of_value(&value), &Base::Nothing, &inner)?;
        Some(Entry { span: place.span.clone(), is_given: false, value })
    }

    fn rule(&mut self, rule: &Rule, section: &Section, given: &Given, place: &Place) {
        match rule {
            Rule::OneOf(alternatives) => self.one_of(alternatives, section.table, given, place),
            Rule::Ordered(smaller, larger, or_equal) => self.ordered(section, smaller, larger, *or_equal),
        }
    }

    fn one_of(
        &mut self,
        alternatives: &'static [&'static [&'static str]],
        table: &'static Table,
        given: &Given,
        place: &Place,
    ) {
        let begun: Vec<_> =
            alternatives.iter().filter(|set| set.iter().any(|name| given.has(name))).collect();
        match begun.as_slice() {
            [] => {
                let firsts = || alternatives.iter().filter_map(|set| set.first().copied());
                let message = format!("{} needs {}", called(table, place), listed(firsts(), "or"));
                let problem = Problem::new(place.span.clone(), message);
                let example = firsts().find_map(|name| table.key(name));
                self.report(match example {
                    Some(key) => {
                        problem.with_help(format!("for example `{} = {}`", key.name, key.kind.example()))
                    }
                    None => problem,
                });
            }
            [set] => {
                for name in set.iter().filter(|name| !given.has(name)) {
                    if let Some(key) = table.key(name) {
                        self.report(missing(table, key, place));
                    }
                }
            }
            [first, others @ ..] => {
                let first = first.iter().find(|name| given.has(name)).copied().unwrap_or_default();
                for name in others.iter().flat_map(|set| set.iter()) {
                    if let Some(span) = given.present.get(name) {
                        let message = format!("`{name}` and `{first}` exclude each other");
                        self.report(Problem::new(span.clone(), message).with_help("keep one of the two"));
                    }
                }
            }
        }
    }

    fn ordered(&mut self, section: &Section, smaller: &'static str, larger: &'static str, or_equal: bool) {
        let holds = |low: f64, high: f64| low < high || (or_equal && low == high);
        let is_right = match (section.vector(smaller), section.vector(larger)) {
            (Ok(low), Ok(high)) => (0..3).all(|axis| holds(low[axis], high[axis])),
            _ => match (section.number(smaller), section.number(larger)) {
                (Ok(low), Ok(high)) => holds(low, high),
                _ => true,
            },
        };
        if !is_right {
            // Reports a value that is in the file, not a default.
            let is_given = section.entries.get(smaller).is_some_and(|entry| entry.is_given);
            let blamed = if is_given { smaller } else { larger };
            let than = if or_equal { "at most" } else { "less than" };
            let by_components = if section.vector(smaller).is_ok() { ", in every component" } else { "" };
            let message = format!("`{smaller}` must be {than} `{larger}`{by_components}");
            self.report(Problem::new(section.span_of(blamed), message));
        }
    }

    /// Checks a value that is a table or an array of tables, and passes other values to `scalar`.
    pub(crate) fn value(&mut self, kind: &Kind, node: Node<'_>, base: &Base, place: &Place) -> Option<Value> {
        let kind = &kind.resolved();
        match (kind, node) {
            (Kind::Table(table) | Kind::QuantityOrTable(_, table), Node::Table(source)) => {
                Some(Value::Section(self.table(table, source, base, place)))
            }
            (Kind::QuantityOrTable(quantity, _), node) => self.quantity(kind, quantity, node, place),
            (Kind::Tables(table, min), node) => self.tables(kind, table, *min, node, place),
            (Kind::NamedTables(table, min), Node::Table(source)) => {
                self.named_tables(table, *min, source, place)
            }
            (Kind::Table(_) | Kind::NamedTables(..), node) => self.wrong_type(kind, node, place),
            (_, node) => self.scalar(kind, node, place),
        }
    }

    fn tables(
        &mut self,
        kind: &Kind,
        table: &'static Table,
        min: usize,
        node: Node<'_>,
        place: &Place,
    ) -> Option<Value> {
        let Some(elements) = node.elements(&place.span) else {
            return self.wrong_type(kind, node, place);
        };
        if elements.len() < min {
            self.report(Problem::new(place.span.clone(), format!("`{}` is empty", place.name)));
            return None;
        }
        if elements.len() > MAX_ENTRIES {
            let message = format!("`{}` has {} entries, at most {MAX_ENTRIES}", place.name, elements.len());
            self.report(Problem::new(place.span.clone(), message));
            return None;
        }
        let mut sections = Vec::with_capacity(elements.len());
        for (index, (element, span)) in elements.into_iter().enumerate() {
            let inner = place.entry(index, span);
            let Node::Table(source) = element else {
                self.wrong_type(&Kind::Table(table), element, &inner);
                continue;
            };
            if inner.is_given {
                self.spans.record(&inner.path, inner.span.clone());
            }
            sections.push(self.table(table, source, &Base::Nothing, &inner));
        }
        Some(Value::Sections(sections))
    }

    fn named_tables(
        &mut self,
        table: &'static Table,
        min: usize,
        source: &dyn TableLike,
        place: &Place,
    ) -> Option<Value> {
        if source.len() < min {
            self.report(Problem::new(place.span.clone(), format!("`{}` is empty", place.name)));
            return None;
        }
        let mut named = Vec::with_capacity(source.len());
        for (name, item) in source.iter() {
            let key_span = source.key(name).and_then(|key| key.span()).unwrap_or_else(|| place.span.clone());
            if name.trim().is_empty() {
                self.report(Problem::new(key_span.clone(), format!("empty name in `{}`", place.name)));
            } else if let Some(problem) = long_name(name, "the name", &key_span) {
                self.report(problem);
            }
            // The name itself is the best place for reports about missing keys of the table.
            let inner = place.key(name, key_span);
            self.spans.record(&inner.path, inner.span.clone());
            match Node::of_item(item) {
                Some(Node::Table(source)) => {
                    named.push((name.to_owned(), self.table(table, source, &Base::Nothing, &inner)));
                }
                Some(node) => {
                    self.wrong_type(&Kind::Table(table), node, &inner);
                    // The name is still known: references to it are not reported.
                    let empty =
                        Section { table, span: inner.span, entries: BTreeMap::new(), is_whole: false };
                    named.push((name.to_owned(), empty));
                }
                None => {}
            }
        }
        Some(Value::Named(named))
    }

    /// Reports a value whose type the key does not accept.
    pub(crate) fn wrong_type(&mut self, kind: &Kind, node: Node<'_>, place: &Place) -> Option<Value> {
        let message = format!("{} must be {}, found {}", place.called(), kind.expectation(), node.describe());
        let problem = Problem::new(place.span.clone(), message);
        let example = kind.example();
        self.report(match (example.is_empty(), place.is_entry) {
            (true, _) => problem,
            (false, true) => problem.with_help(format!("for example `{example}`")),
            (false, false) => problem.with_help(format!("for example `{} = {example}`", place.name)),
        });
        None
    }
}

/// Returns the name of a table in messages.
fn called(table: &Table, place: &Place) -> String {
    if place.path.is_empty() {
        "the scene".to_owned()
    } else if place.is_entry && table.heading.starts_with("[[") {
        table.heading.to_owned()
    } else {
        place.called()
    }
}

fn missing(table: &Table, key: &Key, place: &Place) -> Problem {
    let message = format!("missing key `{}` in {}", key.name, called(table, place));
    let example = key.kind.example();
    let help = match (key.kind, example.as_str()) {
        (Kind::NamedTables(inner, _) | Kind::Tables(inner, _), _) => format!("add {}", inner.heading),
        (_, "") => key.doc.to_owned(),
        (_, example) => format!("for example `{} = {example}`", key.name),
    };
    Problem::new(place.span.clone(), message).with_help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::schema::all_tables;

    #[test]
    fn defaults_of_all_tables_satisfy_their_own_kinds() {
        let options = ParseOptions::default();
        let mut n_defaults = 0;
        for key in all_tables().into_iter().flat_map(|table| table.keys()) {
            if let Presence::Default(text) = key.presence {
                let mut validator = Validator::new(&options);
                let value: toml_edit::Value = text.parse().unwrap_or_else(|_| panic!("{}: {text}", key.name));
                let mut place = Place::root();
                place.is_given = false;
                let value = validator.value(&key.kind, Node::of_value(&value), &Base::Nothing, &place);
                assert!(value.is_some() && validator.problems.is_empty(), "{}: {text}", key.name);
                assert_eq!(validator.spans, Spans::default(), "a default leaves no span");
                n_defaults += 1;
            }
        }
        assert!(n_defaults > 20);
    }
}
