//! Queries of a running world: contacts of bodies, and the first particle on a ray.

use super::{BodyId, ObstacleId, World};
use crate::contact::{Pose, Touch};
use crate::frame::{FrameColumn, PointSet};
use crate::math::{Real, Vec3};
use rayon::prelude::*;

/// Other side of a body's contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TouchingSide {
    /// An obstacle.
    Obstacle(ObstacleId),
    /// Another body, or another part of the same one.
    Body(BodyId),
}

/// A body that touches something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touching {
    /// Body that touches something.
    pub body: BodyId,
    /// Other side of the contact.
    pub other: TouchingSide,
    /// Impulse on the body (N s): by obstacles over the interval since the last call of [`World::advance_to`], by
    /// bodies in the last step.
    pub impulse: Vec3,
    /// Mean position of the contact, weighted by impulse (m).
    pub place: Vec3,
}

/// Point at which a ray hits a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// Body that is hit.
    pub body: BodyId,
    /// Id of the particle, as in frames and in [`Hold::Particle`](super::Hold).
    pub particle: u32,
    /// Position of the hit (m).
    pub point: Vec3,
    /// Distance from the origin of the ray (m).
    pub distance: Real,
}

/// Radius of the balls that a ray can hit, in particle radii; with √2, the balls of a cubic lattice leave no gap.
const CLOSED: Real = std::f64::consts::SQRT_2;

/// Name of the set of obstacles that have been moved by calls, in frames.
const MOVED_OBSTACLES: &str = "moved_obstacles";

impl World {
    /// Returns all points that are not particles: the sets of the methods, those of one name together, and the poses of
    /// obstacles that calls have moved.
    pub(super) fn point_sets(&self) -> Vec<PointSet> {
        let mut all: Vec<PointSet> = Vec::new();
        let own = self.groups.iter().flat_map(|g| g.method.point_sets(&g.particles));
        for set in own.chain(self.moved_poses()) {
            match all.iter_mut().find(|known| known.name == set.name) {
                Some(known) => known.append(set),
                None => all.push(set),
            }
        }
        all
    }

    /// Returns the centres and rotations (axis times angle) of obstacles that calls have moved.
    fn moved_poses(&self) -> Option<PointSet> {
        let moved: Vec<usize> = (0..self.obstacles.len()).filter(|&k| self.moved.way(k).is_some()).collect();
        let poses: Vec<Pose> = moved.iter().map(|&k| self.present_pose(k)).collect();
        let rotation = poses.iter().flat_map(|pose| pose.rotation.to_scaled_axis().as_vec3().to_array());
        (!moved.is_empty()).then(|| PointSet {
            name: MOVED_OBSTACLES.into(),
            position: poses.iter().map(|pose| pose.apply(pose.center).as_vec3().to_array()).collect(),
            body: moved.iter().map(|&k| k as u32).collect(),
            columns: vec![FrameColumn {
                name: "rotation".into(),
                unit: "rad",
                n_components: 3,
                values: rotation.collect(),
            }],
        })
    }

    /// Returns the body with a name; `None` if there is none.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.body_names.iter().position(|own| own == name).map(|k| BodyId(k as u32))
    }

    /// Returns the obstacle with a name; `None` if there is none.
    pub fn obstacle(&self, name: &str) -> Option<ObstacleId> {
        self.obstacles.iter().position(|own| own.name == name).map(|k| ObstacleId(k as u32))
    }

    /// Returns all contacts: each body with each obstacle that it touches, then each pair of bodies once, with the
    /// earlier one as `body`.
    pub fn contacts(&self) -> Vec<Touching> {
        let mut found: Vec<Touching> = Vec::new();
        for &Touch { body, other: obstacle, impulse, moment, weight, .. } in &self.interval.touches {
            if weight > 0.0 {
                let other = TouchingSide::Obstacle(ObstacleId(obstacle as u32));
                found.push(Touching { body: BodyId(body), other, impulse, place: moment / weight });
            }
        }
        found.sort_by_key(|touching| (touching.body, touching.other));
        found.extend(self.interval.body_touches.iter().map(|touch| Touching {
            body: BodyId(touch.body),
            other: TouchingSide::Body(BodyId(touch.other as u32)),
            impulse: touch.impulse,
            place: touch.moment / touch.weight,
        }));
        found
    }

    /// Returns the first particle that a ray hits; `None` if it hits none or the direction is 0.
    pub fn cast_ray(&self, origin: Vec3, direction: Vec3) -> Option<RayHit> {
        let direction = direction.try_normalize()?;
        let of_group = |group: &super::Group| {
            let p = &group.particles;
            let hit = |i: usize| {
                let (radius, to) = (CLOSED * p.radius[i], p.position[i] - origin);
                let along = to.dot(direction);
                let aside = to.length_squared() - along * along;
                let half = (radius * radius - aside).max(0.0).sqrt();
                let distance = along - half;
                let is_met = aside < radius * radius && along + half > 0.0;
                is_met.then_some((distance.max(0.0), p.id[i], p.body[i]))
            };
            let nearer = |a: &(Real, u32, u32), b: &(Real, u32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            (0..p.len()).into_par_iter().with_min_len(1024).filter_map(hit).min_by(nearer)
        };
        let hits = self.groups.iter().filter_map(of_group);
        let (distance, particle, body) = hits.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        Some(RayHit { body: BodyId(body), particle, point: origin + direction * distance, distance })
    }
}
