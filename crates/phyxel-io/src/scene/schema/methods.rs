//! Schema of the method settings `[methods.NAME]`: each method of the engine lists its own, and the tables follow from
//! the catalogue.

use super::{Key, Kind, Presence, Quantity, Table, leaked};
use crate::scene::units::Dimension;
use phyxel::methods::{CATALOGUE, Entry, MethodFactory, SettingInfo, SettingKind, SettingValue};
use std::sync::LazyLock;

/// Returns the table `[methods]`, with a table for each implemented method.
pub(crate) fn method_tables() -> &'static Table {
    static TABLE: LazyLock<&'static Table> = LazyLock::new(|| {
        let keys: Vec<Key> = CATALOGUE.iter().filter_map(method_key).collect();
        leaked(Table {
            name: "methods",
            heading: "[methods]",
            doc: "Settings of the methods, each in a table of its own name.",
            groups: leaked(vec![&*keys.leak()]),
            rules: &[],
            later: &[],
        })
    });
    *TABLE
}

/// Returns the kind of the key `methods`.
pub(super) fn methods() -> Kind {
    Kind::Table(method_tables())
}

fn method_key(entry: &Entry) -> Option<Key> {
    let factory = entry.default_factory?();
    let keys: Vec<Key> = factory.settings().iter().map(|info| setting_key(info, &*factory)).collect();
    let doc = format!("Settings of {}.", entry.name);
    let table = Table {
        name: format!("methods_{}", entry.key).leak(),
        heading: format!("[methods.{}]", entry.key).leak(),
        doc: format!("{doc} The defaults are ours; each key says what the paper has.").leak(),
        groups: leaked(vec![&*keys.leak()]),
        rules: &[],
        later: &[],
    };
    let (kind, presence) = (Kind::Table(leaked(table)), Presence::Default("{}"));
    Some(Key { name: entry.key, kind, presence, doc: doc.leak() })
}

fn setting_key(info: &SettingInfo, defaults: &dyn MethodFactory) -> Key {
    let quantity = |unit, range| Quantity { dimension: dimension(unit), range };
    let kind = match info.kind {
        SettingKind::Number(unit, range) => Kind::Quantity(quantity(unit, range)),
        SettingKind::NumberOrWord(range, word) => Kind::QuantityOrWord(quantity("1", range), word),
        SettingKind::Integer(min, max) => Kind::Integer(min, max),
        SettingKind::Choice(words) => Kind::Choice(words),
    };
    let presence = match (info.default_note, defaults.get(info.key)) {
        (Some(note), _) => Presence::Optional(note),
        (None, Some(value)) => Presence::Default(toml(&value).leak()),
        (None, None) => Presence::Optional("none"),
    };
    Key { name: info.key, kind, presence, doc: info.about }
}

fn toml(value: &SettingValue) -> String {
    match value {
        SettingValue::Number(x) if *x != 0.0 && x.abs() < 1e-3 => format!("{x:e}"),
        SettingValue::Number(x) => format!("{x}"),
        SettingValue::Integer(k) => format!("{k}"),
        SettingValue::Word(word) => format!("\"{word}\""),
    }
}

/// Returns the dimension of an SI unit.
fn dimension(unit: &str) -> Dimension {
    Dimension::of_unit(unit).unwrap_or(Dimension::NONE)
}
