//! Removal of particles while the method runs.

use super::Embedded;
use crate::particles::{GONE, Particles, Remap};

impl Embedded {
    /// Removes particles and the bonds to them.
    pub(super) fn remove(&mut self, particles: &Particles, remap: &mut Remap) {
        let n = self.basis.len();
        let place: Vec<u32> = (0..n).map(|i| remap.new_index(i)).collect();
        let kept: Vec<usize> = (0..n).filter(|&i| place[i] != GONE).collect();
        self.visit_particle_state(remap);
        self.bonds.rearrange(&kept, n, &place);
        self.restore(particles);
        self.forces_at(&particles.position, particles);
    }
}
