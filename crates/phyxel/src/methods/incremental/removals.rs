//! Removal of particles while the method runs.

use super::Incremental;
use crate::math::Vec3;
use crate::methods::Method;
use crate::particles::{Particles, Remap};

impl Incremental {
    /// Removes particles; bonds between the remaining ones keep their residuals.
    pub(super) fn remove(&mut self, particles: &Particles, remap: &mut Remap) {
        let (old, old_residual) = (std::mem::take(&mut self.neighbors), std::mem::take(&mut self.residual));
        let old_listed = std::mem::take(&mut self.listed_residual);
        self.visit_state(remap);
        self.follow_particles(particles);
        self.find_lists(particles);
        let before = |i: usize| remap.origins()[i].first();
        let neighbors = &self.neighbors;
        let carry_over = |old_residual: &[Vec3]| {
            let mut residual = vec![Vec3::ZERO; neighbors.n_bonds()];
            for i in 0..particles.len() {
                let row = old.row(before(i));
                for (bond, &j) in neighbors.range(i).zip(neighbors.row(i)) {
                    if let Ok(k) = row.binary_search(&(before(j as usize) as u32)) {
                        residual[bond] = old_residual[old.range(before(i)).start + k];
                    }
                }
            }
            residual
        };
        self.residual = carry_over(&old_residual);
        if self.has_spans() {
            self.listed_residual = carry_over(&old_listed);
            self.restore_spans();
            self.keep_gradients(&particles.position);
        }
        self.before.clone_from(&particles.position);
        self.forces_at(particles);
    }
}
