//! Skins: a closed surface around the particles of a body, found from their positions alone.
//!
//! [`skin`] turns particles into triangles:
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
//! Each particle has its own radius, and everything is local: kernel supports, sizes of triangles, distances. Steps:
//! 1. particles with hardly any neighbours are left out ([`Skin::n_strays`]);
//! 2. a density with a support per particle is computed on a lattice of tetrahedra of a size that suits the particles,
//!    and its surface is found by marching tetrahedra; if matter is looser than its radii suggest, at a lower density;
//!    tunnels one cell wide, which are gaps between particles, are filled;
//! 3. vertices are moved to the middle of their neighbours, more where there are many particles and less where there
//!    are few, so that faces get even and thin parts stay;
//! 4. all vertices move along their normals by the same part of their radii, so that the volume is right again;
//! 5. velocities of the particles are interpolated to the vertices.
//!
//! The same particles give the same bits for any number of threads.
//!
//! Work runs in the rayon pool that the caller has installed. Memory and time grow with the number of particles, not
//! with the size of the region that they are spread over.

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
use phyxel::math::{Real, Vec3, cbrt, cube, sum_over};
use rayon::prelude::*;
use std::ops::Range;

/// Number of particles in a component below which they are strays.
pub const FEWEST_PARTICLES: usize = 5;

/// Edge of the lattice's cells over the size of triangles: tetrahedra have three times as many edges as cubes.
const LATTICE: Real = 1.75;

/// Largest number of cells along each axis.
const MOST_CELLS: Real = (1u32 << lattice::BITS) as Real;

/// Values that [`SkinParams::cell`] may have.
pub const CELLS: Range<Real> = 0.2..2.0;

/// Particles of one body at one time.
#[derive(Clone, Copy, Debug)]
pub struct Matter<'a> {
    /// World positions (m).
    pub positions: &'a [[f32; 3]],
    /// Half the local spacing of each particle (m).
    pub radii: &'a [f32],
    /// Velocity of each particle; may be empty (m/s).
    pub velocities: &'a [[f32; 3]],
    /// Volume of all particles including strays, if it is known (m³). The skin gets the share of the particles inside.
    /// Without it the skin has the volume of the density's surface, which is right within some percent if the spacing
    /// is as at rest.
    pub volume: Option<Real>,
}

impl<'a> Matter<'a> {
    /// Creates particles without velocities and with unknown volume.
    pub fn new(positions: &'a [[f32; 3]], radii: &'a [f32]) -> Self {
        Self { positions, radii, velocities: &[], volume: None }
    }
}

/// Settings for a skin. The defaults suit particles at about the spacing that they started with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinParams {
    /// One radius for all particles (m). By default each has its own, enlarged by one factor if the volume needs it.
    /// The support of a particle's kernel is four times as large.
    pub radius: Option<Real>,
    /// Number of smoothing passes.
    pub smoothing: usize,
    /// Approximate size of triangles (local radii).
    pub cell: Real,
    /// Density at the surface, in parts of the one inside. Down to half of it is used if the volume needs it.
    pub iso: Real,
}

impl Default for SkinParams {
    fn default() -> Self {
        Self { radius: None, smoothing: 25, cell: 0.75, iso: 0.6 }
    }
}

/// Closed surface of triangles: every edge has two triangles, whose corners go counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Positions of the vertices (m).
    pub vertices: Vec<[f32; 3]>,
    /// Outward normal of length 1 of each vertex.
    pub normals: Vec<[f32; 3]>,
    /// Velocity of each vertex; empty if the particles had none (m/s).
    pub velocities: Vec<[f32; 3]>,
    /// Indices of the vertices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Enclosed volume (m³).
    pub volume: Real,
    /// Intended volume: that of the particles inside, or of the density's surface (m³).
    pub wanted_volume: Real,
    /// Median of the radii that were used (m).
    pub radius: Real,
    /// Number of particles left out because fewer than [`FEWEST_PARTICLES`] are connected.
    pub n_strays: usize,
    /// Distance by which the vertices were moved along their normals to restore the volume (local radii).
    pub offset: Real,
}

/// Reason why there is no skin.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SkinError {
    /// Columns have different lengths.
    #[error("there are {positions} positions, but {values} {what}; give one for each particle")]
    Lengths {
        /// Number of positions.
        positions: usize,
        /// Length of the other column.
        values: usize,
        /// Name of the other column.
        what: &'static str,
    },
    /// A parameter is out of range.
    #[error("{name} is {value}; it must be {allowed}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Given value.
        value: Real,
        /// Description of the allowed values.
        allowed: &'static str,
    },
    /// A position or velocity is infinite or not a number.
    #[error(
        "the position or velocity of particle {0} is not finite; the simulation has failed before this frame"
    )]
    NotFinite(usize),
    /// There are too few connected particles.
    #[error(
        "only {connected} of {n} particles hang together with at least {FEWEST_PARTICLES}; a skin needs more particles, or a \
         larger radius if they have been drawn apart (it is {radius} m)"
    )]
    TooFewParticles {
        /// Number of given particles.
        n: usize,
        /// Number of particles that are not strays.
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
        /// Number of cells along the longest side.
        n_cells: Real,
    },
}

/// Computes a skin around particles.
///
/// # Errors
/// Fails for parameters out of range, columns of different length, positions that are not finite, too few connected
/// particles, and particles so far apart that the cells cannot be counted.
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
    let volume_of = |cloud: &Cloud| sum_over(cloud.radii.len(), |i| cube(cloud.radii[i]));
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
    // some bubbles have shrunk only after the smoothing; the volume is not fitted again
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

/// Returns the particles' own radii, larger by one factor if the volume requires it: merged particles represent more
/// matter than their radii suggest (m).
fn local_radii(matter: &Matter<'_>, params: &SkinParams) -> Vec<Real> {
    if let Some(radius) = params.radius {
        return vec![radius; matter.radii.len()];
    }
    let own = |i: usize| Real::from(matter.radii[i]);
    let together = sum_over(matter.radii.len(), |i| cube(2.0 * own(i)));
    let factor = matter.volume.map_or(1.0, |volume| cbrt(volume / together).max(1.0));
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
