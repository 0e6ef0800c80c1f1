//! Settings of the embedded method.

use crate::bad_scenes::assert_bad;
use crate::{FULL, SHORT, parse};
use phyxel::material::FlowRule;
use phyxel::methods::embedded::*;

/// The settings of the short scene with these keys, from line 13 on.
fn settings(keys: &str) -> Params {
    let file = parse(&with_settings(keys)).unwrap_or_else(|error| panic!("{error}"));
    file.scene.methods.embedded
}

fn with_settings(keys: &str) -> String {
    format!("{SHORT}[methods.embedded]\n{keys}")
}

/// Fails with the names of the settings that differ.
macro_rules! assert_same {
    ($found:expr, $expected:expr, $($field:ident),+) => {{
        // a field that is not compared is an error of the compiler
        let (found, Params { $($field),+ }) = ($found, $expected);
        let mut different = Vec::new();
        $(if found.$field != $field {
            different.push(format!("{}: the scene has {:?}, the engine {:?}", stringify!($field), found.$field, $field));
        })+
        assert!(different.is_empty(), "defaults differ:\n{}", different.join("\n"));
    }};
    ($found:expr, $expected:expr) => {
        assert_same!(
            $found, $expected, support_factor, volume_rule, mass_rule, stabilization, repulsion, volume_correction, flow_rule,
            integrator, viscosity_model, embedding, embed_every, embed_flow, embed_tolerance, list_update, common_neighbors,
            speed_limit, resampling, safety
        )
    };
}

#[test]
fn what_is_left_out_is_the_engines_default() {
    assert_same!(settings(""), Params::default());
    assert_same!(parse(SHORT).unwrap().scene.methods.embedded, Params::default());
    // the thresholds of each rule have defaults of their own
    assert_eq!(settings("resampling = \"eigenvalues\"").resampling, Params::paper().resampling);
}

#[test]
fn the_paper_can_be_asked_for() {
    let paper = settings(
        "support_factor = 2\nvolume_rule = \"moments\"\nmass_rule = \"running\"\nstabilization = 0\nrepulsion = 0\n\
         volume_correction = 0\nflow_rule = \"per_step\"\nintegrator = \"newmark\"\nviscosity_model = \"sph\"\n\
         embedding = \"linear\"\nembed_every = 1\nembed_flow = 0\n\
         list_update = \"plain\"\ncommon_neighbors = 0\nspeed_limit = 0\nresampling = \"eigenvalues\"",
    );
    assert_same!(paper, Params::paper());
}

#[test]
fn every_setting_arrives() {
    let found = settings(
        "support_factor = 1.5\nvolume_rule = \"exact\"\nmass_rule = \"fixed\"\nstabilization = 0.2\nrepulsion = 0.4\n\
         volume_correction = 0.2\nflow_rule = \"per_second\"\nintegrator = \"symplectic_euler\"\nviscosity_model = \"strain_rate\"\n\
         embedding = \"nonlinear\"\nembed_every = 7\nembed_flow = 0.5\nembed_tolerance = 1e-6\n\
         list_update = \"continuous\"\ncommon_neighbors = 3\nspeed_limit = 2\nresampling = \"gaps\"\nsplit_at = 1.4\n\
         merge_at = 0.3\nsafety = \"50 %\"",
    );
    let expected = Params {
        support_factor: 1.5,
        volume_rule: VolumeRule::Exact,
        mass_rule: MassRule::Fixed,
        stabilization: 0.2,
        repulsion: 0.4,
        volume_correction: 0.2,
        flow_rule: FlowRule::PerSecond,
        integrator: Integrator::SymplecticEuler,
        viscosity_model: ViscosityModel::StrainRate,
        embedding: Embedding::Nonlinear,
        embed_every: 7,
        embed_flow: 0.5,
        embed_tolerance: 1e-6,
        list_update: ListUpdate::Continuous,
        common_neighbors: 3,
        speed_limit: 2.0,
        resampling: Resampling::Gaps { split: 1.4, merge: 0.3 },
        safety: 0.5,
    };
    assert_eq!(found, expected);
    assert_eq!(settings("embedding = \"off\"").embedding, Embedding::Off);
    assert_eq!(settings("resampling = \"off\"").resampling, Resampling::Off);
    let full = parse(FULL).unwrap().scene.methods.embedded;
    assert_eq!((full.integrator, full.embed_every), (Integrator::Newmark, 1));
    assert_eq!(full.resampling, Resampling::Eigenvalues { split: 0.6, merge: 2.0 });
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
    settings("split_at = 1.21\nmerge_at = 0");
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
