//! Skins: a closed surface around the particles of a body, found from their positions alone.
//!
//! [`skin`] takes particles and gives triangles:
//! ```
//! use phyxel_skin::{Matter, SkinParams, skin};
//!
//! let positions: Vec<[f32; 3]> = (0..512).map(|i| [i % 8, i / 8 % 8, i / 64].map(|k| 0.1 * k as f32)).collect();
//! let radii = vec![0.05; positions.len()]; // half the spacing
//! let matter = Matter { volume: Some(512.0 * 0.001), ..Matter::new(&positions, &radii) };
//! let skin = skin(&matter, &SkinParams::default())?;
//! assert!((skin.volume / 0.512 - 1.0).abs() < 0.005);
//! # Ok::<(), phyxel_skin::SkinError>(())
//! ```
//! Each particle has a radius of its own, and everything is local: supports of kernels, sizes of triangles, distances. The steps:
//! 1. particles with hardly any neighbours are left out ([`Skin::n_strays`]);
//! 2. a density with a support per particle is computed on a lattice of tetrahedra as small as the particles ask for, and its
//!    surface is found by marching tetrahedra; where matter is looser than its radii tell, at a lower density; tunnels
//!    one cell wide, gaps between particles, are filled;
//! 3. vertices are moved to the middle of their neighbours, more where there are many particles and less where there are few,
//!    so that faces get even and thin parts stay;
//! 4. all vertices move along their normals by one part of their radii that gives back the volume;
//! 5. velocities of the particles are interpolated to the vertices.
//!
//! The same particles give the same bits, whatever the number of threads.
//!
//! Work runs in the rayon pool that the caller has installed. Memory and time grow with the particles, not with the
//! room that they are spread over.

mod carry;
mod cloud;
mod lattice;
mod level_set;
mod mesh;
mod smoothing;
mod strays;
mod tunnels;

use cloud::Cloud;
use level_set::{Field, Surface, Target};
use phyxel::math::{Real, Vec3, sum_over};
use rayon::prelude::*;
use std::ops::Range;

/// Particles in a component below which they are strays.
pub const FEWEST_PARTICLES: usize = 5;

/// Edge of the lattice's cells, in sizes of triangles: tetrahedra have three times as many edges as cubes.
const LATTICE: Real = 1.75;

/// Cells along each axis that can be counted.
const MOST_CELLS: Real = (1u32 << lattice::BITS) as Real;

/// Values that [`SkinParams::cell`] may have.
pub const CELLS: Range<Real> = 0.2..2.0;

/// The particles of one body at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Matter<'a> {
    /// World positions (m).
    pub positions: &'a [[f32; 3]],
    /// Half the local spacing, one each (m).
    pub radii: &'a [f32],
    /// Velocities, one each, or none (m/s).
    pub velocities: &'a [[f32; 3]],
    /// The volume of all particles, strays too, if it is known: the skin gets as much of it as there are particles
    /// inside. Without it the skin has the volume of the density's surface, which is right within some percent where
    /// the spacing is as at rest (m³).
    pub volume: Option<Real>,
}

impl<'a> Matter<'a> {
    /// Particles without velocities, of a volume that is not known.
    pub fn new(positions: &'a [[f32; 3]], radii: &'a [f32]) -> Self {
        Self { positions, radii, velocities: &[], volume: None }
    }
}

/// How a skin is made. The defaults suit particles at about the spacing that they started with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinParams {
    /// One radius for all particles. By default each has its own, or more by one factor where the volume needs it. The
    /// support of a particle's kernel is four times as large (m).
    pub radius: Option<Real>,
    /// Passes of smoothing.
    pub smoothing: usize,
    /// Triangles are about this large (local radii).
    pub cell: Real,
    /// The density at the surface, in parts of the one inside. Down to half of it is used where the volume needs it.
    pub iso: Real,
}

impl Default for SkinParams {
    fn default() -> Self {
        Self { radius: None, smoothing: 25, cell: 0.75, iso: 0.6 }
    }
}

/// A closed surface of triangles: every edge has two triangles, seen from outside their corners go counter-clockwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// (m)
    pub vertices: Vec<[f32; 3]>,
    /// Of length 1, outward, one per vertex.
    pub normals: Vec<[f32; 3]>,
    /// One per vertex, or none where the particles had none (m/s).
    pub velocities: Vec<[f32; 3]>,
    /// Indices of vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Inside (m³).
    pub volume: Real,
    /// What the volume should be: that of the particles inside, or of the density's surface (m³).
    pub wanted_volume: Real,
    /// Median of the radii that were used (m).
    pub radius: Real,
    /// Particles left out because fewer than [`FEWEST_PARTICLES`] hang together.
    pub n_strays: usize,
    /// How far the vertices were moved along their normals to give back the volume (local radii).
    pub offset: Real,
}

/// Why there is no skin.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SkinError {
    /// Columns of different length.
    #[error("there are {positions} positions, but {values} {what}; give one for each particle")]
    Lengths {
        /// Of the positions.
        positions: usize,
        /// Of the other column.
        values: usize,
        /// The other column.
        what: &'static str,
    },
    /// A parameter that makes no sense.
    #[error("{name} is {value}; it must be {allowed}")]
    Parameter {
        /// Which one.
        name: &'static str,
        /// As given.
        value: Real,
        /// What it may be.
        allowed: &'static str,
    },
    /// Infinite or not a number.
    #[error(
        "the position or velocity of particle {0} is not finite; the simulation has failed before this frame"
    )]
    NotFinite(usize),
    /// Nothing to put a skin on.
    #[error(
        "only {connected} of {n} particles hang together with at least {FEWEST_PARTICLES}; a skin needs more particles, or a \
         larger radius if they have been drawn apart (it is {radius} m)"
    )]
    TooFewParticles {
        /// Particles given.
        n: usize,
        /// Particles that are not strays.
        connected: usize,
        /// Median of the radii used (m).
        radius: Real,
    },
    /// The density has too many cells in one direction.
    #[error(
        "the particles are spread over {n_cells:.0} cells in one direction, more than a skin can have ({MOST_CELLS}); make \
         cells or radius larger"
    )]
    TooFar {
        /// Along the longest side.
        n_cells: Real,
    },
}

/// Puts a skin around particles.
///
/// # Errors
/// Parameters out of range, columns of different length, positions that are not finite, too few particles that hang
/// together, particles farther apart than cells can be counted.
pub fn skin(matter: &Matter<'_>, params: &SkinParams) -> Result<Skin, SkinError> {
    check(matter, params)?;
    let n = matter.positions.len();
    let radii = local_radii(matter, params);
    let radius = median(&radii);
    if n == 0 {
        return Err(SkinError::TooFewParticles { n, connected: 0, radius });
    }

    let all = Cloud::new(matter.positions.par_iter().map(|&p| wide(p)).collect(), radii);
    let is_stray = strays::find(&all, FEWEST_PARTICLES);
    let connected: Vec<usize> = (0..n).filter(|&i| !is_stray[i]).collect();
    let n_strays = n - connected.len();
    if connected.is_empty() {
        return Err(SkinError::TooFewParticles { n, connected: 0, radius });
    }
    let volume_of = |cloud: &Cloud| sum_over(cloud.radii.len(), |i| cloud.radii[i].powi(3));
    let volume = matter.volume.map(|volume| volume / volume_of(&all));
    let cloud = if n_strays == 0 {
        all
    } else {
        Cloud::new(
            connected.iter().map(|&i| all.positions[i]).collect(),
            connected.iter().map(|&i| all.radii[i]).collect(),
        )
    };

    let cell = LATTICE * params.cell;
    let volume = volume.map(|volume| volume * volume_of(&cloud));
    let Surface { mut mesh, mut sizes, .. } =
        Field::new(&cloud).surface(Target { cell, iso: params.iso, volume })?;
    let mut radii = carry::radii(&mesh.vertices, &cloud);
    let is_bubble = mesh.bubbles(&radii);
    if is_bubble.contains(&true) {
        mesh.remove(&is_bubble);
        for values in [&mut radii, &mut sizes] {
            let mut is_bubble = is_bubble.iter();
            values.retain(|_| is_bubble.next() == Some(&false));
        }
    }
    if mesh.triangles.is_empty() {
        return Err(SkinError::TooFewParticles { n, connected: connected.len(), radius });
    }
    let volume = volume.unwrap_or_else(|| mesh.volume());
    sizes.iter_mut().zip(&radii).for_each(|(size, radius)| *size /= cell * radius);
    smoothing::smooth(&mut mesh, &cloud, &sizes, params.smoothing);
    let offset = mesh.fit_volume(volume, &radii);
    // some bubbles have shrunk only now; the volume is not fitted again
    let is_bubble = mesh.bubbles(&radii);
    if is_bubble.contains(&true) {
        mesh.remove(&is_bubble);
    }

    let velocities: Vec<[f32; 3]> =
        connected.iter().filter_map(|&i| matter.velocities.get(i)).copied().collect();
    Ok(Skin {
        velocities: carry::interpolate(&mesh.vertices, &cloud, &velocities),
        normals: mesh.normals().into_iter().map(narrow).collect(),
        volume: mesh.volume(),
        wanted_volume: volume,
        vertices: mesh.vertices.into_iter().map(narrow).collect(),
        triangles: mesh.triangles,
        radius,
        n_strays,
        offset,
    })
}

/// The particles' own radii, larger by one factor if the volume says so: merged particles stand for more than their radii
/// tell (m).
fn local_radii(matter: &Matter<'_>, params: &SkinParams) -> Vec<Real> {
    if let Some(radius) = params.radius {
        return vec![radius; matter.radii.len()];
    }
    let own = |i: usize| Real::from(matter.radii[i]);
    let together = sum_over(matter.radii.len(), |i| (2.0 * own(i)).powi(3));
    let factor = matter.volume.map_or(1.0, |volume| (volume / together).cbrt().max(1.0));
    (0..matter.radii.len()).map(|i| factor * own(i)).collect()
}

fn median(radii: &[Real]) -> Real {
    let mut sorted = radii.to_vec();
    sorted.sort_unstable_by(Real::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn check(matter: &Matter<'_>, params: &SkinParams) -> Result<(), SkinError> {
    let positions = matter.positions.len();
    let lengths = |what, values| {
        if values == positions { Ok(()) } else { Err(SkinError::Lengths { positions, values, what }) }
    };
    lengths("radii", matter.radii.len())?;
    if !matter.velocities.is_empty() {
        lengths("velocities", matter.velocities.len())?;
    }
    let require = |holds: bool, name, value, allowed| {
        if holds { Ok(()) } else { Err(SkinError::Parameter { name, value, allowed }) }
    };
    let positive = |value: Real| value > 0.0 && value.is_finite();
    for &r in matter.radii {
        require(positive(r.into()), "a particle's radius", r.into(), "greater than 0")?;
    }
    for (name, value) in [("radius", params.radius), ("volume", matter.volume)] {
        require(value.is_none_or(positive), name, value.unwrap_or_default(), "greater than 0")?;
    }
    require(CELLS.contains(&params.cell), "cell", params.cell, "from 0.2 to 2 radii")?;
    require((0.2..0.95).contains(&params.iso), "iso", params.iso, "from 0.2 to 0.95")?;
    let is_finite = |row: &[f32; 3]| row.iter().all(|x| x.is_finite());
    let bad = |rows: &[[f32; 3]]| rows.iter().position(|row| !is_finite(row));
    bad(matter.positions).or_else(|| bad(matter.velocities)).map_or(Ok(()), |i| Err(SkinError::NotFinite(i)))
}

fn wide(p: [f32; 3]) -> Vec3 {
    Vec3::from_array(p.map(Real::from))
}

fn narrow(p: Vec3) -> [f32; 3] {
    p.to_array().map(|x| x as f32)
}
