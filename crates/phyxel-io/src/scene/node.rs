//! Common view of the different notations of TOML: a table may be a header, dotted keys or inline, and an array of
//! tables may be headers or inline.

use std::ops::Range;
use toml_edit::{ArrayOfTables, Item, TableLike, Value};

/// A value, table or array of tables in the parsed file.
#[derive(Clone, Copy)]
pub(crate) enum Node<'a> {
    Table(&'a dyn TableLike),
    Tables(&'a ArrayOfTables),
    Value(&'a Value),
}

impl<'a> Node<'a> {
    /// Returns the node of an item; `None` for a removed item, which a parsed file never has.
    pub(crate) fn of_item(item: &'a Item) -> Option<Self> {
        match item {
            Item::None => None,
            Item::Value(value) => Some(Self::of_value(value)),
            Item::Table(table) => Some(Self::Table(table)),
            Item::ArrayOfTables(tables) => Some(Self::Tables(tables)),
        }
    }

    pub(crate) fn of_value(value: &'a Value) -> Self {
        match value {
            Value::InlineTable(table) => Self::Table(table),
            other => Self::Value(other),
        }
    }

    /// Returns the type of the node with its article.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Table(_) => "a table",
            Self::Tables(_) => "an array of tables",
            Self::Value(Value::String(_)) => "a string",
            Self::Value(Value::Integer(_)) => "an integer",
            Self::Value(Value::Float(_)) => "a float",
            Self::Value(Value::Boolean(_)) => "a boolean",
            Self::Value(Value::Datetime(_)) => "a date or time",
            Self::Value(Value::Array(_)) => "an array",
            Self::Value(Value::InlineTable(_)) => "a table",
        }
    }

    /// Returns the elements with their places if this is an array.
    pub(crate) fn elements(&self, fallback: &Range<usize>) -> Option<Vec<(Node<'a>, Range<usize>)>> {
        let place = |span: Option<Range<usize>>| span.unwrap_or_else(|| fallback.clone());
        match self {
            Self::Tables(tables) => {
                Some(tables.iter().map(|table| (Node::Table(table), place(table.span()))).collect())
            }
            Self::Value(Value::Array(array)) => {
                Some(array.iter().map(|value| (Node::of_value(value), place(value.span()))).collect())
            }
            _ => None,
        }
    }
}
