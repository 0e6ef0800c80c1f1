//! True shear viscosity from the rate of strain: explicit where motion decays by little within a step, else implicit.
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

/// Shear viscosity with the buffers of its solve.
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
/// Largest product of the quickest decay and the time step, by the estimate, for one explicit step: over 1, the quickest
/// motion would change its sign in every step, which contact makes visible.
const MOST_DECAY: Real = 1.0;
/// The same for two explicit steps of half the length, which multiply a motion by (1 − λ Δt/2)²: never negative, and less
/// than 1 up to λ Δt = 4.
const MOST_DECAY_IN_TWO: Real = 3.0;
/// Largest rate of decay divided by Σ_j w_ij (2 η V tr C⁻¹ + c)/m of the particle where that is largest: an upper bound
/// of what the test below finds.
const DECAY_SHARE: Real = 0.75;
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

    /// Solves (M + Δt K) v' = M v for the velocities, K from the current shape. Where the quickest motion has λ Δt of at
    /// most 3, one or two explicit steps M v' = (M − Δt K) v are as accurate and take fewer products.
    /// `free` sets the inverse masses (1/kg) of fixed components to zero. The solve is preconditioned by the masses, so
    /// every iterate keeps both momenta.
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
        let decay = self.prepare_at(bonds, mass, velocities) * time_step;
        self.inverse_mass.clear();
        self.inverse_mass.extend(mass.iter().map(|m| Vec3::splat(1.0 / m)));
        free(&mut self.inverse_mass);
        let Self { cg, prepared, answers, aside, momentum, inverse_mass } = self;
        if decay <= MOST_DECAY_IN_TWO {
            let n_parts = if decay <= MOST_DECAY { 1 } else { 2 };
            let force = cg.first_product(n);
            for part in 0..n_parts {
                if part > 0 {
                    apply_internal(bonds, prepared, (answers, aside), velocities, force);
                }
                let rows = velocities.par_iter_mut().zip(inverse_mass.par_iter()).zip(force.par_iter());
                let duration = time_step / n_parts as Real;
                rows.with_min_len(512).for_each(|((v, inverse), f)| *v += *f * *inverse * duration);
            }
            return Solved { iterations: n_parts, ..Solved::nothing_to_do() };
        }
        momentum.clear();
        momentum.extend(velocities.iter().zip(mass).map(|(v, m)| *v * *m));
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
    /// which saves a pass. Returns the largest rate at which any motion decays (1/s).
    fn prepare_at(&mut self, bonds: &ViscousBonds<'_, impl BondRows>, mass: &[Real], v: &[Vec3]) -> Real {
        let n = v.len();
        self.prepared.resize(n, Prepared::default());
        self.answers.resize(n, PointAnswer::default());
        self.aside.resize(n, ());
        let force = self.cg.first_product(n);
        let rows = self.prepared.par_iter_mut().zip(self.answers.par_iter_mut()).zip(force.par_iter_mut());
        let points = PointBonds { references: bonds.positions, fields: v };
        let rates = rows.with_min_len(128).enumerate().map(|(i, ((prepared, answer), force))| {
            let (mut product, mut sum, mut weight_sum) = (Mat3::ZERO, Vec3::ZERO, 0.0);
            *prepared = prepare_row(bonds, i, |j, weighted_bond: Bond| {
                let y = v[j] - v[i];
                sum += y * weighted_bond.weight;
                product += outer(y, weighted_bond.weighted);
                weight_sum += weighted_bond.weight;
            });
            let (given, own) = prepared.answer(&Fit { product, sum });
            (*answer, *force) = (points.answer(&given, i), own);
            let stiffness = prepared.coefficient * trace(prepared.inverse_moment) + prepared.residual;
            weight_sum * stiffness / mass[i]
        });
        let fastest = rates.reduce(|| 0.0, Real::max);
        gather_answers(&bonds.bonds, &points, &self.answers, force);
        DECAY_SHARE * fastest
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, vec3};
    use crate::mls::EvenBonds;
    use crate::neighbors::{Points, within_radius};

    /// Compares the estimate of the quickest decay with power iterations, on lattices and irregular samplings, for cubes,
    /// sheets and rods, upright, sheared and flattened, with kernels of several widths.
    #[test]
    fn the_quickest_decay_is_never_underestimated() {
        let shapes = [[6, 6, 6], [12, 10, 2], [20, 3, 3]];
        let maps = [vec3(1.0, 1.0, 1.0), vec3(1.0, 0.6, 1.2)];
        let (mut least, mut most) = (Real::INFINITY, 0.0 as Real);
        for (shape, reach) in
            shapes.into_iter().flat_map(|shape| [1.66, 2.2, 2.9].map(|reach| (shape, reach)))
        {
            for (map, jitter) in maps.into_iter().flat_map(|map| [0.0, 0.3].map(|jitter| (map, jitter))) {
                let mut random = Random::new(4);
                let cell = |k: usize| [k % shape[0], k / shape[0] % shape[1], k / shape[0] / shape[1]];
                let n = shape.iter().product();
                let rest: Vec<Vec3> = (0..n)
                    .map(|k| Vec3::from(cell(k).map(|c| c as Real)) + random.in_cube() * (0.5 * jitter))
                    .collect();
                let neighbors = within_radius(Points::new(&rest), |_| reach).symmetrized();
                let kernel = |d: Real| (1.0 - d * d / (reach * reach * 1.05)).powi(3) as f32;
                let weights: Vec<f32> = (0..n)
                    .flat_map(|i| neighbors.row(i).iter().map(move |&j| (i, j as usize)))
                    .map(|(i, j)| kernel(rest[i].distance(rest[j])))
                    .collect();
                let positions: Vec<Vec3> = rest.iter().map(|p| *p * map).collect();
                let mass = vec![1.0; n];
                let bonds = ViscousBonds {
                    bonds: EvenBonds { neighbors: &neighbors, weights: &weights },
                    positions: &positions,
                    volumes: &|_| 1.0,
                    viscosity: &Parameter::Uniform(1.0),
                    residual_share: 0.1,
                };
                let mut solver = Viscosity::default();
                let mut mode: Vec<Vec3> = (0..n).map(|_| random.in_cube()).collect();
                let estimate = solver.prepare_at(&bonds, &mass, &mode);
                let mut rate = 0.0;
                for _ in 0..100 {
                    let force = solver.forces(&bonds, &mode);
                    rate = force.iter().map(|f| f.length_squared()).sum::<Real>().sqrt();
                    mode = force.iter().map(|f| *f / rate).collect();
                }
                (least, most) = (least.min(estimate / rate), most.max(estimate / rate));
            }
        }
        assert!(least > 1.0 && most < 3.0, "{least} to {most} times the true rate");
    }
}
