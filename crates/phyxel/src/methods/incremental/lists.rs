//! Neighbour lists in world space, with a skin, so that they remain valid for many steps.

use super::{ForceForm, Incremental};
use crate::forces::repulsion;
use crate::kernels::cosine_weight;
use crate::material::Property;
use crate::math::{
    Mat3, Real, Vec3, frobenius_norm, max_over, outer, scaled_columns, symmetric_eigen, trace,
};
use crate::neighbors::{Grid, Neighbors};
use crate::particles::Particles;
use rayon::prelude::*;

/// Width of the skin: lists reach farther than the support by this fraction of it.
const SKIN: Real = 0.1;
/// Elastic stretch above which a bond counts as drawn, unless its ends are under pressure.
const STRETCHED: Real = 1.02;
/// Plastic strain since the last search, beyond the present elastic strain, that counts as large if the motion since then is
/// fitted. A search takes matter some of its elastic shape, so it waits until flow prevails.
const SPAN_STRAIN: Real = 0.06;
/// Fraction of particles that may be strained by more than half the skin (or the strain above), and lack neighbours without weight.
const FEW_STRAINED: Real = 0.002;
/// Largest strain of any particle before lists are renewed.
const MOST_STRAIN: Real = 0.2;
/// Motion relative to the mean of its piece of matter beyond which a particle may have met others (supports).
const FAR: Real = 0.3;
/// Distance below which particles that were far from each other have met (supports).
const NEAR: Real = 0.8;
/// Distances at the last search above which particles were far from each other, of matter that can flow and of elastic
/// matter (supports). In an impact layers crumple, so that particles come near that were a little farther than neighbours;
/// a search then would take elastic matter its shape.
const APART: Real = 1.5;
const APART_ELASTIC: Real = 3.0;
/// With fewer neighbours than this, the support grows until it contains this many.
const FEW: usize = 10;
/// Extra growth factor in that case, because a neighbour at the very edge of the support has no weight.
const BEYOND: Real = 1.1;
/// Largest factor by which supports grow, and by which the kernel form searches farther, to include stretched bonds.
pub(super) const LONGEST_STRETCH: Real = 1.5;

/// Smallest and largest square of the stretches that metrics undo.
const STRETCHES: (Real, Real) = (0.25, 4.0);
/// Percentile of the particles' time scales that limits the step: single particles may have shorter ones.
const PERCENTILE: Real = 0.005;

impl Incremental {
    fn reach_factor(&self) -> Real {
        match self.params.force_form {
            ForceForm::Corrected => 1.0 + SKIN,
            ForceForm::Kernel => LONGEST_STRETCH + SKIN,
        }
    }

    /// Returns for each piece of matter if its lists may lack neighbours: more than a few of its particles have been
    /// strained by half the skin, or some have moved far relative to its mean motion and may have met others.
    pub(super) fn old_pieces(&mut self, particles: &Particles) -> Vec<bool> {
        let (x, full) = (&particles.position, &self.full_support);
        let piece = |i: usize| self.piece(particles, i);
        let much = if self.has_spans() { SPAN_STRAIN } else { 0.5 * SKIN };
        let mut pieces = vec![Motion::default(); self.piece_sizes.len()];
        for i in 0..x.len() {
            let Motion { sum, n_strained, most, .. } = &mut pieces[piece(i)];
            *sum += x[i] - self.checked_position[i];
            let mut strain = self.strain_since[i];
            if self.has_spans() && strain > much {
                strain -= elastic_strain(&self.gradient[i]);
            }
            *n_strained += usize::from(strain > much);
            *most = most.max(strain);
        }
        for i in 0..x.len() {
            let Motion { sum, is_far, .. } = &mut pieces[piece(i)];
            let mean = *sum / self.piece_sizes[piece(i)] as Real;
            let relative = x[i] - self.checked_position[i] - mean;
            *is_far |= relative.length_squared() > FAR * FAR * full[i] * full[i];
        }
        let is_strained = |(motion, &size): (&Motion, &usize)| {
            motion.n_strained as Real > FEW_STRAINED * size as Real || motion.most > MOST_STRAIN
        };
        let mut old: Vec<bool> = pieces.iter().zip(&self.piece_sizes).map(is_strained).collect();
        let is_open = |k: usize| pieces[k].is_far && !old[k];
        if !(0..old.len()).any(is_open) {
            return old;
        }
        if !self.has_spans() {
            return pieces.iter().zip(old).map(|(motion, old)| old || motion.is_far).collect();
        }
        let largest = max_over(x.len(), |i| full[i]).map_or(1.0, |m| m.0);
        let grid = Grid::new(x, 0.5 * largest);
        let rows = (0..x.len()).into_par_iter().with_min_len(256);
        let met = rows.filter(|&i| is_open(piece(i)) && self.has_met_others(particles, &grid, i)).map(piece);
        met.collect::<Vec<_>>().into_iter().for_each(|k| old[k] = true);
        for i in 0..x.len() {
            let k = self.piece(particles, i);
            if pieces[k].is_far && !old[k] {
                self.checked_position[i] = x[i];
            }
        }
        old
    }

    /// Returns the piece of matter that a particle belongs to.
    fn piece(&self, particles: &Particles, i: usize) -> usize {
        self.bodies[particles.body[i] as usize].piece as usize
    }

    /// Returns true if a particle has come near others of its piece that were far from it.
    fn has_met_others(&self, particles: &Particles, grid: &Grid, i: usize) -> bool {
        let (x, old) = (&particles.position, &self.listed_position);
        let (metric, (_, longest)) = Metric::of(self.gradient[i]);
        let apart = if particles.material[Property::FlowRate].at(i) > 0.0 { APART } else { APART_ELASTIC };
        let (near, apart) = (NEAR * self.full_support[i], apart * self.full_support[i]);
        let mut has_met = false;
        grid.visit_ball(x[i], near * longest.max(1.0), |j| {
            let k = j as usize;
            has_met |= k != i
                && self.piece(particles, i) == self.piece(particles, k)
                && metric.square(x[k] - x[i]) < near * near
                && self.rest_square(i, k, old[k] - old[i]) > apart * apart
                && self.neighbors.row(i).binary_search(&j).is_err();
        });
        has_met
    }

    /// Renews the neighbour lists of all pieces of matter at the present positions.
    pub(super) fn renew_all_lists(&mut self, particles: &Particles) {
        self.renew_lists(particles, &vec![true; self.piece_sizes.len()]);
    }

    /// Renews the neighbour lists of some pieces of matter at the present positions: those of the others stay the same,
    /// because a search takes elastic matter some of its memory. Bonds that remain keep their residuals.
    pub(super) fn renew_lists(&mut self, particles: &Particles, is_due: &[bool]) {
        let (x, n) = (&particles.position, particles.len());
        let pieces: Vec<usize> = (0..n).map(|i| self.piece(particles, i)).collect();
        let is_due = |i: usize| is_due[pieces[i]];
        if self.has_spans() {
            self.end_spans(x, is_due);
            self.base.resize(n, Mat3::IDENTITY);
        }
        self.listed_position.resize(n, Vec3::ZERO);
        self.checked_position.resize(n, Vec3::ZERO);
        self.listed_gradient.resize(n, Mat3::IDENTITY);
        for i in (0..n).filter(|&i| is_due(i)) {
            (self.listed_position[i], self.checked_position[i]) = (x[i], x[i]);
            self.listed_gradient[i] = self.gradient[i];
            self.strain_since[i] = 0.0;
            if self.has_spans() {
                self.base[i] = self.gradient[i];
            }
        }
        let old = std::mem::take(&mut self.neighbors);
        self.find_lists(particles);
        let neighbors = &self.neighbors;
        let carried = |values: &[Vec3]| {
            let mut all = vec![Vec3::ZERO; neighbors.n_bonds()];
            neighbors.par_rows_mut(&mut all, &mut vec![(); n]).for_each(|(i, row, ())| {
                if i >= old.n_rows() {
                    return;
                }
                let mut before = old.row(i).iter().zip(&values[old.range(i)]).peekable();
                for (&j, value) in neighbors.row(i).iter().zip(row) {
                    while before.next_if(|b| *b.0 < j).is_some() {}
                    if let Some((_, kept)) = before.next_if(|b| *b.0 == j) {
                        *value = *kept;
                    }
                }
            });
            all
        };
        self.residual = carried(&self.residual);
        if self.has_spans() {
            self.listed_residual = carried(&self.listed_residual);
            for i in (0..n).filter(|&i| is_due(i)) {
                let range = neighbors.range(i);
                self.listed_residual[range.clone()].copy_from_slice(&self.residual[range]);
            }
            self.restore_spans();
        }
        self.tallies.n_renewals += 1;
    }

    /// Returns the squared length of a bond in the unstretched state, by the mean of its ends' metrics (m²).
    #[inline(always)]
    fn rest_square(&self, i: usize, j: usize, bond: Vec3) -> Real {
        self.metric[i].mean(&self.metric[j]).square(bond)
    }

    /// Returns the support of a particle: the full support, less if more neighbours than the setting allows are nearer,
    /// more if there are only few.
    fn find_support(&self, grid: &Grid, piece: &[u32], i: usize, found: &mut Vec<(Real, u32)>) -> Real {
        let (x, full) = (&self.listed_position, self.full_support[i]);
        if self.params.force_form == ForceForm::Kernel {
            return full;
        }
        found.clear();
        grid.visit_ball(x[i], full * self.stretch[i].1.max(1.0), |j| {
            let squared = self.metric[i].square(x[j as usize] - x[i]);
            if squared < full * full && j as usize != i && piece[j as usize] == piece[i] {
                found.push((squared, j));
            }
        });
        let most = self.params.neighbors;
        if found.len() > most {
            return found.select_nth_unstable_by(most, |a, b| a.0.total_cmp(&b.0)).1.0.sqrt();
        }
        if found.len() >= FEW {
            return full;
        }
        grid.nearest(x, x[i], FEW, |j| j != i && piece[j] == piece[i], found);
        let squares = found.iter().map(|&(_, j)| self.metric[i].square(x[j as usize] - x[i]));
        let farthest = squares.fold(0.0, Real::max).sqrt();
        (BEYOND * farthest).max(full).min(LONGEST_STRETCH * full)
    }

    /// Computes the metrics of the deformation at the last renewal.
    fn find_metrics(&mut self) {
        let is_plain = self.params.force_form == ForceForm::Corrected;
        let metrics = self.listed_gradient.par_iter().with_min_len(256).map(|f| match is_plain {
            true => Metric::of(*f),
            false => (Metric::WORLD, (1.0, 1.0)),
        });
        metrics.unzip_into_vecs(&mut self.metric, &mut self.stretch);
    }

    /// Computes supports, lists and their data from the positions and deformations of the last renewal.
    pub(super) fn find_lists(&mut self, particles: &Particles) {
        self.find_metrics();
        let (x, n) = (&self.listed_position, particles.len());
        let piece: Vec<u32> = particles.body.iter().map(|&body| self.bodies[body as usize].piece).collect();
        let largest = max_over(n, |i| self.full_support[i]).map_or(1.0, |m| m.0);
        let grid = Grid::new(x, 0.5 * largest);
        let mut support = std::mem::take(&mut self.support);
        let rows = (0..n).into_par_iter().with_min_len(256);
        rows.map_init(Vec::new, |found, i| self.find_support(&grid, &piece, i, found))
            .collect_into_vec(&mut support);
        self.support = support;
        let (support, factor) = (&self.support, self.reach_factor());
        let largest = max_over(n, |i| support[i]).map_or(1.0, |m| m.0);
        let longest = max_over(n, |i| self.stretch[i].1).map_or(1.0, |m| m.0);
        self.neighbors = Neighbors::from_rows(n, |i, row| {
            // the mean of two metrics is at least half of either
            let stretch = (std::f64::consts::SQRT_2 * self.stretch[i].1).min(longest);
            grid.visit_ball(x[i], factor * 0.5 * (support[i] + largest) * stretch, |j| {
                let j = j as usize;
                let reach = factor * bond_support(support, i, j);
                let is_near = || self.rest_square(i, j, x[j] - x[i]) < reach * reach;
                if j != i && piece[i] == piece[j] && is_near() {
                    row.push(j as u32);
                }
            });
            row.sort_unstable();
        });
        let neighbors = &self.neighbors;
        let support = &self.support;
        let facts = (0..n).into_par_iter().map(|i| {
            let (mut moment, mut weight_sum) = (Mat3::ZERO, 0.0);
            for &j in neighbors.row(i) {
                let bond = x[j as usize] - x[i];
                let h = bond_support(support, i, j as usize);
                let squared = self.rest_square(i, j as usize, bond);
                let weight = Real::from(cosine_weight((squared / (h * h)) as f32));
                moment += outer(bond * weight, bond);
                weight_sum += weight;
            }
            let size = trace(moment);
            // approximates the smallest eigenvalue if it is much smaller than the others
            let flattest = (moment.determinant() / (size * size)).max(0.0);
            let modulus = self.lame.at(i).p_wave_modulus();
            let scale = self.params.stabilization * modulus * particles.volume[i];
            let sound_speed = (modulus * particles.volume[i] / particles.mass[i]).sqrt();
            Listed {
                stiffness: if size > 0.0 { scale / size } else { 0.0 },
                time_scale: (flattest / weight_sum).sqrt() / sound_speed,
            }
        });
        let facts: Vec<Listed> = facts.collect();
        let mut scales: Vec<Real> = facts.iter().map(|f| f.time_scale).filter(|t| *t > 0.0).collect();
        let k = (PERCENTILE * scales.len() as Real) as usize;
        self.time_scale =
            if scales.is_empty() { 0.0 } else { *scales.select_nth_unstable_by(k, Real::total_cmp).1 };
        self.bond_facts.resize(self.neighbors.n_bonds(), BondFacts::default());
        self.weights.resize(self.neighbors.n_bonds(), 0.0);
        // Elastic compression is not crowding: rooms shrink along the compression. In elastic matter they shrink in all
        // directions, because it must not shake when its lists are renewed.
        let flow_rate = &particles.material[Property::FlowRate];
        let room = |i: usize, squeeze: Real| match flow_rate.at(i) > 0.0 {
            true => self.room[i] * squeeze,
            false => {
                let most = repulsion::ELASTIC_ROOM * 2.0 * particles.radius[i];
                self.room[i].min(most) * self.stretch[i].0.min(1.0)
            }
        };
        let share = match self.params.force_form {
            ForceForm::Corrected if !self.has_stored_rest() => self.params.repulsion,
            _ => 0.0,
        };
        self.push =
            (0..n).map(|i| repulsion::stiffness(share, self.lame.at(i), particles.volume[i])).collect();
        self.residual_stiffness = facts.iter().map(|facts| facts.stiffness).collect();
        let volume_ratio = |i: usize| self.listed_gradient[i].determinant();
        let mut none = vec![(); n];
        neighbors.par_rows_mut(&mut self.bond_facts, &mut none).for_each(|(i, row, ())| {
            for (&j, bond) in neighbors.row(i).iter().zip(row) {
                let j = j as usize;
                let h = bond_support(&self.support, i, j);
                let metric = self.metric[i].mean(&self.metric[j]);
                let (d, m) = (metric.diagonal / (h * h), metric.mixed / (h * h));
                let along = x[j] - x[i];
                let stretch = (along.length_squared() / metric.square(along)).sqrt();
                let squeeze = stretch.min(1.0);
                let stiffness = (facts[i].stiffness + facts[j].stiffness) as f32;
                let is_drawn = stretch > STRETCHED && volume_ratio(i) * volume_ratio(j) > 1.0;
                *bond = BondFacts {
                    metric: [d.x, d.y, d.z, m.x, m.y, m.z].map(|v| v as f32),
                    signed_stiffness: if is_drawn { -stiffness } else { stiffness },
                    room: (0.5 * (room(i, squeeze) + room(j, squeeze))) as f32,
                };
            }
        });
    }
}

impl Incremental {
    /// Returns the repulsion between the ends of a bond.
    pub(super) fn repulsion(&self, facts: &BondFacts, i: usize, j: usize) -> repulsion::Pair {
        repulsion::Pair { room: facts.room.into(), stiffness: 0.5 * (self.push[i] + self.push[j]) }
    }
}

/// Motion of a piece of matter since the last look.
#[derive(Clone, Default)]
struct Motion {
    /// Sum over its particles (m).
    sum: Vec3,
    /// Number of particles that are much strained.
    n_strained: usize,
    /// Largest strain (1).
    most: Real,
    /// True if a particle has moved far relative to the mean.
    is_far: bool,
}

/// Quantities derived from a particle's neighbour list.
struct Listed {
    /// Stiffness c_i of the residuals (N/m).
    stiffness: Real,
    /// Time that sound takes through the thinnest direction of the neighbourhood (s).
    time_scale: Real,
}

/// Metric (F Fᵀ)⁻¹, which measures world bonds as if they were unstretched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Metric {
    diagonal: Vec3,
    /// Off-diagonal elements yz, zx, xy.
    mixed: Vec3,
}

impl Metric {
    /// Metric of world distances (identity).
    const WORLD: Self = Self { diagonal: Vec3::ONE, mixed: Vec3::ZERO };

    /// Returns the metric of a deformation, and the smallest and largest stretch that it undoes.
    fn of(f: Mat3) -> (Self, (Real, Real)) {
        let (squares, axes) = symmetric_eigen(f * f.transpose());
        let squares = squares.clamp(Vec3::splat(STRETCHES.0), Vec3::splat(STRETCHES.1));
        let m = scaled_columns(axes, squares.recip()) * axes.transpose();
        let metric = Self {
            diagonal: Vec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z),
            mixed: Vec3::new(m.y_axis.z, m.z_axis.x, m.x_axis.y),
        };
        (metric, (squares.min_element().sqrt(), squares.max_element().sqrt()))
    }

    #[inline(always)]
    fn mean(&self, other: &Self) -> Self {
        Self { diagonal: (self.diagonal + other.diagonal) * 0.5, mixed: (self.mixed + other.mixed) * 0.5 }
    }

    /// Returns the squared length of a bond (m²).
    #[inline(always)]
    fn square(&self, bond: Vec3) -> Real {
        let turned = Vec3::new(bond.y * bond.z, bond.z * bond.x, bond.x * bond.y);
        self.diagonal.dot(bond * bond) + 2.0 * self.mixed.dot(turned)
    }
}

/// Data of a bond that stay until lists are renewed; both ends have the same.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BondFacts {
    /// Metric of the bond divided by h_ij² (1/m²).
    metric: [f32; 6],
    /// Stiffness of the residual, c_i + c_j (N/m); negative if the bond was drawn when lists were renewed:
    /// stretched, in matter that is not under pressure.
    signed_stiffness: f32,
    /// Distance below which the ends repel each other (m).
    room: f32,
}

impl BondFacts {
    /// Returns true if the ends of the bond are nearer than its room.
    #[inline(always)]
    pub(super) fn is_crowded(&self, bond: Vec3) -> bool {
        let room = Real::from(self.room);
        bond.length_squared() < room * room
    }

    /// Returns the distance below which the ends repel each other (m).
    pub(super) fn room(&self) -> Real {
        self.room.into()
    }

    /// Returns the stiffness of the residual (N/m).
    #[inline(always)]
    pub(super) fn stiffness(&self) -> f32 {
        self.signed_stiffness.abs()
    }

    /// Returns the weight of the bond in the fit. Bonds that are drawn have it without their residual: if weights
    /// fell with what the fit does not see, matter under tension would draw together and tear; if they did not, matter
    /// under pressure would buckle.
    #[inline(always)]
    pub(super) fn weight(&self, form: ForceForm, bond: Vec3, residual: Vec3) -> f32 {
        let bond = if self.signed_stiffness.is_sign_negative() { bond - residual } else { bond };
        let [xx, yy, zz, yz, zx, xy] = self.metric;
        let (x, y, z) = (bond.x as f32, bond.y as f32, bond.z as f32);
        let t =
            (xx * x * x + yy * y * y + zz * z * z + 2.0 * (yz * y * z + zx * z * x + xy * x * y)).max(0.0);
        match form {
            ForceForm::Corrected => cosine_weight(t),
            // poly6 on both sides of the fit, Gerszewski 2009 Sec. 3.2
            ForceForm::Kernel => {
                let cubed = (1.0 - t).max(0.0) * (1.0 - t) * (1.0 - t);
                cubed * cubed
            }
        }
    }
}

/// Returns the magnitude of the strain ½(FᵀF − 1).
fn elastic_strain(f: &Mat3) -> Real {
    0.5 * frobenius_norm(f.transpose() * *f - Mat3::IDENTITY)
}

/// Returns the support of a bond: the mean of its ends' supports (m).
#[inline(always)]
pub(super) fn bond_support(support: &[Real], i: usize, j: usize) -> Real {
    0.5 * (support[i] + support[j])
}
