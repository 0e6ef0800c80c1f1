//! Removal of particles while the method runs.

use super::Reference;
use crate::methods::Method;
use crate::particles::{Particles, Remap};

impl Reference {
    /// Removes particles and their bonds from the rest shape.
    pub(super) fn remove(&mut self, particles: &Particles, remap: &mut Remap) {
        self.visit_state(remap);
        self.resize(particles.len());
        self.prepare(particles);
    }

    fn resize(&mut self, n: usize) {
        self.gradients.truncate(n);
        self.answers.truncate(n);
        self.force.truncate(n);
    }
}
