//! Forces as printed in the paper: by the plain gradient of the cosine kernel. Gerszewski 2009 Eqs. 10–13.

use super::lists::bond_support;
use super::{Incremental, StressForm};
use crate::kernels::cosine_slope;
use crate::math::{Mat3, Real, Vec3, scaled_columns};
use rayon::prelude::*;

/// Smallest number of rows per parallel task.
const MIN_ROWS: usize = 128;

impl Incremental {
    /// Returns the stress T = U t Vᵀ with t = P̂, or ŝ P̂ as printed.
    pub(super) fn kernel_stress(&self, u: Mat3, stress: Vec3, stretch: Vec3, v: Mat3) -> Mat3 {
        let stress = match self.params.stress_form {
            StressForm::FirstPiola => stress,
            StressForm::Scaled => stress * stretch,
        };
        scaled_columns(u, stress) * v.transpose()
    }

    /// Computes the forces f_i = Σ_j V_i V_j (T_j ∇W(F_j⁻¹ x_ji) − T_i ∇W(F_i⁻¹ x_ij)), ∇W(q) = W'(|q|) q/|q|.
    /// The sign of Eq. 10 holds for a gradient with respect to i; taken literally, tension would repel.
    pub(super) fn gather_by_kernel(&mut self, x: &[Vec3], volume: &[Real]) {
        let inverses: Vec<Mat3> = self.gradient.par_iter().map(|f| f.inverse()).collect();
        let mut force = std::mem::take(&mut self.force);
        force.resize(x.len(), Vec3::ZERO);
        let this = &*self;
        let slope = |q: Vec3, h: Real| {
            let r = q.length();
            if r > 0.0 { q * (cosine_slope(r, h) / r) } else { Vec3::ZERO }
        };
        force.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, force)| {
            let mut sum = Vec3::ZERO;
            for &j in this.neighbors.row(i) {
                let j = j as usize;
                let bond = x[j] - x[i];
                let h = bond_support(&this.support, i, j);
                // carriers are V T
                let own = this.carriers[i] * slope(inverses[i] * bond, h) * volume[j];
                let other = this.carriers[j] * slope(inverses[j] * -bond, h) * volume[i];
                sum += other - own;
            }
            *force = sum;
        });
        self.force = force;
    }
}
