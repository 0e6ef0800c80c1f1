//! Signed distance and outward normal of the elementary shapes, all exact, all centred at the origin.
//!
//! Each function returns the distance (negative inside) and the unit gradient of the distance. If the gradient is not
//! unique (on a medial axis, at a corner), one of the possible directions is returned, never a zero vector or NaN.

use crate::math::glam::DVec2 as Vec2;
use crate::math::{Real, Vec3, atan2, hypot, square, vec3};

/// Distance and outward unit normal.
pub(crate) type Surface = (Real, Vec3);

fn unit_or(v: Vec3, fallback: Vec3) -> Vec3 {
    v.try_normalize().unwrap_or(fallback)
}

/// Returns the sign, 1 or -1, never 0.
fn side(x: Real) -> Real {
    if x < 0.0 { -1.0 } else { 1.0 }
}

/// Returns the distance to the intersection of two solids with perpendicular walls, such as a barrel and its lids.
fn perpendicular_walls(a: Surface, b: Surface) -> Surface {
    if a.0 > 0.0 && b.0 > 0.0 {
        let distance = hypot(a.0, b.0);
        (distance, (a.1 * a.0 + b.1 * b.0) / distance)
    } else if a.0 > b.0 {
        a
    } else {
        b
    }
}

fn lids(p: Vec3, height: Real) -> Surface {
    (p.y.abs() - 0.5 * height, vec3(0.0, side(p.y), 0.0))
}

pub(crate) fn cuboid(p: Vec3, size: Vec3) -> Surface {
    let excess = p.abs() - 0.5 * size;
    let outside = excess.max(Vec3::ZERO);
    let distance = outside.length();
    let signs = vec3(side(p.x), side(p.y), side(p.z));
    if distance > 0.0 {
        return (distance, unit_or(outside, Vec3::Y) * signs);
    }
    let nearest = excess.max_element();
    let axis = (0..3).find(|&axis| excess[axis] == nearest).unwrap_or(0);
    (nearest, Vec3::AXES[axis] * signs[axis])
}

pub(crate) fn sphere(p: Vec3, radius: Real) -> Surface {
    (p.length() - radius, unit_or(p, Vec3::Y))
}

pub(crate) fn cylinder(p: Vec3, radius: Real, height: Real) -> Surface {
    let radial = vec3(p.x, 0.0, p.z);
    let barrel = (radial.length() - radius, unit_or(radial, Vec3::X));
    perpendicular_walls(barrel, lids(p, height))
}

pub(crate) fn capsule(p: Vec3, radius: Real, height: Real) -> Surface {
    let on_axis = vec3(0.0, p.y.clamp(-0.5 * height, 0.5 * height), 0.0);
    ((p - on_axis).length() - radius, unit_or(p - on_axis, Vec3::X))
}

pub(crate) fn torus(p: Vec3, radius: Real, tube_radius: Real) -> Surface {
    let radial = unit_or(vec3(p.x, 0.0, p.z), Vec3::X);
    let from_ring = p - radius * radial;
    (from_ring.length() - tube_radius, unit_or(from_ring, radial))
}

/// Returns the surface of a cone, the revolution of a triangle: in the half-plane (distance from the axis, y) it is a
/// base segment and a slanted one.
pub(crate) fn cone(p: Vec3, radius: Real, height: Real) -> Surface {
    let radial = unit_or(vec3(p.x, 0.0, p.z), Vec3::X);
    let point = Vec2::new(hypot(p.x, p.z), p.y);
    let rim = Vec2::new(radius, -0.5 * height);
    let apex = Vec2::new(0.0, 0.5 * height);
    let slant_normal = Vec2::new(height, radius).normalize_or(Vec2::X);
    let above_base = point.y + 0.5 * height;
    let above_slant = (point - rim).dot(slant_normal);
    let (distance, normal) = if above_base > 0.0 && above_slant < 0.0 {
        if above_slant > -above_base { (above_slant, slant_normal) } else { (-above_base, Vec2::NEG_Y) }
    } else {
        let base = outside_segment(point, Vec2::new(0.0, rim.y), rim, Vec2::NEG_Y);
        let slant = outside_segment(point, rim, apex, slant_normal);
        if base.0 < slant.0 { base } else { slant }
    };
    (distance, normal.x * radial + vec3(0.0, normal.y, 0.0))
}

/// Returns the distance to a segment and the direction away from it; on the segment itself, the direction is `normal`.
fn outside_segment(point: Vec2, start: Vec2, end: Vec2, normal: Vec2) -> (Real, Vec2) {
    let away = point - closest_on_segment(point, start, end);
    (away.length(), away.try_normalize().unwrap_or(normal))
}

fn closest_on_segment(point: Vec2, start: Vec2, end: Vec2) -> Vec2 {
    let along = end - start;
    let length_squared = along.length_squared();
    if length_squared == 0.0 {
        return start;
    }
    start + along * ((point - start).dot(along) / length_squared).clamp(0.0, 1.0)
}

/// Returns the surface of a prism over a star with its first tip in direction +x. The star has mirror lines through
/// every tip and notch, so the point is folded into one sector between a tip and a notch, where the outline is a single
/// segment.
pub(crate) fn star(p: Vec3, points: usize, radius: Real, inner_radius: Real, height: Real) -> Surface {
    let sector = std::f64::consts::TAU / points as Real;
    let angle = atan2(p.z, p.x);
    let turn = sector * (angle / sector).round();
    let mirrored = angle < turn;
    let folded = Vec2::from_angle((angle - turn).abs()) * hypot(p.x, p.z);

    let tip = Vec2::new(radius, 0.0);
    let notch = Vec2::from_angle(0.5 * sector) * inner_radius;
    let along = notch - tip;
    let outward = Vec2::new(along.y, -along.x).normalize_or(Vec2::X);
    let away = folded - closest_on_segment(folded, tip, notch);
    let sign = side((folded - tip).dot(outward));
    let mut normal = away.try_normalize().map_or(outward, |direction| sign * direction);
    if mirrored {
        normal.y = -normal.y;
    }
    let normal = Vec2::from_angle(turn).rotate(normal);
    let walls = (sign * away.length(), vec3(normal.x, 0.0, normal.y));
    perpendicular_walls(walls, lids(p, height))
}

/// Returns the surface of an ellipsoid, by Newton's method for the closest point.
///
/// The closest point x of the ellipsoid to a point y fulfils x_i = e_i² y_i / (e_i² + t), where t is the largest root
/// of f(t) = Σ (e_i y_i / (e_i² + t))² - 1. f is convex and falling right of its last pole, so Newton's method that
/// starts left of the root increases to it without overshooting. The unknown is s = t + e_min², which keeps its
/// precision near the pole.
pub(crate) fn ellipsoid(p: Vec3, radii: Vec3) -> Surface {
    let point = p.abs();
    let smallest = radii.min_element();
    let shift = (radii - Vec3::splat(smallest)) * (radii + Vec3::splat(smallest));
    // with this start, each term is at most 1 and one of them is exactly 1, or s is at its lower limit
    let mut s = (radii * point - shift).max_element().max(0.0);
    for _ in 0..64 {
        let denominators = shift + Vec3::splat(s);
        let ratio = |axis: usize| if point[axis] > 0.0 { point[axis] / denominators[axis] } else { 0.0 };
        let terms = radii * vec3(ratio(0), ratio(1), ratio(2));
        let excess = terms.length_squared() - 1.0;
        // a coordinate of zero has no pole: its denominator may be zero and is left out
        let curvature =
            |axis: usize| if terms[axis] > 0.0 { square(terms[axis]) / denominators[axis] } else { 0.0 };
        let slope = -2.0 * (curvature(0) + curvature(1) + curvature(2));
        let next = s - excess / slope;
        if excess <= 0.0 || next.is_nan() || next <= s {
            break;
        }
        s = next;
    }
    let closest = ellipsoid_closest(point, radii, shift, s);
    let inside = (point / radii).length_squared() < 1.0;
    let distance = (point - closest).length();
    let normal = unit_or(closest / (radii * radii), Vec3::Y) * vec3(side(p.x), side(p.y), side(p.z));
    (if inside { -distance } else { distance }, normal)
}

/// Returns the closest point at the root s. If numerator and denominator both vanish (the point is on the plane across
/// the shortest axis, nearer than the focal curve), the surface equation gives the coordinate instead.
fn ellipsoid_closest(point: Vec3, radii: Vec3, shift: Vec3, s: Real) -> Vec3 {
    let mut closest = Vec3::ZERO;
    let mut undetermined = None;
    for axis in 0..3 {
        let denominator = shift[axis] + s;
        if denominator > 0.0 && point[axis] > 0.0 {
            closest[axis] = radii[axis] * (radii[axis] * point[axis] / denominator);
        } else if denominator <= 0.0 {
            undetermined.get_or_insert(axis);
        }
    }
    if let Some(axis) = undetermined {
        let rest = (closest / radii).length_squared();
        closest[axis] = radii[axis] * (1.0 - rest).max(0.0).sqrt();
    }
    closest
}
