//! Models for tests.

use std::f32::consts::{PI, TAU};

use super::super::*;
use phyxel::math::glam::{Vec3, vec3};

/// Makes a cube of n³ particles of this spacing, standing on y = 0, squeezed down and bulged by `squeeze` in 0..1.
pub(super) fn block(n: usize, spacing: f32, squeeze: f32, color: impl Fn(Vec3) -> Color) -> Vec<Sphere> {
    let side = spacing * n as f32;
    let mut spheres = Vec::with_capacity(n * n * n);
    for k in 0..n * n * n {
        let place = |index: usize| (index as f32 + 0.5) * spacing;
        let rest = vec3(place(k % n) - 0.5 * side, place(k / n % n), place(k / n / n) - 0.5 * side);
        let height = rest.y / side;
        let bulge = 1.0 + squeeze * 0.9 * (1.0 - height).powi(2);
        let center =
            vec3(rest.x * bulge, rest.y * (1.0 - 0.45 * squeeze * (1.0 - 0.4 * height)), rest.z * bulge);
        spheres.push(Sphere { center, radius: 0.55 * spacing, color: color(rest) });
    }
    spheres
}

/// Returns the box around all spheres.
pub(super) fn bounds_of(spheres: &[Sphere]) -> Bounds {
    let mut bounds = Bounds::EMPTY;
    spheres.iter().for_each(|sphere| bounds.include(sphere.center, sphere.radius));
    bounds
}

/// Makes a closed grid of quads over two angles.
fn wound(n: [usize; 2], color: Color, place: impl Fn(f32, f32) -> Vec3) -> Mesh {
    let at = |i: usize, j: usize| (j % n[1] * n[0] + i % n[0]) as u32;
    let grid = || (0..n[1]).flat_map(move |j| (0..n[0]).map(move |i| (i, j)));
    let vertices = grid().map(|(i, j)| place(i as f32 / n[0] as f32, j as f32 / n[1] as f32)).collect();
    let quad =
        |(i, j)| [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]];
    Mesh { vertices, triangles: grid().flat_map(quad).collect(), normals: Vec::new(), color }
}

/// Makes a ring that lies on the floor's plane around the origin.
pub(super) fn torus(radius: f32, thickness: f32) -> Mesh {
    wound([64, 32], body_color(1), |u, v| {
        let (around, across) = (TAU * u, TAU * v);
        let out = radius + thickness * across.cos();
        vec3(out * around.cos(), thickness * across.sin(), out * around.sin())
    })
}

/// Makes a ball of triangles around the origin.
pub(super) fn ball_mesh(radius: f32, color: Color) -> Mesh {
    // A line of constant u runs around the ball over both poles, so that the closed grid has no gap.
    wound([48, 48], color, |u, v| {
        let (around, down) = (TAU * u, PI * (2.0 * v).min(2.0 - 2.0 * v));
        let turn = if v < 0.5 { around } else { around + PI };
        radius * vec3(down.sin() * turn.cos(), down.cos(), down.sin() * turn.sin())
    })
}

/// Makes a box with shared corners.
pub(super) fn box_mesh(min: Vec3, max: Vec3) -> Mesh {
    let vertices = Bounds { min, max }.corners().to_vec();
    let quads = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Mesh { vertices, triangles, normals: Vec::new(), color: Color::OBSTACLE }
}

/// Makes a legend.
pub(super) fn strain_bar() -> ColorBar {
    let map = ColorMap::Sequential;
    ColorBar { label: "plastic strain".into(), unit: "%".into(), min: 0.0, max: 13.0, map }
}

/// Makes a stage with particles, a slope, meshes, ground and text.
pub(super) fn everything() -> Stage {
    let spheres = block(6, 0.1, 0.6, |_| body_color(0));
    let mut bounds = bounds_of(&spheres);
    bounds.include(vec3(0.9, 0.2, 0.0), 0.3);
    let mut stage = Stage::new(Camera::framing(&bounds, &CameraOptions::default(), 1.6));
    stage.spheres = spheres;
    let mut ring = torus(0.2, 0.08);
    ring.vertices.iter_mut().for_each(|vertex| *vertex += vec3(0.9, 0.3, 0.0));
    stage.meshes = vec![ring, box_mesh(vec3(0.6, 0.0, -0.3), vec3(1.2, 0.2, 0.3))];
    stage.planes.push(Plane {
        point: vec3(0.0, 0.0, -0.8),
        normal: vec3(0.3, 1.0, 0.8),
        color: Color::OBSTACLE,
    });
    stage.ground = Some(0.0);
    stage.title = Some("Everything".into());
    stage
}
