//! Functions of a single triangle: normal, closest point, solid angle.

use crate::math::{Real, Vec3, atan2};

/// Returns the normal of a triangle, with twice its area as length.
pub(super) fn double_area_normal([a, b, c]: &[Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a)
}

/// Returns the point of a triangle that is nearest to `p`. Triangles that are lines or points are allowed.
pub(super) fn closest_point(p: Vec3, &[a, b, c]: &[Vec3; 3]) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let normal_squared = normal.length_squared();
    // the projection is inaccurate on slivers; their edges are no further away than their width, 1e-8 of their length
    if normal_squared > 1e-16 * ab.length_squared() * ac.length_squared() {
        // barycentric coordinates of the projection: inside if all three are positive
        let v = ap.cross(ac).dot(normal);
        let w = ab.cross(ap).dot(normal);
        if v >= 0.0 && w >= 0.0 && v + w <= normal_squared {
            return a + ab * (v / normal_squared) + ac * (w / normal_squared);
        }
    }
    let candidates = [on_segment(p, a, b), on_segment(p, b, c), on_segment(p, c, a)];
    let mut best = candidates[0];
    for candidate in &candidates[1..] {
        if candidate.distance_squared(p) < best.distance_squared(p) {
            best = *candidate;
        }
    }
    best
}

fn on_segment(p: Vec3, start: Vec3, end: Vec3) -> Vec3 {
    let along = end - start;
    let length_squared = along.length_squared();
    if length_squared == 0.0 {
        return start;
    }
    start + along * ((p - start).dot(along) / length_squared).clamp(0.0, 1.0)
}

/// Returns the solid angle of a triangle seen from `p`, divided by 4π, positive from behind. Van Oosterom and Strackee
/// 1983: tan(Ω/2) = a·(b×c) / (abc + (a·b)c + (b·c)a + (c·a)b).
pub(super) fn winding_number(p: Vec3, corners: &[Vec3; 3]) -> Real {
    let [a, b, c] = corners.map(|corner| corner - p);
    let (a_length, b_length, c_length) = (a.length(), b.length(), c.length());
    let determinant = a.dot(b.cross(c));
    let denominator =
        a_length * b_length * c_length + a.dot(b) * c_length + b.dot(c) * a_length + c.dot(a) * b_length;
    if determinant == 0.0 {
        // in the triangle's plane the angle counts as zero, so that a flat sheet has no inside
        return 0.0;
    }
    atan2(determinant, denominator) / std::f64::consts::TAU
}
