//! `[[events]]`: what changes while a scene runs.

use super::materials::{
    FLOW_RATE, HARDENING, POISSON_RATIO, THICKENING_STRESS, VISCOSITY, YIELD_MEASURES, YIELD_STRESS,
    YOUNGS_MODULUS,
};
use super::{Kind, Presence, Range, Referent, Rule, Table, VectorRule, key, quantity};
use crate::scene::units::Dimension;

/// Ids are 32 bits wide.
const MAX_ID: i64 = u32::MAX as i64;

pub(super) static EVENT: Table = Table {
    name: "event",
    heading: "[[events]]",
    doc: "Something that changes at a time: gravity, the material of a body, or what a hand drags. Events need not be in order; one \
          at a frame's time acts after that frame. Shapes at rest and plastic deformation stay when a material changes.",
    groups: &[&[
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
        key(
            "youngs_modulus",
            Kind::Quantity(YOUNGS_MODULUS),
            Presence::Optional("stays"),
            "Stiffness from then on.",
        ),
        key(
            "poisson_ratio",
            Kind::Quantity(POISSON_RATIO),
            Presence::Optional("stays"),
            "Poisson's ratio from then on.",
        ),
        key(
            "viscosity",
            Kind::Quantity(VISCOSITY),
            Presence::Optional("stays"),
            "Shear viscosity from then on.",
        ),
        key(
            "plasticity",
            Kind::Table(&EVENT_PLASTICITY),
            Presence::Optional("stays"),
            "How the material flows from then on.",
        ),
        key(
            "elastic",
            Kind::Boolean,
            Presence::Optional("stays"),
            "true: the material flows no more; what has flowed stays.",
        ),
        key(
            "drag",
            Kind::Table(&DRAG),
            Presence::ByRule,
            "Pulls a particle and those about it towards a point, until it is released; what was dragged before is let go.",
        ),
        key("release", Kind::Boolean, Presence::ByRule, "true: lets go of what is dragged."),
    ]],
    rules: &[Rule::OneOf(&[&["gravity"], &["body"], &["drag"], &["release"]])],
    later: &["set", "ramp"],
};

static EVENT_PLASTICITY: Table = Table {
    name: "event_plasticity",
    heading: "events.plasticity = { ... }",
    doc: "How a material flows from then on; what is left out stays. A material that did not flow needs the first two.",
    groups: &[&[
        key(
            "yield_stress",
            Kind::Quantity(YIELD_STRESS),
            Presence::Optional("stays"),
            "Stress of a pulled bar over which it flows.",
        ),
        key(
            "flow_rate",
            Kind::Quantity(FLOW_RATE),
            Presence::Optional("stays"),
            "How quickly strain turns plastic far over the yield stress.",
        ),
        key(
            "hardening",
            Kind::Quantity(HARDENING),
            Presence::Optional("stays"),
            "Yield stress gained per stress that flow has taken away so far.",
        ),
        key(
            "thickening_stress",
            Kind::Quantity(THICKENING_STRESS),
            Presence::Optional("stays"),
            "Divides the flow rate by the stress over this one; 0 is off.",
        ),
        key(
            "yield_measure",
            Kind::Choice(&YIELD_MEASURES),
            Presence::Optional("stays"),
            "What stress is compared with the yield stress.",
        ),
    ]],
    rules: &[],
    later: &[],
};

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
