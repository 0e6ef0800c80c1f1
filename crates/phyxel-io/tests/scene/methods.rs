//! Tests of the settings of all methods.

use crate::{SHORT, parse};
use phyxel::methods::{CATALOGUE, MethodFactory, SettingInfo, SettingKind, SettingValue};

fn built() -> impl Iterator<Item = Box<dyn MethodFactory>> {
    CATALOGUE.iter().filter_map(|entry| Some(entry.default_factory?()))
}

#[test]
fn what_is_left_out_is_the_engines_default() {
    for text in [SHORT.to_owned(), format!("{SHORT}[methods]\n")] {
        let scene = parse(&text).unwrap().scene;
        for factory in built() {
            for SettingInfo { key, .. } in factory.settings() {
                assert_eq!(
                    scene.methods.get(factory.key(), key),
                    factory.get(key),
                    "{}.{key}",
                    factory.key()
                );
            }
        }
    }
}

/// Checks that every setting of every method reaches the engine, and that no other setting changes.
#[test]
fn every_setting_arrives() {
    for factory in built() {
        for info in factory.settings() {
            let default = factory.get(info.key);
            let value = other_value(&info, default.as_ref());
            let text = format!("{SHORT}[methods.{}]\n{} = {}\n", factory.key(), info.key, toml(&value));
            let scene = parse(&text).unwrap_or_else(|error| panic!("{error}")).scene;
            assert_eq!(scene.methods.get(factory.key(), info.key), Some(value), "{}", info.key);
            for other in built().filter(|other| other.key() != factory.key()) {
                for SettingInfo { key, .. } in other.settings() {
                    assert_eq!(scene.methods.get(other.key(), key), other.get(key), "{key}");
                }
            }
            assert_eq!(scene, scene.clone());
            assert_ne!(scene.methods, parse(SHORT).unwrap().scene.methods, "{}", info.key);
        }
    }
}

/// Returns a value as it stands in a scene.
pub(crate) fn toml(value: &SettingValue) -> String {
    match value {
        SettingValue::Number(x) => x.to_string(),
        SettingValue::Integer(k) => k.to_string(),
        SettingValue::Word(word) => format!("\"{word}\""),
    }
}

/// Returns an allowed value that is not the default.
fn other_value(info: &SettingInfo, default: Option<&SettingValue>) -> SettingValue {
    let all: Vec<SettingValue> = match info.kind {
        SettingKind::Number(_, range) | SettingKind::NumberOrWord(range, _) => {
            let suits = |x: &f64| range.contains(*x);
            [1.75, 0.25, 0.005].into_iter().filter(suits).map(SettingValue::Number).collect()
        }
        SettingKind::Integer(min, max) => vec![SettingValue::Integer(min), SettingValue::Integer(max)],
        SettingKind::Choice(words) => words.iter().map(|w| SettingValue::Word(w.0.into())).collect(),
    };
    // distances at which particles merge must be under 0.9
    let suits = |value: &&SettingValue| {
        Some(*value) != default && !(info.key == "merge_at" && **value == SettingValue::Number(1.75))
    };
    all.iter().find(suits).unwrap_or_else(|| panic!("no value for {}", info.key)).clone()
}
