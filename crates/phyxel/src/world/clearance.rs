//! Particles that start too near to obstacles. Those slightly inside are moved to the surface before their rest state is
//! found, and those nearer than their contact radius touch where they are: nothing is pushed, so that no energy comes in.

use super::World;
use crate::contact::{Pose, PosedObstacle};
use crate::math::{Real, Vec3};
use crate::particles::Particles;
use std::collections::BTreeMap;

/// Least distance of particles from obstacles at the start, and least contact radius there (radii).
const LEAST_GAP: Real = 0.1;
/// Depth of a particle's surface in an obstacle above which users are told (spacings).
const NOTICED: Real = 0.05;
/// Depth of a particle's surface in a body or an obstacle above which an overlap is refused: it could not be told from
/// which side the particle came (spacings).
pub(super) const DEEP_OVERLAP: Real = 0.75;

/// An obstacle at the place where new particles find it.
pub(super) struct Placed<'a> {
    pub(super) name: &'a str,
    pub(super) posed: &'a PosedObstacle,
    pub(super) pose: Pose,
}

impl Placed<'_> {
    fn gap(&self, x: Vec3) -> Real {
        self.posed.gap_at_start(self.pose.undo(x))
    }

    /// Moves a point outwards until its distance from the surface is at least `gap` (m).
    fn lead_out(&self, x: &mut Vec3, gap: Real) {
        let missing = gap - self.gap(*x);
        if missing > 0.0 {
            *x += self.pose.rotation * self.posed.normal_at_start(self.pose.undo(*x)) * missing;
        }
    }
}

/// Overlap of the particles of one body with one obstacle.
#[derive(Clone, Copy, Debug, Default)]
struct Overlap {
    n_near: usize,
    n_moved: usize,
    /// Depth of the deepest particle's surface (spacings).
    deepest: Real,
}

/// Makes room between new particles and obstacles. Held particles stay where they are. Returns a warning for each pair
/// of a body and an obstacle that overlap; `name` tells names of bodies.
///
/// # Errors
/// If particles are too deep in obstacles: the first such body, and a text that names all pairs.
pub(super) fn make_clear<'a>(
    particles: &mut Particles,
    is_held: &[bool],
    obstacles: &[Placed<'_>],
    name: impl Fn(u32) -> &'a str,
) -> Result<Vec<String>, (u32, String)> {
    let mut found: BTreeMap<(u32, usize), Overlap> = BTreeMap::new();
    for i in 0..particles.len() {
        let (radius, x) = (particles.radius[i], &mut particles.position[i]);
        let is_held = is_held.get(i).copied().unwrap_or(false);
        for (k, obstacle) in obstacles.iter().enumerate() {
            let gap = obstacle.gap(*x);
            let depth = (radius - gap) / (2.0 * radius);
            if depth > NOTICED && !is_held {
                let overlap = found.entry((particles.body[i], k)).or_default();
                overlap.n_near += 1;
                overlap.n_moved += usize::from(gap < LEAST_GAP * radius);
                overlap.deepest = overlap.deepest.max(depth);
            }
        }
        if !is_held {
            // twice, because one obstacle may lead into another
            (0..2).for_each(|_| obstacles.iter().for_each(|o| o.lead_out(x, LEAST_GAP * radius)));
        }
        let gap = obstacles.iter().map(|o| o.gap(*x)).fold(Real::INFINITY, Real::min);
        particles.contact_radius[i] = particles.contact_radius[i].min(gap.max(LEAST_GAP * radius));
    }
    let mut warnings = Vec::new();
    let mut refused: Option<(u32, String)> = None;
    for ((body, k), Overlap { n_near, n_moved, deepest }) in found {
        let (own, obstacle) = (name(body), obstacles[k].name);
        if deepest > DEEP_OVERLAP {
            let pair =
                format!("\"{own}\" in \"{obstacle}\" ({n_moved} particles, {deepest:.1} spacings deep)");
            match &mut refused {
                Some((_, pairs)) => *pairs += &format!(", {pair}"),
                None => refused = Some((body, pair)),
            }
        } else {
            let moved = if n_moved > 0 { format!(", {n_moved} moved to its surface") } else { String::new() };
            warnings.push(format!(
                "body \"{own}\" overlaps obstacle \"{obstacle}\" at the start by {deepest:.1} spacings: {n_near} particles touch it \
                 where they are{moved}"
            ));
        }
    }
    refused.map_or(Ok(warnings), Err)
}

impl World {
    /// Returns the obstacles where they are, between two intervals.
    pub(super) fn placed_obstacles(&self) -> Vec<Placed<'_>> {
        let placed = |(k, posed): (usize, _)| Placed {
            name: &self.obstacles[k].name,
            posed,
            pose: self.present_pose(k),
        };
        self.posed.iter().enumerate().map(placed).collect()
    }
}
