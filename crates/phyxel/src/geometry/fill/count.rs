//! Search for the spacing at which a lattice has a wanted number of points.

use super::lattice::fitted_counts;
use super::{FillError, Sample};
use crate::math::{Real, Vec3, cbrt};

/// Number of attempts to approach the wanted number.
const N_ATTEMPTS: usize = 10;
/// Accepted relative deviation from the wanted number.
const TOLERANCE: Real = 1e-3;

/// Returns the spacing for a box. The number of cells never grows with the spacing, so bisection finds the jump over
/// the wanted number, and one of its two sides is the nearest.
pub(super) fn box_spacing(size: Vec3, count: usize) -> Real {
    let n_cells = |spacing: Real| fitted_counts(size, spacing).iter().map(|&n| n as Real).product::<Real>();
    let wanted = count as Real;
    let ideal = cbrt(size.element_product() / wanted);
    let (mut low, mut high) = (0.1 * ideal, 10.0 * ideal);
    while n_cells(low) < wanted && low > 1e-6 * ideal {
        low *= 0.5;
    }
    while n_cells(high) > wanted && high < 1e6 * ideal {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if n_cells(middle) >= wanted { low = middle } else { high = middle }
    }
    let off_by = |spacing: Real| (n_cells(spacing) - wanted).abs();
    if off_by(low) <= off_by(high) { low } else { high }
}

/// Returns the lattice whose number of points is nearest to the wanted one, among a few attempts. The number follows
/// volume / spacing³ but jumps where rows appear and vanish, so each step is kept between the best spacings on both
/// sides.
pub(super) fn nearest_lattice(
    volume: Real,
    count: usize,
    lattice: impl Fn(Real) -> Result<Vec<Sample>, FillError>,
) -> Result<Vec<Sample>, FillError> {
    let wanted = count as Real;
    let mut spacing = cbrt(volume / wanted);
    let (mut too_fine, mut too_coarse) = (0.0, Real::INFINITY);
    let mut best: Option<Vec<Sample>> = None;
    for _ in 0..N_ATTEMPTS {
        let samples = lattice(spacing)?;
        let n_samples = samples.len() as Real;
        if n_samples > wanted {
            too_fine = spacing
        } else {
            too_coarse = spacing
        }
        if best.as_ref().is_none_or(|best| (n_samples - wanted).abs() < (best.len() as Real - wanted).abs()) {
            best = Some(samples);
        }
        if (n_samples - wanted).abs() <= TOLERANCE * wanted {
            break;
        }
        let proposed = spacing * cbrt(n_samples.max(1.0) / wanted);
        let is_between = proposed > too_fine && proposed < too_coarse;
        spacing = if is_between { proposed } else { 0.5 * (too_fine + too_coarse.min(2.0 * spacing)) };
    }
    Ok(best.unwrap_or_default())
}
