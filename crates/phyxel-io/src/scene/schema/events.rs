//! Schema of `[[events]]`: changes while a scene runs.

use super::materials::event_keys;
use super::{Key, Kind, Presence, Range, Referent, Rule, Table, VectorRule, key, leaked, quantity};
use crate::scene::units::Dimension;
use std::sync::LazyLock;

/// Largest id of a particle: ids have 32 bits.
const MAX_ID: i64 = u32::MAX as i64;

/// Returns the kind of the key `events`.
pub(super) fn events() -> Kind {
    static TABLE: LazyLock<&'static Table> = LazyLock::new(event_table);
    Kind::Tables(*TABLE, 0)
}

fn event_table() -> &'static Table {
    let first = [
        key(
            "time",
            Kind::Quantity(quantity(Dimension::TIME, Range::NON_NEGATIVE)),
            Presence::Required,
            "When it happens, before the end of the scene.",
        ),
        key(
            "gravity",
            Kind::Vector(Dimension::ACCELERATION, VectorRule::Any),
            Presence::ByRule,
            "Gravity from then on.",
        ),
        key(
            "body",
            Kind::Reference(Referent::Body),
            Presence::ByRule,
            "Name of the body whose material changes, by `material` or by the keys that follow it.",
        ),
        key(
            "material",
            Kind::Reference(Referent::Material),
            Presence::Optional("by single keys"),
            "Another one of the scene's materials, of the same density and law, that does not vary over the body.",
        ),
    ];
    let last = [
        key(
            "drag",
            Kind::Table(&DRAG),
            Presence::ByRule,
            "Pulls a particle and those about it towards a point, until it is released; what was dragged before is let go.",
        ),
        key("release", Kind::Boolean, Presence::ByRule, "true: lets go of what is dragged."),
    ];
    let keys: Vec<Key> = first.into_iter().chain(event_keys()).chain(last).collect();
    leaked(Table {
        name: "event",
        heading: "[[events]]",
        doc: "Something that changes at a time: gravity, the material of a body, or what a hand drags. Events need not be in order; one \
          at a frame's time acts after that frame. Shapes at rest and plastic deformation stay when a material changes.",
        groups: leaked([&*keys.leak()]),
        rules: &[Rule::OneOf(&[&["gravity"], &["body"], &["drag"], &["release"]])],
        later: &["set", "ramp"],
    })
}

static DRAG: Table = Table {
    name: "drag",
    heading: "drag = { ... }",
    doc: "A damped spring from a particle to a point, strong enough to lift the body and too weak to tear it. With `body`, a new particle \
          is taken, by `particle` or `at`; without, the one that is dragged already is pulled to another point.",
    groups: &[&[
        key(
            "body",
            Kind::Reference(Referent::Body),
            Presence::Optional("what is dragged already"),
            "Name of the body of the particle.",
        ),
        key(
            "particle",
            Kind::Integer(0, MAX_ID),
            Presence::Optional("by `at`"),
            "Id of the particle, as in the frames.",
        ),
        key(
            "at",
            Kind::Vector(Dimension::LENGTH, VectorRule::Any),
            Presence::Optional("by `particle`"),
            "Takes the particle of the body that is nearest to this point at that time.",
        ),
        key(
            "to",
            Kind::Vector(Dimension::LENGTH, VectorRule::Any),
            Presence::Required,
            "The point that it is pulled to.",
        ),
    ]],
    rules: &[],
    later: &[],
};
