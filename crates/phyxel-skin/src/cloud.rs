//! Particles with individual supports: everything that a skin knows about matter is a sum over them.
//!
//! A particle counts at a point if the point is within the particle's support. In matter of any spacing the same number
//! of particles counts, so that sums over small and over large particles fit together without weights.

use phyxel::math::{Real, Vec3, cube, ln, square};
use phyxel::neighbors::Grid;
use rayon::prelude::*;

/// Support of a particle's kernel (radii).
pub(crate) const SUPPORT: Real = 4.0;

/// Largest ratio of the supports in one grid, so that searches visit few particles in vain.
const CLASS_RATIO: Real = 1.5;

/// Particles sorted into grids of similar supports.
#[derive(Debug)]
pub(crate) struct Cloud {
    pub(crate) positions: Vec<Vec3>,
    /// Half the local spacing (m).
    pub(crate) radii: Vec<Real>,
    classes: Vec<Class>,
}

#[derive(Debug)]
struct Class {
    grid: Grid,
    /// Largest support in the grid (m).
    support: Real,
    members: Vec<Member>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    position: Vec3,
    /// Inverse square of the support, 1/h² (1/m²).
    inverse_square: Real,
    particle: u32,
}

impl Cloud {
    pub(crate) fn new(positions: Vec<Vec3>, radii: Vec<Real>) -> Self {
        let smallest = radii.iter().copied().fold(Real::INFINITY, Real::min);
        let class_of = |radius: Real| (ln(radius / smallest) / ln(CLASS_RATIO)) as usize;
        let n_classes = radii.iter().map(|&radius| class_of(radius) + 1).max().unwrap_or(0);
        let mut members = vec![Vec::new(); n_classes];
        for (particle, (&position, &radius)) in positions.iter().zip(&radii).enumerate() {
            let inverse_square = 1.0 / square(SUPPORT * radius);
            members[class_of(radius)].push(Member { position, inverse_square, particle: particle as u32 });
        }
        let classes = members.into_iter().filter(|members| !members.is_empty()).map(Class::new).collect();
        Self { positions, radii, classes }
    }

    /// Calls `visit` for each particle whose support contains `x`, with its index and q² = |x − x_i|² / h_i².
    #[inline]
    pub(crate) fn visit(&self, x: Vec3, mut visit: impl FnMut(usize, Real)) {
        for class in &self.classes {
            class.grid.visit_ball(x, class.support, |m| {
                let member = &class.members[m as usize];
                let q_squared = x.distance_squared(member.position) * member.inverse_square;
                if q_squared < 1.0 {
                    visit(member.particle as usize, q_squared);
                }
            });
        }
    }

    /// Computes one number for each particle from its index and position.
    pub(crate) fn map(&self, value: impl Fn(usize, Vec3) -> Real + Sync) -> Vec<Real> {
        self.positions.par_iter().enumerate().with_min_len(64).map(|(i, &x)| value(i, x)).collect()
    }

    /// Returns the particle whose centre is nearest in terms of its own radius, for points out of all supports.
    pub(crate) fn nearest(&self, x: Vec3) -> usize {
        let distance = |i: &usize| x.distance_squared(self.positions[*i]) / square(self.radii[*i]);
        (0..self.positions.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or_default()
    }
}

impl Class {
    fn new(members: Vec<Member>) -> Self {
        let support = members.iter().map(|m| m.inverse_square.sqrt().recip()).fold(0.0, Real::max);
        let positions: Vec<Vec3> = members.iter().map(|m| m.position).collect();
        // members are in the order of cells, so that a search reads memory in sequence
        let order = Grid::new(&positions, 0.5 * support).order().to_vec();
        let members: Vec<Member> = order.iter().map(|&m| members[m as usize]).collect();
        let positions: Vec<Vec3> = members.iter().map(|m| m.position).collect();
        Self { grid: Grid::new(&positions, 0.5 * support), support, members }
    }
}

/// Returns the cubic spline of SPH at q², up to a factor.
#[inline]
pub(crate) fn cubic_spline(q_squared: Real) -> Real {
    let q = q_squared.sqrt();
    if q < 0.5 { 1.0 - 6.0 * q_squared * (1.0 - q) } else { 2.0 * cube((1.0 - q).max(0.0)) }
}
