//! Tests of settings of the embedded method that depend on each other, and of the messages about bad ones.

use crate::bad_scenes::assert_bad;
use crate::{SHORT, parse};
use phyxel::methods::SettingValue;

/// Returns the short scene with these settings, which start in line 13.
fn with_settings(keys: &str) -> String {
    format!("{SHORT}[methods.embedded]\n{keys}")
}

fn setting(keys: &str, key: &str) -> Option<SettingValue> {
    let file = parse(&with_settings(keys)).unwrap_or_else(|error| panic!("{error}"));
    file.scene.methods.get("embedded", key)
}

/// Checks that the thresholds of each rule have their own defaults, and that the order in the file does not matter.
#[test]
fn thresholds_go_with_their_rule() {
    let at = |value: f64| Some(SettingValue::Number(value));
    assert_eq!((setting("", "split_at"), setting("", "merge_at")), (at(1.7), at(0.4)));
    let paper = "resampling = \"eigenvalues\"";
    assert_eq!((setting(paper, "split_at"), setting(paper, "merge_at")), (at(0.6), at(1.5)));
    assert_eq!(setting("merge_at = 2\nresampling = \"eigenvalues\"", "merge_at"), at(2.0));
    assert_eq!(setting("resampling = \"off\"", "split_at"), None);
}

#[test]
fn thresholds_that_would_split_or_merge_everything_are_refused() {
    let cases = [
        ("split_at = 1.2", "`split_at` must be greater than 1.2 with resampling by gaps, found 1.2", "split"),
        ("merge_at = 0.9", "`merge_at` must be less than 0.9 with resampling by gaps, found 0.9", "merge"),
        (
            "split_at = 1\nresampling = \"eigenvalues\"",
            "`split_at` must be greater than 0 and less than 1 with resampling by eigenvalues, found 1",
            "split",
        ),
        (
            "merge_at = 0.5\nresampling = \"eigenvalues\"",
            "`merge_at` must be greater than 1 with resampling by eigenvalues, found 0.5",
            "merge",
        ),
    ];
    for (keys, message, what) in cases {
        let help = format!("as it stands, it would {what} what is at its usual distance");
        assert_bad(&with_settings(keys), 13, 12, message, &help);
    }
    assert_bad(&with_settings("split_at = -1"), 13, 12, "`split_at` must be greater than 0, found -1", "");
    assert_eq!(setting("split_at = 1.21\nmerge_at = 0", "split_at"), Some(SettingValue::Number(1.21)));
}

#[test]
fn settings_out_of_range_are_refused() {
    let cases = [
        ("support_factor = 0.5", 18, "`support_factor` must be from 1 to 4, found 0.5"),
        ("embed_every = 0", 15, "`embed_every` must be from 1 to 1000000, found 0"),
        ("embed_tolerance = 0.1", 19, "`embed_tolerance` must be greater than 0 and at most 0.01, found 0.1"),
        ("common_neighbors = 33", 20, "`common_neighbors` must be from 0 to 32, found 33"),
        ("speed_limit = -1", 15, "`speed_limit` must be at least 0, found -1"),
        ("safety = 2", 10, "`safety` must be greater than 0 and at most 1, found 2"),
    ];
    for (keys, column, message) in cases {
        assert_bad(&with_settings(keys), 13, column, message, "");
    }
    let message =
        "`integrator` must be \"leapfrog\" or \"symplectic_euler\" or \"newmark\", found \"newmarks\"";
    assert_bad(&with_settings("integrator = \"newmarks\""), 13, 14, message, "did you mean \"newmark\"?");
}
