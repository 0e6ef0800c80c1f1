//! Checks for bodies that start inside each other, and for coarse obstacles.

use super::{BuildError, World, WorldBuilder};
use crate::contact::{Obstacle, PosedObstacle};
use crate::math::Real;
use crate::world::clearance::DEEP_OVERLAP;
use std::collections::BTreeMap;

/// Depth of a particle's surface in another body above which they overlap (spacings).
const OVERLAP: Real = 0.25;

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

    /// Returns warnings of obstacles whose surface is known too coarsely.
    pub(super) fn obstacle_warnings(&self, world: &World) -> Vec<String> {
        let coarse = |(obstacle, posed): (&Obstacle, &PosedObstacle)| {
            let (name, ratio) = (&obstacle.name, posed.coarsening()?);
            Some(format!(
                "obstacle \"{name}\" is so large that its surface is known {ratio:.1} times coarser than the particles need"
            ))
        };
        self.obstacles.iter().zip(&world.posed).filter_map(coarse).collect()
    }
}
