//! Preconditioned conjugate gradients for fields of vectors, with one scalar product for all three components.

use crate::math::{CHUNK, Real, Vec3, sum_over};
use rayon::prelude::*;

/// Solver with its buffers and limits; reuse one to avoid allocation.
#[derive(Clone, Debug, Default)]
pub struct ConjugateGradients {
    /// The solve ends when the preconditioned residual has fallen to this fraction of the first one, or of the
    /// right-hand side.
    pub tolerance: Real,
    /// True if the tolerance is a fraction of the right-hand side, for solves that start near their solution.
    pub of_right_hand_side: bool,
    /// True if the first x is the preconditioned right-hand side. If A then differs so little from the inverse of the
    /// preconditioner that one step of known length meets the tolerance, the solve ends after a single product.
    pub starts_preconditioned: bool,
    /// Largest number of products with the matrix.
    pub max_iterations: usize,
    residual: Vec<Vec3>,
    direction: Vec<Vec3>,
    product: Vec<Vec3>,
}

/// Outcome of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Number of products with the matrix, including that of the first residual.
    pub iterations: usize,
    /// Last preconditioned residual divided by the first one.
    pub relative_residual: Real,
    /// True if the tolerance was met.
    pub converged: bool,
}

/// Smallest number of elements per task; fewer are faster done than waking another thread.
const MIN_LENGTH: usize = 8 * CHUNK;

impl Solved {
    /// Returns the outcome of a solve that was not needed.
    pub fn nothing_to_do() -> Self {
        Self { iterations: 0, relative_residual: 0.0, converged: true }
    }
}

fn dot_weighted(a: &[Vec3], b: &[Vec3], weight: impl Fn(usize) -> Vec3 + Sync) -> Real {
    sum_over(a.len(), |i| (a[i] * weight(i)).dot(b[i]))
}

/// Updates x ← x + α d and r ← r − α p; returns the new preconditioned r·r, summed in a fixed order.
fn advance(
    alpha: Real,
    direction: &[Vec3],
    product: &[Vec3],
    x: &mut [Vec3],
    residual: &mut [Vec3],
    inverse_diagonal: &(impl Fn(usize) -> Vec3 + Sync),
) -> Real {
    let rows = x.par_chunks_mut(CHUNK).zip(residual.par_chunks_mut(CHUNK)).enumerate();
    let partial: Vec<Real> = rows
        .with_min_len(MIN_LENGTH / CHUNK)
        .map(|(chunk, (x, residual))| {
            let mut sum = 0.0;
            for (k, (x, r)) in x.iter_mut().zip(residual).enumerate() {
                let i = chunk * CHUNK + k;
                *x += direction[i] * alpha;
                *r -= product[i] * alpha;
                sum += (*r * inverse_diagonal(i)).dot(*r);
            }
            sum
        })
        .collect();
    partial.into_iter().sum()
}

impl ConjugateGradients {
    /// Creates a solver with a relative tolerance and a limit on the iterations.
    pub fn new(tolerance: Real, max_iterations: usize) -> Self {
        Self { tolerance, max_iterations, ..Self::default() }
    }

    /// Solves A x = b from the given x. `apply(p, out)` writes A p; `inverse_diagonal(i)` is the preconditioner of
    /// row i, and a zero component leaves that component of x unchanged.
    ///
    /// Every iterate is x₀ plus preconditioned products with A: with inverse masses as preconditioner, no iterate
    /// changes the quantities that A does not change (linear and angular momentum of an internal force).
    pub fn solve(
        &mut self,
        mut apply: impl FnMut(&[Vec3], &mut [Vec3]),
        inverse_diagonal: impl Fn(usize) -> Vec3 + Sync,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Solved {
        apply(x, self.first_product(x.len()));
        self.solve_from_product(apply, inverse_diagonal, b, x)
    }

    /// Returns the buffer for A x₀, for callers that compute it themselves, before [`Self::solve_from_product`].
    pub fn first_product(&mut self, n: usize) -> &mut [Vec3] {
        self.product.resize(n, Vec3::ZERO);
        &mut self.product
    }

    /// Solves as [`Self::solve`], with A x₀ in [`Self::first_product`].
    pub fn solve_from_product(
        &mut self,
        mut apply: impl FnMut(&[Vec3], &mut [Vec3]),
        inverse_diagonal: impl Fn(usize) -> Vec3 + Sync,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Solved {
        let n = x.len();
        self.residual.resize(n, Vec3::ZERO);
        self.direction.resize(n, Vec3::ZERO);
        let Self { residual, direction, product, .. } = self;
        let rows = residual.par_iter_mut().zip(product.par_iter()).zip(b).with_min_len(MIN_LENGTH);
        rows.for_each(|((r, p), b)| *r = *b - *p);
        let rows = direction.par_iter_mut().with_min_len(MIN_LENGTH).enumerate();
        rows.for_each(|(i, d)| *d = residual[i] * inverse_diagonal(i));
        let first = dot_weighted(residual, residual, &inverse_diagonal);
        let scale = dot_weighted(b, b, &inverse_diagonal);
        let mut rr = first;
        // a residual below round-off of the right-hand side cannot be reduced
        let measure = if self.of_right_hand_side { scale } else { first };
        let target = (self.tolerance * self.tolerance * measure).max(1e-30 * scale);
        if self.starts_preconditioned && first > target {
            // with A = P⁻¹ + K and x₀ = P b: r₀ = −K x₀, and this is the mean eigenvalue of P K over the modes in r₀
            let excess = -first / sum_over(n, |i| residual[i].dot(x[i]));
            if (0.0..=self.tolerance).contains(&excess) {
                let step = 1.0 / (1.0 + excess);
                let rows = x.par_iter_mut().zip(direction.par_iter()).with_min_len(MIN_LENGTH);
                rows.for_each(|(x, d)| *x += *d * step);
                return Solved { iterations: 1, relative_residual: excess, converged: true };
            }
        }
        let mut iterations = 1;
        while rr > target && iterations < self.max_iterations {
            apply(direction, product);
            iterations += 1;
            let curvature = sum_over(n, |i| direction[i].dot(product[i]));
            if !(curvature > 0.0) {
                break;
            }
            let alpha = rr / curvature;
            let next = advance(alpha, direction, product, x, residual, &inverse_diagonal);
            let beta = next / rr;
            rr = next;
            direction
                .par_iter_mut()
                .with_min_len(MIN_LENGTH)
                .enumerate()
                .for_each(|(i, d)| *d = residual[i] * inverse_diagonal(i) + *d * beta);
        }
        let relative_residual = if first > 0.0 { (rr / first).sqrt() } else { 0.0 };
        Solved { iterations, relative_residual, converged: rr <= target }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    /// Solves a chain of springs, (2 + k)x_i − x_{i−1} − x_{i+1}, with and without a fixed row.
    #[test]
    fn solves_a_chain_to_the_tolerance_and_respects_held_rows() {
        let n = 300;
        let apply = |x: &[Vec3], out: &mut [Vec3]| {
            for i in 0..n {
                let left = if i > 0 { x[i - 1] } else { Vec3::ZERO };
                let right = if i + 1 < n { x[i + 1] } else { Vec3::ZERO };
                out[i] = x[i] * 2.1 - left - right;
            }
        };
        let mut random = Random::new(3);
        let b: Vec<Vec3> = (0..n).map(|_| random.in_cube()).collect();
        for held in [None, Some(5)] {
            let mut x = vec![Vec3::ONE; n];
            let weight = |i: usize| if held == Some(i) { Vec3::ZERO } else { Vec3::splat(1.0 / 2.1) };
            let solved = ConjugateGradients::new(1e-12, 1000).solve(apply, weight, &b, &mut x);
            assert!(solved.converged && solved.iterations > 5, "{solved:?}");
            let mut product = vec![Vec3::ZERO; n];
            apply(&x, &mut product);
            for i in (0..n).filter(|&i| held != Some(i)) {
                assert!((product[i] - b[i]).length() < 1e-9);
            }
            if let Some(i) = held {
                assert_eq!(x[i], Vec3::ONE);
            }
        }
        // identity + weak springs, from x = b: one product gives the change to the tolerance; stronger ones take more
        for (strength, is_weak) in [(5e-3, true), (0.3, false)] {
            let weak = |x: &[Vec3], out: &mut [Vec3]| {
                apply(x, out);
                (0..n).for_each(|i| out[i] = x[i] + out[i] * strength);
            };
            let mut solver = ConjugateGradients::new(3e-2, 1000);
            (solver.starts_preconditioned, solver.of_right_hand_side) = (true, false);
            let mut x = b.clone();
            let solved = solver.solve(weak, |_| Vec3::ONE, &b, &mut x);
            assert!(solved.converged && (solved.iterations == 1) == is_weak, "{solved:?}");
            let mut exact = b.clone();
            ConjugateGradients::new(1e-13, 1000).solve(weak, |_| Vec3::ONE, &b, &mut exact);
            let norm =
                |of: &dyn Fn(usize) -> Vec3| (0..n).map(|i| of(i).length_squared()).sum::<Real>().sqrt();
            let error = norm(&|i| x[i] - exact[i]) / norm(&|i| exact[i] - b[i]);
            assert!(error < 3e-2, "{error}");
        }
        let mut x = vec![Vec3::ZERO; n];
        let cut = ConjugateGradients::new(1e-12, 3).solve(apply, |_| Vec3::ONE, &b, &mut x);
        assert!(!cut.converged && cut.iterations == 3);
    }
}
