//! Removal of particles while the method runs.

use super::Incremental;
use crate::math::Vec3;
use crate::methods::Method;
use crate::particles::{Particles, Remap};

impl Incremental {
    /// Removes particles; bonds between the remaining ones keep their residuals.
    pub(super) fn remove(&mut self, particles: &Particles, remap: &mut Remap) {
        let (old, old_residual) = (std::mem::take(&mut self.neighbors), std::mem::take(&mut self.residual));
        self.visit_state(remap);
        self.follow_particles(particles);
        self.find_lists(particles);
        let before = |i: usize| remap.origins()[i].first();
        self.residual = vec![Vec3::ZERO; self.neighbors.n_bonds()];
        for i in 0..particles.len() {
            let row = old.row(before(i));
            for (bond, &j) in self.neighbors.range(i).zip(self.neighbors.row(i)) {
                if let Ok(k) = row.binary_search(&(before(j as usize) as u32)) {
                    self.residual[bond] = old_residual[old.range(before(i)).start + k];
                }
            }
        }
        self.before.clone_from(&particles.position);
        self.forces_at(particles);
    }
}
