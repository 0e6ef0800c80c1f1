//! Fast generalised winding number (Barill, Dickson, Schmidt, Levin, Jacobson 2018).
//!
//! From far away the triangles of a tree node look like one dipole. With n the area vector of the triangles, c their
//! centre, r = c - p, and M = Σ area (x - c) nᵀ their first moment, the node's share of the winding number is
//! (n·r / r³ + (tr M - 3 rᵀ M r / r²) / r³) / 4π. Nearby triangles are summed exactly.

use super::bvh::{Bvh, Kind};
use super::triangle;
use crate::math::{Mat3, Real, Vec3};

/// A node is far if its centre is further than this many of its radii; with the first moment the error is about 0.02.
const FAR: Real = 2.5;

/// What a tree node looks like from far away.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    /// Area-weighted centre.
    center: Vec3,
    /// Square of the distance from which the node is far: `FAR` times the radius that holds all of its triangles.
    far_squared: Real,
    /// Sum of area times normal.
    area_normal: Vec3,
    /// Sum of area times offset from the centre times normal.
    first: Mat3,
}

/// Moments of every node of a tree.
pub(super) fn moments(bvh: &Bvh) -> Vec<Moments> {
    let mut result = Vec::with_capacity(bvh.n_nodes());
    for node in 0..bvh.n_nodes() {
        result.push(of_triangles(&bvh.corners[triangles_below(bvh, node)]));
    }
    result
}

/// A subtree's triangles are contiguous: from its leftmost to its rightmost leaf.
fn triangles_below(bvh: &Bvh, node: usize) -> std::ops::Range<usize> {
    let descend = |mut node: usize, side: usize| loop {
        match bvh.kind(node) {
            Kind::Leaf(range) => return range,
            Kind::Inner(children) => node = children[side],
        }
    };
    descend(node, 0).start..descend(node, 1).end
}

fn of_triangles(corners: &[[Vec3; 3]]) -> Moments {
    let center_of = |[a, b, c]: &[Vec3; 3]| (*a + *b + *c) / 3.0;
    let mut area = 0.0;
    let mut weighted = Vec3::ZERO;
    let mut plain = Vec3::ZERO;
    for triangle in corners {
        let triangle_area = 0.5 * triangle::double_area_normal(triangle).length();
        area += triangle_area;
        weighted += triangle_area * center_of(triangle);
        plain += center_of(triangle);
    }
    let center = if area > 0.0 { weighted / area } else { plain / corners.len() as Real };
    let mut moments = Moments { center, far_squared: 0.0, area_normal: Vec3::ZERO, first: Mat3::ZERO };
    for triangle in corners {
        let normal = 0.5 * triangle::double_area_normal(triangle);
        let offset = center_of(triangle) - center;
        moments.area_normal += normal;
        moments.first += Mat3::from_cols(offset * normal.x, offset * normal.y, offset * normal.z);
        for corner in triangle {
            moments.far_squared = moments.far_squared.max(FAR * FAR * corner.distance_squared(center));
        }
    }
    moments
}

impl Moments {
    fn winding_number(&self, p: Vec3) -> Real {
        let offset = self.center - p;
        let inverse_squared = 1.0 / offset.length_squared();
        let inverse_cubed = inverse_squared * inverse_squared.sqrt();
        let trace = self.first.x_axis.x + self.first.y_axis.y + self.first.z_axis.z;
        let dipole = self.area_normal.dot(offset);
        let quadrupole = trace - 3.0 * inverse_squared * offset.dot(self.first * offset);
        (dipole + quadrupole) * inverse_cubed / (4.0 * std::f64::consts::PI)
    }
}

pub(super) fn winding_number(bvh: &Bvh, moments: &[Moments], p: Vec3) -> Real {
    let mut total = 0.0;
    let mut stack = [0usize; 64];
    let mut n_waiting = 1;
    while n_waiting > 0 {
        n_waiting -= 1;
        let node = stack[n_waiting];
        if moments[node].center.distance_squared(p) > moments[node].far_squared {
            total += moments[node].winding_number(p);
            continue;
        }
        match bvh.kind(node) {
            Kind::Leaf(range) => {
                for corners in &bvh.corners[range] {
                    total += triangle::winding_number(p, corners);
                }
            }
            Kind::Inner([left, right]) => {
                stack[n_waiting] = right;
                stack[n_waiting + 1] = left;
                n_waiting += 2;
            }
        }
    }
    total
}
