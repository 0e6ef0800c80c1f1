//! Settings that belong to one method: `[methods.NAME]`.

use super::{Kind, Presence, Range, Table, key, quantity};
use crate::scene::units::Dimension;

pub(crate) static METHODS: Table = Table {
    name: "methods",
    heading: "[methods]",
    doc: "Settings of the methods, each in a table of its own name.",
    groups: &[&[key(
        "reference",
        Kind::Table(&REFERENCE),
        Presence::Default("{}"),
        "Settings of the reference-shape method of Müller et al. 2004.",
    )]],
    rules: &[],
    later: &[],
};

static REFERENCE: Table = Table {
    name: "methods_reference",
    heading: "[methods.reference]",
    doc: "Settings of the reference-shape method of Müller et al. 2004.",
    groups: &[&[
        key(
            "support_factor",
            Kind::QuantityOrWord(
                quantity(Dimension::NONE, Range { min: Some((1.0, true)), max: Some((6.0, true)) }),
                "auto",
            ),
            Presence::Default("\"auto\""),
            "Support radius of a particle as a multiple of the mean distance to its ten nearest neighbours; \"auto\" is 1.5 \
             for lattices and 2 for irregular samplings, the paper has 3.",
        ),
        key(
            "volume_rule",
            Kind::Choice(&[
                (
                    "exact",
                    "the particles' volumes sum up to the body's volume, so that mass and stiffness are true",
                ),
                (
                    "sph",
                    "mass over SPH density as in the paper, which makes small bodies too stiff and too heavy",
                ),
            ]),
            Presence::Default("\"exact\""),
            "How the volume that a particle stands for is found.",
        ),
        key(
            "stabilization",
            Kind::Quantity(quantity(Dimension::NONE, Range::NON_NEGATIVE)),
            Presence::Default("0.1"),
            "Strength, as a share of Young's modulus, of the penalty on motion that a particle's deformation gradient does \
             not see; it vanishes for affine motion, and 0 gives the paper's method.",
        ),
        key(
            "volume_stiffness",
            Kind::Quantity(quantity(Dimension::PRESSURE, Range::NON_NEGATIVE)),
            Presence::Default("0"),
            "Stiffness of the paper's volume-conserving force, an added bulk modulus that resists inversion and makes the \
             body less compressible than its Poisson ratio says.",
        ),
        key(
            "inversion_guard",
            Kind::Quantity(quantity(Dimension::NONE, Range::NON_NEGATIVE)),
            Presence::Default("0.75"),
            "Stiffness, in units of lambda + 2 mu, of the force that turns inverted particles back; it acts under 0.6 of the \
             rest volume only, so that E and nu stay the asked ones, and 0 gives the paper's method.",
        ),
        key(
            "safety",
            Kind::Quantity(quantity(
                Dimension::NONE,
                Range { min: Some((0.0, false)), max: Some((1.0, true)) },
            )),
            Presence::Default("0.6"),
            "Largest time step as a fraction of the stability limit of the explicit integration.",
        ),
    ]],
    rules: &[],
    later: &[],
};
