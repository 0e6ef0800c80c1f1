//! Smoothing kernels W(r, h) with support h: normalised to ∫ W dV = 1 in space.

use crate::math::Real;
use std::f64::consts::PI;

/// [Mueller2004] Eq. 9: 315/(64 π h⁹) (h² − r²)³. [1/m³]
#[inline]
pub fn poly6(r: Real, h: Real) -> Real {
    if r >= h {
        return 0.0;
    }
    315.0 / (64.0 * PI * h.powi(9)) * (h * h - r * r).powi(3)
}

/// poly6 without its constant: (1 − r²/h²)³, 1 at the centre. [1]
#[inline]
pub fn poly6_shape(r_squared: Real, h: Real) -> Real {
    let q = 1.0 - r_squared / (h * h);
    if q <= 0.0 { 0.0 } else { q * q * q }
}

/// Spiky kernel of Desbrun and Cani: 15/(π h⁶) (h − r)³. [1/m³]
#[inline]
pub fn spiky(r: Real, h: Real) -> Real {
    if r >= h { 0.0 } else { 15.0 / (PI * h.powi(6)) * (h - r).powi(3) }
}

/// dW/dr of the spiky kernel. [1/m⁴]
#[inline]
pub fn spiky_slope(r: Real, h: Real) -> Real {
    if r >= h { 0.0 } else { -45.0 / (PI * h.powi(6)) * (h - r).powi(2) }
}

/// Laplacian of the viscosity kernel: 45/(π h⁶) (h − r). [1/m⁵]
#[inline]
pub fn viscosity_laplacian(r: Real, h: Real) -> Real {
    if r >= h { 0.0 } else { 45.0 / (PI * h.powi(6)) * (h - r) }
}

/// Cosine kernel, proportional to 1 + cos(π r/h). [1/m³]
#[inline]
pub fn cosine(r: Real, h: Real) -> Real {
    if r >= h {
        return 0.0;
    }
    // ∫₀ʰ 4π r² (1 + cos(π r/h)) dr = 4π h³ (1/3 − 2/π²)
    (1.0 + (PI * r / h).cos()) / (4.0 * PI * h.powi(3) * (1.0 / 3.0 - 2.0 / (PI * PI)))
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

    #[test]
    fn slope_and_laplacian_are_derivatives() {
        let (h, d) = (0.8, 1e-6);
        for r in [0.1, 0.3, 0.7] {
            let slope = (spiky(r + d, h) - spiky(r - d, h)) / (2.0 * d);
            assert!((slope - spiky_slope(r, h)).abs() < 1e-6 * slope.abs());
        }
        // ∇²W integrates against r²/6 to 1: twice by parts, W and W' vanish at h
        let weighted = integral(|r| viscosity_laplacian(r, h) * r * r / 6.0, h);
        assert!((weighted - 1.0).abs() < 1e-8);
        assert!((poly6_shape(0.04, 0.5) - poly6(0.2, 0.5) / poly6(0.0, 0.5)).abs() < 1e-14);
    }
}
