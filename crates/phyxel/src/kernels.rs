//! Smoothing kernels W(r, h) with support h, normalised to ∫ W dV = 1 in three dimensions.

use crate::math::{Real, cos, cube, power, sin, square};
use std::f64::consts::PI;

/// Returns the poly6 kernel, Mueller 2004 Eq. 9: 315/(64 π h⁹) (h² − r²)³ (1/m³).
#[inline]
pub fn poly6(r: Real, h: Real) -> Real {
    if r >= h {
        return 0.0;
    }
    315.0 / (64.0 * PI * power(h, 9)) * cube(h * h - r * r)
}

/// Returns the poly6 kernel without its constant: (1 − r²/h²)³, which is 1 at the centre (1).
#[inline]
pub fn poly6_shape(r_squared: Real, h: Real) -> Real {
    let q = 1.0 - r_squared / (h * h);
    if q <= 0.0 { 0.0 } else { q * q * q }
}

/// Returns the spiky kernel of Desbrun and Cani: 15/(π h⁶) (h − r)³ (1/m³).
#[inline]
pub fn spiky(r: Real, h: Real) -> Real {
    if r >= h { 0.0 } else { 15.0 / (PI * power(h, 6)) * cube(h - r) }
}

/// Returns dW/dr of the spiky kernel (1/m⁴).
#[inline]
pub fn spiky_slope(r: Real, h: Real) -> Real {
    if r >= h { 0.0 } else { -45.0 / (PI * power(h, 6)) * square(h - r) }
}

/// Returns the Laplacian of the viscosity kernel: 45/(π h⁶) (h − r) (1/m⁵).
#[inline]
pub fn viscosity_laplacian(r: Real, h: Real) -> Real {
    if r >= h { 0.0 } else { 45.0 / (PI * power(h, 6)) * (h - r) }
}

/// Returns the constant c of Gerszewski 2009 Eq. 13 (1/m⁴).
#[inline]
fn cosine_constant(h: Real) -> Real {
    PI / (8.0 * power(h, 4) * (PI / 3.0 - 8.0 / PI + 16.0 / (PI * PI)))
}

/// Returns the cosine kernel, Gerszewski 2009 Eq. 12: (2 h c/π) (1 + cos((r + h) π/(2h))) (1/m³).
#[inline]
pub fn cosine(r: Real, h: Real) -> Real {
    if r >= h {
        return 0.0;
    }
    2.0 * h / PI * cosine_constant(h) * (1.0 + cos((r + h) * PI / (2.0 * h)))
}

/// Returns dW/dr of the cosine kernel (1/m⁴). It does not vanish at the centre, which keeps particles apart.
#[inline]
pub fn cosine_slope(r: Real, h: Real) -> Real {
    if r >= h { 0.0 } else { -cosine_constant(h) * sin((r + h) * PI / (2.0 * h)) }
}

/// Returns −W'/r of the cosine kernel in units of its constant, as a weight of the distance r = s h: cos(π s/2)/s, and
/// 0 outside the support (1). The divisor s is at least 0.1, which limits the weight of very near points.
#[inline(always)]
pub fn cosine_weight(s_squared: f32) -> f32 {
    let t = s_squared.min(1.0);
    // polynomial for cos(π s/2)/(1 − s²), accurate to 3e-7
    let cosine = (1.0 - t) * (1.0 + t * (-0.233_696_09 + t * (0.019_942_07 - t * 0.000_848_03)));
    cosine / t.sqrt().max(0.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integral(kernel: impl Fn(Real) -> Real, h: Real) -> Real {
        let n = 200_000;
        let dr = h / n as Real;
        (0..n).map(|k| (k as Real + 0.5) * dr).map(|r| 4.0 * PI * r * r * kernel(r) * dr).sum()
    }

    #[test]
    fn kernels_integrate_to_one() {
        for h in [0.1, 1.0, 3.7] {
            for kernel in [poly6, spiky, cosine] {
                assert!((integral(|r| kernel(r, h), h) - 1.0).abs() < 1e-9);
                assert_eq!(kernel(h, h), 0.0);
            }
        }
    }

    /// Target 1 of the incremental method: the kernel has the paper's values, and the weight agrees with the slope.
    #[test]
    fn the_cosine_kernel_is_the_papers() {
        let fine = |h: Real| {
            // Simpson's rule
            let n = 20_000;
            let at = |k: usize| k as Real * h / n as Real;
            let f = |k: usize| 4.0 * PI * at(k) * at(k) * cosine(at(k), h);
            let sum: Real = (1..n).map(|k| f(k) * if k % 2 == 1 { 4.0 } else { 2.0 }).sum();
            (f(0) + sum + f(n)) * h / (3 * n) as Real
        };
        for h in [0.1, 1.0] {
            assert!((fine(h) - 1.0).abs() < 1e-10, "{}", fine(h));
            assert!((cosine(0.0, h) * h.powi(3) - 2.0516).abs() < 1e-4);
            assert!((cosine_slope(1e-12, h) * h.powi(4) + 3.2226).abs() < 1e-4);
        }
        for s in [0.1, 0.3, 0.5, 0.7, 0.9, 0.99] {
            let exact = -cosine_slope(s, 1.0) / (s * cosine_constant(1.0));
            let weight = Real::from(cosine_weight((s * s) as f32));
            assert!((weight - exact).abs() < 1e-5, "{s}: {weight} {exact}");
        }
        assert_eq!(cosine_weight(1.0), 0.0);
    }

    #[test]
    fn slope_and_laplacian_are_derivatives() {
        let (h, d) = (0.8, 1e-6);
        for r in [0.1, 0.3, 0.7] {
            let slope = (spiky(r + d, h) - spiky(r - d, h)) / (2.0 * d);
            assert!((slope - spiky_slope(r, h)).abs() < 1e-6 * slope.abs());
            let slope = (cosine(r + d, h) - cosine(r - d, h)) / (2.0 * d);
            assert!((slope - cosine_slope(r, h)).abs() < 1e-6 * slope.abs());
        }
        // ∫ ∇²W r²/6 dV = 1, by two integrations by parts: W and W' vanish at h
        let weighted = integral(|r| viscosity_laplacian(r, h) * r * r / 6.0, h);
        assert!((weighted - 1.0).abs() < 1e-8);
        assert!((poly6_shape(0.04, 0.5) - poly6(0.2, 0.5) / poly6(0.0, 0.5)).abs() < 1e-14);
    }
}
