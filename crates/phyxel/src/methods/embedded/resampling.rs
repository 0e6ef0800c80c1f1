//! Splitting of particles where neighbourhoods have gaps and merging where particles crowd. Jones 2014 Sec. 3.5.
//!
//! The printed test (`Resampling::Eigenvalues`) almost never triggers in flow that keeps volume: flattening lowers the
//! smallest eigenvalue of Eq. 13 and raises the largest. `Resampling::Gaps` uses gaps and distances in rest space
//! instead. In both, rest bonds and F are carried over instead of rebuilt from embedded positions, merged particles are
//! placed at their centre of mass instead of halfway, and mass and momentum are kept exactly.

use super::{Basis, Embedded, Resampling};
use crate::material::{LameParameter, Property, can_flow};
use crate::math::{Mat3, Real, Vec3, cbrt, cube, outer, symmetric_eigen};
use crate::methods::StepContext;
use crate::mls::Laplacian;
use crate::neighbors::{SLOTS, SlotBonds};
use crate::particles::{Carry, Origin, PARTICLES, Particles, Remap, StateData, StateItem, StateVisitor};
use rayon::prelude::*;

/// Largest number of operations of each kind per update, as a fraction of all particles: each one is a disturbance.
const MOST_OPERATIONS: Real = 0.02;
/// A neighbour closes the gap along a direction if the cosine of the angle between them exceeds this.
const CONE: Real = 0.7;
/// Offset of the two children to each side, as a fraction of the gap.
const OFFSET: Real = 0.25;
/// Particles lighter than this fraction of ρ d³ are not split.
const LIGHTEST: Real = 0.12;
/// A particle is at the surface if the centroid of its neighbours is farther away than this fraction of its support.
const SURFACE: Real = 0.1;
/// Splits at the surface must be tangent: the cosine between their direction and the centroid is at most this.
const TANGENT: Real = 0.4;
/// A split is refused if a child would be nearer to an obstacle than this many radii: it would be pushed out at once.
const CLEARANCE: Real = 0.8;

/// Operations that an update could carry out, most urgent first.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Urgency (smaller is more urgent) and particle of each merge.
    pub(super) merges: Vec<(Real, usize)>,
    /// Urgency, particle and offset of its first child in rest space (m) of each split.
    pub(super) splits: Vec<(Real, usize, Vec3)>,
}

/// Operations that one particle requests.
#[derive(Default)]
struct Wish {
    merge: Option<Real>,
    split: Option<(Real, Vec3)>,
}

/// Matter thicker than this fraction of the median thickness at the start has full contact radii.
const THICK: Real = 0.8;
/// Thickness, as the same fraction, at which contact radii would reach 0 by linear interpolation.
const THIN: Real = 0.7;
/// Smallest contact radius, as a fraction of that at the start.
const LEAST_RADIUS: Real = 0.1;
/// Fraction of the remaining difference by which growing contact radii change in one update.
const PACE: Real = 0.01;

/// Bonds that are being edited: rows are not sorted, and the rows of children follow all others.
struct Editor<'a> {
    bonds: &'a mut SlotBonds,
    is_touched: Vec<bool>,
    is_dead: Vec<bool>,
}

impl Editor<'_> {
    fn slot(&mut self, k: usize, j: usize) -> Option<usize> {
        self.bonds.ends(k).iter().position(|&end| end as usize == j)
    }

    fn remove(&mut self, k: usize, slot: usize) {
        let row = self.bonds.row_mut(k);
        let last = *row.count as usize - 1;
        (row.ends[slot], row.vectors[slot]) = (row.ends[last], row.vectors[last]);
        *row.count -= 1;
    }

    /// Adds a bond; in a full row it replaces the longest bond if the new one is shorter.
    fn add(&mut self, k: usize, j: usize, vector: Vec3) {
        let row = self.bonds.row_mut(k);
        let n = *row.count as usize;
        let slot = if n < SLOTS {
            *row.count += 1;
            n
        } else {
            let squared = |k: usize| row.vector(k).length_squared();
            let longest = (0..n).max_by(|&a, &b| squared(a).total_cmp(&squared(b)));
            match longest {
                Some(slot) if vector.length_squared() < squared(slot) => slot,
                _ => return,
            }
        };
        (row.ends[slot], row.vectors[slot]) = (j as u32, vector.as_vec3());
    }

    fn owners(&self, i: usize) -> Vec<usize> {
        self.bonds.incoming_bonds(i).map(|bond| bond.1).collect()
    }

    /// Marks i, its neighbours and all particles that list it: they wait for the next update.
    fn touch(&mut self, i: usize, owners: &[usize]) {
        self.is_touched[i] = true;
        owners.iter().for_each(|&k| self.is_touched[k] = true);
        for slot in 0..self.bonds.count(i) {
            let j = self.bonds.ends(i)[slot] as usize;
            self.is_touched[j] = true;
        }
    }

    /// Merges j into i: all bonds to i and j become bonds to their centre of mass; `share` is j's fraction of the mass.
    fn merge(&mut self, i: usize, j: usize, between: Vec3, share: Real) {
        let (of_i, of_j) = (self.owners(i), self.owners(j));
        for &k in of_i.iter().filter(|&&k| k != j) {
            if self.is_dead[k] {
                continue;
            }
            let (Some(slot), other) = (self.slot(k, i), self.slot(k, j)) else { continue };
            let row = self.bonds.row_mut(k);
            match other {
                Some(other) => {
                    row.vectors[slot] = row.vector(slot).lerp(row.vector(other), share).as_vec3();
                    self.remove(k, other);
                }
                None => row.vectors[slot] = (row.vector(slot) + between * share).as_vec3(),
            }
        }
        for &k in of_j.iter().filter(|&&k| k != i) {
            if self.is_dead[k] {
                continue;
            }
            if let Some(slot) = self.slot(k, j) {
                let row = self.bonds.row_mut(k);
                row.ends[slot] = i as u32;
                row.vectors[slot] = (row.vector(slot) - between * (1.0 - share)).as_vec3();
            }
        }
        if let Some(slot) = self.slot(i, j) {
            self.remove(i, slot);
        }
        self.bonds.row_mut(i).map_vectors(|u| u - between * share);
        self.touch(i, &of_i);
        self.touch(j, &of_j);
        self.is_dead[j] = true;
    }

    /// Splits i: it moves by `offset`, and a child at the opposite offset gets the row `child`.
    fn split(&mut self, i: usize, child: usize, offset: Vec3) {
        let owners = self.owners(i);
        let own: Vec<(u32, Vec3)> = self.bonds.ends(i).iter().copied().zip(self.bonds.vectors(i)).collect();
        let row = self.bonds.row_mut(child);
        for (slot, (end, vector)) in own.iter().enumerate() {
            (row.ends[slot], row.vectors[slot]) = (*end, (*vector + offset).as_vec3());
        }
        *row.count = own.len() as u32;
        self.bonds.row_mut(i).map_vectors(|u| u - offset);
        for &k in &owners {
            if self.is_dead[k] {
                continue;
            }
            if let Some(slot) = self.slot(k, i) {
                let row = self.bonds.row_mut(k);
                let before = row.vector(slot);
                row.vectors[slot] = (before + offset).as_vec3();
                self.add(k, child, before - offset);
            }
        }
        self.add(i, child, offset * -2.0);
        self.add(child, i, offset * 2.0);
        self.touch(i, &owners);
    }
}

impl Embedded {
    /// Returns Σ_j u_ij u_ijᵀ/|u_ij|⁴, Jones 2014 Eq. 13 (1/m²).
    fn sampling(&self, i: usize) -> Mat3 {
        self.bonds.vectors(i).fold(Mat3::ZERO, |sum, u| {
            let squared = u.length_squared().max(Real::MIN_POSITIVE);
            sum + outer(u * (1.0 / (squared * squared)), u)
        })
    }

    /// Returns the rest distance to the nearest neighbour (m).
    fn nearest(&self, i: usize) -> Real {
        self.bonds.vectors(i).map(|u| u.length_squared()).fold(Real::INFINITY, Real::min).sqrt()
    }

    /// Finds the eigenvalues of Eq. 13 at rest for the paper's rule: the smallest largest and the largest smallest one.
    pub(super) fn find_rest_eigenvalues(&mut self) {
        if !matches!(self.params.resampling, Resampling::Eigenvalues { .. }) {
            return;
        }
        let n = self.basis.len();
        let values: Vec<Vec3> = (0..n).into_par_iter().map(|i| symmetric_eigen(self.sampling(i)).0).collect();
        let smallest = values.iter().map(|v| v.x).fold(Real::INFINITY, Real::min);
        let largest = values.iter().map(|v| v.z).fold(0.0, Real::max);
        self.rest.eigenvalues = (smallest, largest);
    }

    fn wish(&self, i: usize, spacing: Real, nearest: Real) -> Wish {
        let vectors = self.bonds.vectors(i);
        if vectors.len() < 2 {
            return Wish::default();
        }
        match self.params.resampling {
            Resampling::Off => Wish::default(),
            Resampling::Gaps { split, merge } => {
                let q = symmetric_eigen(self.sampling(i)).1;
                // the direction with the sparsest sampling and the next one
                let gaps = [q.z_axis, q.y_axis].map(|axis| (gap(vectors.clone(), axis), axis));
                let widest = if gaps[1].0 > gaps[0].0 { gaps[1] } else { gaps[0] };
                Wish {
                    merge: Some(nearest).filter(|d| *d < merge * spacing),
                    split: Some((-widest.0, widest.1 * (OFFSET * widest.0)))
                        .filter(|_| widest.0 > split * spacing),
                }
            }
            Resampling::Eigenvalues { split, merge } => {
                let (values, q) = symmetric_eigen(self.sampling(i));
                let mean = vectors.clone().map(|u| u.length()).sum::<Real>() / vectors.len() as Real;
                let (smallest, largest) = self.rest.eigenvalues;
                Wish {
                    merge: Some(-values.z).filter(|_| values.z > merge * largest),
                    split: Some((values.x, q.y_axis * (0.5 * mean))).filter(|_| values.x < split * smallest),
                }
            }
        }
    }

    /// Returns the extent of matter around a particle in its thinnest direction: root mean square of the rest bonds
    /// (support radii).
    fn thickness(&self, i: usize) -> Real {
        let Basis { inverse_moment, weight_sum, .. } = self.basis[i];
        if self.basis[i].is_degenerate() {
            return 0.0;
        }
        1.0 / ((symmetric_eigen(inverse_moment).0.x * weight_sum).sqrt() * self.support_radius[i])
    }

    /// Finds the median thickness at the start, the reference for contact radii.
    pub(super) fn find_rest_thickness(&mut self) {
        let n = self.basis.len();
        let mut all: Vec<Real> = (0..n).into_par_iter().map(|i| self.thickness(i)).collect();
        all.sort_unstable_by(Real::total_cmp);
        self.rest.thickness = all.get(n / 2).copied().unwrap_or(0.0).max(Real::MIN_POSITIVE);
    }

    /// Adapts contact radii to the flow. In a sheet thinner than two spacings they shrink; otherwise its particles
    /// would be pressed into one layer, which does not determine F. They grow slowly, because a radius that jumps lifts
    /// the matter.
    pub(super) fn follow_thickness(&self, particles: &mut Particles) {
        if !can_flow(&particles.material) {
            return;
        }
        let Particles { radius, contact_radius, .. } = particles;
        contact_radius.par_iter_mut().with_min_len(512).enumerate().for_each(|(i, contact_radius)| {
            if self.plastic_strain[i] > 0.0 {
                let share = (self.thickness(i) / self.rest.thickness - THIN) / (THICK - THIN);
                let aim = radius[i] * share.clamp(LEAST_RADIUS, 1.0);
                *contact_radius = aim.min(*contact_radius + (aim - *contact_radius) * PACE);
            }
        });
    }

    /// Collects the requests of all particles, in order of urgency.
    pub(super) fn plan_resampling(&self, particles: &Particles) -> Plan {
        let wishes: Vec<Wish> = (0..particles.len())
            .into_par_iter()
            .with_min_len(128)
            .map(|i| self.wish(i, 2.0 * particles.radius[i], self.nearest(i)))
            .collect();
        let mut plan = Plan::default();
        for (i, wish) in wishes.into_iter().enumerate() {
            plan.merges.extend(wish.merge.map(|urgency| (urgency, i)));
            plan.splits.extend(wish.split.map(|(urgency, offset)| (urgency, i, offset)));
        }
        plan.merges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        plan.splits.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        plan
    }

    /// Splits and merges particles, most urgent first, at most one operation per neighbourhood.
    pub(super) fn resample(&mut self, particles: &mut Particles, ctx: &mut StepContext<'_>) {
        let clock = ctx.timings.start();
        // frees the Laplacian, which is not needed until the next embedding and as large as a third of the bonds
        self.laplacian = Laplacian::default();
        self.follow_thickness(particles);
        let plan = self.plan_resampling(particles);
        if !plan.merges.is_empty() || !plan.splits.is_empty() {
            self.carry_out(&plan, particles, ctx);
        }
        ctx.timings.stop("resampling", clock);
    }

    fn carry_out(&mut self, plan: &Plan, particles: &mut Particles, ctx: &mut StepContext<'_>) {
        let n = particles.len();
        let most = ((MOST_OPERATIONS * n as Real) as usize).max(1);
        let mut is_touched: Vec<bool> = (0..n).map(|i| ctx.contacts.is_stuck(i)).collect();
        ctx.grips.visit_held(|i, _| is_touched[i] = true);
        let mut bonds = std::mem::take(&mut self.bonds);
        let mut editor = Editor { bonds: &mut bonds, is_touched, is_dead: vec![false; n] };
        let mut merged: Vec<(usize, usize)> = Vec::new();
        for &(_, i) in &plan.merges {
            if merged.len() == most {
                break;
            }
            if editor.is_touched[i] {
                continue;
            }
            let row = editor.bonds.ends(i).iter().zip(editor.bonds.vectors(i));
            let nearest = row.min_by(|a, b| a.1.length_squared().total_cmp(&b.1.length_squared()));
            let Some((&j, between)) = nearest else { continue };
            let j = j as usize;
            if editor.is_touched[j] {
                continue;
            }
            let share = particles.mass[j] / (particles.mass[i] + particles.mass[j]);
            editor.merge(i, j, between, share);
            merged.push((i, j));
        }
        let mut split: Vec<(usize, Vec3)> = Vec::new();
        for &(_, i, offset) in &plan.splits {
            if split.len() == most {
                break;
            }
            if editor.is_touched[i] || !self.may_split(editor.bonds, particles, ctx, i, offset) {
                continue;
            }
            let child = n + split.len();
            editor.bonds.resize(child + 1);
            editor.is_touched.push(true);
            editor.is_dead.push(false);
            editor.split(i, child, offset);
            split.push((i, offset));
        }
        let is_dead = editor.is_dead;
        if !merged.is_empty() || !split.is_empty() {
            self.remap(particles, ctx, &mut bonds, Operations { merged, split, is_dead });
        }
        self.bonds = bonds;
    }

    /// Checks the safeguards of Jones 2014 Sec. 3.5 against a split.
    fn may_split(
        &self,
        bonds: &SlotBonds,
        particles: &Particles,
        ctx: &StepContext<'_>,
        i: usize,
        offset: Vec3,
    ) -> bool {
        let spacing = 2.0 * particles.radius[i];
        if particles.mass[i] < LIGHTEST * particles.material[Property::Density].at(i) * cube(spacing) {
            return false;
        }
        let vectors = bonds.vectors(i);
        let centroid = vectors.clone().sum::<Vec3>() / vectors.len().max(1) as Real;
        let distance = centroid.length();
        if distance > SURFACE * self.support_radius[i] {
            let pops = match self.params.resampling {
                Resampling::Eigenvalues { .. } => {
                    let farthest = (offset - centroid).length().max((offset + centroid).length());
                    farthest > std::f64::consts::SQRT_2 * distance
                }
                _ => offset.dot(centroid).abs() > TANGENT * offset.length() * distance,
            };
            if pops {
                return false;
            }
        }
        let world = self.gradients[i] * offset;
        let radius = particles.contact_radius[i];
        [world, -world].into_iter().all(|side| {
            let child = particles.position[i] + side;
            let clear = |k| ctx.contacts.query(k, child, radius).is_none_or(|c| c.gap > CLEARANCE * radius);
            (0..ctx.contacts.n_obstacles()).all(clear)
        })
    }

    /// Transforms particles, state and bonds to the new set. Children follow their parents, so that memory stays
    /// sorted. The index of incoming bonds is not rebuilt here: neighbourhoods change next.
    fn remap(
        &mut self,
        particles: &mut Particles,
        ctx: &mut StepContext<'_>,
        bonds: &mut SlotBonds,
        operations: Operations,
    ) {
        let n = particles.len();
        let Operations { merged, split, is_dead } = operations;
        let mut partner = vec![usize::MAX; n];
        for &(i, j) in &merged {
            partner[i] = j;
            let largest = self.support_radius[i].max(self.support_radius[j]);
            (self.support_radius[i], self.support_radius[j]) = (largest, largest);
        }
        let mut child = vec![usize::MAX; n];
        split.iter().enumerate().for_each(|(k, &(i, _))| child[i] = n + k);
        let (mut origins, mut rows) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in (0..n).filter(|&i| !is_dead[i]) {
            rows.push(i);
            if partner[i] != usize::MAX {
                // the smaller id survives
                let (a, b) = (i as u32, partner[i] as u32);
                let is_first = particles.id[i] < particles.id[partner[i]];
                origins.push(if is_first { Origin::Merged(a, b) } else { Origin::Merged(b, a) });
            } else if child[i] != usize::MAX {
                origins.extend([Origin::Part(i as u32, 0.5); 2]);
                rows.push(child[i]);
            } else {
                origins.push(Origin::Same(i as u32));
            }
        }
        let mut place = vec![0u32; n + split.len()];
        rows.iter().enumerate().for_each(|(k, &row)| place[row] = k as u32);
        let mut remap = Remap::new(PARTICLES, origins, &particles.mass);
        ctx.remap(particles, &mut remap);
        self.visit_particle_state(&mut remap);
        self.lame = LameParameter::new(&particles.material, particles.len());
        let (name, unit, set, carry) = ("gradient", "1", PARTICLES, Carry::Mean);
        remap.visit(StateItem { name, unit, set, carry, data: StateData::Matrices(&mut self.gradients) });
        for &(i, offset) in &split {
            let parent = place[i] as usize;
            let world = self.gradients[parent] * offset;
            particles.position[parent] += world;
            particles.position[parent + 1] -= world;
            self.embedded_position[parent] += offset;
            self.embedded_position[parent + 1] -= offset;
        }
        for &(i, _) in &merged {
            let plastic = &mut self.plastic_gradient[place[i] as usize];
            *plastic *= 1.0 / cbrt(plastic.determinant());
        }
        bonds.rearrange(&rows, n, &place);
        self.tallies.n_splits += split.len() as u64;
        self.tallies.n_merges += merged.len() as u64;
        self.resize_scratch(rows.len());
        std::mem::swap(&mut self.bonds, bonds);
        self.compute_bases(particles);
        std::mem::swap(&mut self.bonds, bonds);
    }
}

/// Operations of an update, by old indices; row n + k belongs to the k-th child.
struct Operations {
    merged: Vec<(usize, usize)>,
    split: Vec<(usize, Vec3)>,
    is_dead: Vec<bool>,
}

/// Returns the distance to the nearest neighbour along an axis, on the nearer side; 0 if one side has no neighbour.
fn gap(vectors: impl Iterator<Item = Vec3>, axis: Vec3) -> Real {
    let mut sides = [Real::INFINITY; 2];
    for u in vectors {
        let (along, squared) = (u.dot(axis), u.length_squared());
        if along * along > CONE * CONE * squared {
            let side = &mut sides[usize::from(along < 0.0)];
            *side = side.min(squared);
        }
    }
    let nearer = sides[0].min(sides[1]).sqrt();
    if sides[0].max(sides[1]).is_finite() { nearer } else { 0.0 }
}
