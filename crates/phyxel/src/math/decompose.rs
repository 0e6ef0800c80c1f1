//! 3×3 decompositions: symmetric eigenvalues, det-signed singular values, polar. Fast methods serve well-conditioned
//! input, the usual case in particle loops; Jacobi rotations, accurate to the last bits, serve rank-deficient input.

use super::{Mat3, Real, Vec3};

/// Decomposition F = U diag(σ) Vᵀ with det U = det V = +1, σ descending in magnitude; a reflection makes the smallest σ
/// negative.
#[derive(Clone, Copy, Debug)]
pub struct Svd {
    /// Left rotation.
    pub u: Mat3,
    /// Singular values; only the last may be negative.
    pub sigma: Vec3,
    /// Right rotation.
    pub v: Mat3,
}

const MAX_SWEEPS: usize = 12;
const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// Returns cosine and sine of the rotation that diagonalises `[[a, b], [b, d]]`.
#[inline]
fn jacobi_rotation(a: Real, b: Real, d: Real) -> (Real, Real) {
    let theta = (d - a) / (2.0 * b);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    (c, t * c)
}

#[inline]
fn rotate_columns(m: &mut Mat3, p: usize, q: usize, c: Real, s: Real) {
    let (a, b) = (m.col(p), m.col(q));
    *m.col_mut(p) = a * c - b * s;
    *m.col_mut(q) = a * s + b * c;
}

/// Eigenvalues of a symmetric matrix about their mean, in units of their spread: the roots of t³ − 3t = 2r in [−2, 2].
struct Spread {
    mean: Real,
    size: Real,
    /// Deviator divided by `size`.
    deviator: Mat3,
    /// Root farthest from the others; its magnitude is at least √3, so that it is well-conditioned.
    outer: Real,
}

impl Spread {
    /// Returns `None` for multiples of the identity and for matrices that are not finite.
    #[inline]
    fn of(symmetric: Mat3) -> Option<Self> {
        let mean = super::trace(symmetric) / 3.0;
        let deviator = symmetric - Mat3::from_diagonal(Vec3::splat(mean));
        let size = (super::double_dot(deviator, deviator) / 6.0).sqrt();
        if !(size > 1e-14 * mean.abs()) || !size.is_finite() {
            return None;
        }
        let deviator = deviator * (1.0 / size);
        let r = (0.5 * deviator.determinant()).clamp(-1.0, 1.0);
        let side = if r < 0.0 { -1.0 } else { 1.0 };
        let r = r.abs();
        // the start value is within 7e-5, so two of Newton's steps reach round-off
        let mut t = 1.73212376 + r * (0.33080833 + r * (0.01888711 * r - 0.08176201));
        for _ in 0..2 {
            t -= (t * (t * t - 3.0) - 2.0 * r) / (3.0 * (t * t - 1.0));
        }
        Some(Self { mean, size, deviator, outer: side * t })
    }
}

/// Returns the smallest eigenvalue of a symmetric matrix.
pub fn smallest_eigenvalue(m: Mat3) -> Real {
    let Some(Spread { mean, size, outer: t, .. }) = Spread::of(m) else {
        return m.x_axis.x.min(m.y_axis.y).min(m.z_axis.z);
    };
    // the other roots have the sum −t and the product t² − 3
    let least = if t < 0.0 { t } else { -0.5 * (t + (12.0 - 3.0 * t * t).max(0.0).sqrt()) };
    mean + size * least
}

/// Returns the eigenvalues in descending order and the matching orthonormal eigenvectors as columns (a rotation).
/// Only the symmetric part of `m` is used.
///
/// The eigenvalue farthest from the others is a well-conditioned root of a cubic, and its eigenvector a cross product;
/// the other two are those of a 2×2 matrix in the plane across. This is three times faster than sweeps of rotations.
pub fn symmetric_eigen(m: Mat3) -> (Vec3, Mat3) {
    let a = super::symmetric_part(m);
    let Some(Spread { mean, size, deviator: b, outer: t }) = Spread::of(a) else {
        let sorted = Vec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z);
        return sort_descending(sorted, Mat3::IDENTITY);
    };
    let shifted = b - Mat3::from_diagonal(Vec3::splat(t));
    let crosses = [
        shifted.x_axis.cross(shifted.y_axis),
        shifted.y_axis.cross(shifted.z_axis),
        shifted.z_axis.cross(shifted.x_axis),
    ];
    let lengths = crosses.map(|c| c.length_squared());
    let longest = match (lengths[0] >= lengths[1], lengths[0] >= lengths[2], lengths[1] >= lengths[2]) {
        (true, true, _) => 0,
        (_, _, true) => 1,
        _ => 2,
    };
    let outer = crosses[longest] * (1.0 / lengths[longest].sqrt());
    // the plane perpendicular to the outer eigenvector
    let (p, q) = outer.any_orthonormal_pair();
    let (bp, bq) = (b * p, b * q);
    let (pp, qq, pq) = (p.dot(bp), q.dot(bq), p.dot(bq));
    let (c, s) = if pq == 0.0 { (1.0, 0.0) } else { jacobi_rotation(pp, pq, qq) };
    let (first, second) = (p * c - q * s, p * s + q * c);
    let values =
        Vec3::new(t, c * c * pp - 2.0 * c * s * pq + s * s * qq, s * s * pp + 2.0 * c * s * pq + c * c * qq);
    sort_descending(values * size + Vec3::splat(mean), Mat3::from_cols(outer, first, second))
}

fn sort_descending(mut values: Vec3, mut vectors: Mat3) -> (Vec3, Mat3) {
    for (p, q) in PAIRS {
        if values[q] > values[p] {
            let swap = values[p];
            values[p] = values[q];
            values[q] = swap;
            let column = vectors.col(p);
            *vectors.col_mut(p) = vectors.col(q);
            *vectors.col_mut(q) = -column; // stays a rotation
        }
    }
    (values, vectors)
}

/// Computes the det-signed singular value decomposition.
pub fn svd(m: Mat3) -> Svd {
    let size = super::frobenius_norm(m);
    // far from singular, the squares of the singular values are accurate enough
    if m.determinant().abs() > SAFE * size * size * size {
        let (_, v) = symmetric_eigen(m.transpose() * m);
        from_right_vectors(m * v, v)
    } else {
        svd_by_rotations(m)
    }
}

/// Smallest |det|/|M|³ for a decomposition by squares; the condition number is then under 40.
const SAFE: Real = 5e-3;

/// Computes the decomposition by one-sided Jacobi rotations, accurate also for nearly or exactly singular matrices.
fn svd_by_rotations(m: Mat3) -> Svd {
    let mut a = m;
    let mut v = Mat3::IDENTITY;
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for (p, q) in PAIRS {
            let (ap, aq) = (a.col(p), a.col(q));
            let (pp, qq, pq) = (ap.dot(ap), aq.dot(aq), ap.dot(aq));
            if !(pq.abs() > 1e-16 * (pp * qq).sqrt()) || pq == 0.0 {
                continue;
            }
            rotated = true;
            let (c, s) = jacobi_rotation(pp, pq, qq);
            rotate_columns(&mut a, p, q, c, s);
            rotate_columns(&mut v, p, q, c, s);
        }
        if !rotated {
            break;
        }
    }
    for (p, q) in [(0, 1), (0, 2), (1, 2)] {
        if a.col(q).length_squared() > a.col(p).length_squared() {
            // swapped and negated, so that both stay rotations
            let (ca, cv) = (a.col(p), v.col(p));
            *a.col_mut(p) = a.col(q);
            *a.col_mut(q) = -ca;
            *v.col_mut(p) = v.col(q);
            *v.col_mut(q) = -cv;
        }
    }
    from_right_vectors(a, v)
}

/// Computes the decomposition from A = F V with orthogonal columns, the longest first.
fn from_right_vectors(a: Mat3, v: Mat3) -> Svd {
    let mut sigma = Vec3::new(a.x_axis.length(), a.y_axis.length(), a.z_axis.length());
    let u0 = if sigma.x > 0.0 { a.x_axis / sigma.x } else { Vec3::X };
    let u1 = if sigma.y > 1e-300 && sigma.y > 1e-16 * sigma.x {
        let raw = a.y_axis / sigma.y;
        (raw - u0 * u0.dot(raw)).normalize()
    } else {
        u0.any_orthonormal_vector()
    };
    let u2 = u0.cross(u1);
    sigma.z = u2.dot(a.z_axis); // signed: U stays a rotation
    Svd { u: Mat3::from_cols(u0, u1, u2), sigma, v }
}

/// Computes F = R S with R a rotation (det +1) and S symmetric; S has a negative eigenvalue if F is inverted.
pub fn polar(m: Mat3) -> (Mat3, Mat3) {
    let rotation = rotation(m).0;
    (rotation, super::symmetric_part(rotation.transpose() * m))
}

/// Returns the rotation R of F = R S, and tr S.
#[inline]
pub fn rotation(m: Mat3) -> (Mat3, Real) {
    rotation_by_trace(m).unwrap_or_else(|| {
        let Svd { u, sigma, v } = svd(m);
        (u * v.transpose(), sigma.element_sum())
    })
}

/// Computes R from t = tr S; `None` if the matrix is nearly singular or inverted. The sum of the singular values is the
/// largest root of (t² − |F|²)² = 8 t det F + 4 |cof F|², which Newton's steps approach from above, and
///   (s₁ + s₂)(s₂ + s₃)(s₃ + s₁) R = (t² + |F|²)/2 F + t cof F − F Fᵀ F,
/// as inserting F = U diag(s) Vᵀ shows.
#[inline]
fn rotation_by_trace(m: Mat3) -> Option<(Mat3, Real)> {
    let squared = super::double_dot(m, m);
    let cofactor = super::cofactor(m);
    let det = m.x_axis.dot(cofactor.x_axis);
    let size = squared.sqrt();
    if !(det > 1e-4 * size * squared) {
        return None;
    }
    let last = 4.0 * super::double_dot(cofactor, cofactor);
    let mut t = 3f64.sqrt() * size;
    for _ in 0..20 {
        let rest = t * t - squared;
        let slope = 4.0 * t * rest - 8.0 * det;
        let step = (rest * rest - 8.0 * det * t - last) / slope;
        t -= step;
        // convergence is quadratic
        if step.abs() < 1e-9 * t {
            let rest = t * t - squared;
            let product = 0.5 * t * rest - det;
            let cubic = m * (m.transpose() * m);
            let sum = m * (0.5 * (t * t + squared)) + cofactor * t - cubic;
            return Some((sum * (1.0 / product), t));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::{Random, frobenius_norm, outer};
    use super::*;

    fn random_matrix(random: &mut Random) -> Mat3 {
        Mat3::from_cols(random.in_cube(), random.in_cube(), random.in_cube())
    }

    /// Returns random, near-singular, rank 2, rank 1, zero, mirrored, isotropic and badly scaled matrices.
    fn samples() -> Vec<Mat3> {
        let mut random = Random::new(7);
        let mut all =
            vec![Mat3::ZERO, Mat3::IDENTITY, -Mat3::IDENTITY, Mat3::from_diagonal(Vec3::new(1.0, 1.0, -1.0))];
        for k in 0..300 {
            let m = random_matrix(&mut random);
            all.push(m);
            all.push(m * 10f64.powi(k % 13 - 6));
            all.push(outer(random.in_cube(), random.in_cube()));
            all.push(outer(random.in_cube(), random.in_cube()) + outer(random.in_cube(), random.in_cube()));
            all.push(outer(random.in_cube(), random.in_cube()) + m * 1e-9);
            all.push(Mat3::IDENTITY + m * 1e-6);
        }
        all
    }

    /// Converts to dynamic size, because nalgebra's closed forms for 3×3 lose small singular values to round-off.
    fn to_nalgebra(m: Mat3) -> nalgebra::DMatrix<Real> {
        nalgebra::DMatrix::from_column_slice(3, 3, &m.to_cols_array())
    }

    fn assert_rotation(m: Mat3) {
        assert!(frobenius_norm(m.transpose() * m - Mat3::IDENTITY) < 1e-13, "{m} is not orthogonal");
        assert!((m.determinant() - 1.0).abs() < 1e-13);
    }

    #[test]
    fn svd_rebuilds_and_agrees_with_nalgebra() {
        for m in samples() {
            let Svd { u, sigma, v } = svd(m);
            assert_rotation(u);
            assert_rotation(v);
            let size = frobenius_norm(m).max(1e-300);
            assert!(frobenius_norm(u * Mat3::from_diagonal(sigma) * v.transpose() - m) < 2e-14 * size, "{m}");
            let oracle = to_nalgebra(m).singular_values();
            for k in 0..3 {
                assert!((sigma[k].abs() - oracle[k]).abs() < 1e-13 * size, "{m}: {sigma} against {oracle}");
            }
            assert!(sigma.x >= sigma.y && sigma.y >= sigma.z.abs() - 1e-13 * size);
            assert!(
                sigma.z * m.determinant() >= -1e-13 * size.powi(4),
                "the sign of the determinant goes to the last"
            );
        }
    }

    #[test]
    fn eigen_rebuilds_and_agrees_with_nalgebra() {
        for m in samples() {
            let s = super::super::symmetric_part(m);
            let (values, q) = symmetric_eigen(s);
            assert_rotation(q);
            let size = frobenius_norm(s).max(1e-300);
            assert!(frobenius_norm(q * Mat3::from_diagonal(values) * q.transpose() - s) < 1e-14 * size);
            let mut oracle: Vec<Real> = to_nalgebra(s).symmetric_eigenvalues().iter().copied().collect();
            oracle.sort_by(|a, b| b.total_cmp(a));
            for k in 0..3 {
                assert!((values[k] - oracle[k]).abs() < 1e-13 * size);
            }
            // the root of a difference keeps half of the digits
            assert!((smallest_eigenvalue(s) - oracle[2]).abs() < 1e-7 * size, "{s}");
        }
    }

    #[test]
    fn polar_gives_the_nearest_rotation_also_when_inverted() {
        for m in samples() {
            let (r, s) = polar(m);
            assert_rotation(r);
            let Svd { u, sigma, v } = svd(m);
            let size = frobenius_norm(m).max(1e-300);
            assert!((rotation(m).1 - super::super::trace(s)).abs() < 1e-12 * size, "{m}");
            assert!(frobenius_norm(r * s - m) < 1e-12 * size, "{m}");
            // the rotation is unique if the two smallest singular values do not cancel
            if sigma.y + sigma.z > 1e-3 * size {
                assert!(frobenius_norm(r - u * v.transpose()) < 1e-11, "{m}");
            }
        }
    }

    #[test]
    fn non_finite_input_ends() {
        for bad in [Real::NAN, Real::INFINITY] {
            let m = Mat3::from_diagonal(Vec3::new(1.0, bad, 1.0)) + outer(Vec3::ONE, Vec3::ONE);
            let _ = (svd(m), symmetric_eigen(m), polar(m));
        }
    }
}
