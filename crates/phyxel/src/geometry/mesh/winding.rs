//! Fast generalised winding number (Barill, Dickson, Schmidt, Levin, Jacobson 2018).
//!
//! From far away, the triangles of a tree node are approximated by one point with moments. With c their centre, δ = x -
//! c, r = c - p and n the normal, a node's share of the winding number is the expansion of ∫ n·(r+δ) / |r+δ|³ dA / 4π
//! to second order in δ: (N·r + r·Q r / r² + C(r) / r⁴) / r³, where N = ∫ n, Q = tr M - 3 M with M = ∫ δ nᵀ, and C is
//! the cubic form 15/2 Σ_j r_j r·S_j r - 3/2 r² (2u + v)·r with S_j = ∫ n_j δ δᵀ, u = Σ_j S_j e_j and v_j = tr S_j.
//! Nearby triangles are summed exactly.

use super::bvh::{Bvh, Kind};
use super::triangle;
use crate::math::{Mat3, Real, Vec3, vec3};

/// Distance in radii of a node beyond which it is far; with second moments the error is below 0.01.
const FAR: Real = 2.0;

/// Moments that approximate a tree node from far away.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    /// Area-weighted centre of the triangles.
    center: Vec3,
    /// Square of the distance beyond which the node is far: `FAR` times the radius that holds all of its triangles.
    far_squared: Real,
    /// N: integral of the normal.
    area_normal: Vec3,
    /// Q, symmetric: xx, yy, zz, xy, yz, zx.
    quadratic: [Real; 6],
    /// C: xxx, yyy, zzz, xxy, yyz, zzx, xyy, yzz, zxx, xyz.
    cubic: [Real; 10],
}

/// Returns the moments of every node of a tree.
pub(super) fn moments(bvh: &Bvh) -> Vec<Moments> {
    let mut result = Vec::with_capacity(bvh.n_nodes());
    for node in 0..bvh.n_nodes() {
        result.push(of_triangles(&bvh.corners[triangles_below(bvh, node)]));
    }
    result
}

/// Returns the triangles of a subtree, which are contiguous from its leftmost to its rightmost leaf.
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
    let mut raw = RawMoments {
        area_normal: Vec3::ZERO,
        first: Mat3::ZERO,
        second: [Mat3::ZERO; 3],
        radius_squared: 0.0,
    };
    for triangle in corners {
        raw.add(&triangle.map(|corner| corner - center));
    }
    Moments {
        center,
        far_squared: FAR * FAR * raw.radius_squared,
        area_normal: raw.area_normal,
        quadratic: raw.quadratic(),
        cubic: raw.cubic(),
    }
}

/// N, M and S_j of a node, and the radius that holds its triangles.
struct RawMoments {
    area_normal: Vec3,
    first: Mat3,
    second: [Mat3; 3],
    radius_squared: Real,
}

fn trace(matrix: &Mat3) -> Real {
    matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z
}

fn outer(column: Vec3, row: Vec3) -> Mat3 {
    Mat3::from_cols(column * row.x, column * row.y, column * row.z)
}

impl RawMoments {
    /// Adds a triangle whose corners are relative to the node's centre.
    fn add(&mut self, corners: &[Vec3; 3]) {
        let normal = 0.5 * triangle::double_area_normal(corners);
        let [a, b, c] = *corners;
        let middle = (a + b + c) / 3.0;
        self.area_normal += normal;
        self.first += outer(middle, normal);
        // mean of δ δᵀ over a triangle
        let spread = (outer(a, a) + outer(b, b) + outer(c, c) + outer(middle, middle) * 9.0) * (1.0 / 12.0);
        for axis in 0..3 {
            self.second[axis] += spread * normal[axis];
        }
        for corner in corners {
            self.radius_squared = self.radius_squared.max(corner.length_squared());
        }
    }

    fn quadratic(&self) -> [Real; 6] {
        let (first, trace) = (&self.first, trace(&self.first));
        let both = |row: usize, column: usize| -1.5 * (first.col(column)[row] + first.col(row)[column]);
        [trace + both(0, 0), trace + both(1, 1), trace + both(2, 2), both(0, 1), both(1, 2), both(2, 0)]
    }

    fn cubic(&self) -> [Real; 10] {
        let second = |axis: usize, row: usize, column: usize| 7.5 * self.second[axis].col(column)[row];
        let [x, y, z] = &self.second;
        let linear = 1.5 * (2.0 * (x.x_axis + y.y_axis + z.z_axis) + vec3(trace(x), trace(y), trace(z)));
        // coefficients of a³ and of a² b
        let pure = |a: usize| second(a, a, a) - linear[a];
        let mixed = |a: usize, b: usize| second(b, a, a) + 2.0 * second(a, a, b) - linear[b];
        let all = 2.0 * (second(0, 1, 2) + second(1, 2, 0) + second(2, 0, 1));
        let (ascending, descending) =
            ([mixed(0, 1), mixed(1, 2), mixed(2, 0)], [mixed(1, 0), mixed(2, 1), mixed(0, 2)]);
        let [xxy, yyz, zzx] = ascending;
        let [xyy, yzz, zxx] = descending;
        [pure(0), pure(1), pure(2), xxy, yyz, zzx, xyy, yzz, zxx, all]
    }
}

impl Moments {
    fn winding_number(&self, p: Vec3) -> Real {
        let r = self.center - p;
        let inverse_squared = 1.0 / r.length_squared();
        let inverse_cubed = inverse_squared * inverse_squared.sqrt();
        let Vec3 { x, y, z } = r;
        let (xx, yy, zz, xy, yz, zx) = (x * x, y * y, z * z, x * y, y * z, z * x);
        let q = &self.quadratic;
        let quadratic = q[0] * xx + q[1] * yy + q[2] * zz + 2.0 * (q[3] * xy + q[4] * yz + q[5] * zx);
        let c = &self.cubic;
        let cubic = xx * (c[0] * x + c[3] * y + c[8] * z)
            + yy * (c[1] * y + c[4] * z + c[6] * x)
            + zz * (c[2] * z + c[5] * x + c[7] * y)
            + c[9] * xy * z;
        let sum = self.area_normal.dot(r) + inverse_squared * (quadratic + inverse_squared * cubic);
        sum * inverse_cubed / (4.0 * std::f64::consts::PI)
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
