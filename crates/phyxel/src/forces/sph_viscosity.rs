//! Damping of SPH, which reduces the differences of neighbours' velocities. Mueller 2003, Jones 2014 Eq. 8.
//!
//! Each directed bond has a conductance c_ij = ½ η V_i V_j ∇²W(|u_ij|, (h_i + h_j)/2), and forces are Σ c_ij (v_j −
//! v_i) in both directions. This departs from the papers: Eq. 8 is a force density and not symmetric; this form keeps
//! linear momentum and never adds energy. It damps rotation, and with lists of 32 neighbours its viscosity is about a
//! third of η.

use crate::kernels::viscosity_laplacian;
use crate::linear::{ConjugateGradients, Solved};
use crate::material::Parameter;
use crate::math::{Real, Vec3};
use crate::mls::apply_laplacian;
use crate::neighbors::BondRows;
use rayon::prelude::*;

use super::Damping;

/// Tolerance of the solve, as a fraction of the viscous impulse of a step.
const TOLERANCE: Real = 1e-2;

/// Number of rows per task.
const ROWS_AT_ONCE: usize = 256;

/// Implicit SPH viscosity with the buffers of its solve.
#[derive(Clone, Debug)]
pub struct SphViscosity {
    solver: ConjugateGradients,
    conductances: Vec<f32>,
    momentum: Vec<Vec3>,
    inverse_mass: Vec<Vec3>,
}

impl Default for SphViscosity {
    fn default() -> Self {
        Self {
            solver: ConjugateGradients::new(TOLERANCE, 200),
            conductances: Vec::new(),
            momentum: Vec::new(),
            inverse_mass: Vec::new(),
        }
    }
}

/// Bonds whose weights are replaced by conductances.
struct Conducting<'a, B> {
    bonds: B,
    conductances: &'a [f32],
}

impl<B: BondRows> BondRows for Conducting<'_, B> {
    fn n_rows(&self) -> usize {
        self.bonds.n_rows()
    }

    fn first_bond(&self, i: usize) -> usize {
        self.bonds.first_bond(i)
    }

    #[inline(always)]
    fn own(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        self.bonds.own(i).map(|(bond, j, _)| (bond, j, Real::from(self.conductances[bond])))
    }

    #[inline(always)]
    fn incoming(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        self.bonds.incoming(i).map(|(bond, j, _)| (bond, j, Real::from(self.conductances[bond])))
    }
}

/// Damping by [`SphViscosity`] on the bonds that it was prepared for.
pub struct SphDamping<'a, B> {
    viscosity: &'a mut SphViscosity,
    bonds: B,
}

impl SphViscosity {
    /// Computes the conductances; `distance(bond, i, j)` is the length of a bond.
    pub fn prepare(
        &mut self,
        bonds: &impl BondRows,
        distance: impl Fn(usize, usize, usize) -> Real + Sync,
        support: &[Real],
        volume: &[Real],
        viscosity: &Parameter,
    ) {
        let n = bonds.n_rows();
        self.conductances.resize(bonds.first_bond(n), 0.0);
        let (mut rest, mut parts) = (self.conductances.as_mut_slice(), Vec::new());
        for first in (0..n).step_by(ROWS_AT_ONCE) {
            let rows = first..(first + ROWS_AT_ONCE).min(n);
            let (part, others) = rest.split_at_mut(bonds.first_bond(rows.end) - bonds.first_bond(first));
            parts.push((rows, part));
            rest = others;
        }
        parts.into_par_iter().for_each(|(rows, part)| {
            let start = bonds.first_bond(rows.start);
            for i in rows {
                for (bond, j, _) in bonds.own(i) {
                    let h = 0.5 * (support[i] + support[j]);
                    let mean = 0.5 * (viscosity.at(i) + viscosity.at(j));
                    let laplacian = viscosity_laplacian(distance(bond, i, j), h);
                    part[bond - start] = (0.5 * mean * volume[i] * volume[j] * laplacian) as f32;
                }
            }
        });
    }

    /// Returns the viscosity with its bonds, as an implementation of [`Damping`].
    pub fn on<B: BondRows>(&mut self, bonds: B) -> SphDamping<'_, B> {
        SphDamping { viscosity: self, bonds }
    }

    /// Returns the forces at the given velocities (N).
    pub fn forces(&mut self, bonds: &impl BondRows, velocities: &[Vec3]) -> &[Vec3] {
        let Self { conductances, momentum, .. } = self;
        momentum.resize(velocities.len(), Vec3::ZERO);
        apply_laplacian(&Conducting { bonds, conductances }, |_| 0.0, velocities, momentum);
        momentum.iter_mut().for_each(|f| *f = -*f);
        momentum
    }
}

impl<B: BondRows> Damping for SphDamping<'_, B> {
    fn solve(
        &mut self,
        mass: &[Real],
        free: impl FnOnce(&mut [Vec3]),
        duration: Real,
        velocities: &mut [Vec3],
    ) -> Solved {
        let SphViscosity { solver, conductances, momentum, inverse_mass } = &mut *self.viscosity;
        momentum.clear();
        momentum.extend(velocities.iter().zip(mass).map(|(v, m)| *v * *m));
        inverse_mass.clear();
        inverse_mass.extend(mass.iter().map(|m| Vec3::splat(1.0 / m)));
        free(inverse_mass);
        let rows = Conducting { bonds: &self.bonds, conductances };
        let apply = |v: &[Vec3], out: &mut [Vec3]| {
            apply_laplacian(&rows, |i| mass[i] / duration, v, out);
            out.par_iter_mut().with_min_len(512).for_each(|out| *out *= duration);
        };
        solver.solve(apply, |i| inverse_mass[i], momentum, velocities)
    }

    fn forces(&mut self, velocities: &[Vec3]) -> &[Vec3] {
        self.viscosity.forces(&self.bonds, velocities)
    }
}
