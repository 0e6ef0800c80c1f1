//! Triangle meshes: validity, closest points, and an inside that is defined even if there are holes.

mod bvh;
mod refine;
mod rim;
mod topology;
mod triangle;
mod winding;

use std::fmt;
use std::sync::OnceLock;

use super::aabb::Aabb;
use super::shape::Side;
use super::volume::{self, Solid};
use crate::math::{Real, Vec3, vec3};
use bvh::Bvh;
use rim::Rim;
use winding::Moments;

/// A triangle mesh. Vertices and triangles cannot change after construction, so that the search trees, which are built
/// on first use, always match.
#[derive(Clone)]
pub struct TriangleMesh {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    bvh: OnceLock<Bvh>,
    moments: OnceLock<Vec<Moments>>,
    rim: OnceLock<Option<Rim>>,
    has_inside: OnceLock<bool>,
    volume: OnceLock<Real>,
}

impl fmt::Debug for TriangleMesh {
    /// Writes the numbers of vertices and triangles: meshes and their search trees are long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TriangleMesh({} vertices, {} triangles)", self.vertices.len(), self.triangles.len())
    }
}

/// Reason why vertices and triangles do not make a mesh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TriangleMeshError {
    /// There are no vertices or no triangles.
    #[error("the mesh is empty: {n_vertices} vertices and {n_triangles} triangles")]
    Empty {
        /// Number of vertices.
        n_vertices: usize,
        /// Number of triangles.
        n_triangles: usize,
    },
    /// There are more vertices or triangles than 32-bit indices can name.
    #[error("the mesh has more than 4 billion vertices or triangles")]
    TooLarge,
    /// A triangle names a vertex that does not exist.
    #[error(
        "triangle {triangle} uses vertex {vertex}, but there are only {n_vertices} vertices (counted from 0)"
    )]
    IndexOutOfRange {
        /// Number of the triangle.
        triangle: usize,
        /// Number of the vertex that does not exist.
        vertex: u32,
        /// Number of vertices.
        n_vertices: usize,
    },
    /// A coordinate is infinite or not a number.
    #[error("vertex {vertex} has a coordinate that is not a finite number")]
    NonFinite {
        /// Number of the vertex.
        vertex: usize,
    },
    /// All triangles are points or lines.
    #[error("all {n_triangles} triangles of the mesh have zero area")]
    NoArea {
        /// Number of triangles.
        n_triangles: usize,
    },
}

/// The point of a mesh that is nearest to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// The point on the surface.
    pub point: Vec3,
    /// Index of the triangle that contains the point.
    pub triangle: usize,
    /// Distance of the point from the query (m).
    pub distance: Real,
}

/// Magnitude of the winding number above which a point is inside.
const INSIDE: Real = 0.5;

impl TriangleMesh {
    /// Creates a mesh after checking vertices and triangles. Any orientation, holes and duplicate vertices are allowed.
    pub fn try_new(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<Self, TriangleMeshError> {
        let (n_vertices, n_triangles) = (vertices.len(), triangles.len());
        if n_vertices == 0 || n_triangles == 0 {
            return Err(TriangleMeshError::Empty { n_vertices, n_triangles });
        }
        if n_vertices >= u32::MAX as usize || n_triangles >= u32::MAX as usize {
            return Err(TriangleMeshError::TooLarge);
        }
        if let Some(vertex) = vertices.iter().position(|vertex| !vertex.is_finite()) {
            return Err(TriangleMeshError::NonFinite { vertex });
        }
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&vertex| vertex as usize >= n_vertices) {
                return Err(TriangleMeshError::IndexOutOfRange { triangle, vertex, n_vertices });
            }
        }
        let mesh = Self::new_unchecked(vertices, triangles);
        let smallest_area = 1e-24 * mesh.bounds().size().length_squared();
        let has_area =
            |triangle| triangle::double_area_normal(&mesh.corners(triangle)).length() > smallest_area;
        if !(0..n_triangles).any(has_area) {
            return Err(TriangleMeshError::NoArea { n_triangles });
        }
        Ok(mesh)
    }

    fn new_unchecked(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        Self {
            vertices,
            triangles,
            bvh: OnceLock::new(),
            moments: OnceLock::new(),
            rim: OnceLock::new(),
            has_inside: OnceLock::new(),
            volume: OnceLock::new(),
        }
    }

    /// Returns the positions of the vertices.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Returns the vertices of each triangle, anticlockwise seen from outside if the mesh is oriented.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Returns the positions of the corners of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|vertex| self.vertices[vertex as usize])
    }

    /// Returns the tightest box around the vertices that triangles use.
    pub fn bounds(&self) -> Aabb {
        Aabb::from_points(self.used_vertices())
    }

    /// Returns the extent of the mesh in a direction: the largest `direction · x`.
    pub fn support(&self, direction: Vec3) -> Real {
        self.used_vertices().map(|vertex| vertex.dot(direction)).fold(Real::NEG_INFINITY, Real::max)
    }

    fn used_vertices(&self) -> impl Iterator<Item = Vec3> {
        self.triangles.iter().flatten().map(|&vertex| self.vertices[vertex as usize])
    }

    /// Returns the mesh with every vertex moved. A map that turns it inside out (a reflection) should not be used.
    pub(crate) fn map_vertices(&self, map: impl Fn(Vec3) -> Vec3) -> Self {
        Self::new_unchecked(self.vertices.iter().copied().map(map).collect(), self.triangles.clone())
    }

    /// Returns the same surface with vertices at exactly the same position merged, without triangles that have become
    /// points or lines, and without unused vertices. Meshes of most file formats share edges only after this.
    pub fn merge_duplicates(&self) -> Self {
        let (vertices, triangles) = topology::merge_duplicates(&self.vertices, &self.triangles);
        if triangles.is_empty() { self.clone() } else { Self::new_unchecked(vertices, triangles) }
    }

    /// Returns true if the surface has no boundary: every edge is used as often in one direction as in the other.
    /// Different vertices at the same position do not connect triangles; see [`TriangleMesh::merge_duplicates`].
    pub fn is_closed(&self) -> bool {
        self.rim().is_none()
    }

    /// Returns the volume by the divergence theorem, positive if triangles face outwards; only valid for closed meshes.
    pub fn signed_volume(&self) -> Real {
        // relative to the middle of the mesh, so that a mesh far from the origin keeps its precision
        let origin = self.bounds().center();
        (0..self.triangles.len())
            .map(|triangle| {
                let [a, b, c] = self.corners(triangle).map(|corner| corner - origin);
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    }

    /// Returns the volume of the inside: by the divergence theorem if the mesh is closed, else by integration over the
    /// points with a winding number over one half.
    pub fn volume(&self) -> Real {
        *self.volume.get_or_init(|| {
            if self.is_closed() {
                self.signed_volume().abs()
            } else {
                volume::converge(self.bounds(), 0.0, self)
            }
        })
    }

    /// Returns true if the mesh encloses a volume; flat or nearly flat sheets and single triangles do not.
    pub fn has_inside(&self) -> bool {
        *self.has_inside.get_or_init(|| {
            let bounds = self.bounds();
            let size = bounds.size();
            if size.min_element() <= 1e-9 * size.max_element() {
                return false;
            }
            if self.is_closed() {
                return self.signed_volume().abs() > 1e-9 * size.element_product();
            }
            self.probe_inside(&bounds)
        })
    }

    /// Searches a lattice in the box for a point that is clearly inside.
    fn probe_inside(&self, bounds: &Aabb) -> bool {
        const N_PROBES: usize = 12;
        let at = |index: usize| (index as Real + 0.5) / N_PROBES as Real;
        (0..N_PROBES.pow(3)).any(|index| {
            let cell = vec3(
                at(index % N_PROBES),
                at(index / N_PROBES % N_PROBES),
                at(index / (N_PROBES * N_PROBES)),
            );
            self.winding_number(bounds.min + cell * bounds.size()).abs() > INSIDE + 1e-3
        })
    }

    /// Returns the nearest point of the surface.
    pub fn closest_point(&self, p: Vec3) -> ClosestPoint {
        // the search without limit always finds a point, because a mesh has at least one triangle
        self.closest_point_within(p, Real::INFINITY).unwrap_or(ClosestPoint {
            point: self.vertices[0],
            triangle: 0,
            distance: self.vertices[0].distance(p),
        })
    }

    /// Returns the nearest point of the surface within `max_distance`; much cheaper than without a limit.
    pub fn closest_point_within(&self, p: Vec3, max_distance: Real) -> Option<ClosestPoint> {
        self.bvh().closest(p, max_distance)
    }

    /// Returns the nearest point, given a triangle that is likely to be near, such as that of a neighbouring query,
    /// which makes the search much cheaper.
    pub(crate) fn closest_point_near(&self, p: Vec3, triangle: usize) -> ClosestPoint {
        let point = triangle::closest_point(p, &self.corners(triangle));
        let guess = ClosestPoint { point, triangle, distance: point.distance(p) };
        self.closest_point_within(p, guess.distance).unwrap_or(guess)
    }

    /// Returns the distance to the surface, never negative.
    pub fn distance(&self, p: Vec3) -> Real {
        self.closest_point(p).distance
    }

    /// Returns the generalised winding number: the solid angle of the surface as seen from `p`, divided by 4π. It is 1
    /// inside and 0 outside of a closed, outward oriented mesh, and between them near holes. Far triangles are
    /// approximated by their moments (Barill et al. 2018), with an error below 0.01.
    pub fn winding_number(&self, p: Vec3) -> Real {
        let bvh = self.bvh();
        let moments = self.moments.get_or_init(|| winding::moments(bvh));
        winding::winding_number(bvh, moments, p)
    }

    /// Returns true if a point is inside: its winding number is nearer to ±1 than to 0, for either orientation.
    pub fn contains(&self, p: Vec3) -> bool {
        self.bvh().bounds().contains(p) && self.winding_number(p).abs() > INSIDE
    }

    /// Returns the distance to the surface, negative inside.
    pub fn signed_distance(&self, p: Vec3) -> Real {
        let distance = self.distance(p);
        if self.contains(p) { -distance } else { distance }
    }

    /// Returns the signed distance and the outward normal: away from the nearest point outside, towards it inside.
    pub fn signed_distance_and_normal(&self, p: Vec3) -> (Real, Vec3) {
        let closest = self.closest_point(p);
        self.surface_at(p, &closest, self.contains(p))
    }

    /// Returns the signed distance and the outward normal at a point whose nearest point and side are known.
    pub(crate) fn surface_at(&self, p: Vec3, closest: &ClosestPoint, is_inside: bool) -> (Real, Vec3) {
        let sign = if is_inside { -1.0 } else { 1.0 };
        let on_surface = closest.distance <= 1e-10 * self.bvh().bounds().size().max_element();
        let direction = if on_surface { None } else { (p - closest.point).try_normalize() };
        let normal = direction.map_or_else(|| self.outward_normal(closest.triangle), |away| sign * away);
        (sign * closest.distance, normal)
    }

    /// Returns the normal of a triangle, flipped outwards if the mesh is inside out.
    fn outward_normal(&self, triangle: usize) -> Vec3 {
        let corners = self.corners(triangle);
        let normal = triangle::double_area_normal(&corners).try_normalize().unwrap_or(Vec3::Y);
        // just in front of an outward facing triangle, the winding number is lower by 1 than just behind it
        let center = (corners[0] + corners[1] + corners[2]) / 3.0;
        let step = 1e-6 * self.bvh().bounds().size().max_element() * normal;
        let front = self.winding_number(center + step).abs();
        let back = self.winding_number(center - step).abs();
        if front > back { -normal } else { normal }
    }

    /// Returns the radius of a ball around `p` that is wholly on one side, negative inside, given the distance of `p`
    /// from the surface. For a closed mesh this is the signed distance; at a hole, the inside ends without a surface,
    /// see [`Rim::sign_radius`].
    pub(crate) fn signed_clearance(&self, p: Vec3, distance: Real) -> Real {
        let bounds = self.bvh().bounds();
        if !bounds.contains(p) {
            return if self.is_closed() { distance } else { bounds.distance(p) };
        }
        let winding = self.winding_number(p).abs();
        let mut clearance = distance;
        if let Some(rim) = self.rim() {
            // the inside also ends at the box, see `contains`
            let to_box = (p - bounds.min).min(bounds.max - p).min_element();
            clearance = distance.min(rim.sign_radius(p, (winding - INSIDE).abs())).min(to_box);
        }
        if winding > INSIDE { -clearance } else { clearance }
    }

    /// Returns the side of the surface that a ball is on; this is the cheapest query.
    pub(crate) fn side_of_ball(&self, p: Vec3, radius: Real) -> Side {
        if self.bvh().bounds().distance(p) >= radius {
            Side::Outside
        } else if self.closest_point_within(p, radius).is_some() {
            Side::Mixed
        } else {
            Side::of_distance(self.signed_clearance(p, radius), radius)
        }
    }

    fn rim(&self) -> Option<&Rim> {
        self.rim.get_or_init(|| Rim::new(self)).as_ref()
    }

    fn bvh(&self) -> &Bvh {
        self.bvh.get_or_init(|| {
            Bvh::new((0..self.triangles.len()).map(|triangle| self.corners(triangle)).collect())
        })
    }
}

impl Solid for TriangleMesh {
    fn side_of_ball(&self, p: Vec3, radius: Real) -> Side {
        self.side_of_ball(p, radius)
    }

    /// Returns the signed distance and the normal of the surface. If no triangle is near, the inside ends in a hole, at
    /// the level surface of the winding number, whose position and direction follow from its gradient.
    fn surface(&self, p: Vec3, radius: Real) -> (Real, Vec3) {
        if let Some(closest) = self.closest_point_within(p, radius) {
            return self.surface_at(p, &closest, self.contains(p));
        }
        match self.side_of_ball(p, radius) {
            Side::Inside => return (-radius, Vec3::Y),
            Side::Outside => return (radius, Vec3::Y),
            Side::Mixed => {}
        }
        let step = 0.5 * radius;
        let inwardness = |p: Vec3| self.winding_number(p).abs();
        let slope = |axis: Vec3| (inwardness(p + step * axis) - inwardness(p - step * axis)) / (2.0 * step);
        let gradient = vec3(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
        match gradient.try_normalize() {
            Some(inward) => ((INSIDE - inwardness(p)) / gradient.length(), -inward),
            None => (if self.contains(p) { -radius } else { radius }, Vec3::Y),
        }
    }

    fn last_depth(&self) -> u32 {
        volume::LAST_DEPTH_OF_MESHES
    }
}

#[cfg(test)]
mod tests;
