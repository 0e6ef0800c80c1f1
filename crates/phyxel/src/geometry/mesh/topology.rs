//! Connectivity of triangles: boundary edges and merged vertices.

use crate::math::Vec3;

/// Returns the boundary of the surface: edges that are used more often in one direction than in the other, with the
/// difference.
pub(super) fn boundary(triangles: &[[u32; 3]]) -> Vec<([u32; 2], u32)> {
    let mut edges: Vec<(u32, u32, i32)> = Vec::with_capacity(3 * triangles.len());
    for &[a, b, c] in triangles {
        for (start, end) in [(a, b), (b, c), (c, a)] {
            if start != end {
                edges.push((start.min(end), start.max(end), if start < end { 1 } else { -1 }));
            }
        }
    }
    edges.sort_unstable();
    edges
        .chunk_by(|left, right| (left.0, left.1) == (right.0, right.1))
        .map(|uses| {
            let difference: i32 = uses.iter().map(|&(_, _, direction)| direction).sum();
            ([uses[0].0, uses[0].1], difference.unsigned_abs())
        })
        .filter(|&(_, difference)| difference > 0)
        .collect()
}

/// Replaces vertices at the same position by the first of them, and drops triangles without three different vertices
/// and vertices without triangles. The order of both is kept.
pub(super) fn merge_duplicates(vertices: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let compare = |a: Vec3, b: Vec3| {
        // adding 0 turns -0 into 0, which is the same position
        let (a, b) = (a + Vec3::ZERO, b + Vec3::ZERO);
        a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z))
    };
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| compare(vertices[a as usize], vertices[b as usize]).then(a.cmp(&b)));
    let mut representative: Vec<u32> = (0..vertices.len() as u32).collect();
    for same in order.chunk_by(|&a, &b| compare(vertices[a as usize], vertices[b as usize]).is_eq()) {
        for &vertex in same {
            representative[vertex as usize] = same[0];
        }
    }
    let merged: Vec<[u32; 3]> = triangles
        .iter()
        .map(|corners| corners.map(|vertex| representative[vertex as usize]))
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .collect();
    drop_unused(vertices, merged)
}

fn drop_unused(vertices: &[Vec3], mut triangles: Vec<[u32; 3]>) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut is_used = vec![false; vertices.len()];
    for &vertex in triangles.iter().flatten() {
        is_used[vertex as usize] = true;
    }
    let mut kept = Vec::new();
    let mut number = vec![0; vertices.len()];
    for (vertex, position) in vertices.iter().enumerate() {
        if is_used[vertex] {
            number[vertex] = kept.len() as u32;
            kept.push(*position);
        }
    }
    for vertex in triangles.iter_mut().flatten() {
        *vertex = number[*vertex as usize];
    }
    (kept, triangles)
}
