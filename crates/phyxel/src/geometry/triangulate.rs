//! Triangulation of the surfaces of shapes, outward oriented and closed.

use super::marching;
use super::mesh::{TriangleMesh, TriangleMeshError};
use super::shape::{Shape, ShapeError};
use crate::math::{Real, Vec3, cos, sin, vec3};
use std::f64::consts::{PI, TAU};

impl From<TriangleMeshError> for ShapeError {
    fn from(_: TriangleMeshError) -> Self {
        ShapeError::NoSurface
    }
}

/// A point (distance from the axis, y) of an outline that is rotated around the y axis.
type ProfilePoint = (Real, Real);

pub(super) fn triangulate(shape: &Shape, resolution: usize) -> Result<TriangleMesh, ShapeError> {
    shape.validate()?;
    let n_arc = resolution.div_ceil(2).max(2);
    let mesh = match shape {
        Shape::Box { size } => cuboid(*size)?,
        Shape::Sphere { radius } => revolve(&arc(*radius, 0.0, -0.5 * PI, 0.5 * PI, n_arc), resolution)?,
        Shape::Ellipsoid { radii } => {
            let sphere = revolve(&arc(1.0, 0.0, -0.5 * PI, 0.5 * PI, n_arc), resolution)?;
            sphere.map_vertices(|vertex| vertex * *radii)
        }
        Shape::Cylinder { radius, height } => {
            let half = 0.5 * height;
            revolve(&[(0.0, -half), (*radius, -half), (*radius, half), (0.0, half)], resolution)?
        }
        Shape::Capsule { radius, height } => {
            let n_quarter = n_arc.div_ceil(2);
            let mut profile = arc(*radius, -0.5 * height, -0.5 * PI, 0.0, n_quarter);
            profile.extend(arc(*radius, 0.5 * height, 0.0, 0.5 * PI, n_quarter));
            revolve(&profile, resolution)?
        }
        Shape::Cone { radius, height } => {
            let half = 0.5 * height;
            revolve(&[(0.0, -half), (*radius, -half), (0.0, half)], resolution)?
        }
        Shape::Torus { radius, tube_radius } => {
            let n_tube = n_arc.max(3);
            let tube = (0..n_tube).map(|step| {
                let angle = TAU * step as Real / n_tube as Real;
                (radius + tube_radius * cos(angle), tube_radius * sin(angle))
            });
            torus(&tube.collect::<Vec<_>>(), resolution)?
        }
        Shape::Star { points, radius, inner_radius, height } => {
            prism(&star_outline(*points, *radius, *inner_radius), *height)?
        }
        Shape::HalfSpace { .. } => return Err(ShapeError::Infinite),
        Shape::Mesh(mesh) => mesh.as_ref().clone(),
        Shape::Union(_) | Shape::Difference(_) | Shape::Intersection(_) => {
            let bounds = shape.bounds().ok_or(ShapeError::Infinite)?;
            marching::level_surface(&|p| shape.signed_distance(p), bounds, resolution)?
        }
        Shape::Shell { shape, thickness } => hollow(shape, *thickness, resolution)?,
    };
    Ok(mesh)
}

/// Triangulates both surfaces of a shell separately, so that a layer thinner than the resolution has no holes.
fn hollow(shape: &Shape, thickness: Real, resolution: usize) -> Result<TriangleMesh, ShapeError> {
    let outer = triangulate(shape, resolution)?;
    let bounds = shape.bounds().ok_or(ShapeError::Infinite)?;
    let depth = |p| shape.signed_distance(p) + thickness;
    let Ok(inner) = marching::level_surface(&depth, bounds, resolution) else {
        return Ok(outer); // No cavity: the layer is as thick as the shape.
    };
    let n_outer = outer.vertices().len() as u32;
    let mut vertices = outer.vertices().to_vec();
    vertices.extend_from_slice(inner.vertices());
    let mut triangles = outer.triangles().to_vec();
    triangles.extend(inner.triangles().iter().map(|&[a, b, c]| [a + n_outer, c + n_outer, b + n_outer]));
    Ok(TriangleMesh::try_new(vertices, triangles)?)
}

fn cuboid(size: Vec3) -> Result<TriangleMesh, TriangleMeshError> {
    let corner = |index: usize| {
        let sign = |bit: usize| if index >> bit & 1 == 0 { -0.5 } else { 0.5 };
        vec3(sign(0), sign(1), sign(2)) * size
    };
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    TriangleMesh::try_new((0..8).map(corner).collect(), triangles)
}

/// Returns points on a circle around (0, `center_y`), both ends included; an end on the axis is exactly on it.
fn arc(radius: Real, center_y: Real, from: Real, to: Real, n_segments: usize) -> Vec<ProfilePoint> {
    (0..=n_segments)
        .map(|step| {
            let angle = from + (to - from) * step as Real / n_segments as Real;
            let across = if angle.abs() >= 0.5 * PI - 1e-12 { 0.0 } else { radius * cos(angle) };
            (across, center_y + radius * sin(angle))
        })
        .collect()
}

fn ring(point: ProfilePoint, n_around: usize) -> impl Iterator<Item = Vec3> {
    (0..n_around).map(move |step| {
        let angle = TAU * step as Real / n_around as Real;
        vec3(point.0 * cos(angle), point.1, point.0 * sin(angle))
    })
}

/// Adds two triangles for each pair of neighbouring points of two rings; `upper` is further along the profile.
fn band(triangles: &mut Vec<[u32; 3]>, lower: usize, upper: usize, n_around: usize) {
    for step in 0..n_around {
        let next = (step + 1) % n_around;
        let corner = |ring: usize, step: usize| (ring + step) as u32;
        let (a, b) = (corner(lower, step), corner(lower, next));
        let (c, d) = (corner(upper, step), corner(upper, next));
        triangles.extend([[a, c, b], [b, c, d]]);
    }
}

/// Rotates a profile that begins and ends on the axis, from bottom to top, around the y axis.
fn revolve(profile: &[ProfilePoint], n_around: usize) -> Result<TriangleMesh, TriangleMeshError> {
    let inner = &profile[1..profile.len() - 1];
    let mut vertices: Vec<Vec3> = inner.iter().flat_map(|&point| ring(point, n_around)).collect();
    let bottom = vertices.len() as u32;
    vertices.push(vec3(0.0, profile[0].1, 0.0));
    vertices.push(vec3(0.0, profile[profile.len() - 1].1, 0.0));
    let last = (inner.len() - 1) * n_around;
    let mut triangles = Vec::new();
    for step in 0..n_around {
        let next = (step + 1) % n_around;
        triangles.push([bottom, step as u32, next as u32]);
        triangles.push([bottom + 1, (last + next) as u32, (last + step) as u32]);
    }
    for lower in 0..inner.len() - 1 {
        band(&mut triangles, lower * n_around, (lower + 1) * n_around, n_around);
    }
    TriangleMesh::try_new(vertices, triangles)
}

/// Rotates a closed, anticlockwise profile around the y axis.
fn torus(profile: &[ProfilePoint], n_around: usize) -> Result<TriangleMesh, TriangleMeshError> {
    let vertices = profile.iter().flat_map(|&point| ring(point, n_around)).collect();
    let mut triangles = Vec::new();
    for lower in 0..profile.len() {
        band(&mut triangles, lower * n_around, (lower + 1) % profile.len() * n_around, n_around);
    }
    TriangleMesh::try_new(vertices, triangles)
}

/// Returns the corners of a star around the y axis, tips and notches alternating, from x towards z.
pub(super) fn star_outline(points: usize, radius: Real, inner_radius: Real) -> Vec<Vec3> {
    (0..2 * points)
        .map(|step| {
            let angle = PI * step as Real / points as Real;
            let radius = if step % 2 == 0 { radius } else { inner_radius };
            vec3(radius * cos(angle), 0.0, radius * sin(angle))
        })
        .collect()
}

/// Triangulates a prism along y over an outline whose points are all visible from the middle.
fn prism(outline: &[Vec3], height: Real) -> Result<TriangleMesh, TriangleMeshError> {
    let n_corners = outline.len();
    let half = vec3(0.0, 0.5 * height, 0.0);
    let mut vertices: Vec<Vec3> = outline.iter().map(|corner| *corner - half).collect();
    vertices.extend(outline.iter().map(|corner| *corner + half));
    vertices.extend([-half, half]);
    let (bottom, top) = (2 * n_corners as u32, 2 * n_corners as u32 + 1);
    let mut triangles = Vec::new();
    for step in 0..n_corners as u32 {
        let next = (step + 1) % n_corners as u32;
        triangles.push([bottom, step, next]);
        triangles.push([top, next + n_corners as u32, step + n_corners as u32]);
    }
    band(&mut triangles, 0, n_corners, n_corners);
    TriangleMesh::try_new(vertices, triangles)
}

#[cfg(test)]
mod tests {
    use super::super::{PlacedShape, Placement};
    use super::*;

    fn assert_describes(shape: &Shape, resolution: usize, volume_tolerance: Real, distance_tolerance: Real) {
        let mesh = shape.triangulate(resolution).unwrap();
        assert!(mesh.is_closed(), "{shape:?}");
        let volume = mesh.signed_volume();
        assert!(
            (volume / shape.volume() - 1.0).abs() < volume_tolerance,
            "{shape:?}: {volume} {}",
            shape.volume()
        );
        for &vertex in mesh.vertices() {
            let distance = shape.signed_distance(vertex);
            assert!(distance.abs() < distance_tolerance, "{shape:?}: {vertex} is {distance} away");
        }
    }

    #[test]
    fn flat_shapes_are_exact() {
        assert_describes(&Shape::Box { size: vec3(1.0, 2.0, 3.0) }, 8, 1e-12, 1e-12);
        let star = Shape::Star { points: 5, radius: 1.0, inner_radius: 0.4, height: 0.3 };
        assert_describes(&star, 8, 1e-12, 1e-12);
    }

    #[test]
    fn round_shapes_are_inscribed() {
        for shape in [
            Shape::Sphere { radius: 0.5 },
            Shape::Cylinder { radius: 0.5, height: 2.0 },
            Shape::Capsule { radius: 0.5, height: 1.0 },
            Shape::Cone { radius: 0.5, height: 1.0 },
            Shape::Torus { radius: 1.0, tube_radius: 0.3 },
            Shape::Ellipsoid { radii: vec3(1.0, 0.5, 0.25) },
        ] {
            assert_describes(&shape, 128, 3e-3, 1e-9);
        }
    }

    #[test]
    fn combinations_and_shells_are_closed() {
        let ball = Shape::Sphere { radius: 0.5 };
        let placement = Placement { position: vec3(0.4, 0.1, 0.0), ..Placement::default() };
        let parts = || vec![ball.clone().into(), PlacedShape::new(Shape::Box { size: Vec3::ONE }, placement)];
        assert_describes(&Shape::Union(parts()), 60, 1e-2, 1e-2);
        assert_describes(&Shape::Difference(parts()), 60, 1e-2, 1e-2);
        assert_describes(&Shape::Intersection(parts()), 60, 1e-2, 1e-2);
        let shell = Shape::Shell { shape: Box::new(ball), thickness: 0.02 };
        assert_describes(&shell, 60, 6e-2, 2e-3);
    }

    #[test]
    fn infinite_shapes_have_no_surface() {
        let ground = Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 };
        assert_eq!(ground.triangulate(16).unwrap_err(), ShapeError::Infinite);
    }
}
