//! The scene format as data: a list of keys for each scene table.
//!
//! All code that depends on the format reads these tables: the validator, the JSON Schema and the scene reference in
//! the documentation. A new key needs one entry here and one line where the description is built from it.

mod events;
mod json;
mod markdown;
mod materials;
mod methods;
mod shapes;
mod tables;
mod varying;

pub use json::json_schema;
pub use markdown::reference_markdown;
pub(crate) use methods::method_tables;
pub(crate) use shapes::SHAPE_KEYS;
pub use tables::ROOT;

use super::spelling::listed;
use super::units::Dimension;
use phyxel::material::PRESETS;
pub use phyxel::math::Range;
use phyxel::methods::CATALOGUE;

/// A table of the scene file and the keys that it may hold.
#[derive(Debug)]
pub struct Table {
    /// Identifier, unique among all tables; it names the definition in the JSON Schema.
    pub name: &'static str,
    /// Notation of the table in a scene: `[materials.NAME]`.
    pub heading: &'static str,
    /// Purpose of the table.
    pub doc: &'static str,
    /// Groups of keys; several tables share groups such as the placement of a shape.
    pub groups: &'static [&'static [Key]],
    /// Conditions between keys.
    pub rules: &'static [Rule],
    /// Keys that are planned for a later version and refused until then.
    pub later: &'static [&'static str],
}

impl Table {
    /// Returns all keys in the order of the documentation.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// Returns the key with a given name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }
}

/// One key of a table.
#[derive(Debug)]
pub struct Key {
    /// Name of the key in scenes.
    pub name: &'static str,
    /// Kind of values that the key accepts.
    pub kind: Kind,
    /// Behaviour if the key is absent.
    pub presence: Presence,
    /// Description for users, one sentence.
    pub doc: &'static str,
}

/// Creates a key. The order of the arguments makes the tables easy to read.
const fn key(name: &'static str, kind: Kind, presence: Presence, doc: &'static str) -> Key {
    Key { name, kind, presence, doc }
}

/// Behaviour if a key is absent.
#[derive(Clone, Copy, Debug)]
pub enum Presence {
    /// The scene is refused.
    Required,
    /// This value, written as TOML, is used.
    Default(&'static str),
    /// No value is used; the text explains what that means.
    Optional(&'static str),
    /// A rule of the table decides whether the key is needed.
    ByRule,
    /// The scene is refused unless the material is based on a preset that has the key.
    UnlessPreset,
}

/// Kind of values that a key accepts.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A number in SI or a string with a unit.
    Quantity(Quantity),
    /// A quantity, or one word that selects a special behaviour.
    QuantityOrWord(Quantity, &'static str),
    /// A quantity, or a table that describes how it varies in space.
    QuantityOrTable(Quantity, &'static Table),
    /// A whole number between two limits, both included.
    Integer(i64, i64),
    /// true or false.
    Boolean,
    /// Any text that is not empty.
    Text,
    /// A name that can be used in a file name and in the head of a CSV column.
    Name,
    /// One word of a list, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
    /// Names of particle columns, without repetition.
    Columns,
    /// A non-empty subset of the letters x, y and z.
    Axes,
    /// The key of an implemented method of the catalogue.
    Method,
    /// The name of a material preset of the engine.
    Preset,
    /// The name of something that the scene defines elsewhere.
    Reference(Referent),
    /// Three quantities.
    Vector(Dimension, VectorRule),
    /// Three rows of three quantities.
    Matrix(Dimension),
    /// A table.
    Table(&'static Table),
    /// A kind that is computed from tables of the engine, see [`Kind::resolved`].
    Derived(fn() -> Kind),
    /// An array of tables, with the smallest number of entries.
    Tables(&'static Table, usize),
    /// A table of tables whose keys are names given by the user, with the smallest number of entries.
    NamedTables(&'static Table, usize),
}

impl Kind {
    /// Returns the kind itself, or the computed kind if it is derived.
    pub fn resolved(self) -> Self {
        match self {
            Self::Derived(derive) => derive(),
            other => other,
        }
    }
}

/// A physical quantity and its allowed values.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Dimension of the quantity.
    pub dimension: Dimension,
    /// Allowed values in SI units.
    pub range: Range,
}

/// Stores a table, or a part of one, for the rest of the program's run; each is created once.
fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Creates a [`Quantity`].
const fn quantity(dimension: Dimension, range: Range) -> Quantity {
    Quantity { dimension, range }
}

/// Condition on the components of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorRule {
    /// Any finite numbers.
    Any,
    /// All greater than zero.
    Positive,
    /// Not all zero: the vector is a direction and its length does not matter.
    Direction,
}

/// Kind of object that a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referent {
    /// A table of `[materials]`.
    Material,
    /// An entry of `[[bodies]]`.
    Body,
}

/// A condition between keys of one table.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Exactly one of these sets of keys is given, and it is complete.
    OneOf(&'static [&'static [&'static str]]),
    /// The value of the first key is smaller than that of the second, or equal if the flag is true; vectors are
    /// compared by components.
    Ordered(&'static str, &'static str, bool),
}

impl Rule {
    /// Returns the rule as a sentence of the documentation.
    fn describe(&self) -> String {
        match self {
            Self::OneOf(alternatives) if alternatives.iter().all(|set| set.len() == 1) => {
                format!(
                    "Exactly one of {} is given.",
                    listed(alternatives.iter().flat_map(|set| set.iter().copied()), "and")
                )
            }
            Self::OneOf(alternatives) => {
                let sets = alternatives.iter().map(|set| listed(set.iter().copied(), "and"));
                format!("Given is either {}.", sets.collect::<Vec<_>>().join(", or "))
            }
            Self::Ordered(smaller, larger, or_equal) => {
                let than = if *or_equal { "at most" } else { "less than" };
                format!("`{smaller}` is {than} `{larger}`.")
            }
        }
    }
}

impl Kind {
    /// Returns the table that values of this kind are, or may be.
    fn inner_table(&self) -> Option<&'static Table> {
        match self.resolved() {
            Self::Table(table) | Self::Tables(table, _) => Some(table),
            Self::NamedTables(table, _) | Self::QuantityOrTable(_, table) => Some(table),
            _ => None,
        }
    }

    /// Returns a description of the expected value with its article, as it follows "must be" or "expected".
    pub(crate) fn expectation(&self) -> String {
        match self {
            Self::Quantity(quantity) => quantity.dimension.describe(),
            Self::QuantityOrWord(quantity, word) => {
                format!("{} or \"{word}\"", quantity.dimension.describe())
            }
            Self::QuantityOrTable(quantity, _) => format!("{} or a table", quantity.dimension.describe()),
            Self::Integer(..) => "a whole number".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::Text | Self::Name | Self::Axes | Self::Method | Self::Preset | Self::Reference(_) => {
                "a string".to_owned()
            }
            Self::Choice(choices) => {
                let words: Vec<String> = choices.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                words.join(" or ")
            }
            Self::Columns => "an array of column names".to_owned(),
            Self::Vector(Dimension::NONE, _) => "an array of three numbers".to_owned(),
            Self::Vector(dimension, _) => {
                format!("an array of three numbers, each {}", dimension.describe())
            }
            Self::Matrix(_) => "an array of three rows of three numbers".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            Self::Tables(..) => "an array of tables".to_owned(),
            Self::Derived(derive) => derive().expectation(),
            Self::NamedTables(..) => "a table of named tables".to_owned(),
        }
    }

    /// Returns an example of a value after the equals sign; empty if a table has no short example.
    pub(crate) fn example(&self) -> String {
        let value = |quantity: &Quantity| match quantity.dimension {
            Dimension::NONE => "0.3".to_owned(),
            dimension => format!("\"{}\"", dimension.example()),
        };
        match self {
            Self::Quantity(quantity) | Self::QuantityOrWord(quantity, _) => value(quantity),
            Self::QuantityOrTable(quantity, _) => value(quantity),
            Self::Integer(min, max) => 10.clamp(*min, *max).to_string(),
            Self::Boolean => "true".to_owned(),
            Self::Text | Self::Name | Self::Reference(_) => "\"bar\"".to_owned(),
            Self::Method => {
                CATALOGUE.first().map_or_else(String::new, |method| format!("\"{}\"", method.key))
            }
            Self::Axes => "\"xz\"".to_owned(),
            Self::Preset => PRESETS.first().map_or_else(String::new, |preset| format!("\"{}\"", preset.name)),
            Self::Choice(choices) => {
                choices.first().map_or_else(String::new, |(word, _)| format!("\"{word}\""))
            }
            Self::Columns => "[\"velocity\"]".to_owned(),
            Self::Vector(Dimension::LENGTH, _) => "[1, 0.5, \"25 cm\"]".to_owned(),
            Self::Vector(..) => "[0, 1, 0]".to_owned(),
            Self::Matrix(_) => "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]".to_owned(),
            Self::Table(_) => "{ ... }".to_owned(),
            Self::Tables(..) => "[{ ... }, { ... }]".to_owned(),
            Self::Derived(derive) => derive().example(),
            Self::NamedTables(..) => String::new(),
        }
    }
}

/// Returns every table that can be reached from the root, each once, those nearest to the root first.
pub fn all_tables() -> Vec<&'static Table> {
    let mut tables: Vec<&'static Table> = vec![&ROOT];
    let mut next = 0;
    while let Some(table) = tables.get(next) {
        for key in table.keys() {
            if let Some(inner) = key.kind.inner_table()
                && !tables.iter().any(|other| std::ptr::eq(*other, inner))
            {
                tables.push(inner);
            }
        }
        next += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_and_describe_their_limits() {
        let unit = Range { min: Some((0.0, false)), max: Some((1.0, true)) };
        assert!(unit.contains(1.0) && !unit.contains(0.0) && !unit.contains(1.1));
        assert!(!Range::ANY.contains(f64::NAN) && !Range::ANY.contains(f64::INFINITY));
        assert_eq!(unit.describe(), "greater than 0 and at most 1");
        assert_eq!(Range::NON_NEGATIVE.describe(), "at least 0");
    }

    #[test]
    fn names_are_unique_and_every_key_is_documented() {
        let tables = all_tables();
        for (index, table) in tables.iter().enumerate() {
            assert!(tables[..index].iter().all(|other| other.name != table.name), "{}", table.name);
            assert!(table.doc.ends_with('.'), "{}", table.name);
            let keys: Vec<&Key> = table.keys().collect();
            for (position, key) in keys.iter().enumerate() {
                assert!(keys[..position].iter().all(|other| other.name != key.name), "{}", key.name);
                assert!(key.doc.ends_with('.') && key.doc.len() > 15, "{}.{}", table.name, key.name);
            }
            for rule in table.rules {
                let names: Vec<&str> = match rule {
                    Rule::OneOf(alternatives) => {
                        alternatives.iter().flat_map(|set| set.iter().copied()).collect()
                    }
                    Rule::Ordered(smaller, larger, _) => vec![smaller, larger],
                };
                assert!(names.iter().all(|name| table.key(name).is_some()), "{}: {names:?}", table.name);
            }
        }
    }
}
