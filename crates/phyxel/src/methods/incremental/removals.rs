//! Removal of particles while the method runs.

use super::Incremental;
use crate::material::LameParameter;
use crate::math::Vec3;
use crate::methods::Method;
use crate::particles::{Carry, Origin, PARTICLES, Particles, Remap, StateData, StateItem, StateVisitor};

impl Incremental {
    /// Removes particles; bonds between the remaining ones keep their residuals.
    pub(super) fn remove(&mut self, particles: &Particles, remap: &mut Remap) {
        let (old, old_residual) = (std::mem::take(&mut self.neighbors), std::mem::take(&mut self.residual));
        self.visit_state(remap);
        for (name, column) in [("full_support", &mut self.full_support), ("room", &mut self.room)] {
            let (unit, set, carry, data) = ("m", PARTICLES, Carry::Copy, StateData::Reals(column));
            remap.visit(StateItem { name, unit, set, carry, data });
        }
        self.piece_sizes.fill(0);
        for &body in &particles.body {
            self.piece_sizes[self.bodies[body as usize].piece as usize] += 1;
        }
        self.lame = LameParameter::new(&particles.material, particles.len());
        self.rest.fastest = 0;
        self.find_lists(particles);
        let before = |i: usize| match remap.origins()[i] {
            Origin::Same(old) | Origin::Part(old, _) | Origin::Merged(old, _) => old,
        };
        self.residual = vec![Vec3::ZERO; self.neighbors.n_bonds()];
        for i in 0..particles.len() {
            let row = old.row(before(i) as usize);
            for (bond, &j) in self.neighbors.range(i).zip(self.neighbors.row(i)) {
                if let Ok(k) = row.binary_search(&before(j as usize)) {
                    self.residual[bond] = old_residual[old.range(before(i) as usize).start + k];
                }
            }
        }
        self.before.clone_from(&particles.position);
        self.forces_at(particles);
    }
}
