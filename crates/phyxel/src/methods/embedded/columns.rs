//! Quantities of the state that users see: columns of frames and of the ledger.

use super::Embedded;
use crate::math::{Mat3, Real, max_over, sum_over, svd, symmetric_eigen};
use crate::methods::strays::strays;
use crate::methods::{ColumnInfo, columns};
use crate::particles::Particles;
use rayon::prelude::*;

pub(super) const COLUMNS: &[ColumnInfo] = &[
    columns::STRESS,
    columns::PRESSURE,
    columns::VOLUME_RATIO,
    columns::STRETCH,
    ColumnInfo::scalar("plastic_stretch", "1", "largest principal stretch that has flowed"),
    columns::PLASTIC_STRAIN,
    columns::HARDENING,
    columns::STRAY,
    ColumnInfo::vector("embedded_position", "m", "position in the embedded shape"),
];

impl Embedded {
    pub(super) fn compute_column(&self, name: &str, particles: &Particles) -> Option<Vec<Real>> {
        let law = |i: usize| self.bodies[particles.body[i] as usize].law;
        let first_piola = |i: usize, f: Mat3| law(i).first_piola(self.lame.at(i), f);
        if let Some(column) = columns::strain_column(name, &self.gradients, first_piola) {
            return Some(column);
        }
        let value: &(dyn Fn(usize) -> Real + Sync) = match name {
            "plastic_stretch" => &|i| svd(self.plastic_gradient[i]).sigma.x,
            "plastic_strain" => &|i| self.plastic_strain[i],
            "hardening" => &|i| self.hardening[i],
            "stray" => return Some(strays(particles)),
            "embedded_position" => {
                return Some(self.embedded_position.iter().flat_map(|e| e.to_array()).collect());
            }
            _ => return None,
        };
        Some((0..particles.len()).into_par_iter().map(value).collect())
    }

    /// Returns the condition numbers of the moment matrices, in ascending order.
    pub(super) fn conditions(&self) -> Vec<Real> {
        let condition = |i: usize| {
            let values = symmetric_eigen(self.moment(i).0).0;
            values.x / values.z.max(1e-12 * values.x).max(Real::MIN_POSITIVE)
        };
        let mut all: Vec<Real> = (0..self.basis.len()).into_par_iter().map(condition).collect();
        all.sort_unstable_by(Real::total_cmp);
        all
    }

    pub(super) fn ledger_columns(&self, particles: &Particles) -> Vec<(&'static str, Real)> {
        let n = particles.len();
        let scale = |i: usize| &self.bodies[particles.body[i] as usize];
        let moments = sum_over(n, |i| scale(i).volume_scale * self.moment_volume(i));
        let sph = self.sph_volumes(particles);
        let conditions = self.conditions();
        let t = &self.tallies;
        vec![
            ("degenerate", self.n_degenerate() as Real),
            ("strays", strays(particles).into_iter().sum()),
            ("splits", t.n_splits as Real),
            ("merges", t.n_merges as Real),
            ("limited_speeds", t.n_limited as Real),
            ("updates", t.n_updates as Real),
            ("embedding_iterations", t.n_embedding_iterations as Real),
            ("new_bonds", t.n_new_bonds as Real),
            ("update_energy", t.update_energy),
            ("volume_moments", moments),
            ("volume_sph", sum_over(n, |i| scale(i).sph_scale * sph[i])),
            ("condition_p99", conditions.get(n * 99 / 100).copied().unwrap_or(1.0)),
            ("plastic_strain_max", max_over(n, |i| self.plastic_strain[i]).map_or(0.0, |m| m.0)),
        ]
    }
}
