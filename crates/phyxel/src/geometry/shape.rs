//! Shapes: elementary ones, meshes, and their combinations.

use std::sync::Arc;

use super::aabb::Aabb;
use super::mesh::TriangleMesh;
use super::placement::PlacedShape;
use super::primitives::{self, Surface};
use super::volume;
use crate::math::{Real, Vec3, cube, hypot, sin, vec3};

/// A solid in its own frame, centred at the origin (meshes keep their own coordinates, half-spaces have an offset).
#[derive(Clone, Debug)]
pub enum Shape {
    /// A cuboid with edges along the axes.
    Box {
        /// Edge lengths (m).
        size: Vec3,
    },
    /// A ball.
    Sphere {
        /// Radius (m).
        radius: Real,
    },
    /// A circular cylinder around the y axis.
    Cylinder {
        /// Radius (m).
        radius: Real,
        /// Length along y (m).
        height: Real,
    },
    /// A cylinder around the y axis with a half ball on both ends.
    Capsule {
        /// Radius (m).
        radius: Real,
        /// Length of the straight part (m); from pole to pole it is `height + 2 radius`.
        height: Real,
    },
    /// A circular cone around the y axis, base at `-height / 2`, apex at `height / 2`.
    Cone {
        /// Radius of the base (m).
        radius: Real,
        /// Height (m).
        height: Real,
    },
    /// A ring around the y axis.
    Torus {
        /// Distance of the tube's centre line from the axis (m).
        radius: Real,
        /// Radius of the tube (m); not larger than `radius`.
        tube_radius: Real,
    },
    /// An ellipsoid with half axes along the coordinate axes.
    Ellipsoid {
        /// Half axes (m).
        radii: Vec3,
    },
    /// A prism along y over a star; the first tip points along x.
    Star {
        /// Number of tips, at least 3.
        points: usize,
        /// Distance of the tips from the axis (m).
        radius: Real,
        /// Distance of the notches from the axis (m).
        inner_radius: Real,
        /// Length along y (m).
        height: Real,
    },
    /// Everything below a plane: the points with `normal · x < offset`. Infinite.
    HalfSpace {
        /// Direction out of the solid; any length but zero.
        normal: Vec3,
        /// Distance of the plane from the origin along the normal (m).
        offset: Real,
    },
    /// The inside of a triangle mesh.
    Mesh(Arc<TriangleMesh>),
    /// All points that are in at least one of the parts.
    Union(Vec<PlacedShape>),
    /// All points that are in the first part and in none of the others.
    Difference(Vec<PlacedShape>),
    /// All points that are in every part.
    Intersection(Vec<PlacedShape>),
    /// A hollow shape: the outermost layer of a solid.
    Shell {
        /// The solid that is hollowed.
        shape: std::boxed::Box<Shape>,
        /// Thickness of the layer, measured inwards from the surface (m).
        thickness: Real,
    },
}

/// Reason why a shape cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A size is zero, negative or not a number.
    #[error("{shape}: {quantity} must be a positive finite number, not {value}")]
    NotPositive {
        /// Kind of shape.
        shape: &'static str,
        /// Name of the wrong size.
        quantity: &'static str,
        /// The wrong value.
        value: Real,
    },
    /// A star has fewer than three tips.
    #[error("star: needs at least 3 points, not {0}")]
    TooFewPoints(usize),
    /// The tube of a torus extends beyond its axis.
    #[error("torus: the tube radius {tube_radius} must not exceed the radius {radius}")]
    FatTorus {
        /// Radius of the ring.
        radius: Real,
        /// Radius of the tube.
        tube_radius: Real,
    },
    /// A half-space has no direction, or its offset is not finite.
    #[error("half-space: the normal must be finite and not zero, and the offset finite")]
    BadHalfSpace,
    /// A combination has no parts.
    #[error("{0}: needs at least one part")]
    NoParts(&'static str),
    /// A placement is not finite, or its rotation is no unit quaternion.
    #[error("placement: position and rotation must be finite, and the rotation a unit quaternion")]
    BadPlacement,
    /// The shape is infinite, so it has no volume and no closed surface.
    #[error("the shape is infinite: a half-space has no volume and no closed surface")]
    Infinite,
    /// The shape has no surface, or only details finer than the resolution.
    #[error("the shape has no surface at this resolution")]
    NoSurface,
}

impl Shape {
    /// Returns the signed distance to the surface, negative inside.
    ///
    /// It is exact for elementary shapes and meshes. Combinations take the least (union) or largest (intersection,
    /// difference) of the parts' distances: the sign and the surface are exact, the magnitude is never larger than the
    /// true distance, and it is exact outside a union and inside an intersection or difference.
    pub fn signed_distance(&self, p: Vec3) -> Real {
        match self {
            Shape::Mesh(mesh) => mesh.signed_distance(p),
            Shape::Union(parts) => least(parts, |part| part.signed_distance(p)),
            Shape::Intersection(parts) => -least(parts, |part| -part.signed_distance(p)),
            Shape::Difference(parts) => {
                let (first, others) = split(parts, |part| part.signed_distance(p));
                first.max(-others)
            }
            Shape::Shell { shape, thickness } => shell(shape.signed_distance(p), *thickness),
            _ => self.signed_distance_and_normal(p).0,
        }
    }

    /// Returns the outward unit normal of the nearest surface: the gradient of the signed distance. It is never zero or
    /// NaN; if the gradient is not unique, it is one of its limits.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        self.signed_distance_and_normal(p).1
    }

    /// Returns distance and normal at the cost of one query.
    pub fn signed_distance_and_normal(&self, p: Vec3) -> (Real, Vec3) {
        match self {
            Shape::Box { size } => primitives::cuboid(p, *size),
            Shape::Sphere { radius } => primitives::sphere(p, *radius),
            Shape::Cylinder { radius, height } => primitives::cylinder(p, *radius, *height),
            Shape::Capsule { radius, height } => primitives::capsule(p, *radius, *height),
            Shape::Cone { radius, height } => primitives::cone(p, *radius, *height),
            Shape::Torus { radius, tube_radius } => primitives::torus(p, *radius, *tube_radius),
            Shape::Ellipsoid { radii } => primitives::ellipsoid(p, *radii),
            Shape::Star { points, radius, inner_radius, height } => {
                primitives::star(p, *points, *radius, *inner_radius, *height)
            }
            Shape::HalfSpace { normal, offset } => {
                let normal = normal.try_normalize().unwrap_or(Vec3::Y);
                (normal.dot(p) - offset, normal)
            }
            Shape::Mesh(mesh) => mesh.signed_distance_and_normal(p),
            Shape::Union(parts) => nearest(parts.iter().map(|part| part.signed_distance_and_normal(p))),
            Shape::Intersection(parts) => {
                flip(nearest(parts.iter().map(|part| flip(part.signed_distance_and_normal(p)))))
            }
            Shape::Difference(parts) => {
                let surfaces = parts.iter().enumerate().map(|(index, part)| {
                    let surface = part.signed_distance_and_normal(p);
                    if index == 0 { flip(surface) } else { surface }
                });
                flip(nearest(surfaces))
            }
            Shape::Shell { shape, thickness } => {
                let (distance, normal) = shape.signed_distance_and_normal(p);
                let outward = if distance < -0.5 * thickness { -normal } else { normal };
                (shell(distance, *thickness), outward)
            }
        }
    }

    /// Returns true if a point is inside; for meshes, this is cheaper than the distance.
    pub fn contains(&self, p: Vec3) -> bool {
        match self {
            Shape::Mesh(mesh) => mesh.contains(p),
            Shape::Union(parts) => parts.iter().any(|part| part.contains(p)),
            Shape::Intersection(parts) => parts.iter().all(|part| part.contains(p)),
            Shape::Difference(parts) => match parts.split_first() {
                Some((first, others)) => first.contains(p) && !others.iter().any(|part| part.contains(p)),
                None => false,
            },
            _ => self.signed_distance(p) < 0.0,
        }
    }

    /// Returns the extent of the shape in a unit direction: the largest `direction · x`, or infinity. It is only an
    /// upper limit for intersections, differences and shells of them.
    pub fn support(&self, direction: Vec3) -> Real {
        let horizontal = hypot(direction.x, direction.z);
        match self {
            Shape::Box { size } => 0.5 * size.dot(direction.abs()),
            Shape::Sphere { radius } => *radius,
            Shape::Cylinder { radius, height } => radius * horizontal + 0.5 * height * direction.y.abs(),
            Shape::Capsule { radius, height } => radius + 0.5 * height * direction.y.abs(),
            Shape::Cone { radius, height } => {
                (radius * horizontal - 0.5 * height * direction.y).max(0.5 * height * direction.y)
            }
            Shape::Torus { radius, tube_radius } => radius * horizontal + tube_radius,
            Shape::Ellipsoid { radii } => (*radii * direction).length(),
            Shape::Star { points, radius, inner_radius, height } => {
                let corners = super::triangulate::star_outline(*points, *radius, *inner_radius);
                let flat = corners.iter().map(|corner| corner.dot(direction));
                flat.fold(Real::NEG_INFINITY, Real::max) + 0.5 * height * direction.y.abs()
            }
            Shape::HalfSpace { normal, offset } => {
                let normal = normal.try_normalize().unwrap_or(Vec3::Y);
                if normal.dot(direction) > 1.0 - 1e-12 { *offset } else { Real::INFINITY }
            }
            Shape::Mesh(mesh) => mesh.support(direction),
            Shape::Union(parts) => -least(parts, |part| -part.support(direction)),
            Shape::Intersection(parts) => least(parts, |part| part.support(direction)),
            Shape::Difference(parts) => {
                parts.first().map_or(Real::NEG_INFINITY, |part| part.support(direction))
            }
            Shape::Shell { shape, .. } => shape.support(direction),
        }
    }

    /// Returns a box around the shape, `None` if it is infinite. The box is the tightest one for elementary shapes,
    /// meshes and unions; it may be too large (or empty, if the parts are apart) for intersections and differences.
    pub fn bounds(&self) -> Option<Aabb> {
        bounds_from_support(|direction| self.support(direction))
    }

    /// Returns the volume (m³), infinite for a half-space.
    ///
    /// Elementary shapes and closed meshes have closed forms (overlapping parts of a mesh count twice). Open meshes and
    /// combinations are integrated numerically, always with the same result, to better than 0.2 %.
    pub fn volume(&self) -> Real {
        use std::f64::consts::PI;
        match self {
            Shape::Box { size } => size.element_product(),
            Shape::Sphere { radius } => 4.0 / 3.0 * PI * cube(*radius),
            Shape::Cylinder { radius, height } => PI * radius * radius * height,
            Shape::Capsule { radius, height } => PI * radius * radius * (height + 4.0 / 3.0 * radius),
            Shape::Cone { radius, height } => PI / 3.0 * radius * radius * height,
            Shape::Torus { radius, tube_radius } => 2.0 * PI * PI * radius * tube_radius * tube_radius,
            Shape::Ellipsoid { radii } => 4.0 / 3.0 * PI * radii.element_product(),
            Shape::Star { points, radius, inner_radius, height } => {
                let n_points = *points as Real;
                n_points * radius * inner_radius * sin(PI / n_points) * height
            }
            Shape::Mesh(mesh) => mesh.volume(),
            Shape::HalfSpace { .. } => Real::INFINITY,
            Shape::Union(_) | Shape::Difference(_) | Shape::Intersection(_) => volume::of_combination(self),
            Shape::Shell { shape, thickness } => volume::of_shell(shape, *thickness),
        }
    }

    /// Returns the surface as triangles, outward oriented. `resolution` is the number of segments around a full circle,
    /// or of cells along the longest edge for combinations and shells (at least 3); meshes are returned unchanged.
    pub fn triangulate(&self, resolution: usize) -> Result<TriangleMesh, ShapeError> {
        super::triangulate::triangulate(self, resolution.max(3))
    }

    /// Returns true if a mesh is part of the shape; distance queries of such shapes are slow.
    pub fn has_mesh(&self) -> bool {
        match self {
            Self::Mesh(_) => true,
            Self::Union(parts) | Self::Difference(parts) | Self::Intersection(parts) => {
                parts.iter().any(|part| part.shape.has_mesh())
            }
            Self::Shell { shape, .. } => shape.has_mesh(),
            _ => false,
        }
    }

    /// Checks every size and every list in the tree.
    pub fn validate(&self) -> Result<(), ShapeError> {
        let positive = |shape, sizes: &[(&'static str, Real)]| match sizes
            .iter()
            .find(|(_, value)| !(*value > 0.0 && value.is_finite()))
        {
            Some(&(quantity, value)) => Err(ShapeError::NotPositive { shape, quantity, value }),
            None => Ok(()),
        };
        let each = |v: Vec3, names: [&'static str; 3]| [(names[0], v.x), (names[1], v.y), (names[2], v.z)];
        match self {
            Shape::Box { size } => positive("box", &each(*size, ["size x", "size y", "size z"])),
            Shape::Sphere { radius } => positive("sphere", &[("radius", *radius)]),
            Shape::Cylinder { radius, height } => {
                positive("cylinder", &[("radius", *radius), ("height", *height)])
            }
            Shape::Capsule { radius, height } => {
                positive("capsule", &[("radius", *radius), ("height", *height)])
            }
            Shape::Cone { radius, height } => positive("cone", &[("radius", *radius), ("height", *height)]),
            Shape::Torus { radius, tube_radius } => {
                positive("torus", &[("radius", *radius), ("tube radius", *tube_radius)])?;
                if tube_radius > radius {
                    return Err(ShapeError::FatTorus { radius: *radius, tube_radius: *tube_radius });
                }
                Ok(())
            }
            Shape::Ellipsoid { radii } => {
                positive("ellipsoid", &each(*radii, ["radius x", "radius y", "radius z"]))
            }
            Shape::Star { points, radius, inner_radius, height } => {
                if *points < 3 {
                    return Err(ShapeError::TooFewPoints(*points));
                }
                let sizes = [("radius", *radius), ("inner radius", *inner_radius), ("height", *height)];
                positive("star", &sizes)
            }
            Shape::HalfSpace { normal, offset } => match normal.try_normalize() {
                Some(_) if offset.is_finite() => Ok(()),
                _ => Err(ShapeError::BadHalfSpace),
            },
            Shape::Mesh(_) => Ok(()),
            Shape::Union(parts) => validate_parts("union", parts),
            Shape::Difference(parts) => validate_parts("difference", parts),
            Shape::Intersection(parts) => validate_parts("intersection", parts),
            Shape::Shell { shape, thickness } => {
                positive("shell", &[("thickness", *thickness)])?;
                shape.validate()
            }
        }
    }

    /// Returns the side of the surface that a ball is on. `Mixed` may also mean that the side is not known.
    pub(crate) fn side_of_ball(&self, p: Vec3, radius: Real) -> Side {
        match self {
            Shape::Mesh(mesh) => mesh.side_of_ball(p, radius),
            Shape::Union(parts) => Side::of_union(parts.iter().map(|part| part.side_of_ball(p, radius))),
            Shape::Intersection(parts) => {
                Side::of_union(parts.iter().map(|part| part.side_of_ball(p, radius).flipped())).flipped()
            }
            Shape::Difference(parts) => {
                let sides = parts.iter().enumerate().map(|(index, part)| {
                    let side = part.side_of_ball(p, radius);
                    if index == 0 { side.flipped() } else { side }
                });
                Side::of_union(sides).flipped()
            }
            // at a hole of an open mesh, the inside ends without a surface, which the distance does not show
            Shape::Shell { shape, .. }
                if shape.has_mesh() && shape.side_of_ball(p, radius) == Side::Mixed =>
            {
                Side::Mixed
            }
            _ => Side::of_distance(self.signed_distance(p), radius),
        }
    }

    /// Calls `visit` for every mesh in the tree.
    pub(crate) fn visit_meshes(&self, visit: &mut dyn FnMut(&TriangleMesh)) {
        match self {
            Shape::Mesh(mesh) => visit(mesh),
            Shape::Union(parts) | Shape::Difference(parts) | Shape::Intersection(parts) => {
                parts.iter().for_each(|part| part.shape.visit_meshes(visit));
            }
            Shape::Shell { shape, .. } => shape.visit_meshes(visit),
            _ => {}
        }
    }
}

/// Side of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Inside,
    Outside,
    Mixed,
}

impl Side {
    /// Returns the side of a ball whose centre has this signed distance.
    pub(crate) fn of_distance(distance: Real, radius: Real) -> Self {
        match distance {
            _ if distance >= radius => Self::Outside,
            _ if distance <= -radius => Self::Inside,
            _ => Self::Mixed,
        }
    }

    fn flipped(self) -> Self {
        match self {
            Self::Inside => Self::Outside,
            Self::Outside => Self::Inside,
            Self::Mixed => Self::Mixed,
        }
    }

    fn of_union(sides: impl Iterator<Item = Self>) -> Self {
        let mut union = Self::Outside;
        for side in sides {
            match side {
                Self::Inside => return Self::Inside,
                Self::Mixed => union = Self::Mixed,
                Self::Outside => {}
            }
        }
        union
    }
}

fn validate_parts(name: &'static str, parts: &[PlacedShape]) -> Result<(), ShapeError> {
    if parts.is_empty() {
        return Err(ShapeError::NoParts(name));
    }
    parts.iter().try_for_each(PlacedShape::validate)
}

/// Returns the signed distance to the layer of this thickness under a surface.
fn shell(distance: Real, thickness: Real) -> Real {
    distance.max(-distance - thickness)
}

fn flip((distance, normal): Surface) -> Surface {
    (-distance, -normal)
}

fn least(parts: &[PlacedShape], value: impl Fn(&PlacedShape) -> Real) -> Real {
    parts.iter().map(value).fold(Real::INFINITY, Real::min)
}

/// Returns the value of the first part and the least value of the others.
fn split(parts: &[PlacedShape], value: impl Fn(&PlacedShape) -> Real) -> (Real, Real) {
    match parts.split_first() {
        Some((first, others)) => (value(first), least(others, value)),
        None => (Real::INFINITY, Real::INFINITY),
    }
}

fn nearest(surfaces: impl Iterator<Item = Surface>) -> Surface {
    surfaces.fold((Real::INFINITY, Vec3::Y), |best, next| if next.0 < best.0 { next } else { best })
}

/// Returns the box of a shape from its extents along the axes; `None` if it is infinite.
pub(crate) fn bounds_from_support(support: impl Fn(Vec3) -> Real) -> Option<Aabb> {
    let reach = |axes: [Vec3; 3]| vec3(support(axes[0]), support(axes[1]), support(axes[2]));
    let bounds = Aabb {
        min: -reach([Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z]),
        max: reach([Vec3::X, Vec3::Y, Vec3::Z]),
    };
    (bounds.min.is_finite() && bounds.max.is_finite()).then_some(bounds)
}
