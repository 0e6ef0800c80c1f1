//! Bodies for tests of skins, and checks of a skin.

use phyxel::geometry::{Fill, PlacedShape, Sampling, Shape, Spacing, fill};
use phyxel::math::{Random, Real, Vec3, vec3};
use phyxel_skin::{Matter, Skin};
use std::collections::HashMap;

/// Particles of one body.
pub(crate) struct Particles {
    /// Positions (m).
    pub(crate) positions: Vec<[f32; 3]>,
    /// Half the spacing (m).
    pub(crate) radii: Vec<f32>,
    /// Volume of all particles together (m³).
    pub(crate) volume: Real,
}

impl Particles {
    /// Fills a shape with particles.
    pub(crate) fn of(shape: Shape, spacing: Spacing, sampling: Sampling) -> Self {
        let filled = fill(&PlacedShape::from(shape), &Fill { sampling, ..Fill::new(spacing) }).unwrap();
        Self {
            positions: filled.positions.iter().map(|x| x.to_array().map(|x| x as f32)).collect(),
            radii: filled.spacing.iter().map(|&s| 0.5 * s as f32).collect(),
            volume: filled.volumes.iter().sum(),
        }
    }

    /// Makes a box of n³ cells with a uniform spacing of 0.1 m.
    pub(crate) fn cube(n: usize, sampling: Sampling) -> Self {
        Self::of(Shape::Box { size: Vec3::splat(0.1 * n as Real) }, Spacing::Uniform(0.1), sampling)
    }

    /// Moves the particles by a map of space with the determinant `det`.
    pub(crate) fn mapped(mut self, det: Real, map: impl Fn(Vec3) -> Vec3) -> Self {
        for x in &mut self.positions {
            *x = map(Vec3::from_array(x.map(Real::from))).to_array().map(|x| x as f32);
        }
        self.volume *= det;
        self
    }

    /// Makes a bar of 3 m × 1.5 m × 1.5 m about the origin whose spacing jumps at x = 0.
    pub(crate) fn abrupt(fine: Real, coarse: Real, sampling: Sampling) -> Self {
        let half = |spacing: Real, shift: Real| {
            let cube = Shape::Box { size: Vec3::splat(1.5) };
            Self::of(cube, Spacing::Uniform(spacing), sampling).mapped(1.0, |x| x + shift * Vec3::X)
        };
        let (mut left, right) = (half(fine, -0.75), half(coarse, 0.75));
        left.positions.extend(right.positions);
        left.radii.extend(right.radii);
        left.volume += right.volume;
        left
    }

    /// Makes a bar like [`Particles::abrupt`], with a spacing that grows from end to end.
    pub(crate) fn graded(from: Real, to: Real, sampling: Sampling) -> Self {
        let spacing = Spacing::Along { axis: Vec3::X, from, to };
        Self::of(Shape::Box { size: vec3(3.0, 1.5, 1.5) }, spacing, sampling)
    }

    /// Shakes each particle by up to `far` along each axis (m).
    pub(crate) fn shaken(self, far: Real) -> Self {
        let random = std::cell::RefCell::new(Random::new(7));
        self.mapped(1.0, |x| x + 2.0 * far * (random.borrow_mut().in_cube()))
    }

    /// Returns the particles as input of the skin.
    pub(crate) fn matter(&self) -> Matter<'_> {
        Matter { volume: Some(self.volume), ..Matter::new(&self.positions, &self.radii) }
    }
}

/// Returns the bodies on which skins are measured, with their names.
pub(crate) fn catalogue() -> Vec<(&'static str, Particles)> {
    let sphere = |sampling| Particles::of(Shape::Sphere { radius: 1.0 }, Spacing::Uniform(0.1), sampling);
    let flattened = |sampling, s: Real| {
        Particles::cube(20, sampling).mapped(1.0, |x| vec3(s * x.x, x.y / (s * s), s * x.z))
    };
    vec![
        ("cube 10³, lattice", Particles::cube(10, Sampling::Lattice)),
        ("cube 20³, lattice", Particles::cube(20, Sampling::Lattice)),
        ("cube 20³, jittered", Particles::cube(20, Sampling::Jittered)),
        ("cube 20³, relaxed", Particles::cube(20, Sampling::Relaxed)),
        ("cube 20³, shaken 0.4", Particles::cube(20, Sampling::Lattice).shaken(0.04)),
        ("sphere, lattice", sphere(Sampling::Lattice)),
        ("sphere, relaxed", sphere(Sampling::Relaxed)),
        ("graded 1:1.5", Particles::graded(0.08, 0.12, Sampling::Relaxed)),
        ("graded 1:2", Particles::graded(0.06, 0.12, Sampling::Relaxed)),
        ("graded 1:3", Particles::graded(0.05, 0.15, Sampling::Relaxed)),
        ("abrupt 1:2", Particles::abrupt(0.06, 0.12, Sampling::Relaxed)),
        ("abrupt 1:3", Particles::abrupt(0.05, 0.15, Sampling::Lattice)),
        ("cube flattened to 0.69", flattened(Sampling::Lattice, 1.2)),
        ("cube flattened to 0.44", flattened(Sampling::Jittered, 1.5)),
        ("cube flattened to 0.44, relaxed", flattened(Sampling::Relaxed, 1.5)),
        (
            "bar pulled to 1.5",
            Particles::cube(20, Sampling::Relaxed).mapped(1.0, |x| {
                let s: Real = 1.5;
                vec3(s * x.x, x.y / s.sqrt(), x.z / s.sqrt())
            }),
        ),
        ("cube squeezed by 10 %", Particles::cube(20, Sampling::Relaxed).mapped(0.9, |x| 0.9f64.cbrt() * x)),
        (
            "wedge, 1 at one end and 2 at the other",
            Particles::cube(20, Sampling::Relaxed).mapped(1.0, |x| {
                // stretched along y by a factor that varies with x, thinned along z
                let s = 1.0 + 0.3 * x.x;
                vec3(x.x, x.y * s, x.z / s)
            }),
        ),
        (
            "sheet of 3 layers",
            Particles::of(Shape::Box { size: vec3(4.0, 0.3, 4.0) }, Spacing::Uniform(0.1), Sampling::Lattice),
        ),
        (
            "torus",
            Particles::of(
                Shape::Torus { radius: 1.0, tube_radius: 0.3 },
                Spacing::Uniform(0.08),
                Sampling::Relaxed,
            ),
        ),
    ]
}

/// Defects of a mesh.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Defects {
    /// Number of directed edges without the opposite one.
    pub(crate) open: usize,
    /// Number of directed edges that occur more than once.
    pub(crate) crowded: usize,
    /// Number of vertices whose triangles form more than one fan, or none.
    pub(crate) pinched: usize,
    /// Number of triangles that have a vertex twice.
    pub(crate) folded: usize,
}

/// Finds defects with maps of edges.
pub(crate) fn defects(skin: &Skin) -> Defects {
    let mut edges: HashMap<(u32, u32), usize> = HashMap::new();
    let mut next: Vec<HashMap<u32, u32>> = vec![HashMap::new(); skin.vertices.len()];
    let mut found = Defects::default();
    for &[a, b, c] in &skin.triangles {
        found.folded += usize::from(a == b || b == c || c == a);
        for [at, to, from] in [[a, b, c], [b, c, a], [c, a, b]] {
            *edges.entry((at, to)).or_default() += 1;
            next[at as usize].insert(to, from);
        }
    }
    found.open = edges.keys().filter(|(a, b)| !edges.contains_key(&(*b, *a))).count();
    found.crowded = edges.values().filter(|&&n| n > 1).count();
    for fan in &next {
        let Some(&first) = fan.keys().next() else {
            found.pinched += 1;
            continue;
        };
        let (mut at, mut n) = (first, 0);
        while let Some(&to) = fan.get(&at) {
            (at, n) = (to, n + 1);
            if at == first || n > fan.len() {
                break;
            }
        }
        found.pinched += usize::from(at != first || n != fan.len());
    }
    found
}

/// Returns the volume by tetrahedra about the origin (m³).
pub(crate) fn volume(skin: &Skin) -> Real {
    let at = |v: u32| Vec3::from_array(skin.vertices[v as usize].map(Real::from));
    skin.triangles.iter().map(|t| at(t[0]).dot(at(t[1]).cross(at(t[2]))) / 6.0).sum()
}
