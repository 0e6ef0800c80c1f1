//! Settings of methods as data: each method's `params.rs` lists its settings once; scenes, schemas and documentation
//! are derived from that list.

use crate::math::{Range, Real};

/// A setting of a method, as users see it.
#[derive(Clone, Copy, Debug)]
pub struct SettingInfo {
    /// Key of the setting in scenes.
    pub key: &'static str,
    /// Kind of values that the setting accepts.
    pub kind: SettingKind,
    /// Explains the default where it depends on other settings; `None` if the default is that of the factory.
    pub default_note: Option<&'static str>,
    /// Description for users, one sentence.
    pub about: &'static str,
}

/// Kind of values that a setting accepts.
#[derive(Clone, Copy, Debug)]
pub enum SettingKind {
    /// A number, with its SI unit ("1" for none).
    Number(&'static str, Range),
    /// A number, or one word that selects a special behaviour.
    NumberOrWord(Range, &'static str),
    /// A whole number between two limits, both included.
    Integer(i64, i64),
    /// One word of a list, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// A number in SI units.
    Number(Real),
    /// A whole number.
    Integer(i64),
    /// A word of a list.
    Word(String),
}

/// Error: a setting is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SettingError {
    /// Explains the error.
    pub message: String,
    /// Advice for the user, if there is any.
    pub help: Option<String>,
}

impl SettingError {
    fn new(message: String) -> Self {
        Self { message, help: None }
    }
}

/// A setting together with the access to its field in the method's parameters.
#[derive(Debug)]
pub(super) struct Setting<P> {
    info: SettingInfo,
    access: Access<P>,
}

#[derive(Debug)]
enum Access<P> {
    Number(fn(&mut P) -> &mut Real),
    Integer(fn(&mut P) -> &mut usize),
    /// Reads and writes the word as its index in the list of words.
    Choice(fn(&P) -> usize, fn(&mut P, usize)),
    Own(fn(&P) -> Option<SettingValue>, fn(&mut P, &SettingValue) -> Result<(), SettingError>),
}

impl<P> Setting<P> {
    pub(super) const fn number(
        key: &'static str,
        range: Range,
        about: &'static str,
        field: fn(&mut P) -> &mut Real,
    ) -> Self {
        Self::number_in(key, "1", range, about, field)
    }

    pub(super) const fn number_in(
        key: &'static str,
        unit: &'static str,
        range: Range,
        about: &'static str,
        field: fn(&mut P) -> &mut Real,
    ) -> Self {
        let kind = SettingKind::Number(unit, range);
        Self { info: SettingInfo { key, kind, default_note: None, about }, access: Access::Number(field) }
    }

    pub(super) const fn integer(
        key: &'static str,
        [min, max]: [i64; 2],
        about: &'static str,
        field: fn(&mut P) -> &mut usize,
    ) -> Self {
        let kind = SettingKind::Integer(min, max);
        Self { info: SettingInfo { key, kind, default_note: None, about }, access: Access::Integer(field) }
    }

    /// Creates a choice between words. `get` and `set` use the index of the word in the list.
    pub(super) const fn choice(
        key: &'static str,
        words: &'static [(&'static str, &'static str)],
        about: &'static str,
        get: fn(&P) -> usize,
        set: fn(&mut P, usize),
    ) -> Self {
        let kind = SettingKind::Choice(words);
        Self { info: SettingInfo { key, kind, default_note: None, about }, access: Access::Choice(get, set) }
    }

    /// Creates a setting with its own functions for reading and writing. `set` only receives values of the right kind,
    /// within the limits.
    pub(super) const fn own(
        info: SettingInfo,
        get: fn(&P) -> Option<SettingValue>,
        set: fn(&mut P, &SettingValue) -> Result<(), SettingError>,
    ) -> Self {
        Self { info, access: Access::Own(get, set) }
    }

    fn set(&self, params: &mut P, value: &SettingValue) -> Result<(), SettingError> {
        let SettingInfo { key, kind, .. } = self.info;
        let expected = |what: &str| SettingError::new(format!("`{key}` must be {what}"));
        match (kind, value) {
            (
                SettingKind::Number(_, range) | SettingKind::NumberOrWord(range, _),
                SettingValue::Number(x),
            ) => {
                if !range.contains(*x) {
                    return Err(expected(&format!("{}, found {x}", range.describe())));
                }
            }
            (SettingKind::NumberOrWord(_, word), SettingValue::Word(given)) if given == word => {}
            (SettingKind::Integer(min, max), SettingValue::Integer(k)) => {
                if !(min..=max).contains(k) {
                    return Err(expected(&format!("from {min} to {max}, found {k}")));
                }
            }
            (SettingKind::Choice(words), SettingValue::Word(given))
                if words.iter().any(|word| word.0 == given) => {}
            (SettingKind::Choice(words), _) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.0)).collect();
                return Err(expected(&words.join(" or ")));
            }
            (SettingKind::Integer(..), _) => return Err(expected("a whole number")),
            _ => return Err(expected("a number")),
        }
        match (&self.access, kind, value) {
            (Access::Number(field), _, SettingValue::Number(x)) => *field(params) = *x,
            (Access::Integer(field), _, SettingValue::Integer(k)) => *field(params) = *k as usize,
            (Access::Choice(_, set), SettingKind::Choice(words), SettingValue::Word(given)) => {
                set(params, words.iter().position(|word| word.0 == given).unwrap_or(0));
            }
            (Access::Own(_, set), ..) => return set(params, value),
            _ => {}
        }
        Ok(())
    }
}

impl<P: Clone> Setting<P> {
    fn get(&self, params: &P) -> Option<SettingValue> {
        let mut copy = params.clone();
        match (&self.access, self.info.kind) {
            (Access::Number(field), _) => Some(SettingValue::Number(*field(&mut copy))),
            (Access::Integer(field), _) => Some(SettingValue::Integer(*field(&mut copy) as i64)),
            (Access::Choice(get, _), SettingKind::Choice(words)) => {
                words.get(get(params)).map(|word| SettingValue::Word(word.0.into()))
            }
            (Access::Own(get, _), _) => get(params),
            (Access::Choice(..), _) => None,
        }
    }
}

/// Implements the functions of `MethodFactory` that follow from a table of settings.
macro_rules! listed_in {
    ($table:expr) => {
        fn settings(&self) -> Vec<$crate::methods::SettingInfo> {
            $crate::methods::settings::infos($table)
        }

        fn get(&self, key: &str) -> Option<$crate::methods::SettingValue> {
            $crate::methods::settings::get($table, self, key)
        }

        fn set(
            &mut self,
            key: &str,
            value: &$crate::methods::SettingValue,
        ) -> Result<(), $crate::methods::SettingError> {
            $crate::methods::settings::set($table, self, key, value)
        }

        fn clone_box(&self) -> Box<dyn $crate::methods::MethodFactory> {
            Box::new(self.clone())
        }
    };
}
pub(super) use listed_in;

/// Returns the index of a value in a list, or 0 if it is not there.
pub(super) fn index<T: PartialEq>(all: &[T], value: T) -> usize {
    all.iter().position(|one| *one == value).unwrap_or(0)
}

/// Returns all settings, in the order of the table.
pub(super) fn infos<P>(table: &[Setting<P>]) -> Vec<SettingInfo> {
    table.iter().map(|setting| setting.info).collect()
}

/// Returns the value of a setting; `None` if there is no such setting or it does not apply with the other settings.
pub(super) fn get<P: Clone>(table: &[Setting<P>], params: &P, key: &str) -> Option<SettingValue> {
    table.iter().find(|setting| setting.info.key == key)?.get(params)
}

/// Changes one setting.
pub(super) fn set<P>(
    table: &[Setting<P>],
    params: &mut P,
    key: &str,
    value: &SettingValue,
) -> Result<(), SettingError> {
    match table.iter().find(|setting| setting.info.key == key) {
        Some(setting) => setting.set(params, value),
        None => Err(SettingError::new(format!("there is no setting `{key}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::CATALOGUE;

    /// Checks that every setting of every method is read back as set, and that values beyond its limits are refused.
    #[test]
    fn settings_arrive_and_keep_their_limits() {
        for entry in CATALOGUE {
            let Some(default) = entry.default_factory else { continue };
            let default = default();
            assert!(!default.settings().is_empty(), "{}", entry.key);
            for info in default.settings() {
                let mut changed = default.clone_box();
                for value in samples(&info) {
                    changed.set(info.key, &value).unwrap_or_else(|error| panic!("{}: {error}", info.key));
                    assert_eq!(changed.get(info.key), Some(value), "{}.{}", entry.key, info.key);
                    // no other setting changes, except those that depend on this one
                    for other in default.settings().iter().filter(|other| other.key != info.key) {
                        if other.default_note.is_none() {
                            assert_eq!(changed.get(other.key), default.get(other.key), "{}", other.key);
                        }
                    }
                }
                for value in [SettingValue::Number(Real::NAN), SettingValue::Word("nonsense".into())] {
                    let before = changed.get(info.key);
                    assert!(changed.set(info.key, &value).is_err(), "{}", info.key);
                    assert_eq!(changed.get(info.key), before);
                }
            }
            assert!(default.clone_box().set("no_such_setting", &SettingValue::Number(1.0)).is_err());
            assert_eq!(default.get("no_such_setting"), None);
        }
    }

    fn samples(info: &SettingInfo) -> Vec<SettingValue> {
        match info.kind {
            SettingKind::Number(_, range) | SettingKind::NumberOrWord(range, _) => {
                // 1.5 and 0.3 are also allowed for thresholds that depend on other settings
                let mut all: Vec<SettingValue> = [0.3, 1.5, 0.005]
                    .into_iter()
                    .filter(|x| range.contains(*x) && !(info.key == "split_at" && *x < 1.2))
                    .filter(|x| !(info.key == "merge_at" && *x > 0.9))
                    .map(SettingValue::Number)
                    .collect();
                if let SettingKind::NumberOrWord(_, word) = info.kind {
                    all.push(SettingValue::Word(word.into()));
                }
                assert!(!all.is_empty(), "{}", info.key);
                all
            }
            SettingKind::Integer(min, max) => vec![SettingValue::Integer(min), SettingValue::Integer(max)],
            SettingKind::Choice(words) => {
                words.iter().map(|word| SettingValue::Word(word.0.into())).collect()
            }
        }
    }
}
