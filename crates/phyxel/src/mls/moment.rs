//! Moment matrices and their safe inverse.

use crate::math::{Mat3, Real, Vec3, cofactor, outer, symmetric_eigen, trace};

/// Returns the moment matrix A = Σ_j w_j u_j u_jᵀ (Mueller 2004 Eq. 14).
pub fn moment(bonds: impl Iterator<Item = (Real, Vec3)>) -> Mat3 {
    bonds.fold(Mat3::ZERO, |sum, (w, u)| sum + outer(u * w, u))
}

/// A pseudo-inverse and the number of directions that it had to drop.
#[derive(Clone, Copy, Debug)]
pub struct Inverse {
    /// A⁻¹ on the directions that are kept, 0 on the others.
    pub matrix: Mat3,
    /// Number of directions in which the neighbours have no extent: 0 for a regular neighbourhood.
    pub dropped: u32,
}

/// Inverts a symmetric positive semidefinite matrix; eigenvalues under `tolerance` times the largest are dropped.
/// Mueller 2004 Sec. 3.3 uses a safe inverse by SVD, which for such matrices is the same as the eigen-decomposition.
pub fn safe_inverse(a: Mat3, tolerance: Real) -> Inverse {
    let (det, size) = (a.determinant(), trace(a));
    // λ₃/λ₁ ≥ 4 det/tr³, since λ₁ λ₂ ≤ (tr/2)² and λ₁ ≤ tr: almost always, no direction is to be dropped
    if 4.0 * det > tolerance * size * size * size && size > 0.0 {
        return Inverse { matrix: cofactor(a) * (1.0 / det), dropped: 0 };
    }
    let (values, q) = symmetric_eigen(a);
    let mut reciprocal = Vec3::ZERO;
    let mut dropped = 0;
    for k in 0..3 {
        if values[k] > tolerance * values.x && values[k] > 0.0 {
            reciprocal[k] = 1.0 / values[k];
        } else {
            dropped += 1;
        }
    }
    Inverse { matrix: q * Mat3::from_diagonal(reciprocal) * q.transpose(), dropped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, frobenius_norm};

    #[test]
    fn inverse_of_a_cloud_and_of_degenerate_ones() {
        let mut random = Random::new(5);
        let cloud: Vec<Vec3> = (0..20).map(|_| random.in_cube()).collect();
        let a = moment(cloud.iter().map(|&u| (1.0, u)));
        let inverse = safe_inverse(a, 1e-6);
        assert_eq!(inverse.dropped, 0);
        assert!(frobenius_norm(inverse.matrix * a - Mat3::IDENTITY) < 1e-12);

        // just regular enough for the direct inverse, and just not
        for flatness in [0.05, 0.005] {
            let a = moment(cloud.iter().map(|&u| (1.0, u * Vec3::new(1.0, 1.0, flatness))));
            let inverse = safe_inverse(a, 1e-6);
            assert_eq!(inverse.dropped, 0);
            assert!(frobenius_norm(inverse.matrix * a - Mat3::IDENTITY) < 1e-9);
        }

        let flat = moment(cloud.iter().map(|&u| (1.0, u * Vec3::new(1.0, 1.0, 1e-5))));
        let inverse = safe_inverse(flat, 1e-6);
        assert_eq!(inverse.dropped, 1);
        assert!((inverse.matrix * Vec3::Z).length() < 1e-4 * frobenius_norm(inverse.matrix));

        let line = moment(cloud.iter().map(|&u| (1.0, Vec3::X * u.x)));
        assert_eq!(safe_inverse(line, 1e-6).dropped, 2);
        assert_eq!(safe_inverse(Mat3::ZERO, 1e-6).dropped, 3);
    }
}
