//! Functions that the physics test suites share.
#![allow(dead_code, reason = "each suite uses its part")]

pub(crate) mod saving;

use phyxel::contact::{Axes, Ease, Grip, Keyframe, Motion};
use phyxel::geometry::{PlacedShape, Shape};
use phyxel::material::Material;
use phyxel::math::{Real, Vec3, vec3};
use phyxel::methods::built_methods;
use phyxel::world::{Body, World};

/// Returns the keys of the implemented methods.
pub(crate) fn methods() -> impl Iterator<Item = &'static str> + Clone {
    built_methods().map(|entry| entry.key)
}

/// Returns the key of the first implemented method, for tests that need only one.
pub(crate) fn any_method() -> &'static str {
    methods().next().unwrap()
}

/// Returns the keys of the methods whose matter cannot flow.
pub(crate) fn elastic_methods() -> impl Iterator<Item = &'static str> + Clone {
    built_methods().filter(|entry| entry.abilities.flows.is_empty()).map(|entry| entry.key)
}

/// Returns the keys of the methods whose matter can flow.
pub(crate) fn flowing_methods() -> impl Iterator<Item = &'static str> + Clone {
    built_methods().filter(|entry| !entry.abilities.flows.is_empty()).map(|entry| entry.key)
}

/// Creates a material with the given moduli and 1000 kg/m³.
pub(crate) fn elastic(youngs_modulus: Real, poisson_ratio: Real) -> Material {
    Material::elastic(youngs_modulus, poisson_ratio)
}

/// Creates a box-shaped body of n cells of size a, with its lower corner at the origin.
pub(crate) fn bar(name: &str, n: [usize; 3], a: Real, material: Material) -> Body {
    let size = vec3(n[0] as Real, n[1] as Real, n[2] as Real) * a;
    Body::new(name, Shape::Box { size }, a, material).at(size * 0.5)
}

/// Creates a box region between two corners.
pub(crate) fn region(low: Vec3, high: Vec3) -> PlacedShape {
    let mut shape = PlacedShape::from(Shape::Box { size: high - low });
    shape.placement.position = 0.5 * (low + high);
    shape
}

/// Creates a grip on the particles between two planes perpendicular to z.
pub(crate) fn grip_across_z(name: &str, body: &str, z: [Real; 2], axes: Axes, keys: Vec<Keyframe>) -> Grip {
    Grip {
        name: name.into(),
        body: body.into(),
        select: region(vec3(-100.0, -100.0, z[0]), vec3(100.0, 100.0, z[1])),
        motion: Motion::try_new(keys, Ease::Smooth).expect("ascending keys"),
        release: None,
        axes,
    }
}

/// Returns all positions in order of id.
pub(crate) fn positions(world: &World) -> Vec<Vec3> {
    let mut all: Vec<(u32, Vec3)> =
        world.particles().flat_map(|p| p.id.iter().copied().zip(p.position.iter().copied())).collect();
    all.sort_by_key(|p| p.0);
    all.into_iter().map(|p| p.1).collect()
}

/// Returns the least-squares slope of y over x.
pub(crate) fn slope(points: impl Iterator<Item = (Real, Real)> + Clone) -> Real {
    let n = points.clone().count() as Real;
    let mean = points.clone().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, y) in points {
        xy += (x - mean.0) * (y - mean.1);
        xx += (x - mean.0).powi(2);
    }
    xy / xx
}
