//! Tests of the settings of the reference method in a scene.

use crate::overrides::set;
use crate::{FULL, SHORT, parse};
use phyxel::methods::SettingValue;

fn word(word: &str) -> SettingValue {
    SettingValue::Word(word.into())
}

#[test]
fn settings_are_read_in_si_units() {
    let settings = "[methods.reference]\nsupport_factor = 1.5\nvolume_rule = \"sph\"\nstabilization = 0.2\n\
                    volume_stiffness = \"40 kPa\"\ninversion_guard = 0\nsafety = \"80 %\"\n";
    let file = parse(&format!("{FULL}{settings}")).unwrap_or_else(|error| panic!("{error}"));
    let number = SettingValue::Number;
    for (key, value) in [
        ("support_factor", number(1.5)),
        ("volume_rule", word("sph")),
        ("stabilization", number(0.2)),
        ("volume_stiffness", number(40e3)),
        ("inversion_guard", number(0.0)),
        ("safety", number(0.8)),
    ] {
        assert_eq!(file.scene.methods.get("reference", key), Some(value), "{key}");
    }
}

/// Checks that overrides add settings beside given ones, and words without quotes.
#[test]
fn overrides_stand_beside_given_settings() {
    let headed = format!("{SHORT}[methods.reference]\nsafety = 0.1\n");
    let changes = [("methods.reference.stabilization", "0"), ("methods.reference.volume_rule", "sph")];
    let file = set(&headed, &changes);
    let setting = |key: &str| file.scene.methods.get("reference", key).unwrap();
    assert_eq!(setting("safety"), SettingValue::Number(0.1));
    assert_eq!(setting("stabilization"), SettingValue::Number(0.0));
    assert_eq!(setting("volume_rule"), word("sph"));
}
