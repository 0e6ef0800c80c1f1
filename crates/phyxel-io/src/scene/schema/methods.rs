//! Settings that belong to one method: `[methods.NAME]`.

use super::{Kind, Presence, Quantity, Range, Table, key, quantity};
use crate::scene::units::Dimension;

/// Over 0, up to the whole.
const SHARE: Quantity = quantity(Dimension::NONE, Range { min: Some((0.0, false)), max: Some((1.0, true)) });
/// From nothing to the whole.
const FRACTION: Quantity =
    quantity(Dimension::NONE, Range { min: Some((0.0, true)), max: Some((1.0, true)) });
const POSITIVE: Quantity = quantity(Dimension::NONE, Range::POSITIVE);
const NON_NEGATIVE: Quantity = quantity(Dimension::NONE, Range::NON_NEGATIVE);
/// More steps between two updates than any run needs.
const MAX_EMBED_EVERY: i64 = 1_000_000;
/// A particle has at most so many neighbours.
const MAX_NEIGHBORS: i64 = phyxel::neighbors::SLOTS as i64;

pub(crate) static METHODS: Table = Table {
    name: "methods",
    heading: "[methods]",
    doc: "Settings of the methods, each in a table of its own name.",
    groups: &[&[
        key(
            "reference",
            Kind::Table(&REFERENCE),
            Presence::Default("{}"),
            "Settings of the reference-shape method of Müller et al. 2004.",
        ),
        key(
            "incremental",
            Kind::Table(&INCREMENTAL),
            Presence::Default("{}"),
            "Settings of the incremental method, Gerszewski et al. 2009.",
        ),
        key(
            "embedded",
            Kind::Table(&EMBEDDED),
            Presence::Default("{}"),
            "Settings of deformation embedding, Jones et al. 2014.",
        ),
    ]],
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
            Kind::Quantity(SHARE),
            Presence::Default("0.6"),
            "Largest time step as a fraction of the stability limit of the explicit integration.",
        ),
    ]],
    rules: &[],
    later: &[],
};

static INCREMENTAL: Table = Table {
    name: "methods_incremental",
    heading: "[methods.incremental]",
    doc: "Settings of the incremental method, Gerszewski et al. 2009. The defaults are ours; each key says what the paper has.",
    groups: &[&[
        key(
            "support",
            Kind::Quantity(quantity(
                Dimension::NONE,
                Range { min: Some((1.5, true)), max: Some((4.0, true)) },
            )),
            Presence::Default("1.8"),
            "Support radius of a particle in spacings; the paper names none, and its kernel form is best at 2.",
        ),
        key(
            "neighbors",
            Kind::Integer(10, 200),
            Presence::Default("30"),
            "Neighbours that a particle has at the most: where more are inside the support, it shrinks; the paper has 30.",
        ),
        key(
            "force_form",
            Kind::Choice(&[
                (
                    "corrected",
                    "by the gradient of the same fit that the deformation comes from, exact for even stress also at surfaces",
                ),
                (
                    "kernel",
                    "by the plain gradient of the cosine kernel, as in the paper, which is too soft at surfaces",
                ),
            ]),
            Presence::Default("\"corrected\""),
            "How stress becomes force.",
        ),
        key(
            "stress_form",
            Kind::Choice(&[
                ("first_piola", "the first Piola-Kirchhoff stress"),
                (
                    "scaled",
                    "multiplied by the stretch, as in the paper: softer when squeezed, stiffer when pulled",
                ),
            ]),
            Presence::Default("\"first_piola\""),
            "What the kernel form takes for stress.",
        ),
        key(
            "history",
            Kind::Choice(&[
                ("composed", "the product of the steps' deformation gradients, which is the paper's method"),
                ("additive", "the sum of the steps' strains, which forgets rotations, as in its Fig. 8"),
                ("stored_rest", "the bonds of the start, deformed by the flow, as in its Fig. 8"),
            ]),
            Presence::Default("\"composed\""),
            "What remembers the deformation.",
        ),
        key(
            "stabilization",
            Kind::Quantity(NON_NEGATIVE),
            Presence::Default("0.2"),
            "Strength, as a share of lambda + 2 mu, of the penalty on motion that a particle's deformation gradient does not \
             see; the paper has none, which is 0. It acts in the corrected form.",
        ),
        key(
            "repulsion",
            Kind::Quantity(NON_NEGATIVE),
            Presence::Default("0.6"),
            "Strength, as a share of lambda + 2 mu, with which particles push each other away that are nearer than 0.8 of the spacing and can flow, or nearer than half of it; the paper \
             has none, which is 0. It acts in the corrected form.",
        ),
        key(
            "pressure",
            Kind::Quantity(NON_NEGATIVE),
            Presence::Default("0"),
            "Stiffness of SPH pressure against crowding, as a share of Young's modulus; the paper uses it in many scenes, \
             without its numbers. It makes matter stiffer in bulk: keep it under 0.5.",
        ),
        key(
            "volume_relaxation",
            Kind::Quantity(quantity(Dimension::RATE, Range::NON_NEGATIVE)),
            Presence::Default("0"),
            "How quickly changes of volume beyond two thirds or three halves are forgotten; the paper mentions it without a \
             formula.",
        ),
        key(
            "integrator",
            Kind::Choice(&[
                ("leapfrog", "half a kick, implicit viscosity, drift, half a kick"),
                ("symplectic_euler", "a whole kick, implicit viscosity, drift, as in the paper"),
            ]),
            Presence::Default("\"leapfrog\""),
            "How positions and velocities advance.",
        ),
        key(
            "flow_rule",
            Kind::Choice(&[
                ("per_second", "`flow_rate` is in 1/s, and the material does not depend on the time step"),
                ("per_step", "`flow_rate` is the share that flows in one step, as in the paper"),
            ]),
            Presence::Default("\"per_second\""),
            "What the flow rate of a material means.",
        ),
        key(
            "viscosity_model",
            Kind::Choice(&[
                (
                    "strain_rate",
                    "the rate of strain, which is true shear viscosity and does not brake rigid motion",
                ),
                ("sph", "differences of velocity, as in the paper, which brakes rotation, too"),
            ]),
            Presence::Default("\"strain_rate\""),
            "What viscosity acts on.",
        ),
        key(
            "safety",
            Kind::Quantity(SHARE),
            Presence::Default("0.3"),
            "Largest time step as a fraction of the stability limit; the paper names its time steps only.",
        ),
    ]],
    rules: &[],
    later: &[],
};

static EMBEDDED: Table = Table {
    name: "methods_embedded",
    heading: "[methods.embedded]",
    doc: "Settings of deformation embedding, Jones et al. 2014. The defaults are ours; each key says what the paper has.",
    groups: &[&[
        key(
            "support_factor",
            Kind::Quantity(quantity(
                Dimension::NONE,
                Range { min: Some((1.0, true)), max: Some((4.0, true)) },
            )),
            Presence::Default("1.6"),
            "Support radius of a particle as a multiple of the mean distance to its 32 nearest neighbours; the paper has 2.",
        ),
        key(
            "volume_rule",
            Kind::Choice(&[
                ("exact", "each particle's share of the shape"),
                (
                    "moments",
                    "from the moments of its neighbourhood, as in the paper, scaled so that the body has its true volume",
                ),
            ]),
            Presence::Default("\"moments\""),
            "How the volume that a particle stands for is found.",
        ),
        key(
            "mass_rule",
            Kind::Choice(&[
                ("fixed", "only splitting and merging change masses, so that momentum is kept"),
                ("running", "masses follow the volumes in every step, as in the paper"),
            ]),
            Presence::Default("\"fixed\""),
            "Whether masses change while it runs.",
        ),
        key(
            "stabilization",
            Kind::Quantity(NON_NEGATIVE),
            Presence::Default("0.1"),
            "Strength, as a share of lambda + 2 mu, of the penalty on motion that a particle's deformation gradient does not \
             see; the paper has none, which is 0.",
        ),
        key(
            "repulsion",
            Kind::Quantity(NON_NEGATIVE),
            Presence::Default("0.6"),
            "Strength, as a share of lambda + 2 mu, with which particles that have flowed and are nearer than 0.8 of the spacing push \
             each other away; the paper has none, which is 0.",
        ),
        key(
            "volume_correction",
            Kind::Quantity(FRACTION),
            Presence::Default("0.1"),
            "Share of the difference between det F and the volume that the density tells which an update of the neighbourhoods takes away, \
             where matter has flowed and is denser than F says; the paper has none, which is 0. It acts with `list_update = \"continuous\"`.",
        ),
        key(
            "flow_rule",
            Kind::Choice(&[
                ("per_second", "`flow_rate` is in 1/s, and the material does not depend on the time step"),
                ("per_step", "`flow_rate` is the share that flows in one step, as in the paper"),
            ]),
            Presence::Default("\"per_second\""),
            "What the flow rate of a material means.",
        ),
        key(
            "integrator",
            Kind::Choice(&[
                ("leapfrog", "half a kick, implicit viscosity, drift, half a kick"),
                ("symplectic_euler", "a whole kick, implicit viscosity, drift"),
                (
                    "newmark",
                    "the paper's scheme for viscous matter, with elastic forces in both halves: as printed, bodies fall at half their weight",
                ),
            ]),
            Presence::Default("\"leapfrog\""),
            "How positions and velocities advance; the paper has leapfrog, with explicit viscosity, and Newmark.",
        ),
        key(
            "viscosity_model",
            Kind::Choice(&[
                (
                    "strain_rate",
                    "the rate of strain, which is true shear viscosity and does not brake rigid motion",
                ),
                ("sph", "differences of velocity, as in the paper, which brakes rotation, too"),
            ]),
            Presence::Default("\"strain_rate\""),
            "What viscosity acts on.",
        ),
        key(
            "embedding",
            Kind::Choice(&[
                ("linear", "by least squares, as in the paper"),
                ("nonlinear", "as the pose of least elastic energy, after Wicke et al. 2010"),
                ("off", "never: neighbourhoods stay what they are at the start, as in the paper's Fig. 5 b"),
            ]),
            Presence::Default("\"linear\""),
            "How the embedded positions are found.",
        ),
        key(
            "embed_every",
            Kind::Integer(1, MAX_EMBED_EVERY),
            Presence::Default("3"),
            "Steps between two updates of embedding and neighbourhoods, at least; the paper has 1.",
        ),
        key(
            "embed_flow",
            Kind::Quantity(quantity(Dimension::NONE, Range::NON_NEGATIVE)),
            Presence::Default("0.1"),
            "Plastic strain since the last update, where it is largest, that makes an update worth while; the paper updates in \
             every step, which 0 does.",
        ),
        key(
            "embed_tolerance",
            Kind::Quantity(quantity(
                Dimension::NONE,
                Range { min: Some((0.0, false)), max: Some((0.01, true)) },
            )),
            Presence::Default("3e-4"),
            "Residual of the embedding over its right-hand side; sloppy ones add up, and the paper names none.",
        ),
        key(
            "list_update",
            Kind::Choice(&[
                ("continuous", "the deformation gradient stays what it was, and so do the forces"),
                ("plain", "new bonds are embedded ones and nothing else changes, as in the paper"),
            ]),
            Presence::Default("\"continuous\""),
            "What a change of neighbours does to the rest bonds.",
        ),
        key(
            "common_neighbors",
            Kind::Integer(0, MAX_NEIGHBORS),
            Presence::Default("8"),
            "Neighbours that two particles must share to become neighbours, so that layers which only touch do not weld; \
             the paper has 0.",
        ),
        key(
            "speed_limit",
            Kind::Quantity(NON_NEGATIVE),
            Presence::Default("0.6"),
            "Speed over its neighbours' that a particle may have, in speeds of sound; the paper has no limit, which is 0.",
        ),
        key(
            "resampling",
            Kind::Choice(&[
                ("gaps", "by gaps and closeness at rest, in units of the spacing"),
                (
                    "eigenvalues",
                    "by the paper's eigenvalues, against those of the start; it hardly ever acts",
                ),
                ("off", "never"),
            ]),
            Presence::Default("\"gaps\""),
            "When particles split and merge.",
        ),
        key(
            "split_at",
            Kind::Quantity(POSITIVE),
            Presence::Optional("1.7 for gaps, 0.6 for eigenvalues"),
            "Gap on both sides over which a particle splits, in spacings and over 1.2; or, for eigenvalues, share of the \
             start's smallest under which it splits, less than 1. The paper leaves the number open.",
        ),
        key(
            "merge_at",
            Kind::Quantity(NON_NEGATIVE),
            Presence::Optional("0.4 for gaps, 1.5 for eigenvalues"),
            "Distance under which two particles merge, in spacings and less than 0.9; or, for eigenvalues, multiple of the \
             start's largest over which they merge, over 1. The paper leaves the number open.",
        ),
        key(
            "safety",
            Kind::Quantity(SHARE),
            Presence::Default("0.3"),
            "Largest time step as a fraction of the stability limit; the paper names its time steps only.",
        ),
    ]],
    rules: &[],
    later: &[],
};
