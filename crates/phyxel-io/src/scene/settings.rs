//! Conversion of validated sections to the methods' settings.

use super::build::Built;
use super::description::MethodSettings;
use super::problem::Problem;
use super::section::{Section, Value};
use phyxel::methods::{CATALOGUE, MethodFactory, SettingValue};

/// Returns the settings of all implemented methods.
pub(crate) fn methods(section: &Section) -> Built<MethodSettings> {
    let mut all = MethodSettings::default();
    for entry in CATALOGUE {
        let Some(factory) = entry.default_factory else { continue };
        let mut factory = factory();
        // refused settings have been reported by `check`
        set_all(&mut *factory, section.section(entry.key)?, |_, _| ());
        all.0.push(factory);
    }
    Ok(all)
}

/// Reports settings that are not allowed in combination with others.
pub(crate) fn check(root: &Section, problems: &mut Vec<Problem>) {
    let Ok(section) = root.section("methods") else { return };
    for entry in CATALOGUE {
        let (Some(factory), Ok(section)) = (entry.default_factory, section.section(entry.key)) else {
            continue;
        };
        set_all(&mut *factory(), section, |key, error| {
            let mut problem = Problem::new(section.span_of(key), error.message);
            if let Some(help) = error.help {
                problem = problem.with_help(help);
            }
            problems.push(problem);
        });
    }
}

/// Sets all settings of a section, in the order of the method's table: later settings may depend on earlier ones.
fn set_all(
    factory: &mut dyn MethodFactory,
    section: &Section,
    mut refused: impl FnMut(&str, phyxel::methods::SettingError),
) {
    for info in factory.settings() {
        let value = match section.entries.get(info.key).map(|entry| &entry.value) {
            Some(Value::Number(x)) => SettingValue::Number(*x),
            Some(Value::Integer(k)) => SettingValue::Integer(*k),
            Some(Value::Text(word)) => SettingValue::Word(word.clone()),
            _ => continue,
        };
        if let Err(error) = factory.set(info.key, &value) {
            refused(info.key, error);
        }
    }
}
