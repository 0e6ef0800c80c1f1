//! Checks for bodies that start inside each other or inside obstacles.

use super::{BuildError, World, WorldBuilder};
use crate::math::Real;
use std::collections::BTreeMap;

/// Depth of a particle's surface in another body above which they overlap (spacings).
const OVERLAP: Real = 0.25;
/// Depth above which an overlap is refused: contact could not tell from which side the particle came (spacings).
const DEEP_OVERLAP: Real = 0.75;

impl WorldBuilder {
    /// Returns a warning for each pair of bodies that start slightly inside each other; refuses deeper overlaps.
    pub(super) fn overlaps(&self, world: &World) -> Result<Vec<String>, BuildError> {
        let mut warnings = Vec::new();
        if !self.body_contact {
            return Ok(warnings);
        }
        let traits = world.body_contacts.bodies();
        let bounds: Vec<_> = self.bodies.iter().map(|b| b.shape.bounds()).collect();
        // for each pair of bodies: the number of particles that overlap, and the largest depth (spacings)
        let mut found: BTreeMap<(usize, usize), (usize, Real)> = BTreeMap::new();
        for particles in world.particles() {
            for i in 0..particles.len() {
                let (x, radius) = (particles.position[i], particles.radius[i]);
                let own = particles.body[i] as usize;
                for (other, shape) in self.bodies.iter().map(|b| &b.shape).enumerate() {
                    let is_near = bounds[other].is_none_or(|b| b.grown(radius).contains(x));
                    if traits[own].matter == traits[other].matter || !is_near {
                        continue;
                    }
                    let depth = (radius - shape.signed_distance(x)) / (2.0 * radius);
                    if depth > OVERLAP {
                        let (n, deepest) = found.entry((own.min(other), own.max(other))).or_insert((0, 0.0));
                        (*n, *deepest) = (*n + 1, deepest.max(depth));
                    }
                }
            }
        }
        let mut refused = Vec::new();
        let mut first = None;
        for ((a, b), (n, deepest)) in found {
            let both = format!("\"{}\" and \"{}\"", self.bodies[a].name, self.bodies[b].name);
            if deepest > DEEP_OVERLAP {
                refused.push(format!("{both} ({n} particles, {deepest:.1} spacings deep)"));
                first = first.or(Some(b));
            } else {
                warnings.push(format!(
                    "bodies {both} overlap at the start: {n} particles are pushed apart, the deepest by {deepest:.1} spacings"
                ));
            }
        }
        match first {
            Some(body) => Err(BuildError::Overlap { body, pairs: refused.join(", ") }),
            None => Ok(warnings),
        }
    }

    /// Returns warnings of bodies that start inside obstacles, which push them out at once, and of obstacles whose
    /// surface is known too coarsely.
    pub(super) fn obstacle_warnings(&self, world: &World) -> Vec<String> {
        let mut warnings = Vec::new();
        for (obstacle, posed) in self.obstacles.iter().zip(&world.posed) {
            if let Some(ratio) = posed.coarsening() {
                let name = &obstacle.name;
                warnings.push(format!(
                    "obstacle \"{name}\" is so large that its surface is known {ratio:.1} times coarser than the particles need"
                ));
            }
            let mut n_inside = vec![0usize; self.bodies.len()];
            for particles in world.particles() {
                let pose = obstacle.motion.pose(0.0, obstacle.center());
                let inside = |i: &usize| posed.gap_at_start(pose.undo(particles.position[*i])) < 0.0;
                (0..particles.len()).filter(inside).for_each(|i| n_inside[particles.body[i] as usize] += 1);
            }
            for (body, n) in self.bodies.iter().zip(n_inside).filter(|b| b.1 > 0) {
                let (body, obstacle) = (&body.name, &obstacle.name);
                warnings.push(format!(
                    "body \"{body}\" starts inside obstacle \"{obstacle}\": {n} particles are pushed out"
                ));
            }
        }
        warnings
    }
}
