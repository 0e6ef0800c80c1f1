//! Sampling of a shape by particles.
//!
//! All samplings work in the body's own directions at world size, so that a rotated body has a rotated lattice, and
//! move the particles into the world at the end. The same shape and `Fill` give the same particles, on any number of
//! threads.

mod count;
mod graded;
mod lattice;
mod nearest;
mod relaxed;
mod volumes;

use rayon::prelude::*;

use super::aabb::Aabb;
use super::placement::{PlacedShape, Placement};
use super::shape::{Shape, ShapeError};
use crate::math::{Random, cbrt, cube, square};
use crate::math::{Real, Vec3};

/// Distance between neighbouring particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spacing {
    /// The same spacing everywhere (m).
    Uniform(Real),
    /// Spacing that changes linearly along a direction, over the extent of the body in it.
    Along {
        /// World direction; any length but zero.
        axis: Vec3,
        /// Spacing at the end of the body that is lowest along the axis (m).
        from: Real,
        /// Spacing at the other end (m).
        to: Real,
    },
    /// The same spacing everywhere, chosen for this number of particles: exactly for relaxed sampling, else as near as
    /// a lattice comes to it.
    Count(usize),
}

/// Arrangement of the particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sampling {
    /// Particles in rows. A box is divided into equal cells that fit exactly; other shapes keep the points of a lattice
    /// around the middle of their bounds that are inside. A graded spacing gives layers across the axis, each with its
    /// own rows.
    #[default]
    Lattice,
    /// A lattice with every particle moved at random by up to a fifth of the spacing along each axis.
    Jittered,
    /// Particles spread evenly without order, the outermost ones about half a spacing under the surface.
    Relaxed,
}

/// Settings for filling a shape with particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fill {
    /// Distance between particles, or their number.
    pub spacing: Spacing,
    /// Arrangement of the particles.
    pub sampling: Sampling,
    /// Seed of the random numbers of [`Sampling::Jittered`] and [`Sampling::Relaxed`].
    pub seed: u64,
    /// Limit on the number of particles; more are refused before memory is allocated for them.
    pub max_particles: usize,
}

impl Fill {
    /// Default limit on the number of particles.
    pub const DEFAULT_MAX_PARTICLES: usize = 20_000_000;

    /// Creates the settings of a lattice with this spacing.
    pub fn new(spacing: Spacing) -> Self {
        Self { spacing, sampling: Sampling::Lattice, seed: 0, max_particles: Self::DEFAULT_MAX_PARTICLES }
    }

    /// Checks that a shape can be filled and, from its volume alone, that it does not need more particles than allowed.
    pub fn check(&self, shape: &PlacedShape) -> Result<(), FillError> {
        Body::new(shape, self).map(drop)
    }
}

/// The particles of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// World positions (m).
    pub positions: Vec<Vec3>,
    /// Volume of each particle (m³); together they are the body's volume.
    pub volumes: Vec<Real>,
    /// Intended spacing around each particle (m).
    pub spacing: Vec<Real>,
    /// Volume of the body (m³).
    pub volume: Real,
}

/// Reason why a shape cannot be filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FillError {
    /// The shape is invalid.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The spacing is not a positive number, or its axis has no direction.
    #[error("the spacing must be positive and finite, and its axis not zero: {0}")]
    BadSpacing(String),
    /// The shape is infinite.
    #[error("an infinite shape cannot be filled with particles: cut it with another one")]
    Infinite,
    /// A mesh has no inside.
    #[error("the mesh has no inside (a flat or nearly flat sheet): give it a thickness or close it")]
    NoInside,
    /// No particle fits into the shape.
    #[error(
        "no particle fits into the shape: it is {size} large and has a volume of {} m³, the spacing is {} m; choose a smaller spacing",
        shown(*.volume),
        shown(*.spacing)
    )]
    NoParticles {
        /// Edge lengths of the shape's bounds, in its own directions.
        size: Size,
        /// Volume of the shape (m³).
        volume: Real,
        /// The spacing (m).
        spacing: Real,
    },
    /// The shape has too few particles to deform.
    #[error(
        "only {n_particles} particles fit into the shape, at least 4 are needed: it is {size} large, the spacing is {} m; choose a smaller spacing or more particles",
        shown(*.spacing)
    )]
    TooFew {
        /// Number of particles that fit.
        n_particles: usize,
        /// Edge lengths of the shape's bounds, in its own directions.
        size: Size,
        /// The spacing (m).
        spacing: Real,
    },
    /// The shape is too large for the spacing, although it may be thin.
    #[error(
        "the shape is longer than {limit} spacings; choose a larger spacing or fewer extremes in its shape"
    )]
    TooLong {
        /// Largest number of spacings along an axis.
        limit: usize,
    },
    /// There would be more particles than allowed.
    #[error("about {estimate:.3e} particles would be needed, the limit is {limit}; choose a larger spacing")]
    TooMany {
        /// Estimated number of particles.
        estimate: Real,
        /// Allowed number of particles.
        limit: usize,
    },
}

/// Edge lengths, for messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size(pub Vec3);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.0.to_array().map(shown);
        write!(f, "{x} × {y} × {z} m")
    }
}

/// Formats a number with at most four digits, for messages.
fn shown(value: Real) -> String {
    let rounded: Real = format!("{value:.3e}").parse().unwrap_or(value);
    if (1e-4..1e6).contains(&rounded.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}

/// Smallest number of particles of a body; with fewer, no neighbourhood spans space.
const MIN_PARTICLES: usize = 4;
/// Largest random offset along each axis, in spacings.
const JITTER: Real = 0.2;

/// A checked body in its own directions at world size.
struct Body {
    shape: PlacedShape,
    bounds: Aabb,
    volume: Real,
}

/// A particle in the body's own directions.
#[derive(Clone, Copy, Debug)]
struct Sample {
    position: Vec3,
    /// Intended spacing at this position (m).
    spacing: Real,
    /// Volume of the lattice cell (m³).
    cell_volume: Real,
}

/// Fills a shape with particles.
pub fn fill(shape: &PlacedShape, fill: &Fill) -> Result<Filled, FillError> {
    let body = Body::new(shape, fill)?;
    let samples = match fill.spacing {
        Spacing::Uniform(spacing) => body.sample_uniform(spacing, fill)?,
        Spacing::Count(count) => body.sample_count(count, fill)?,
        Spacing::Along { axis, from, to } => {
            let axis = shape.placement.direction_to_local(axis.normalize());
            body.sample_graded(&graded::Gradation::new(&body.shape, axis, from, to), fill)?
        }
    };
    body.check_number(samples.len(), typical_spacing(&fill.spacing, body.volume))?;
    let volumes = match fill.sampling {
        Sampling::Lattice => volumes::from_cells(&samples, body.volume),
        Sampling::Jittered | Sampling::Relaxed => volumes::from_distances(&samples, body.volume),
    };
    let turn = Placement { scale: 1.0, ..shape.placement };
    Ok(Filled {
        positions: samples.iter().map(|sample| turn.to_world(sample.position)).collect(),
        volumes,
        spacing: samples.iter().map(|sample| sample.spacing).collect(),
        volume: body.volume,
    })
}

fn typical_spacing(spacing: &Spacing, volume: Real) -> Real {
    match *spacing {
        Spacing::Uniform(spacing) => spacing,
        Spacing::Along { from, to, .. } => 0.5 * (from + to),
        Spacing::Count(count) => cbrt(volume / count as Real),
    }
}

fn check_spacing(spacing: &Spacing) -> Result<(), FillError> {
    let good = |length: Real| length > 0.0 && length.is_finite();
    let is_good = match *spacing {
        Spacing::Uniform(spacing) => good(spacing),
        Spacing::Along { axis, from, to } => good(from) && good(to) && axis.try_normalize().is_some(),
        Spacing::Count(_) => true,
    };
    if is_good { Ok(()) } else { Err(FillError::BadSpacing(format!("{spacing:?}"))) }
}

impl Body {
    fn new(shape: &PlacedShape, fill: &Fill) -> Result<Self, FillError> {
        shape.validate()?;
        check_spacing(&fill.spacing)?;
        let scale_only = Placement { scale: shape.placement.scale, ..Placement::default() };
        let turned_back = PlacedShape::new(shape.shape.clone(), scale_only);
        let bounds = turned_back.bounds().ok_or(FillError::Infinite)?;
        let mut all_have_inside = true;
        shape.shape.visit_meshes(&mut |mesh| all_have_inside &= mesh.has_inside());
        if !all_have_inside {
            return Err(FillError::NoInside);
        }
        let body = Self { volume: turned_back.volume(), shape: turned_back, bounds };
        if body.volume.is_nan() || body.volume <= 0.0 {
            let spacing = typical_spacing(&fill.spacing, 0.0);
            return Err(FillError::NoParticles { size: Size(bounds.size()), volume: 0.0, spacing });
        }
        body.check_estimate(fill)?;
        Ok(body)
    }

    /// Refuses more particles than allowed, from the volume alone.
    fn check_estimate(&self, fill: &Fill) -> Result<(), FillError> {
        let estimate = match fill.spacing {
            Spacing::Uniform(spacing) => self.volume / cube(spacing),
            // mean of 1/a³ while a runs from one end to the other
            Spacing::Along { from, to, .. } => self.volume * 0.5 * (from + to) / square(from * to),
            Spacing::Count(count) => {
                if count < MIN_PARTICLES {
                    self.check_number(count, typical_spacing(&fill.spacing, self.volume))?;
                }
                count as Real
            }
        };
        // the number of lattice points differs a little from the estimate, which must not refuse what would fit
        if estimate > fill.max_particles as Real * 1.05 {
            return Err(FillError::TooMany { estimate, limit: fill.max_particles });
        }
        Ok(())
    }

    fn check_number(&self, n_particles: usize, spacing: Real) -> Result<(), FillError> {
        let size = Size(self.bounds.size());
        match n_particles {
            0 => Err(FillError::NoParticles { size, volume: self.volume, spacing }),
            1..MIN_PARTICLES => Err(FillError::TooFew { n_particles, size, spacing }),
            _ => Ok(()),
        }
    }

    /// Returns the edge lengths of the body if it is a box, whose lattice is made to fit.
    fn box_size(&self) -> Option<Vec3> {
        match self.shape.shape {
            Shape::Box { size } => Some(self.shape.placement.scale * size),
            _ => None,
        }
    }

    fn sample_uniform(&self, spacing: Real, fill: &Fill) -> Result<Vec<Sample>, FillError> {
        if fill.sampling == Sampling::Relaxed {
            let count = (self.volume / cube(spacing)).round() as usize;
            return self.sample_relaxed(count, fill);
        }
        let samples = self.lattice_samples(spacing, fill)?;
        Ok(self.jitter_if_asked(samples, fill))
    }

    fn sample_count(&self, count: usize, fill: &Fill) -> Result<Vec<Sample>, FillError> {
        if fill.sampling == Sampling::Relaxed {
            return self.sample_relaxed(count, fill);
        }
        let samples = match self.box_size() {
            Some(size) => self.lattice_samples(count::box_spacing(size, count), fill)?,
            None => {
                count::nearest_lattice(self.volume, count, |spacing| self.lattice_samples(spacing, fill))?
            }
        };
        Ok(self.jitter_if_asked(samples, fill))
    }

    fn sample_graded(&self, gradation: &graded::Gradation, fill: &Fill) -> Result<Vec<Sample>, FillError> {
        let samples = graded::layers(self, gradation, fill.max_particles)?;
        if fill.sampling == Sampling::Relaxed && !samples.is_empty() {
            let start = scatter(self, samples, 0.5, fill.seed);
            return Ok(relaxed::relax(&self.shape, start, &|position| gradation.spacing(position)));
        }
        Ok(self.jitter_if_asked(samples, fill))
    }

    fn sample_relaxed(&self, count: usize, fill: &Fill) -> Result<Vec<Sample>, FillError> {
        self.check_number(count, cbrt(self.volume / count.max(1) as Real))?;
        let spacing = cbrt(self.volume / count as Real);
        let lattice = self.lattice_samples(spacing, fill)?;
        let start = scatter(self, lattice, 0.5, fill.seed);
        let start = relaxed::with_count(self, start, count, spacing, fill.seed)?;
        Ok(relaxed::relax(&self.shape, start, &|_| spacing))
    }

    fn lattice_samples(&self, spacing: Real, fill: &Fill) -> Result<Vec<Sample>, FillError> {
        let lattice = match self.box_size() {
            Some(size) => lattice::Lattice::fitted(size, spacing),
            None => lattice::Lattice::centered(&self.bounds, spacing),
        };
        let positions = if self.box_size().is_some() {
            lattice.check_limit(fill.max_particles)?;
            lattice.all()
        } else {
            lattice.inside(&self.shape, fill.max_particles)?
        };
        let cell_volume = lattice.cell_volume();
        let spacing = if self.box_size().is_some() { cbrt(cell_volume) } else { spacing };
        Ok(positions.into_iter().map(|position| Sample { position, spacing, cell_volume }).collect())
    }

    fn jitter_if_asked(&self, samples: Vec<Sample>, fill: &Fill) -> Vec<Sample> {
        match fill.sampling {
            Sampling::Jittered => scatter(self, samples, JITTER, fill.seed),
            _ => samples,
        }
    }
}

/// Moves every sample by up to `amount` spacings along each axis, or less where it would leave the body.
fn scatter(body: &Body, mut samples: Vec<Sample>, amount: Real, seed: u64) -> Vec<Sample> {
    samples.par_iter_mut().enumerate().for_each(|(index, sample)| {
        let offset = amount * sample.spacing * Random::with_stream(seed, index as u64).in_cube();
        let shrunk = [1.0, 0.5, 0.25, 0.1].map(|factor| sample.position + factor * offset);
        if let Some(position) = shrunk.into_iter().find(|&position| body.shape.contains(position)) {
            sample.position = position;
        }
    });
    samples
}

#[cfg(test)]
mod tests;
