//! Schema of shapes and their placement.

use super::{Key, Kind, Presence, Quantity, Range, Rule, Table, VectorRule, key, quantity};
use crate::scene::units::Dimension;

const LENGTH: Quantity = quantity(Dimension::LENGTH, Range::POSITIVE);
const SIZE: Kind = Kind::Quantity(LENGTH);
const POINT: Kind = Kind::Vector(Dimension::LENGTH, VectorRule::Any);
const MAX_POINTS: i64 = 1000;

/// Keys of all shapes; a shape table has exactly one of them.
pub(crate) static SHAPE_KEYS: [Key; 13] = [
    key("box", Kind::Table(&BOX), Presence::ByRule, "A box with its sides along the axes."),
    key("sphere", Kind::Table(&SPHERE), Presence::ByRule, "A ball around the origin."),
    key(
        "cylinder",
        Kind::Table(&CYLINDER),
        Presence::ByRule,
        "A cylinder about the y axis, centred at the origin.",
    ),
    key(
        "capsule",
        Kind::Table(&CAPSULE),
        Presence::ByRule,
        "A cylinder about the y axis with a half ball on each end.",
    ),
    key(
        "cone",
        Kind::Table(&CONE),
        Presence::ByRule,
        "A cone about the y axis with its tip up, centred at half its height.",
    ),
    key("torus", Kind::Table(&TORUS), Presence::ByRule, "A ring about the y axis."),
    key(
        "ellipsoid",
        Kind::Table(&ELLIPSOID),
        Presence::ByRule,
        "An ellipsoid with its axes along the coordinate axes.",
    ),
    key("star", Kind::Table(&STAR), Presence::ByRule, "A prism about the y axis whose section is a star."),
    key(
        "half_space",
        Kind::Table(&HALF_SPACE),
        Presence::ByRule,
        "All space below a plane: a floor. It is infinite, so a body cannot be filled from it alone.",
    ),
    key(
        "mesh",
        Kind::Table(&MESH),
        Presence::ByRule,
        "The inside of a triangle mesh, in the file's own coordinates.",
    ),
    key("union", Kind::Tables(&PLACED_SHAPE, 1), Presence::ByRule, "All that is in any of the shapes."),
    key(
        "difference",
        Kind::Tables(&PLACED_SHAPE, 1),
        Presence::ByRule,
        "The first shape without all the others.",
    ),
    key(
        "intersection",
        Kind::Tables(&PLACED_SHAPE, 1),
        Presence::ByRule,
        "What is in every one of the shapes.",
    ),
];

/// Scale, rotation and position of a shape, applied in this order.
pub(super) static PLACEMENT_KEYS: [Key; 3] = [
    key(
        "scale",
        Kind::Quantity(quantity(Dimension::NONE, Range::POSITIVE)),
        Presence::Default("1.0"),
        "Factor by which the shape is enlarged about the origin, before it is turned and moved.",
    ),
    key(
        "rotation",
        Kind::Table(&ROTATION),
        Presence::Optional("not turned"),
        "Turns the shape about the origin, before it is moved.",
    ),
    key(
        "position",
        Kind::Vector(Dimension::LENGTH, VectorRule::Any),
        Presence::Default("[0, 0, 0]"),
        "Where the shape's origin comes to stand.",
    ),
];

const EXACTLY_ONE_SHAPE: &[Rule] = &[Rule::OneOf(&[
    &["box"],
    &["sphere"],
    &["cylinder"],
    &["capsule"],
    &["cone"],
    &["torus"],
    &["ellipsoid"],
    &["star"],
    &["half_space"],
    &["mesh"],
    &["union"],
    &["difference"],
    &["intersection"],
])];

macro_rules! shape_table {
    ($table:ident, $name:literal, $heading:literal, $doc:literal, $keys:expr, $rules:expr) => {
        pub(super) static $table: Table =
            Table { name: $name, heading: $heading, doc: $doc, groups: &[$keys], rules: $rules, later: &[] };
    };
}

shape_table!(
    SHAPE,
    "shape",
    "shape.NAME",
    "A shape, centred at the origin; what holds it says how it is scaled, turned and moved.",
    &SHAPE_KEYS,
    EXACTLY_ONE_SHAPE
);

pub(super) static PLACED_SHAPE: Table = Table {
    name: "placed_shape",
    heading: "{ NAME = { ... }, position = [...] }",
    doc: "A shape with its own scale, rotation and position.",
    groups: &[&SHAPE_KEYS, &PLACEMENT_KEYS],
    rules: EXACTLY_ONE_SHAPE,
    later: &[],
};

shape_table!(
    ROTATION,
    "rotation",
    "rotation",
    "A rotation about an axis.",
    &[
        key(
            "axis",
            Kind::Vector(Dimension::NONE, VectorRule::Direction),
            Presence::Required,
            "Direction of the axis; its length does not matter.",
        ),
        key(
            "angle",
            Kind::Quantity(quantity(Dimension::ANGLE, Range::ANY)),
            Presence::Required,
            "Angle by the right-hand rule; a bare number is in radians.",
        ),
    ],
    &[]
);

shape_table!(
    BOX,
    "box",
    "shape.box",
    "A box with its sides along the axes, by its size or by two corners.",
    &[
        key(
            "size",
            Kind::Vector(Dimension::LENGTH, VectorRule::Positive),
            Presence::ByRule,
            "Lengths of the sides; the box is centred at the origin.",
        ),
        key("min", POINT, Presence::ByRule, "Corner with the smallest coordinates."),
        key("max", POINT, Presence::ByRule, "Corner with the largest coordinates."),
    ],
    &[Rule::OneOf(&[&["size"], &["min", "max"]]), Rule::Ordered("min", "max", false)]
);

shape_table!(
    SPHERE,
    "sphere",
    "shape.sphere",
    "A ball around the origin.",
    &[key("radius", SIZE, Presence::Required, "Radius of the ball.")],
    &[]
);

shape_table!(
    CYLINDER,
    "cylinder",
    "shape.cylinder",
    "A cylinder about the y axis, centred at the origin.",
    &[
        key("radius", SIZE, Presence::Required, "Radius of the cylinder."),
        key("height", SIZE, Presence::Required, "Length along the y axis."),
    ],
    &[]
);

shape_table!(
    CAPSULE,
    "capsule",
    "shape.capsule",
    "A cylinder about the y axis with a half ball on each end, centred at the origin.",
    &[
        key("radius", SIZE, Presence::Required, "Radius of the cylinder and of the half balls."),
        key(
            "height",
            SIZE,
            Presence::Required,
            "Length of the straight part; the whole is longer by two radii.",
        ),
    ],
    &[]
);

shape_table!(
    CONE,
    "cone",
    "shape.cone",
    "A cone about the y axis with its tip up, centred at half its height.",
    &[
        key("radius", SIZE, Presence::Required, "Radius of the base."),
        key("height", SIZE, Presence::Required, "Length from the base to the tip."),
    ],
    &[]
);

shape_table!(
    TORUS,
    "torus",
    "shape.torus",
    "A ring about the y axis, centred at the origin.",
    &[
        key(
            "radius",
            SIZE,
            Presence::Required,
            "Distance from the centre of the ring to the centre of its tube."
        ),
        key("tube_radius", SIZE, Presence::Required, "Radius of the tube."),
    ],
    &[Rule::Ordered("tube_radius", "radius", true)]
);

shape_table!(
    ELLIPSOID,
    "ellipsoid",
    "shape.ellipsoid",
    "An ellipsoid with its axes along the coordinate axes, centred at the origin.",
    &[key(
        "radii",
        Kind::Vector(Dimension::LENGTH, VectorRule::Positive),
        Presence::Required,
        "Half lengths along x, y and z.",
    )],
    &[]
);

shape_table!(
    STAR,
    "star",
    "shape.star",
    "A prism about the y axis whose section is a star, centred at the origin.",
    &[
        key("points", Kind::Integer(3, MAX_POINTS), Presence::Default("5"), "Number of tips of the star."),
        key("radius", SIZE, Presence::Required, "Distance of the tips from the axis."),
        key(
            "inner_radius",
            SIZE,
            Presence::Required,
            "Distance of the notches between the tips from the axis."
        ),
        key("height", SIZE, Presence::Required, "Length along the y axis."),
    ],
    &[Rule::Ordered("inner_radius", "radius", false)]
);

shape_table!(
    HALF_SPACE,
    "half_space",
    "shape.half_space",
    "All space below a plane.",
    &[
        key(
            "normal",
            Kind::Vector(Dimension::NONE, VectorRule::Direction),
            Presence::Required,
            "Direction out of the solid half; its length does not matter.",
        ),
        key(
            "offset",
            Kind::Quantity(quantity(Dimension::LENGTH, Range::ANY)),
            Presence::Default("0"),
            "Distance of the plane from the origin, along the normal.",
        ),
    ],
    &[]
);

shape_table!(
    MESH,
    "mesh",
    "shape.mesh",
    "The inside of a triangle mesh.",
    &[key("file", Kind::Text, Presence::Required, "Path of the mesh file, relative to the scene file.")],
    &[]
);
