//! Columns that several methods have, computed from deformation gradients.

use super::{ColumnInfo, LEAST_VOLUME_RATIO};
use crate::material::von_mises;
use crate::math::{Mat3, Real, svd, trace};
use rayon::prelude::*;

pub(super) const STRESS: ColumnInfo =
    ColumnInfo::scalar("stress", "Pa", "von Mises equivalent of the Cauchy stress");
pub(super) const PRESSURE: ColumnInfo =
    ColumnInfo::scalar("pressure", "Pa", "minus a third of the trace of the Cauchy stress");
pub(super) const VOLUME_RATIO: ColumnInfo =
    ColumnInfo::scalar("volume_ratio", "1", "current volume over rest volume, det F");
pub(super) const STRETCH: ColumnInfo =
    ColumnInfo::scalar("stretch", "1", "largest principal stretch that is elastic");
pub(super) const PLASTIC_STRAIN: ColumnInfo =
    ColumnInfo::scalar("plastic_strain", "1", "accumulated equivalent plastic strain");
pub(super) const HARDENING: ColumnInfo = ColumnInfo::scalar("hardening", "Pa", "accumulated plastic stress");
pub(super) const STRAY: ColumnInfo =
    ColumnInfo::scalar("stray", "1", "1 where a particle has lost touch with the matter");

/// Returns the Cauchy stress P Fᵀ/det F. Volume ratios near 0 count as more, of either sign (Pa).
fn cauchy_stress(first_piola: Mat3, f: Mat3) -> Mat3 {
    let det = f.determinant();
    let ratio = if det.abs() < LEAST_VOLUME_RATIO { LEAST_VOLUME_RATIO.copysign(det) } else { det };
    first_piola * f.transpose() * (1.0 / ratio)
}

/// Computes [`STRESS`], [`PRESSURE`], [`VOLUME_RATIO`] or [`STRETCH`] from the elastic deformation gradients and the first
/// Piola–Kirchhoff stress of a particle with a gradient; `None` for other names.
pub(super) fn strain_column(
    name: &str,
    gradients: &[Mat3],
    first_piola: impl Fn(usize, Mat3) -> Mat3 + Sync,
) -> Option<Vec<Real>> {
    let cauchy = |i: usize, f: Mat3| cauchy_stress(first_piola(i, f), f);
    let value: &(dyn Fn(usize, Mat3) -> Real + Sync) = match name {
        "stress" => &|i, f| von_mises(cauchy(i, f)),
        "pressure" => &|i, f| -trace(cauchy(i, f)) / 3.0,
        "volume_ratio" => &|_, f| f.determinant(),
        "stretch" => &|_, f| svd(f).sigma.x,
        _ => return None,
    };
    Some(gradients.par_iter().enumerate().map(|(i, &f)| value(i, f)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3;

    /// Checks that a column names its value, and that matter turned inside out has a finite stress of the right sign.
    #[test]
    fn stresses_are_those_of_the_present_area() {
        let f = Mat3::from_diagonal(vec3(2.0, 0.5, 0.5));
        let first_piola = |_: usize, _: Mat3| Mat3::from_diagonal(vec3(100.0, 0.0, 0.0));
        let column = |name: &str, f: Mat3| strain_column(name, &[f], first_piola).unwrap()[0];
        // a force of 100 N per square metre of rest area acts on a quarter of that area
        assert!((column(STRESS.name, f) - 400.0).abs() < 1e-9);
        assert!((column(PRESSURE.name, f) + 400.0 / 3.0).abs() < 1e-9);
        assert!((column(VOLUME_RATIO.name, f) - 0.5).abs() < 1e-12);
        assert!((column(STRETCH.name, f) - 2.0).abs() < 1e-12);
        let inverted = Mat3::from_diagonal(vec3(1.0, 1.0, -1e-3));
        assert!((column(PRESSURE.name, inverted) - 100.0 / LEAST_VOLUME_RATIO / 3.0).abs() < 1e-9);
        assert!(strain_column("hardening", &[f], first_piola).is_none());
    }
}
