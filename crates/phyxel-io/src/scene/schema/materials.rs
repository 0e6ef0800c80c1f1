//! Schema of `[materials.NAME]` and of the event keys that change materials, from the engine's table of properties.

use super::varying::{VARYING_RULES, along_keys, inside_keys};
use super::{Key, Kind, Presence, Quantity, Table, key, leaked, quantity};
use crate::scene::units::Dimension;
use phyxel::material::{Law, PROPERTIES, Part, PropertyInfo};
use std::sync::LazyLock;

/// Scene keys of the engine's elastic laws, with their meanings.
const LAWS: [(&str, &str); Law::ALL.len()] = {
    let mut words = [("", ""); Law::ALL.len()];
    let mut k = 0;
    while k < words.len() {
        words[k] = (Law::ALL[k].1, Law::ALL[k].2);
        k += 1;
    }
    words
};

/// Scene words for the measures of stress, with their meanings.
const YIELD_MEASURES: [(&str, &str); 2] = [
    ("deviatoric", "von Mises: pressure does not count"),
    ("total", "with pressure, as in Jones et al. 2014: confined matter creeps, and a pulled bar flows early"),
];

const YIELD_MEASURE: &str =
    "What stress is compared with the yield stress; both are the stress of a bar in even tension.";

/// Returns the kind of the key `materials`.
pub(super) fn materials() -> Kind {
    static TABLE: LazyLock<&'static Table> = LazyLock::new(material_table);
    Kind::NamedTables(*TABLE, 1)
}

fn property_quantity(info: &PropertyInfo) -> Quantity {
    quantity(Dimension::of_unit(info.unit).unwrap_or(Dimension::NONE), info.range)
}

/// Creates the key of a material property: a quantity, or a table that describes how it varies over the body.
fn property_key(info: &'static PropertyInfo) -> Key {
    let scalar = property_quantity(info);
    let varying = leaked(Table {
        name: format!("varying_{}", info.key).leak(),
        heading: format!("{} = {{ ... }}", info.key).leak(),
        doc: "A scalar that varies over the body: linearly along a direction, or by region.",
        groups: leaked([
            leaked(along_keys(scalar, Presence::ByRule)).as_slice(),
            leaked(inside_keys(scalar)).as_slice(),
        ]),
        rules: VARYING_RULES,
        later: &[],
    });
    let presence = match info.default {
        Some(value) => Presence::Default(format!("{value}").leak()),
        None => Presence::UnlessPreset,
    };
    key(info.key, Kind::QuantityOrTable(scalar, varying), presence, info.about)
}

fn keys_of(part: Part) -> impl Iterator<Item = &'static PropertyInfo> {
    PROPERTIES.iter().filter(move |info| info.part == part)
}

fn material_table() -> &'static Table {
    let plasticity = leaked(Table {
        name: "plasticity",
        heading: "plasticity = { ... }",
        doc: "Flow that keeps volume, over a yield stress. The scalars may vary over the body.",
        groups: leaked([
            keys_of(Part::Creep).map(property_key).collect::<Vec<_>>().leak() as &[Key],
            leaked([key(
                "yield_measure",
                Kind::Choice(&YIELD_MEASURES),
                Presence::Default("\"deviatoric\""),
                YIELD_MEASURE,
            )]),
        ]),
        rules: &[],
        later: &["strain", "drucker_prager"],
    });
    let first = key(
        "based_on",
        Kind::Preset,
        Presence::Optional("no preset"),
        "Preset that gives the keys left out here, also those inside `plasticity`; `phyxel list materials` shows all.",
    );
    let last = [
        key(
            "law",
            Kind::Choice(&LAWS),
            Presence::Optional("the method's own"),
            "How stress follows from strain; all laws have the given moduli at small strain.",
        ),
        key(
            "plasticity",
            Kind::Table(plasticity),
            Presence::Optional("elastic"),
            "How the material flows; without it, it always springs back.",
        ),
    ];
    let keys: Vec<Key> =
        [first].into_iter().chain(keys_of(Part::Matter).map(property_key)).chain(last).collect();
    leaked(Table {
        name: "material",
        heading: "[materials.NAME]",
        doc: "What bodies are made of. Every scalar may also vary over the body, and a preset may give what is left out.",
        groups: leaked([&*keys.leak()]),
        rules: &[],
        later: &[],
    })
}

/// Returns the keys of an event that change the material of a body.
pub(super) fn event_keys() -> Vec<Key> {
    let changed = |info: &'static PropertyInfo| {
        key(info.key, Kind::Quantity(property_quantity(info)), Presence::Optional("stays"), info.about)
    };
    let changing = |part: Part| keys_of(part).filter(|info| info.may_change).map(changed);
    let measure =
        key("yield_measure", Kind::Choice(&YIELD_MEASURES), Presence::Optional("stays"), YIELD_MEASURE);
    let flow = leaked(Table {
        name: "event_plasticity",
        heading: "events.plasticity = { ... }",
        doc: "How a material flows from then on; what is left out stays. A material that did not flow needs the first two.",
        groups: leaked([&*changing(Part::Creep).chain([measure]).collect::<Vec<_>>().leak()]),
        rules: &[],
        later: &[],
    });
    let flow_keys = [
        key(
            "plasticity",
            Kind::Table(flow),
            Presence::Optional("stays"),
            "How the material flows from then on.",
        ),
        key(
            "elastic",
            Kind::Boolean,
            Presence::Optional("stays"),
            "true: the material flows no more; what has flowed stays.",
        ),
    ];
    changing(Part::Matter).chain(flow_keys).collect()
}
