//! Fast generalised winding number (Barill, Dickson, Schmidt, Levin, Jacobson 2018).
//!
//! From far away the triangles of a tree node look like one point with moments. With c their centre, δ = x - c, r = c - p and
//! n the normal, a node's share of the winding number is the expansion of ∫ n·(r+δ) / |r+δ|³ dA / 4π to second order in δ:
//! N·r / r³ + (tr M - 3 r·Mr / r²) / r³ + (-3/2 (2u + v)·r + 15/2 Σ_j r_j r·S_j r / r²) / r⁵, where
//! N = ∫ n, M = ∫ δ nᵀ, S_j = ∫ n_j δ δᵀ, u = Σ_j S_j e_j and v_j = tr S_j. Nearby triangles are summed exactly.

use super::bvh::{Bvh, Kind};
use super::triangle;
use crate::math::{Mat3, Real, Vec3, vec3};

/// A node is far if its centre is further than this many of its radii; with second moments the error is below 0.01.
const FAR: Real = 2.0;

/// What a tree node looks like from far away.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    /// Area-weighted centre.
    center: Vec3,
    /// Square of the distance from which the node is far: `FAR` times the radius that holds all of its triangles.
    far_squared: Real,
    /// N: integral of the normal.
    area_normal: Vec3,
    /// M: integral of offset times normal.
    first: Mat3,
    /// S_j: integral of a normal's component times offset times offset.
    second: [Mat3; 3],
    /// 2u + v, made of the second moments.
    contracted: Vec3,
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
    let mut moments = Moments {
        center,
        far_squared: 0.0,
        area_normal: Vec3::ZERO,
        first: Mat3::ZERO,
        second: [Mat3::ZERO; 3],
        contracted: Vec3::ZERO,
    };
    for triangle in corners {
        moments.add(triangle);
    }
    let second = &moments.second;
    moments.contracted = 2.0 * (second[0].x_axis + second[1].y_axis + second[2].z_axis)
        + vec3(trace(&second[0]), trace(&second[1]), trace(&second[2]));
    moments
}

fn trace(matrix: &Mat3) -> Real {
    matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z
}

fn outer(column: Vec3, row: Vec3) -> Mat3 {
    Mat3::from_cols(column * row.x, column * row.y, column * row.z)
}

impl Moments {
    fn add(&mut self, triangle: &[Vec3; 3]) {
        let normal = 0.5 * triangle::double_area_normal(triangle);
        let [a, b, c] = triangle.map(|corner| corner - self.center);
        let middle = (a + b + c) / 3.0;
        self.area_normal += normal;
        self.first += outer(middle, normal);
        // Mean of δ δᵀ over a triangle.
        let spread = (outer(a, a) + outer(b, b) + outer(c, c) + outer(middle, middle) * 9.0) * (1.0 / 12.0);
        for axis in 0..3 {
            self.second[axis] += spread * normal[axis];
        }
        for corner in [a, b, c] {
            self.far_squared = self.far_squared.max(FAR * FAR * corner.length_squared());
        }
    }

    fn winding_number(&self, p: Vec3) -> Real {
        let r = self.center - p;
        let inverse_squared = 1.0 / r.length_squared();
        let inverse_cubed = inverse_squared * inverse_squared.sqrt();
        let order_0 = self.area_normal.dot(r);
        let order_1 = trace(&self.first) - 3.0 * inverse_squared * r.dot(self.first * r);
        let second = &self.second;
        let cubic = (second[0] * r.x + second[1] * r.y + second[2] * r.z) * r;
        let order_2 = inverse_squared * (7.5 * inverse_squared * r.dot(cubic) - 1.5 * self.contracted.dot(r));
        (order_0 + order_1 + order_2) * inverse_cubed / (4.0 * std::f64::consts::PI)
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
