//! Schema of the main tables: root, bodies, grips, obstacles, forces and output.

use super::events::events;
use super::materials::materials;
use super::methods::methods;
use super::shapes::{PLACED_SHAPE, PLACEMENT_KEYS, ROTATION, SHAPE};
use super::varying::along_keys;
use super::{Key, Kind, Presence, Quantity, Range, Referent, Rule, Table, VectorRule, key, quantity};
use crate::scene::units::Dimension;

const TIME: Quantity = quantity(Dimension::TIME, Range::POSITIVE);
const START_TIME: Quantity = quantity(Dimension::TIME, Range::NON_NEGATIVE);
const SPACING: Quantity = quantity(Dimension::LENGTH, Range::POSITIVE);
/// Largest number of particles: more than any machine can hold, so that typing errors are found before memory is used.
const MAX_PARTICLES: i64 = 1_000_000_000;
/// Largest seed: TOML integers are signed, and every non-negative one is a valid seed.
const MAX_SEED: i64 = i64::MAX;
const MAX_SMOOTHING: i64 = 1000;
const CELL: Range = Range { min: Some((0.2, true)), max: Some((2.0, false)) };
const MAX_CHECKPOINT_INTERVAL: i64 = 1_000_000;

/// Table of the whole scene file.
pub static ROOT: Table = Table {
    name: "scene",
    heading: "The scene",
    doc: "Keys at the top of the file, before the first table.",
    groups: &[&[
        key("format", Kind::Integer(1, 1), Presence::Default("1"), "Version of the scene format."),
        key("title", Kind::Text, Presence::Optional("untitled"), "What the scene shows, in one line."),
        key(
            "method",
            Kind::Method,
            Presence::Optional("every body names its own"),
            "Method that drives the bodies; `phyxel list methods` shows what there is, and a body may name its own.",
        ),
        key("duration", Kind::Quantity(TIME), Presence::Required, "How much time is simulated, from 0 on."),
        key(
            "frame_rate",
            Kind::Quantity(quantity(Dimension::RATE, Range::POSITIVE)),
            Presence::Default("30"),
            "Frames written per second of simulated time.",
        ),
        key(
            "gravity",
            Kind::Vector(Dimension::ACCELERATION, VectorRule::Any),
            Presence::Default("[0, -9.81, 0]"),
            "Acceleration by gravity.",
        ),
        key(
            "time_step",
            Kind::Quantity(TIME),
            Presence::Optional("the method's own limit"),
            "Largest time step; a frame is divided into equal steps, and one over the stability limit is refused.",
        ),
        key(
            "contact",
            Kind::Boolean,
            Presence::Default("true"),
            "Whether bodies, and parts of one body, keep out of each other; false lets them pass through, as the papers do.",
        ),
        key(
            "on_trouble",
            Kind::Choice(&[
                ("warn", "the run goes on, and warns at once and at its end"),
                ("stop", "the run ends after the frame, with exit code 1"),
            ]),
            Presence::Default("\"warn\""),
            "What happens when the energy balance does not close, matter loses its volume or is turned inside out, or its \
             sampling turns bad.",
        ),
        key("methods", Kind::Derived(methods), Presence::Default("{}"), "Settings of the methods."),
        key("materials", Kind::Derived(materials), Presence::Required, "The materials, each under its name."),
        key("bodies", Kind::Tables(&BODY, 1), Presence::Required, "The bodies that are simulated."),
        key(
            "grips",
            Kind::Tables(&GRIP, 0),
            Presence::Default("[]"),
            "Particles of bodies that are held or led, and may be let go.",
        ),
        key(
            "obstacles",
            Kind::Tables(&OBSTACLE, 0),
            Presence::Default("[]"),
            "Solid things that bodies run into.",
        ),
        key(
            "forces",
            Kind::Tables(&FORCE, 0),
            Presence::Default("[]"),
            "Force fields that act on all bodies.",
        ),
        key(
            "events",
            Kind::Derived(events),
            Presence::Default("[]"),
            "What changes while the scene runs: gravity, materials, a hand that drags.",
        ),
        key("output", Kind::Table(&OUTPUT), Presence::Default("{}"), "What is written, and how often."),
    ]],
    rules: &[],
    later: &[],
};

static SPACING_ALONG: Table = Table {
    name: "spacing_along",
    heading: "spacing = { ... }",
    doc: "A spacing that changes linearly along a direction.",
    groups: &[&along_keys(SPACING, Presence::Required)],
    rules: &[],
    later: &[],
};

static BODY: Table = Table {
    name: "body",
    heading: "[[bodies]]",
    doc: "A body: a shape filled with particles of one material.",
    groups: &[
        &[
            key("name", Kind::Name, Presence::Required, "Name, unique among bodies, grips and obstacles."),
            key(
                "material",
                Kind::Reference(Referent::Material),
                Presence::Required,
                "Name of one of the materials.",
            ),
            key(
                "method",
                Kind::Method,
                Presence::Optional("the scene's method"),
                "Method that drives this body.",
            ),
            key("shape", Kind::Table(&SHAPE), Presence::Required, "Shape of the body at time 0."),
        ],
        &PLACEMENT_KEYS,
        &[
            key(
                "spacing",
                Kind::QuantityOrTable(SPACING, &SPACING_ALONG),
                Presence::ByRule,
                "Distance between neighbouring particles; it may vary along a direction.",
            ),
            key(
                "particles",
                Kind::Integer(1, MAX_PARTICLES),
                Presence::ByRule,
                "About how many particles fill the shape; the spacing follows from it.",
            ),
            key(
                "sampling",
                Kind::Choice(&[
                    ("lattice", "a regular cubic lattice along the shape's own axes"),
                    (
                        "jittered",
                        "the lattice with every particle moved by chance, up to a fifth of the spacing along each axis",
                    ),
                    ("relaxed", "evenly spread without a lattice's directions, following the surface"),
                ]),
                Presence::Default("\"lattice\""),
                "How the particles are spread in the shape.",
            ),
            key(
                "seed",
                Kind::Integer(0, MAX_SEED),
                Presence::Default("1"),
                "Begins the chance of a jittered or relaxed sampling; the same seed gives the same particles.",
            ),
            key(
                "velocity",
                Kind::Vector(Dimension::VELOCITY, VectorRule::Any),
                Presence::Default("[0, 0, 0]"),
                "Velocity of the centre of mass at time 0.",
            ),
            key(
                "angular_velocity",
                Kind::Vector(Dimension::ANGULAR_VELOCITY, VectorRule::Any),
                Presence::Default("[0, 0, 0]"),
                "Rotation about the centre of mass at time 0; its direction is the axis.",
            ),
            key(
                "friction",
                Kind::Quantity(quantity(Dimension::NONE, Range::NON_NEGATIVE)),
                Presence::Default("0.3"),
                "Coulomb's coefficient against other bodies and its own parts; two bodies have the geometric mean of theirs.",
            ),
            key(
                "fuse",
                Kind::Boolean,
                Presence::Default("false"),
                "Whether it is one piece with other bodies of its method that say so too: bonded where they touch at the start, \
                 and in `incremental` also where they meet later.",
            ),
            key(
                "surface",
                Kind::Table(&SURFACE),
                Presence::Optional("no surface is written"),
                "A surface of the body, written in every frame.",
            ),
        ],
    ],
    rules: &[Rule::OneOf(&[&["spacing"], &["particles"]])],
    later: &[],
};

static SURFACE: Table = Table {
    name: "surface",
    heading: "[bodies.surface]",
    doc: "What is drawn and exported of a body in place of its particles.",
    groups: &[&[
        key(
            "kind",
            Kind::Choice(&[
                (
                    "mesh",
                    "the body's own mesh, or the triangles of its shape, carried along by the particles",
                ),
                (
                    "skin",
                    "a new closed surface around the particles in every frame, for matter that flows, splits and merges",
                ),
            ]),
            Presence::Required,
            "How the surface follows the matter.",
        ),
        key(
            "order",
            Kind::Integer(0, 1),
            Presence::Optional("1"),
            "Of a mesh: 1 moves vertices by the affine map of the particles around them, exact for turns and strains; \
             0 by their mean displacement, as in Jones et al. 2014.",
        ),
        key(
            "edge",
            Kind::Quantity(SPACING),
            Presence::Optional("the spacing of the particles"),
            "Of the mesh of a shape: longest edge of its triangles. Meshes from files keep theirs.",
        ),
        key(
            "uvs",
            Kind::Boolean,
            Presence::Optional("false"),
            "Of a mesh: whether texture coordinates are needed; a mesh without them is then refused.",
        ),
        key(
            "radius",
            Kind::Quantity(quantity(Dimension::LENGTH, Range::POSITIVE)),
            Presence::Optional("each particle's own"),
            "Of a skin: one radius for all particles, half the spacing that the skin is made for; larger if matter that is drawn apart falls into pieces.",
        ),
        key(
            "smoothing",
            Kind::Integer(0, MAX_SMOOTHING),
            Presence::Optional("25"),
            "Of a skin: passes of smoothing; 0 leaves the lumps of particles.",
        ),
        key(
            "cell",
            Kind::Quantity(quantity(Dimension::NONE, CELL)),
            Presence::Optional("0.75"),
            "Of a skin: size of its triangles, in radii.",
        ),
    ]],
    rules: &[],
    later: &["surfels"],
};

static MOTION_KEYS: [Key; 2] = [
    key(
        "motion",
        Kind::Tables(&KEYFRAME, 0),
        Presence::Default("[]"),
        "Poses at given times, in order of time: from rest at time 0, linear between keys, still after the last.",
    ),
    key(
        "ease",
        Kind::Choice(&[
            ("linear", "constant speed between two poses"),
            ("smooth", "eases out of each pose and into the next"),
        ]),
        Presence::Default("\"linear\""),
        "How the motion goes from one pose to the next.",
    ),
];

static KEYFRAME: Table = Table {
    name: "keyframe",
    heading: "motion = [{ ... }, { ... }]",
    doc: "A pose at a time, relative to the pose at the start.",
    groups: &[&[
        key("time", Kind::Quantity(START_TIME), Presence::Required, "When the pose is reached."),
        key(
            "translation",
            Kind::Vector(Dimension::LENGTH, VectorRule::Any),
            Presence::Default("[0, 0, 0]"),
            "How far it is from where it was at the start.",
        ),
        key(
            "rotation",
            Kind::Table(&ROTATION),
            Presence::Optional("not turned"),
            "How it is turned, about its own centre at the start; an angle may be more than a full turn.",
        ),
    ]],
    rules: &[],
    later: &[],
};

static GRIP: Table = Table {
    name: "grip",
    heading: "[[grips]]",
    doc: "Particles of a body that are held still or led along a motion, and may be let go.",
    groups: &[
        &[
            key(
                "name",
                Kind::Name,
                Presence::Optional("`grip_1`, `grip_2`, ..."),
                "Name of the grip in the ledger, unique among bodies, grips and obstacles.",
            ),
            key(
                "body",
                Kind::Reference(Referent::Body),
                Presence::Required,
                "Name of the body that is gripped.",
            ),
            key(
                "select",
                Kind::Table(&PLACED_SHAPE),
                Presence::Required,
                "Any shape, in world coordinates at time 0: the particles of the body inside it are gripped.",
            ),
            key(
                "axes",
                Kind::Axes,
                Presence::Default("\"xyz\""),
                "World axes along which the particles are held; along the others they slide freely.",
            ),
        ],
        &MOTION_KEYS,
        &[key(
            "release",
            Kind::Quantity(TIME),
            Presence::Optional("never"),
            "When the particles are let go.",
        )],
    ],
    rules: &[],
    later: &[],
};

static OBSTACLE: Table = Table {
    name: "obstacle",
    heading: "[[obstacles]]",
    doc: "A solid thing that bodies run into: fixed, or led along a motion that nothing stops.",
    groups: &[
        &[
            key(
                "name",
                Kind::Name,
                Presence::Optional("`obstacle_1`, `obstacle_2`, ..."),
                "Name of the obstacle in the ledger, unique among bodies, grips and obstacles.",
            ),
            key("shape", Kind::Table(&SHAPE), Presence::Required, "Shape of the obstacle."),
        ],
        &PLACEMENT_KEYS,
        &[
            key(
                "shell",
                Kind::Quantity(quantity(Dimension::LENGTH, Range::POSITIVE)),
                Presence::Optional("solid"),
                "Thickness of the wall of a hollow obstacle, inward from its surface.",
            ),
            key(
                "inside",
                Kind::Boolean,
                Presence::Default("false"),
                "Whether bodies are kept inside the shape instead of outside.",
            ),
            key(
                "friction",
                Kind::QuantityOrWord(quantity(Dimension::NONE, Range::NON_NEGATIVE), "stick"),
                Presence::Default("0.5"),
                "Coulomb's coefficient of friction; \"stick\" holds what touches.",
            ),
        ],
        &MOTION_KEYS,
    ],
    rules: &[],
    later: &[],
};

static FORCE: Table = Table {
    name: "force",
    heading: "[[forces]]",
    doc: "A field of force per mass that acts on all bodies while it lasts.",
    groups: &[&[
        key(
            "acceleration",
            Kind::Vector(Dimension::ACCELERATION, VectorRule::Any),
            Presence::ByRule,
            "The same acceleration everywhere.",
        ),
        key(
            "linear",
            Kind::Table(&LINEAR),
            Presence::ByRule,
            "An acceleration that grows linearly from a centre, as in Gerszewski et al. 2009, Fig. 8.",
        ),
        key(
            "drag",
            Kind::Quantity(quantity(Dimension::RATE, Range::NON_NEGATIVE)),
            Presence::ByRule,
            "Deceleration per velocity, as from still air: a free body slows down by exp(-drag t).",
        ),
        key("from", Kind::Quantity(START_TIME), Presence::Default("0"), "When the force begins to act."),
        key("until", Kind::Quantity(TIME), Presence::Optional("to the end"), "When the force ceases."),
    ]],
    rules: &[
        Rule::OneOf(&[&["acceleration"], &["linear"], &["drag"]]),
        Rule::Ordered("from", "until", false),
    ],
    later: &[],
};

static LINEAR: Table = Table {
    name: "linear_force",
    heading: "linear = { ... }",
    doc: "The acceleration matrix · (x − center).",
    groups: &[&[
        key(
            "matrix",
            Kind::Matrix(Dimension::RATE_SQUARED),
            Presence::Required,
            "Acceleration per distance, by rows.",
        ),
        key(
            "center",
            Kind::Vector(Dimension::LENGTH, VectorRule::Any),
            Presence::Default("[0, 0, 0]"),
            "Point at which the force is zero.",
        ),
    ]],
    rules: &[],
    later: &[],
};

static OUTPUT: Table = Table {
    name: "output",
    heading: "[output]",
    doc: "What is written, and how often.",
    groups: &[&[
        key(
            "columns",
            Kind::Columns,
            Presence::Default("[\"velocity\"]"),
            "Columns of the particle files, besides position, id, body and radius, which are always there.",
        ),
        key(
            "checkpoint_every",
            Kind::Integer(1, MAX_CHECKPOINT_INTERVAL),
            Presence::Default("30"),
            "Frames between two checkpoints.",
        ),
    ]],
    rules: &[],
    later: &[],
};
