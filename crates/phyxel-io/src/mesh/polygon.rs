//! Triangulation of polygons.

use phyxel::math::{Real, Vec3};

/// Largest number of corners for ear clipping; larger polygons are cut into a fan.
const MAX_CORNERS: usize = 256;
/// Number of tests of corners against ears that all polygons of a mesh share. Ear clipping takes cubic time in the worst
/// case: a polygon of n corners has n² tests of its own, twice what a convex one needs, and then uses up the shared ones.
pub(super) const SHARED_TESTS: usize = 20_000_000;

/// Adds the triangles of a polygon, which may be concave. Corners out of range are not checked here, but by the mesh. A
/// polygon that finds no ears with its tests and the shared ones that are left is cut into a fan.
pub(super) fn triangulate(
    polygon: &[u32],
    vertices: &[Vec3],
    n_shared: &mut usize,
    triangles: &mut Vec<[u32; 3]>,
) {
    let positions: Option<Vec<Vec3>> =
        polygon.iter().map(|&vertex| vertices.get(vertex as usize).copied()).collect();
    match positions {
        Some(positions) if (4..=MAX_CORNERS).contains(&polygon.len()) => {
            clip_ears(polygon, &positions, n_shared, triangles);
        }
        _ => fan(polygon, triangles),
    }
}

fn fan(polygon: &[u32], triangles: &mut Vec<[u32; 3]>) {
    for pair in polygon.get(1..).unwrap_or_default().windows(2) {
        triangles.push([polygon[0], pair[0], pair[1]]);
    }
}

/// Triangulates by ear clipping: cuts off convex corners whose triangle contains no other corner, one after the other.
fn clip_ears(polygon: &[u32], positions: &[Vec3], n_shared: &mut usize, triangles: &mut Vec<[u32; 3]>) {
    let normal = area_normal(positions);
    let mut remaining: Vec<usize> = (0..polygon.len()).collect();
    let mut n_tests = polygon.len() * polygon.len() + *n_shared;
    while remaining.len() > 3 && n_tests > 0 {
        let count = remaining.len();
        let corners =
            |at: usize| [remaining[(at + count - 1) % count], remaining[at], remaining[(at + 1) % count]];
        let mut is_ear = |at: usize| {
            let (is_ear, n_made) = is_ear(corners(at), &remaining, positions, normal);
            n_tests = n_tests.saturating_sub(n_made);
            is_ear
        };
        let Some(ear) = (0..count).find(|&at| is_ear(at)) else {
            break;
        };
        triangles.push(corners(ear).map(|corner| polygon[corner]));
        remaining.remove(ear);
    }
    *n_shared = n_tests.min(*n_shared);
    // the rest is one triangle, or a degenerate polygon without ears
    let rest: Vec<u32> = remaining.iter().map(|&corner| polygon[corner]).collect();
    fan(&rest, triangles);
}

/// Returns twice the area vector of a polygon, also if it is not flat (Newell).
fn area_normal(positions: &[Vec3]) -> Vec3 {
    let origin = positions[0];
    positions.windows(2).map(|edge| (edge[0] - origin).cross(edge[1] - origin)).sum()
}

/// Returns true if a corner and its neighbours are an ear, and the number of tests made.
fn is_ear([a, b, c]: [usize; 3], remaining: &[usize], positions: &[Vec3], normal: Vec3) -> (bool, usize) {
    let turn = |from: usize, to: usize, towards: Vec3| -> Real {
        (positions[to] - positions[from]).cross(towards - positions[from]).dot(normal)
    };
    if turn(a, b, positions[c]) <= 0.0 {
        return (false, 1);
    }
    let is_inside = |&corner: &usize| {
        let p = positions[corner];
        let is_a_corner = p == positions[a] || p == positions[b] || p == positions[c];
        !(is_a_corner || turn(a, b, p) < 0.0 || turn(b, c, p) < 0.0 || turn(c, a, p) < 0.0)
    };
    match remaining.iter().position(is_inside) {
        Some(at) => (false, at + 1),
        None => (true, remaining.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel::math::vec3;

    fn total_area(vertices: &[Vec3], triangles: &[[u32; 3]]) -> (Real, Real) {
        let mut signed = Vec3::ZERO;
        let mut absolute = 0.0;
        for triangle in triangles {
            let [a, b, c] = triangle.map(|vertex| vertices[vertex as usize]);
            signed += 0.5 * (b - a).cross(c - a);
            absolute += 0.5 * (b - a).cross(c - a).length();
        }
        (signed.length(), absolute)
    }

    #[test]
    fn concave_polygons_are_covered_without_overlap() {
        // an arrow head whose notch is a neighbour of corner 0: a fan from corner 0 would overlap itself
        let vertices = vec![
            vec3(0.0, 0.0, 2.0),
            vec3(1.0, -1.0, 2.0),
            vec3(0.2, 0.0, 2.0),
            vec3(1.0, 1.0, 2.0),
            vec3(-1.0, 0.5, 2.0),
        ];
        for start in 0..5 {
            let polygon: Vec<u32> = (0..5).map(|step| (start + step) % 5).collect();
            let mut triangles = Vec::new();
            triangulate(&polygon, &vertices, &mut { SHARED_TESTS }, &mut triangles);
            assert_eq!(triangles.len(), 3);
            let (signed, absolute) = total_area(&vertices, &triangles);
            assert!((signed - absolute).abs() < 1e-12, "start {start}: {signed} {absolute}");
        }
    }

    #[test]
    fn degenerate_polygons_end() {
        let vertices = vec![Vec3::ZERO; 6];
        for count in 0..6 {
            let mut triangles = Vec::new();
            triangulate(&(0..count).collect::<Vec<u32>>(), &vertices, &mut { SHARED_TESTS }, &mut triangles);
            assert_eq!(triangles.len(), (count as usize).saturating_sub(2));
        }
        let mut triangles = Vec::new();
        triangulate(&[0, 1, 99, 3], &vertices, &mut { SHARED_TESTS }, &mut triangles);
        assert_eq!(triangles.len(), 2);
    }

    /// Corners on a spiral of overlapping turns, where nearly every corner is convex and has others inside its triangle.
    #[test]
    fn polygons_without_ears_cost_little() {
        let count = MAX_CORNERS as u32;
        let corner = |k: u32| {
            let angle = 2.4 * Real::from(k);
            vec3(angle.cos(), angle.sin(), 0.0) * (1.0 - 1e-3 * Real::from(k))
        };
        let vertices: Vec<Vec3> = (0..count).map(corner).collect();
        let polygon: Vec<u32> = (0..count).collect();
        let (mut n_shared, mut triangles) = (SHARED_TESTS, Vec::new());
        for _ in 0..200 {
            triangulate(&polygon, &vertices, &mut n_shared, &mut triangles);
        }
        assert_eq!(triangles.len(), 200 * (MAX_CORNERS - 2));
        assert_eq!(n_shared, 0, "the polygon is hard, and all shared tests are used up");
    }
}
