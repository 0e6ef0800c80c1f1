//! After state was loaded from elsewhere: it is checked, then everything that follows from it is computed.

use super::drag::visit_pull;
use super::{Group, Interval, World};
use crate::contact::STUCK;
use crate::methods::Change;
use crate::particles::{BODIES, GRIPS, OBSTACLES, Soundness, StateError};

impl World {
    /// Checks the state that a visitor has written and rebuilds the derived data.
    ///
    /// # Errors
    /// If columns do not fit together, an index points nowhere or a value is not finite; the world is not usable then.
    pub fn restored(&mut self) -> Result<(), StateError> {
        self.check_state()?;
        for group in &mut self.groups {
            group.method.changed(&group.particles, Change::Restored);
        }
        for k in 0..self.obstacles.len() {
            self.posed[k].moving |= self.moved.way(k).is_some();
        }
        self.interval = Interval { start: self.time, end: self.time, ..Interval::default() };
        Ok(())
    }

    fn check_state(&mut self) -> Result<(), StateError> {
        if !self.time.is_finite() || !self.gravity.is_finite() {
            return Err(StateError("time or gravity is not finite".into()));
        }
        let n_obstacles = self.obstacles.len();
        let outside = [(BODIES, self.body_names.len()), (GRIPS, self.grips.len()), (OBSTACLES, n_obstacles)];
        let mut soundness = Soundness::new(&outside);
        visit_pull(&mut self.pull, &mut soundness);
        self.moved.visit_state(&mut soundness);
        self.body_contacts.visit_state(&mut soundness);
        soundness.finish()?;
        for group in &mut self.groups {
            let mut soundness = Soundness::new(&outside);
            group.particles.visit_state(&mut soundness);
            group.companions().visit_state(&mut soundness);
            group.method.visit_state(&mut soundness);
            soundness.finish()?;
            group.check_references(n_obstacles)?;
        }
        Ok(())
    }
}

impl Group {
    /// Checks the references that are no plain indices: bodies of other groups, marks of contact, carried points.
    fn check_references(&self, n_obstacles: usize) -> Result<(), StateError> {
        let problem = |text: String| Err(StateError(text));
        if let Some(body) = self.particles.body.iter().find(|body| !self.bodies.contains(body)) {
            return problem(format!("a particle is of body {body}, which another group has"));
        }
        let stuck = self.touching.iter().filter_map(|mark| mark.checked_sub(STUCK));
        if let Some(obstacle) = stuck.max().filter(|&k| k as usize >= n_obstacles) {
            return problem(format!("a particle sticks to number {obstacle} of {n_obstacles} obstacles"));
        }
        self.carried.check()
    }
}
