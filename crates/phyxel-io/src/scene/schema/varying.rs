//! Schema of scalars that vary over a body: linearly along a direction, or by region.

use super::shapes::PLACED_SHAPE;
use super::{Key, Kind, Presence, Quantity, Rule, VectorRule, key};
use crate::scene::units::Dimension;

pub(super) const VARYING_RULES: &[Rule] =
    &[Rule::OneOf(&[&["along", "from", "to"], &["inside", "value", "outside"]])];

/// Returns the keys of a scalar that changes linearly along a direction.
pub(super) const fn along_keys(scalar: Quantity, presence: Presence) -> [Key; 3] {
    [
        key(
            "along",
            Kind::Vector(Dimension::NONE, VectorRule::Direction),
            presence,
            "World direction along which the value changes linearly, from one end of the body to the other at time 0.",
        ),
        key("from", Kind::Quantity(scalar), presence, "Value at the end where the direction begins."),
        key("to", Kind::Quantity(scalar), presence, "Value at the end where the direction points to."),
    ]
}

/// Returns the keys of a scalar that has one value inside a shape and another outside.
pub(super) const fn inside_keys(scalar: Quantity) -> [Key; 3] {
    [
        key(
            "inside",
            Kind::Table(&PLACED_SHAPE),
            Presence::ByRule,
            "Any shape, in world coordinates at time 0, in which the value applies.",
        ),
        key("value", Kind::Quantity(scalar), Presence::ByRule, "Value of the particles inside the shape."),
        key("outside", Kind::Quantity(scalar), Presence::ByRule, "Value of all other particles of the body."),
    ]
}
