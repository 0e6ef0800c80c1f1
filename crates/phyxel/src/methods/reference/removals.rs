//! Particles that are removed while the method runs.

use super::Reference;
use crate::methods::Method;
use crate::particles::{Particles, Remap};

impl Reference {
    /// Removes particles from the rest shape; bonds to them are lost.
    pub(super) fn remove(&mut self, particles: &Particles, remap: &mut Remap) {
        self.visit_state(remap);
        self.prepare(particles);
    }
}
