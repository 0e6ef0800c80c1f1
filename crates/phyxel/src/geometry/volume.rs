//! Volume of shapes without a closed form, by adaptive integration over cells.
//!
//! Cells that the signed distance shows to be wholly inside or outside are counted directly, the others are divided. In
//! the smallest cells the surface is taken as a plane, for which the covered part of a cube is known exactly. The cells
//! are halved until the extrapolation to cells of size zero converges, so the result does not depend on a guessed
//! resolution.

use rayon::prelude::*;

use super::aabb::Aabb;
use super::shape::{Shape, Side};
use crate::math::{Real, Vec3, cube, vec3};

/// Number of cells along the longest edge before any division.
const N_ROOT_CELLS: usize = 8;
/// Number of divisions of a root cell in the first and in the last attempt: 32 to 512 cells along the longest edge, and
/// up to 128 for meshes, whose distance costs a hundred times more.
const FIRST_DEPTH: u32 = 2;
const LAST_DEPTH: u32 = 6;
pub(crate) const LAST_DEPTH_OF_MESHES: u32 = 4;
/// Relative change of the extrapolated volume below which the refinement ends.
const TOLERANCE: Real = 5e-4;

/// Queries that the integration needs of a solid.
pub(crate) trait Solid: Sync {
    /// Returns the side of the surface that a ball is on.
    fn side_of_ball(&self, p: Vec3, radius: Real) -> Side;
    /// Returns the signed distance to the surface and its unit normal, exact if the surface is within `radius`.
    fn surface(&self, p: Vec3, radius: Real) -> (Real, Vec3);
    /// Returns the largest number of divisions of a root cell.
    fn last_depth(&self) -> u32;
}

impl Solid for Shape {
    fn side_of_ball(&self, p: Vec3, radius: Real) -> Side {
        self.side_of_ball(p, radius)
    }

    fn surface(&self, p: Vec3, _radius: Real) -> (Real, Vec3) {
        self.signed_distance_and_normal(p)
    }

    fn last_depth(&self) -> u32 {
        if self.has_mesh() { LAST_DEPTH_OF_MESHES } else { LAST_DEPTH }
    }
}

/// The part of a shape that is deeper under its surface than `depth`.
struct Core<'a> {
    shape: &'a Shape,
    depth: Real,
}

impl Solid for Core<'_> {
    fn side_of_ball(&self, p: Vec3, radius: Real) -> Side {
        // at a hole of an open mesh, the inside ends without a surface, which the distance does not show
        if self.shape.has_mesh() && self.shape.side_of_ball(p, radius) == Side::Mixed {
            return Side::Mixed;
        }
        Side::of_distance(self.shape.signed_distance(p) + self.depth, radius)
    }

    fn surface(&self, p: Vec3, _radius: Real) -> (Real, Vec3) {
        let (distance, normal) = self.shape.signed_distance_and_normal(p);
        (distance + self.depth, normal)
    }
    fn last_depth(&self) -> u32 {
        self.shape.last_depth()
    }
}

pub(crate) fn of_combination(shape: &Shape) -> Real {
    match shape.bounds() {
        Some(bounds) => converge(bounds, 0.0, shape),
        None => Real::INFINITY,
    }
}

/// Returns the volume of a shell. A thin layer is the small difference of two volumes, so the refinement checks the
/// convergence of the difference, not of the volumes.
pub(crate) fn of_shell(shape: &Shape, thickness: Real) -> Real {
    match shape.bounds() {
        Some(bounds) => -converge(bounds, shape.volume(), &Core { shape, depth: thickness }),
        None => Real::INFINITY,
    }
}

/// Returns the volume of a solid within `bounds`, minus `subtract`.
pub(crate) fn converge(bounds: Aabb, subtract: Real, solid: &impl Solid) -> Real {
    let size = bounds.size();
    let longest = size.max_element();
    if longest.is_nan() || longest <= 0.0 {
        return -subtract;
    }
    let (mut last, mut last_extrapolated) = (Real::NAN, Real::NAN);
    for depth in FIRST_DEPTH..=solid.last_depth() {
        let volume = integrate(&bounds, longest / N_ROOT_CELLS as Real, depth, solid) - subtract;
        // halving the cells divides the error by 4
        let extrapolated = if last.is_nan() { volume } else { volume + (volume - last) / 3.0 };
        let is_settled = (extrapolated - last_extrapolated).abs() <= TOLERANCE * extrapolated.abs();
        last_extrapolated = extrapolated;
        if is_settled && depth > FIRST_DEPTH + 1 {
            break;
        }
        last = volume;
    }
    last_extrapolated
}

fn integrate(bounds: &Aabb, root_size: Real, depth: u32, solid: &impl Solid) -> Real {
    let counts = (bounds.size() / root_size - Vec3::splat(1e-9)).ceil().max(Vec3::ONE);
    let corner = bounds.center() - 0.5 * root_size * counts;
    let counts = [counts.x as usize, counts.y as usize, counts.z as usize];
    let cells: Vec<Real> = (0..counts[0] * counts[1] * counts[2])
        .into_par_iter()
        .map(|index| {
            let (x, rest) = (index % counts[0], index / counts[0]);
            let (y, z) = (rest % counts[1], rest / counts[1]);
            let center = corner + root_size * (vec3(x as Real, y as Real, z as Real) + Vec3::splat(0.5));
            cell_volume(center, root_size, depth, solid)
        })
        .collect();
    cells.iter().sum()
}

fn cell_volume(center: Vec3, size: Real, depth: u32, solid: &impl Solid) -> Real {
    let half_diagonal = size * 0.5 * (3.0 as Real).sqrt();
    if depth == 0 {
        let (distance, normal) = solid.surface(center, half_diagonal);
        return cube(size) * fraction_below_plane(normal, -distance / size);
    }
    match solid.side_of_ball(center, half_diagonal) {
        Side::Outside => return 0.0,
        Side::Inside => return cube(size),
        Side::Mixed => {}
    }
    let quarter = 0.25 * size;
    (0..8)
        .map(|corner| {
            let sign = |bit: u32| if corner >> bit & 1 == 0 { -quarter } else { quarter };
            cell_volume(center + vec3(sign(0), sign(1), sign(2)), 0.5 * size, depth - 1, solid)
        })
        .sum()
}

/// Returns the fraction of the unit cube around the origin with `normal · x < height`, for a unit normal.
///
/// With |n_i| = a, b, c and α = height + (a + b + c) / 2, it is (α³ - Σ (α-a)³₊ + Σ (α-a-b)³₊ - (α-a-b-c)³₊) / (6abc).
fn fraction_below_plane(normal: Vec3, height: Real) -> Real {
    // the formula divides by the components; the error of a tilt of 1e-4 is smaller than the other errors of the method
    let [a, b, c] = normal.abs().max(Vec3::splat(1e-4)).normalize().to_array();
    let cube = |x: Real| cube(x.max(0.0));
    let alpha = height + 0.5 * (a + b + c);
    let sum = cube(alpha) - cube(alpha - a) - cube(alpha - b) - cube(alpha - c)
        + cube(alpha - a - b)
        + cube(alpha - b - c)
        + cube(alpha - c - a)
        - cube(alpha - a - b - c);
    (sum / (6.0 * a * b * c)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::{PlacedShape, Placement};
    use super::*;
    use std::f64::consts::PI;

    fn at(shape: Shape, position: Vec3) -> PlacedShape {
        PlacedShape::new(shape, Placement { position, ..Placement::default() })
    }

    fn assert_near(value: Real, expected: Real, relative: Real) {
        assert!(
            (value - expected).abs() <= relative * expected,
            "{value} is not {expected} within {relative}"
        );
    }

    #[test]
    fn cut_cubes_have_known_fractions() {
        assert_near(fraction_below_plane(Vec3::X, 0.25), 0.75, 1e-4);
        let diagonal = Vec3::ONE.normalize();
        assert_near(fraction_below_plane(diagonal, 0.0), 0.5, 1e-12);
        // a plane through three corners cuts off a pyramid of 1/6
        assert_near(fraction_below_plane(diagonal, 0.5 / (3.0 as Real).sqrt()), 5.0 / 6.0, 1e-12);
        assert_eq!(fraction_below_plane(diagonal, -1.0), 0.0);
        assert_near(fraction_below_plane(diagonal, 1.0), 1.0, 1e-12);
    }

    #[test]
    fn numeric_volume_agrees_with_closed_forms() {
        for shape in [
            Shape::Box { size: vec3(1.0, 0.3, 0.7) },
            Shape::Sphere { radius: 0.3 },
            Shape::Cone { radius: 0.4, height: 1.0 },
            Shape::Torus { radius: 1.0, tube_radius: 0.2 },
            Shape::Star { points: 5, radius: 1.0, inner_radius: 0.4, height: 0.3 },
        ] {
            let exact = shape.volume();
            assert_near(of_combination(&Shape::Union(vec![shape.into()])), exact, 5e-4);
        }
    }

    #[test]
    fn overlapping_spheres_count_their_lens_once() {
        // two unit balls at distance 1: each cap has height 1/2, volume π h² (3 - h) / 3
        let balls = || {
            let ball = Shape::Sphere { radius: 1.0 };
            vec![at(ball.clone(), Vec3::ZERO), at(ball, vec3(1.0, 0.0, 0.0))]
        };
        let ball = 4.0 / 3.0 * PI;
        let lens = 2.0 * PI * 0.25 * 2.5 / 3.0;
        assert_near(Shape::Union(balls()).volume(), 2.0 * ball - lens, 1e-3);
        assert_near(Shape::Intersection(balls()).volume(), lens, 1e-3);
        assert_near(Shape::Difference(balls()).volume(), ball - lens, 1e-3);
    }

    #[test]
    fn shells_have_the_volume_of_the_layer_even_if_thin() {
        for thickness in [0.3, 0.02, 0.004] {
            let shell = Shape::Shell { shape: Box::new(Shape::Sphere { radius: 1.0 }), thickness };
            let exact = 4.0 / 3.0 * PI * (1.0 - (1.0 - thickness as Real).powi(3));
            assert_near(shell.volume(), exact, 2e-3);
        }
        let shell = Shape::Shell { shape: Box::new(Shape::Box { size: Vec3::ONE }), thickness: 0.1 };
        assert_near(shell.volume(), 1.0 - 0.512, 1e-3);
    }

    #[test]
    fn thin_plates_are_resolved() {
        let plate = Shape::Box { size: vec3(1.0, 0.006, 1.0) };
        assert_near(Shape::Union(vec![plate.into()]).volume(), 0.006, 2e-3);
    }

    #[test]
    fn parts_that_do_not_meet_have_no_volume() {
        let ball = Shape::Sphere { radius: 1.0 };
        let apart = vec![at(ball.clone(), Vec3::ZERO), at(ball, vec3(5.0, 0.0, 0.0))];
        assert_eq!(Shape::Intersection(apart).volume(), 0.0);
    }
}
