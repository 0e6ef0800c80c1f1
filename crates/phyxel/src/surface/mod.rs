//! Carried points: points that move with matter, the vertices of an embedded mesh.
//!
//! A point is a fixed combination of the positions of particles around it, its carriers: y = Σ c_i x_i + offset. The
//! shares c reproduce affine maps, so that rigid motion and uniform strain move the mesh exactly, and elastic
//! deformation comes back without drift. If matter flows and the carriers have drifted apart, or particles were split
//! or merged, the point is bound anew at its current position.

mod binding;
#[cfg(test)]
mod tests;

use crate::math::{Mat3, Real, Vec3, max_over, square};
use crate::neighbors::VisitBonds;
use crate::particles::{
    Carry, Origin, PARTICLES, Particles, Remap, StateData, StateError, StateItem, StateVisitor,
};
use binding::{Binder, Binding};
use rayon::prelude::*;

/// Name of the set of carried points.
const POINTS: &str = "carried points";
/// Number of carriers of a point.
const CARRIERS: usize = 32;
/// Ratio of the distance of the farthest carrier to its distance at binding above which a point is bound anew.
const STRETCH: Real = 1.4;
/// Possible displacement of particles after which points are checked again, in radii of the smallest particle.
const TRAVEL: Real = 0.5;

/// Rule by which points follow the particles around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CarryOrder {
    /// Points move by the weighted mean of the particles' displacements since the start (Jones 2014), never rotating.
    Zero,
    /// Points move by the best affine map of the particles around, which is exact for rotations and strains.
    #[default]
    First,
}

/// Points that move with a body, as given by the user.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// World positions at time 0 (m).
    pub points: Vec<Vec3>,
    /// Rule by which the points follow.
    pub order: CarryOrder,
}

/// All carried points of a group.
#[derive(Clone, Debug, Default)]
pub struct CarriedPoints {
    bodies: Vec<CarriedBody>,
    /// Particles that carry each point, [`CARRIERS`] per point; entries without a share repeat the first.
    carriers: Vec<u32>,
    shares: Vec<Real>,
    /// Distance of the farthest carrier of each point at binding (m).
    reach: Vec<Real>,
    /// Difference of each point from the combination of its carriers at binding (m).
    offset: Vec<Vec3>,
    levers: Levers,
    /// Upper limit of the displacement of particles since the points were last checked (m).
    travel: Real,
    /// Points that must be bound anew, with their positions (m).
    loose: Vec<(u32, Vec3)>,
    smallest_radius: Real,
}

/// Offsets that rotate with the particles around: those of points of thin matter, and of points far outside of matter.
#[derive(Clone, Debug, Default)]
struct Levers {
    /// Points that have a lever, in ascending order.
    point: Vec<u32>,
    /// Principal axes of the carriers, those with extent first.
    axes: Vec<Mat3>,
    /// Number of axes in which the carriers have no extent.
    dropped: Vec<u32>,
    /// Gradient of the share of each carrier of each lever (1/m).
    gradients: Vec<Vec3>,
}

/// Range of the points of one body.
#[derive(Clone, Debug)]
struct CarriedBody {
    body: u32,
    points: std::ops::Range<usize>,
    order: CarryOrder,
}

impl CarriedPoints {
    /// Binds the points of bodies (given by their index in the world) to the particles at their current positions.
    pub(crate) fn new(
        bodies: &[(u32, &Carried)],
        particles: &Particles,
        visit_bonds: VisitBonds<'_>,
    ) -> Self {
        let n: usize = bodies.iter().map(|b| b.1.points.len()).sum();
        let mut all = Self {
            carriers: vec![0; n * CARRIERS],
            shares: vec![0.0; n * CARRIERS],
            reach: vec![0.0; n],
            offset: vec![Vec3::ZERO; n],
            smallest_radius: particles.radius.iter().copied().fold(Real::INFINITY, Real::min),
            ..Self::default()
        };
        for &(body, carried) in bodies {
            let start = all.bodies.last().map_or(0, |b| b.points.end);
            let points = start..start + carried.points.len();
            all.loose.extend(points.clone().map(|k| k as u32).zip(carried.points.iter().copied()));
            all.bodies.push(CarriedBody { body, points, order: carried.order });
        }
        all.bind_loose(particles, visit_bonds, true);
        all
    }

    /// Returns true if there are no points.
    pub fn is_empty(&self) -> bool {
        self.reach.is_empty()
    }

    /// Returns the positions of the points of a body, if it carries any (m).
    pub(crate) fn positions_of(&self, body: u32, particles: &Particles) -> Option<Vec<Vec3>> {
        let carried = self.bodies.iter().find(|b| b.body == body)?;
        Some(self.positions(particles, carried.points.clone()))
    }

    /// Returns the velocities of the points of a body, if it carries any (m/s).
    pub(crate) fn velocities_of(&self, body: u32, particles: &Particles) -> Option<Vec<Vec3>> {
        let carried = self.bodies.iter().find(|b| b.body == body)?;
        let points = carried.points.clone().into_par_iter().with_min_len(256);
        Some(points.map(|k| self.combined(k, &particles.velocity)).collect())
    }

    fn positions(&self, particles: &Particles, points: std::ops::Range<usize>) -> Vec<Vec3> {
        let x = &particles.position;
        let mut positions: Vec<Vec3> = points
            .clone()
            .into_par_iter()
            .with_min_len(256)
            .map(|k| self.combined(k, x) + self.offset[k])
            .collect();
        let levers = &self.levers;
        let first = levers.point.partition_point(|&k| (k as usize) < points.start);
        let end = levers.point.partition_point(|&k| (k as usize) < points.end);
        for lever in first..end {
            let k = levers.point[lever] as usize;
            let carriers = &self.carriers[k * CARRIERS..(k + 1) * CARRIERS];
            positions[k - points.start] += levers.turned(lever, self.offset[k], carriers, x) - self.offset[k];
        }
        positions
    }

    /// Returns Σ c_i v_i, the combination of the values of a point's carriers.
    #[inline]
    fn combined(&self, point: usize, values: &[Vec3]) -> Vec3 {
        let row = point * CARRIERS..(point + 1) * CARRIERS;
        let both = self.carriers[row.clone()].iter().zip(&self.shares[row]);
        both.fold(Vec3::ZERO, |sum, (&i, &share)| sum + values[i as usize] * share)
    }

    /// Binds points anew, after a step of the group, whose carriers were lost or have drifted too far apart.
    pub(crate) fn follow(&mut self, particles: &Particles, visit_bonds: VisitBonds<'_>, time_step: Real) {
        if self.is_empty() {
            return;
        }
        self.bind_loose(particles, visit_bonds, false);
        let mean = particles.momentum() / particles.total_mass();
        let fastest = max_over(particles.len(), |i| particles.velocity[i].distance_squared(mean));
        self.travel += time_step * fastest.map_or(0.0, |f| f.0).sqrt();
        if self.travel > TRAVEL * self.smallest_radius {
            self.travel = 0.0;
            self.loosen_stretched(particles);
            self.bind_loose(particles, visit_bonds, false);
        }
    }

    fn loosen_stretched(&mut self, particles: &Particles) {
        let positions = self.positions(particles, 0..self.reach.len());
        let x = &particles.position;
        let is_stretched = |k: &usize| {
            let limit = square(STRETCH * self.reach[*k]);
            let carriers = &self.carriers[k * CARRIERS..(k + 1) * CARRIERS];
            carriers.iter().any(|&i| x[i as usize].distance_squared(positions[*k]) > limit)
        };
        let first_order = self.bodies.iter().filter(|b| b.order == CarryOrder::First);
        let points: Vec<usize> = first_order.flat_map(|b| b.points.clone()).collect();
        let loose: Vec<usize> = points.into_par_iter().filter(is_stretched).collect();
        self.loose.extend(loose.into_iter().map(|k| (k as u32, positions[k])));
    }

    /// Stores the positions of points whose carriers a remap will split, merge or remove; called before the remap.
    pub(crate) fn loosen_remapped(&mut self, particles: &Particles, remap: &Remap) {
        if self.is_empty() {
            return;
        }
        let stays = |i: u32| match remap.new_index(i as usize) {
            crate::particles::GONE => false,
            new => matches!(remap.origins()[new as usize], Origin::Same(_)),
        };
        let mut is_loose = vec![false; self.reach.len()];
        self.loose.iter().for_each(|&(k, _)| is_loose[k as usize] = true);
        let loses = |k: &usize| {
            let carriers = &self.carriers[k * CARRIERS..(k + 1) * CARRIERS];
            !is_loose[*k] && !carriers.iter().all(|&i| stays(i))
        };
        let losing: Vec<usize> = (0..self.reach.len()).into_par_iter().filter(loses).collect();
        for k in losing {
            self.loose.push((k as u32, self.positions(particles, k..k + 1)[0]));
        }
    }

    /// Drops the points of a body.
    pub(crate) fn drop_body(&mut self, body: u32) {
        let Some(at) = self.bodies.iter().position(|own| own.body == body) else { return };
        let gone = self.bodies.remove(at).points;
        self.carriers.drain(gone.start * CARRIERS..gone.end * CARRIERS);
        self.shares.drain(gone.start * CARRIERS..gone.end * CARRIERS);
        self.reach.drain(gone.clone());
        self.offset.drain(gone.clone());
        let (start, n) = (gone.start, gone.len());
        for own in self.bodies.iter_mut().filter(|own| own.points.start > start) {
            own.points = own.points.start - n..own.points.end - n;
        }
        let moved = |k: u32| if (k as usize) < start { k } else { k - n as u32 };
        let is_kept = |k: u32| !gone.contains(&(k as usize));
        let kept: Vec<usize> =
            (0..self.levers.point.len()).filter(|&l| is_kept(self.levers.point[l])).collect();
        self.levers.take(&kept);
        self.levers.point.iter_mut().for_each(|k| *k = moved(*k));
        self.loose.retain(|loose| is_kept(loose.0));
        self.loose.iter_mut().for_each(|loose| loose.0 = moved(loose.0));
    }

    /// Binds the loose points at their positions.
    fn bind_loose(&mut self, particles: &Particles, visit_bonds: VisitBonds<'_>, is_first_time: bool) {
        if self.loose.is_empty() {
            return;
        }
        let mut loose = std::mem::take(&mut self.loose);
        loose.sort_unstable_by_key(|l| l.0);
        let body_of = |k: u32| self.bodies.iter().find(|b| b.points.contains(&(k as usize)));
        let binder = Binder::new(particles, visit_bonds);
        let bindings: Vec<Binding> = loose
            .par_iter()
            .with_min_len(16)
            .map_init(Default::default, |scratch, &(k, y)| {
                let row = k as usize * CARRIERS..(k as usize + 1) * CARRIERS;
                let old = if is_first_time { &[] } else { &self.carriers[row] };
                let (body, order) = body_of(k).map_or((0, CarryOrder::First), |b| (b.body, b.order));
                binder.bind(y, body, order, old, scratch)
            })
            .collect();
        self.levers.remove(&loose);
        for (&(k, _), binding) in loose.iter().zip(&bindings) {
            let row = k as usize * CARRIERS..(k as usize + 1) * CARRIERS;
            self.carriers[row.clone()].copy_from_slice(&binding.carriers);
            self.shares[row].copy_from_slice(&binding.shares);
            self.reach[k as usize] = binding.reach;
            self.offset[k as usize] = binding.offset;
        }
        let bound = loose.iter().zip(&bindings);
        self.levers.add(bound.filter_map(|(&(k, _), b)| b.lever.as_deref().map(|lever| (k, lever))));
    }

    /// Checks that state that was loaded has the points of the bodies, each with all its carriers.
    pub(crate) fn check(&self) -> Result<(), StateError> {
        let (n_points, n_levers) =
            (self.bodies.iter().map(|b| b.points.len()).sum(), self.levers.point.len());
        let is_whole = self.reach.len() == n_points
            && self.carriers.len() == CARRIERS * n_points
            && self.levers.gradients.len() == CARRIERS * n_levers
            && self.levers.point.is_sorted_by(|a, b| a < b);
        if is_whole {
            Ok(())
        } else {
            Err(StateError("the carried points are not those of the bodies".into()))
        }
    }

    /// Visits every state array once.
    pub fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        if self.is_empty() {
            return;
        }
        let index = Carry::Index(PARTICLES);
        let mut item =
            |name, unit, set, carry, data| visitor.visit(StateItem { name, unit, set, carry, data });
        item("carriers", "1", "carriers", index, StateData::Integers(&mut self.carriers));
        item("carrier_shares", "1", "carriers", Carry::Copy, StateData::Reals(&mut self.shares));
        item("carried_reach", "m", POINTS, Carry::Copy, StateData::Reals(&mut self.reach));
        item("carried_offset", "m", POINTS, Carry::Copy, StateData::Vectors(&mut self.offset));
        let levers = &mut self.levers;
        item("lever_point", "1", "levers", Carry::Index(POINTS), StateData::Integers(&mut levers.point));
        item("lever_axes", "1", "levers", Carry::Copy, StateData::Matrices(&mut levers.axes));
        item("lever_dropped", "1", "levers", Carry::Copy, StateData::Integers(&mut levers.dropped));
        item(
            "lever_gradients",
            "1/m",
            "lever carriers",
            Carry::Copy,
            StateData::Vectors(&mut levers.gradients),
        );
        item("carried_travel", "m", "", Carry::Copy, StateData::Number(&mut self.travel));
    }
}

/// Data of a new lever.
#[derive(Clone, Debug)]
struct Lever {
    axes: Mat3,
    dropped: u32,
    gradients: [Vec3; CARRIERS],
}

impl Levers {
    /// Returns the rotated offset: by the map of the carriers in the axes with extent, by a rotation across them.
    fn turned(&self, lever: usize, offset: Vec3, carriers: &[u32], x: &[Vec3]) -> Vec3 {
        let gradients = &self.gradients[lever * CARRIERS..(lever + 1) * CARRIERS];
        let axes = self.axes[lever];
        let mapped = |axis: Vec3| {
            let both = carriers.iter().zip(gradients);
            both.fold(Vec3::ZERO, |sum, (&i, gradient)| sum + x[i as usize] * gradient.dot(axis))
        };
        let local = axes.transpose() * offset;
        match self.dropped[lever] {
            0 => {
                let f = Mat3::from_cols(mapped(axes.x_axis), mapped(axes.y_axis), mapped(axes.z_axis));
                crate::math::polar(f).0 * local
            }
            1 => {
                let (a, b) = (mapped(axes.x_axis), mapped(axes.y_axis));
                let sign = if axes.determinant() < 0.0 { -1.0 } else { 1.0 };
                a.cross(b).normalize_or_zero() * (sign * local.z)
            }
            2 => {
                let from = axes.x_axis;
                let to = mapped(from).try_normalize().unwrap_or(from);
                crate::math::Quat::from_rotation_arc(from, to) * offset
            }
            _ => offset,
        }
    }

    /// Removes the levers of points, which are in ascending order.
    fn remove(&mut self, points: &[(u32, Vec3)]) {
        let is_kept = |k: u32| points.binary_search_by_key(&k, |p| p.0).is_err();
        if self.point.iter().all(|&k| is_kept(k)) {
            return;
        }
        let kept: Vec<usize> = (0..self.point.len()).filter(|&l| is_kept(self.point[l])).collect();
        self.take(&kept);
    }

    fn add<'a>(&mut self, new: impl Iterator<Item = (u32, &'a Lever)>) {
        let n_old = self.point.len();
        for (k, lever) in new {
            self.point.push(k);
            self.axes.push(lever.axes);
            self.dropped.push(lever.dropped);
            self.gradients.extend_from_slice(&lever.gradients);
        }
        if self.point.len() > n_old {
            let mut order: Vec<usize> = (0..self.point.len()).collect();
            order.sort_unstable_by_key(|&l| self.point[l]);
            self.take(&order);
        }
    }

    fn take(&mut self, order: &[usize]) {
        *self = Self {
            point: order.iter().map(|&l| self.point[l]).collect(),
            axes: order.iter().map(|&l| self.axes[l]).collect(),
            dropped: order.iter().map(|&l| self.dropped[l]).collect(),
            gradients: order
                .iter()
                .flat_map(|&l| self.gradients[l * CARRIERS..(l + 1) * CARRIERS].iter().copied())
                .collect(),
        };
    }
}
