//! True shear viscosity from the rate of strain, solved implicitly.
//!
//! The dissipation is Σ_i V_i η |D_i|² + residual part, with L_i = (Σ_j w v_ij x_ijᵀ) C_i⁻¹ the velocity gradient
//! fitted in the current shape, C_i = Σ_j w x_ij x_ijᵀ, and D the symmetric part of L: stress 2η D. Motion that the fit
//! cannot represent (v_ij − L_i x_ij) is damped in proportion, as elastic residuals are stiffened. Rigid motion is
//! fitted exactly and has D = 0 and no residual, so it is not damped, and both momenta are kept.
//!   v velocity (m/s)   η viscosity (Pa s)

use super::Damping;
use crate::linear::{ConjugateGradients, Solved};
use crate::material::Parameter;
use crate::math::{Mat3, Real, Vec3, outer, symmetric_part, trace};
use crate::mls::{Answer, Fit, PointAnswer, PointBonds, fit_gradient, gather_answers, safe_inverse};
use crate::neighbors::BondRows;
use rayon::prelude::*;

/// Implicit shear viscosity with the buffers of its solve.
#[derive(Clone, Debug)]
pub struct Viscosity {
    cg: ConjugateGradients,
    prepared: Vec<Prepared>,
    answers: Vec<PointAnswer>,
    aside: Vec<()>,
    momentum: Vec<Vec3>,
    inverse_mass: Vec<Vec3>,
}

/// Data of a particle's dissipation in a step.
#[derive(Clone, Copy, Debug, Default)]
struct Prepared {
    inverse_moment: Mat3,
    row_sum: Vec3,
    /// Coefficient 2 η V of the stress.
    coefficient: Real,
    residual: Real,
}

/// Bonds and material data that a solve works on.
pub struct ViscousBonds<'a, B> {
    /// Bonds over which velocity gradients are fitted.
    pub bonds: B,
    /// World positions (m).
    pub positions: &'a [Vec3],
    /// Current volumes (m³).
    pub volumes: &'a (dyn Fn(usize) -> Real + Sync),
    /// Viscosity η (Pa s).
    pub viscosity: &'a Parameter,
    /// Fraction of the stress scale 2η that damps residual motion.
    pub residual_share: Real,
}

/// Tolerance of the solve, as a fraction of the viscous impulse of a step. Momenta are exact at any tolerance.
const TOLERANCE: Real = 3e-2;
/// Relative moment below which a direction is dropped from the fit; such a particle has no viscous stress.
const MOMENT_TOLERANCE: Real = 1e-4;

impl Default for Viscosity {
    fn default() -> Self {
        Self {
            cg: ConjugateGradients::new(TOLERANCE, 200),
            prepared: Vec::new(),
            answers: Vec::new(),
            aside: Vec::new(),
            momentum: Vec::new(),
            inverse_mass: Vec::new(),
        }
    }
}

impl Viscosity {
    /// Returns buffers that are not in use between solves, for a method that has its own solve.
    pub fn buffers(&mut self) -> (&mut ConjugateGradients, &mut Vec<Vec3>) {
        (&mut self.cg, &mut self.momentum)
    }

    /// Solves (M + Δt K) v' = M v for the velocities, K from the current shape. `free` sets the inverse masses (1/kg)
    /// of fixed components to zero. The solve is preconditioned by the masses, so every iterate keeps both momenta.
    pub fn solve(
        &mut self,
        bonds: &ViscousBonds<'_, impl BondRows>,
        mass: &[Real],
        free: impl FnOnce(&mut [Vec3]),
        time_step: Real,
        velocities: &mut [Vec3],
    ) -> Solved {
        let n = mass.len();
        (self.cg.tolerance, self.cg.of_right_hand_side, self.cg.starts_preconditioned) =
            (TOLERANCE, false, true);
        self.prepare_at(bonds, velocities);
        self.momentum.clear();
        self.momentum.extend(velocities.iter().zip(mass).map(|(v, m)| *v * *m));
        self.inverse_mass.clear();
        self.inverse_mass.extend(mass.iter().map(|m| Vec3::splat(1.0 / m)));
        free(&mut self.inverse_mass);
        let Self { cg, prepared, answers, aside, momentum, inverse_mass } = self;
        let add_inertia = |v: &[Vec3], out: &mut [Vec3]| {
            let rows = out.par_iter_mut().with_min_len(512).enumerate();
            rows.for_each(|(i, out)| *out = v[i] * mass[i] - *out * time_step);
        };
        add_inertia(velocities, cg.first_product(n));
        let apply = |v: &[Vec3], out: &mut [Vec3]| {
            apply_internal(bonds, prepared, (answers, aside), v, out);
            add_inertia(v, out);
        };
        cg.solve_from_product(apply, |i| inverse_mass[i], momentum, velocities)
    }

    /// Returns the viscous forces at the given velocities, in the shape of the last solve (N).
    pub fn forces(&mut self, bonds: &ViscousBonds<'_, impl BondRows>, velocities: &[Vec3]) -> &[Vec3] {
        let n = velocities.len();
        self.momentum.resize(n, Vec3::ZERO);
        self.answers.resize(n, PointAnswer::default());
        self.aside.resize(n, ());
        let Self { prepared, answers, aside, momentum, .. } = self;
        apply_internal(bonds, prepared, (answers, aside), velocities, momentum);
        momentum
    }

    /// Fits the current shape, which [`Viscosity::forces`] works on.
    pub fn prepare(&mut self, bonds: &ViscousBonds<'_, impl BondRows>) {
        self.prepared.resize(bonds.positions.len(), Prepared::default());
        let rows = self.prepared.par_iter_mut().with_min_len(128).enumerate();
        rows.for_each(|(i, prepared)| *prepared = prepare_row(bonds, i, |_, _| ()));
    }

    /// Prepares as [`Viscosity::prepare`], and writes the forces at the given velocities as the solver's first product,
    /// which saves a pass.
    fn prepare_at(&mut self, bonds: &ViscousBonds<'_, impl BondRows>, v: &[Vec3]) {
        let n = v.len();
        self.prepared.resize(n, Prepared::default());
        self.answers.resize(n, PointAnswer::default());
        self.aside.resize(n, ());
        let force = self.cg.first_product(n);
        let rows = self.prepared.par_iter_mut().zip(self.answers.par_iter_mut()).zip(force.par_iter_mut());
        let points = PointBonds { references: bonds.positions, fields: v };
        rows.with_min_len(128).enumerate().for_each(|(i, ((prepared, answer), force))| {
            let (mut product, mut sum) = (Mat3::ZERO, Vec3::ZERO);
            *prepared = prepare_row(bonds, i, |j, weighted_bond: Bond| {
                let y = v[j] - v[i];
                sum += y * weighted_bond.weight;
                product += outer(y, weighted_bond.weighted);
            });
            let (given, own) = prepared.answer(&Fit { product, sum });
            (*answer, *force) = (points.answer(&given, i), own);
        });
        gather_answers(&bonds.bonds, &points, &self.answers, force);
    }
}

/// A bond of the current shape.
struct Bond {
    weight: Real,
    /// Weighted bond vector w x_ij (m).
    weighted: Vec3,
}

/// Fits one row of the current shape; `also` is called for every bond.
#[inline(always)]
fn prepare_row(
    viscous: &ViscousBonds<'_, impl BondRows>,
    i: usize,
    mut also: impl FnMut(usize, Bond),
) -> Prepared {
    let x = viscous.positions;
    let (mut moment, mut row_sum) = (Mat3::ZERO, Vec3::ZERO);
    for (_, j, weight) in viscous.bonds.own(i) {
        let bond = x[j] - x[i];
        let weighted = bond * weight;
        row_sum += weighted;
        moment += outer(weighted, bond);
        also(j, Bond { weight, weighted });
    }
    let inverse = safe_inverse(moment, MOMENT_TOLERANCE);
    let scale = 2.0 * viscous.viscosity.at(i) * (viscous.volumes)(i);
    let size = trace(moment);
    Prepared {
        inverse_moment: inverse.matrix,
        row_sum,
        coefficient: if inverse.dropped == 0 { scale } else { 0.0 },
        residual: if size > 0.0 { viscous.residual_share * scale / size } else { 0.0 },
    }
}

impl Prepared {
    /// Returns the answer to a fit of velocities, and the part of the force that the particle causes itself.
    #[inline(always)]
    fn answer(&self, fit: &Fit) -> (Answer, Vec3) {
        let gradient = fit.product * self.inverse_moment;
        let stress = symmetric_part(gradient) * self.coefficient;
        let carrier = stress * self.inverse_moment - gradient * self.residual;
        let answer = Answer { carrier, residual: self.residual };
        (answer, answer.own_force(self.row_sum, fit))
    }
}

/// Damping by [`Viscosity`] on the bonds that it works on.
pub struct StrainRateDamping<'a, B> {
    /// Viscosity with its buffers.
    pub solver: &'a mut Viscosity,
    /// Bonds and material data.
    pub bonds: ViscousBonds<'a, B>,
}

impl<B: BondRows> Damping for StrainRateDamping<'_, B> {
    fn solve(
        &mut self,
        mass: &[Real],
        free: impl FnOnce(&mut [Vec3]),
        duration: Real,
        velocities: &mut [Vec3],
    ) -> Solved {
        self.solver.solve(&self.bonds, mass, free, duration, velocities)
    }

    fn forces(&mut self, velocities: &[Vec3]) -> &[Vec3] {
        self.solver.forces(&self.bonds, velocities)
    }
}

/// Computes the viscous forces −∂R/∂v at velocities v (N).
fn apply_internal(
    viscous: &ViscousBonds<'_, impl BondRows>,
    prepared: &[Prepared],
    (answers, aside): (&mut [PointAnswer], &mut [()]),
    v: &[Vec3],
    out: &mut [Vec3],
) {
    let points = PointBonds { references: viscous.positions, fields: v };
    fit_gradient(&viscous.bonds, &points, answers, out, aside, |i, fit, ()| prepared[i].answer(&fit));
    gather_answers(&viscous.bonds, &points, answers, out);
}
