//! What bodies are made of: `[materials.NAME]` and its plasticity.

use super::varying::{VARYING_RULES, along_keys, inside_keys, varying_table};
use super::{Kind, Presence, Quantity, Range, Table, key, quantity};
use crate::scene::units::Dimension;
use phyxel::material::Law;

const DENSITY: Quantity = quantity(Dimension::DENSITY, Range::POSITIVE);
pub(super) const YOUNGS_MODULUS: Quantity = quantity(Dimension::PRESSURE, Range::POSITIVE);
/// The Lamé constant grows beyond bounds towards 0.5; 0.49 is where explicit steps stay affordable.
pub(super) const POISSON_RATIO: Quantity =
    quantity(Dimension::NONE, Range { min: Some((0.0, true)), max: Some((0.49, true)) });
pub(super) const VISCOSITY: Quantity = quantity(Dimension::VISCOSITY, Range::NON_NEGATIVE);
pub(super) const YIELD_STRESS: Quantity = quantity(Dimension::PRESSURE, Range::NON_NEGATIVE);
pub(super) const FLOW_RATE: Quantity = quantity(Dimension::RATE, Range::NON_NEGATIVE);
/// Under −1 the yield stress would fall faster than the stress that flow takes away.
pub(super) const HARDENING: Quantity =
    quantity(Dimension::NONE, Range { min: Some((-1.0, true)), max: None });
pub(super) const THICKENING_STRESS: Quantity = quantity(Dimension::PRESSURE, Range::NON_NEGATIVE);

varying_table!(DENSITY_VARYING, "varying_density", "density = { ... }", DENSITY);
varying_table!(YOUNGS_MODULUS_VARYING, "varying_youngs_modulus", "youngs_modulus = { ... }", YOUNGS_MODULUS);
varying_table!(POISSON_RATIO_VARYING, "varying_poisson_ratio", "poisson_ratio = { ... }", POISSON_RATIO);
varying_table!(VISCOSITY_VARYING, "varying_viscosity", "viscosity = { ... }", VISCOSITY);
varying_table!(YIELD_STRESS_VARYING, "varying_yield_stress", "yield_stress = { ... }", YIELD_STRESS);
varying_table!(FLOW_RATE_VARYING, "varying_flow_rate", "flow_rate = { ... }", FLOW_RATE);
varying_table!(HARDENING_VARYING, "varying_hardening", "hardening = { ... }", HARDENING);
varying_table!(
    THICKENING_STRESS_VARYING,
    "varying_thickening_stress",
    "thickening_stress = { ... }",
    THICKENING_STRESS
);

/// The engine's laws as words with their meanings.
const LAWS: [(&str, &str); Law::ALL.len()] = {
    let mut words = [("", ""); Law::ALL.len()];
    let mut k = 0;
    while k < words.len() {
        words[k] = (Law::ALL[k].1, Law::ALL[k].2);
        k += 1;
    }
    words
};

/// What counts as stress, with the meanings.
pub(super) const YIELD_MEASURES: [(&str, &str); 2] = [
    ("deviatoric", "von Mises: pressure does not count"),
    ("total", "with pressure, as in Jones et al. 2014: confined matter creeps, and a pulled bar flows early"),
];

pub(super) static MATERIAL: Table = Table {
    name: "material",
    heading: "[materials.NAME]",
    doc: "What bodies are made of. Every scalar may also vary over the body, and a preset may give what is left out.",
    groups: &[&[
        key(
            "based_on",
            Kind::Preset,
            Presence::Optional("no preset"),
            "Preset that gives the keys left out here, also those inside `plasticity`; `phyxel list materials` shows all.",
        ),
        key(
            "density",
            Kind::QuantityOrTable(DENSITY, &DENSITY_VARYING),
            Presence::UnlessPreset,
            "Mass per volume at rest.",
        ),
        key(
            "youngs_modulus",
            Kind::QuantityOrTable(YOUNGS_MODULUS, &YOUNGS_MODULUS_VARYING),
            Presence::UnlessPreset,
            "Stiffness: stress over strain of a bar that is pulled gently; the true one, whichever method runs it.",
        ),
        key(
            "poisson_ratio",
            Kind::QuantityOrTable(POISSON_RATIO, &POISSON_RATIO_VARYING),
            Presence::UnlessPreset,
            "How much a pulled bar thins: 0 not at all, towards 0.5 so much that it keeps its volume.",
        ),
        key(
            "viscosity",
            Kind::QuantityOrTable(VISCOSITY, &VISCOSITY_VARYING),
            Presence::Default("0"),
            "Shear viscosity, from the rate of strain: it damps deformation and does not brake rigid motion.",
        ),
        key(
            "law",
            Kind::Choice(&LAWS),
            Presence::Optional("the method's own"),
            "How stress follows from strain; all laws have the given moduli at small strain.",
        ),
        key(
            "plasticity",
            Kind::Table(&PLASTICITY),
            Presence::Optional("elastic"),
            "How the material flows; without it, it always springs back.",
        ),
    ]],
    rules: &[],
    later: &[],
};

static PLASTICITY: Table = Table {
    name: "plasticity",
    heading: "plasticity = { ... }",
    doc: "Flow that keeps volume, over a yield stress. The scalars may vary over the body.",
    groups: &[&[
        key(
            "yield_stress",
            Kind::QuantityOrTable(YIELD_STRESS, &YIELD_STRESS_VARYING),
            Presence::UnlessPreset,
            "Stress of a pulled bar over which it flows.",
        ),
        key(
            "flow_rate",
            Kind::QuantityOrTable(FLOW_RATE, &FLOW_RATE_VARYING),
            Presence::UnlessPreset,
            "How quickly strain turns plastic far over the yield stress: 10 is slow like dough, 400 is at once, 0 never.",
        ),
        key(
            "hardening",
            Kind::QuantityOrTable(HARDENING, &HARDENING_VARYING),
            Presence::Default("0"),
            "Yield stress gained per stress that flow has taken away so far; negative softens.",
        ),
        key(
            "thickening_stress",
            Kind::QuantityOrTable(THICKENING_STRESS, &THICKENING_STRESS_VARYING),
            Presence::Default("0"),
            "Divides the flow rate by the stress over this one, so that quick blows meet a solid and slow loads flow; 0 is off.",
        ),
        key(
            "yield_measure",
            Kind::Choice(&YIELD_MEASURES),
            Presence::Default("\"deviatoric\""),
            "What stress is compared with the yield stress; both are the stress of a bar in even tension.",
        ),
    ]],
    rules: &[],
    later: &["strain", "drucker_prager"],
};
