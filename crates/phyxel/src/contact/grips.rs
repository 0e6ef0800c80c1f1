//! Grips: they hold particles or move them along a path, then release them.

use super::{Motion, Pose};
use crate::geometry::PlacedShape;
use crate::math::{Real, Vec3};
use crate::particles::{Carry, GONE, GRIPS, PARTICLES, Particles, StateData, StateItem, StateVisitor};

/// Name of the set of held particles.
pub const HOLDS: &str = "holds";

/// World axes along which a grip holds particles; the other axes are free (a sliding clamp).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// True if particles are held along x.
    pub x: bool,
    /// True if particles are held along y.
    pub y: bool,
    /// True if particles are held along z.
    pub z: bool,
}

impl Axes {
    /// All axes are held.
    pub const ALL: Self = Self { x: true, y: true, z: true };

    /// Returns a vector with 1 for held axes and 0 for free ones.
    pub fn mask(self) -> Vec3 {
        Vec3::new(f64::from(self.x), f64::from(self.y), f64::from(self.z))
    }
}

/// A grip, as a user describes it.
#[derive(Clone, Debug)]
pub struct Grip {
    /// Name of the grip in the ledger.
    pub name: String,
    /// Name of the body that is held.
    pub body: String,
    /// Region that selects the particles: those inside it at time 0 are held.
    pub select: PlacedShape,
    /// Motion of the held particles; it rotates them about their common centre.
    pub motion: Motion,
    /// Time at which the grip releases the particles (s); `None` if it never does.
    pub release: Option<Real>,
    /// Axes along which particles are held.
    pub axes: Axes,
}

/// The held particles of a group.
#[derive(Clone, Debug, Default)]
pub struct Holds {
    /// Index of the held particle.
    pub particle: Vec<u32>,
    /// Position of the particle at time 0 (m).
    pub anchor: Vec<Vec3>,
    /// Index of the grip that holds the particle.
    pub grip: Vec<u32>,
}

impl Holds {
    /// Visits every state array once.
    pub fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let mut item =
            |name, unit, carry, data| visitor.visit(StateItem { name, unit, set: HOLDS, carry, data });
        item("held_particle", "1", Carry::Index(PARTICLES), StateData::Integers(&mut self.particle));
        item("held_anchor", "m", Carry::Copy, StateData::Vectors(&mut self.anchor));
        item("held_by", "1", Carry::Index(GRIPS), StateData::Integers(&mut self.grip));
    }
}

impl Holds {
    /// Releases particles that a remap has removed.
    pub(crate) fn drop_removed(&mut self) {
        let kept: Vec<usize> = (0..self.particle.len()).filter(|&k| self.particle[k] != GONE).collect();
        *self = Self {
            particle: kept.iter().map(|&k| self.particle[k]).collect(),
            anchor: kept.iter().map(|&k| self.anchor[k]).collect(),
            grip: kept.iter().map(|&k| self.grip[k]).collect(),
        };
    }
}

/// Pose of a grip at the beginning and the end of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GripMove {
    pub(crate) start: Pose,
    pub(crate) end: Pose,
    pub(crate) axes: Vec3,
    pub(crate) active: bool,
}

impl GripMove {
    /// Returns the mean velocity in the step of a particle that was held at `anchor` at time 0 (m/s).
    fn velocity(&self, anchor: Vec3, time_step: Real) -> Vec3 {
        (self.end.apply(anchor) - self.start.apply(anchor)) / time_step
    }
}

/// A held particle in a step.
#[derive(Clone, Copy, Debug)]
pub struct GripTarget {
    /// Index of the particle in the group.
    pub particle: usize,
    /// Position that the grip prescribes for the end of the step (m).
    pub place: Vec3,
    /// 1 for axes that are held, 0 for free ones.
    pub axes: Vec3,
    hold: usize,
}

/// The grips of a step, for the particles of one group.
pub struct Grips<'a> {
    pub(crate) moves: &'a [GripMove],
    pub(crate) holds: &'a mut Holds,
    pub(crate) time_step: Real,
    pub(crate) impulses: &'a mut [Vec3],
    /// Work of the grips on the bodies, Σ impulse · velocity of the grip (J).
    pub(crate) work: &'a mut Real,
}

impl Grips<'_> {
    fn active(&self) -> impl Iterator<Item = (usize, Vec3, usize, &GripMove)> {
        let Holds { particle, anchor, grip } = &*self.holds;
        let all = particle.iter().zip(anchor).zip(grip);
        all.map(|((&p, &anchor), &g)| (p as usize, anchor, g as usize, &self.moves[g as usize]))
            .filter(|h| h.3.active)
    }

    /// Gives held particles the velocity of their grip for this step, and records the impulse that this takes.
    pub fn lead_velocities(&mut self, particles: &mut Particles) {
        let mut impulses = std::mem::take(&mut self.impulses);
        let mut work = 0.0;
        for (p, anchor, grip, step) in self.active() {
            let led = step.velocity(anchor, self.time_step);
            let change = (led - particles.velocity[p]) * step.axes;
            particles.velocity[p] += change;
            impulses[grip] += change * particles.mass[p];
            work += (change * particles.mass[p]).dot(led);
        }
        std::mem::swap(&mut self.impulses, &mut impulses);
        *self.work += work;
    }

    /// Returns the held particles of this step with their prescribed positions at its end.
    pub fn targets(&self) -> impl Iterator<Item = GripTarget> {
        let Holds { particle, anchor, grip } = &*self.holds;
        (0..particle.len()).filter(|&k| self.moves[grip[k] as usize].active).map(|k| {
            let step = &self.moves[grip[k] as usize];
            GripTarget {
                hold: k,
                particle: particle[k] as usize,
                place: step.end.apply(anchor[k]),
                axes: step.axes,
            }
        })
    }

    /// Records an impulse that a grip gave to one of its particles, for methods that solve for grips themselves (N s).
    pub fn book_one(&mut self, target: &GripTarget, impulse: Vec3) {
        let grip = self.holds.grip[target.hold] as usize;
        self.impulses[grip] += impulse;
        let led = self.moves[grip].velocity(self.holds.anchor[target.hold], self.time_step);
        *self.work += (impulse * target.axes).dot(led);
    }

    /// Returns true if any particle is held in this step.
    pub fn hold_anything(&self) -> bool {
        self.active().next().is_some()
    }

    /// Records the impulses (N s) that grips gave inside a solve, along the held axes: `impulse(particle)` for each
    /// held particle. The rest of `total`, which remains because a solve stops at its tolerance, is shared equally by
    /// all.
    pub fn book(&mut self, total: Vec3, impulse: impl Fn(usize) -> Vec3) {
        let mut impulses = std::mem::take(&mut self.impulses);
        let (mut booked, mut n_held) = (Vec3::ZERO, Vec3::ZERO);
        for (p, _, _, step) in self.active() {
            booked += impulse(p) * step.axes;
            n_held += step.axes;
        }
        let share = (total - booked) / n_held.max(Vec3::ONE);
        let mut work = 0.0;
        for (p, anchor, grip, step) in self.active() {
            let given = (impulse(p) + share) * step.axes;
            impulses[grip] += given;
            work += given.dot(step.velocity(anchor, self.time_step));
        }
        std::mem::swap(&mut self.impulses, &mut impulses);
        *self.work += work;
    }

    /// Moves held particles to the positions of their grip at the end of the step, so that no drift accumulates.
    pub fn place(&self, particles: &mut Particles) {
        for (p, anchor, _, step) in self.active() {
            let position = &mut particles.position[p];
            *position += (step.end.apply(anchor) - *position) * step.axes;
        }
    }

    /// Calls `visit(particle, mask)` for every held particle; `mask` is 1 along the axes that are held in this step.
    pub fn visit_held(&self, mut visit: impl FnMut(usize, Vec3)) {
        self.active().for_each(|(p, _, _, step)| visit(p, step.axes));
    }
}
