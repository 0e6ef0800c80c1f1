//! Accuracy of the reference method.

use super::Row;

pub(super) const ROW: Row = Row {
    key: "reference",
    // measured 2.3 %, of which 1.5 % is St Venant–Kirchhoff stiffening at 1 % strain
    youngs_modulus: 0.05,
    more_widths: &[],
    poisson_ratio: 0.02,
    // too soft at low resolution: the moment of inertia lacks the sub-particle part
    cantilever: &[(6, 0.08), (8, 0.04)],
    yield_stress: &[],
    deposit: None,
    viscosity: 0.1,
    energy: 1e-4,
    momentum: 1e-12,
};
