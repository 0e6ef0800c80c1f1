//! A scene table after validation: typed values in SI under the keys of its schema.

use super::schema::Table;
use phyxel::math::{Mat3, Vec3};
use std::collections::BTreeMap;
use std::ops::Range;

/// A value that satisfies the kind of its key.
#[derive(Debug)]
pub(crate) enum Value {
    Number(f64),
    Integer(i64),
    Boolean(bool),
    Text(String),
    Texts(Vec<String>),
    Vector(Vec3),
    Matrix(Mat3),
    Section(Section),
    Sections(Vec<Section>),
    Named(Vec<(String, Section)>),
}

/// A value and its place in the file.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) span: Range<usize>,
    /// True if the value stands in the file; false for a default.
    pub(crate) is_given: bool,
    pub(crate) value: Value,
}

/// The valid entries of one table. A key with a problem is absent.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) table: &'static Table,
    /// Place of the table's heading in the file.
    pub(crate) span: Range<usize>,
    pub(crate) entries: BTreeMap<&'static str, Entry>,
    /// True if the table has no problem of its own: absent keys are then really absent in the file.
    pub(crate) is_whole: bool,
}

/// Error: the section lacks a value that the schema guarantees, so the schema and its reader disagree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) table: &'static str,
    pub(crate) key: &'static str,
}

macro_rules! getters {
    ($($name:ident: $variant:ident($type:ty);)*) => {
        $(
            pub(crate) fn $name(&self, key: &'static str) -> Result<&$type, Gap> {
                match self.entries.get(key) {
                    Some(Entry { value: Value::$variant(value), .. }) => Ok(value),
                    _ => Err(self.gap(key)),
                }
            }
        )*
    };
}

impl Section {
    getters! {
        number_ref: Number(f64);
        integer_ref: Integer(i64);
        boolean_ref: Boolean(bool);
        text: Text(String);
        texts: Texts(Vec<String>);
        vector_ref: Vector(Vec3);
        matrix_ref: Matrix(Mat3);
        section: Section(Section);
        sections: Sections(Vec<Section>);
        named: Named(Vec<(String, Section)>);
    }

    pub(crate) fn gap(&self, key: &'static str) -> Gap {
        Gap { table: self.table.name, key }
    }

    pub(crate) fn number(&self, key: &'static str) -> Result<f64, Gap> {
        self.number_ref(key).copied()
    }

    pub(crate) fn integer<T: TryFrom<i64>>(&self, key: &'static str) -> Result<T, Gap> {
        T::try_from(*self.integer_ref(key)?).map_err(|_| self.gap(key))
    }

    pub(crate) fn boolean(&self, key: &'static str) -> Result<bool, Gap> {
        self.boolean_ref(key).copied()
    }

    pub(crate) fn vector(&self, key: &'static str) -> Result<Vec3, Gap> {
        self.vector_ref(key).copied()
    }

    pub(crate) fn matrix(&self, key: &'static str) -> Result<Mat3, Gap> {
        self.matrix_ref(key).copied()
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Returns the place of a key's value, or the table's heading if it is not in the file.
    pub(crate) fn span_of(&self, key: &str) -> Range<usize> {
        self.entries.get(key).map_or(&self.span, |entry| &entry.span).clone()
    }

    /// Returns the number of entries in arrays of tables below this table, at any depth.
    pub(crate) fn n_inner(&self) -> usize {
        let below = |value: &Value| match value {
            Value::Section(section) => section.n_inner(),
            Value::Sections(sections) => sections.iter().map(|section| 1 + section.n_inner()).sum(),
            _ => 0,
        };
        self.entries.values().map(|entry| below(&entry.value)).sum()
    }

    /// Returns the tables under a key; an empty slice if the key is absent or has a problem.
    pub(crate) fn sections_or_none(&self, key: &'static str) -> &[Section] {
        self.sections(key).map_or(&[], Vec::as_slice)
    }
}
