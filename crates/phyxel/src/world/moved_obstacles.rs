//! Obstacles that the caller moves: each goes evenly to its new place within the next interval, so that it pushes what is in its way.

use super::{ObstacleId, World};
use crate::contact::Pose;
use crate::math::{Quat, Real, Vec3};
use crate::particles::{Carry, StateData, StateItem, StateVisitor};

/// Name of the set of moved obstacles, in checkpoints.
const MOVED: &str = "moved_obstacles";

/// Obstacles that have been moved by calls: where they are, and where they are to be.
#[derive(Clone, Debug, Default)]
pub(super) struct MovedObstacles {
    obstacle: Vec<u32>,
    /// Translation from time 0, and rotation as axis times angle; by obstacle of the list. (m, rad)
    now: [Vec<Vec3>; 2],
    to: [Vec<Vec3>; 2],
}

impl MovedObstacles {
    fn find(&self, obstacle: usize) -> Option<usize> {
        self.obstacle.iter().position(|&own| own as usize == obstacle)
    }

    /// Pose of an obstacle after a share of the way; `None` if it was never moved.
    pub(super) fn pose(&self, obstacle: usize, share: Real, center: Vec3) -> Option<Pose> {
        let k = self.find(obstacle)?;
        let [translation, rotation] = [0, 1].map(|part| self.now[part][k].lerp(self.to[part][k], share));
        Some(Pose { rotation: Quat::from_scaled_axis(rotation), translation, center })
    }

    /// Translation and angle of the way that is still to go. (m, rad)
    pub(super) fn way(&self, obstacle: usize) -> Option<(Real, Real)> {
        let k = self.find(obstacle)?;
        Some((self.now[0][k].distance(self.to[0][k]), self.now[1][k].distance(self.to[1][k])))
    }

    /// All have gone a share of their way.
    pub(super) fn go_on(&mut self, share: Real) {
        for (now, to) in self.now.iter_mut().flatten().zip(self.to.iter().flatten()) {
            *now = if share < 1.0 { now.lerp(*to, share) } else { *to };
        }
    }

    pub(super) fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let mut item =
            |name, unit, data| visitor.visit(StateItem { name, unit, set: MOVED, carry: Carry::Copy, data });
        let Self { obstacle, now: [translation, rotation], to: [to_translation, to_rotation] } = self;
        item("moved_obstacle", "1", StateData::Integers(obstacle));
        item("moved_by", "m", StateData::Vectors(translation));
        item("turned_by", "rad", StateData::Vectors(rotation));
        item("move_to", "m", StateData::Vectors(to_translation));
        item("turn_to", "rad", StateData::Vectors(to_rotation));
    }
}

impl World {
    /// Moves an obstacle from its place at time 0, and turns it about its centre by an axis times an angle. It goes there evenly within
    /// the next interval that the world advances by, and stays; keyframes of its own end. (m, rad)
    pub fn move_obstacle(&mut self, obstacle: ObstacleId, translation: Vec3, rotation: Vec3) {
        let k = obstacle.index();
        if self.moved.find(k).is_none() {
            let pose = self.obstacles[k].motion.pose(self.time, self.obstacles[k].center());
            self.moved.obstacle.push(k as u32);
            for poses in [&mut self.moved.now, &mut self.moved.to] {
                poses[0].push(pose.translation);
                poses[1].push(pose.rotation.to_scaled_axis());
            }
        }
        if let Some(at) = self.moved.find(k) {
            self.moved.to[0][at] = translation;
            self.moved.to[1][at] = rotation;
        }
        self.posed[k].moving = true;
    }

    /// Where an obstacle is now, outside of intervals.
    pub(super) fn present_pose(&self, k: usize) -> Pose {
        let (obstacle, center) = (&self.obstacles[k], self.obstacles[k].center());
        self.moved.pose(k, 0.0, center).unwrap_or_else(|| obstacle.motion.pose(self.time, center))
    }

    /// Where an obstacle is at a time of the present interval.
    pub(super) fn obstacle_pose(&self, k: usize, time: Real) -> Pose {
        let (obstacle, interval) = (&self.obstacles[k], &self.interval);
        let duration = interval.end - interval.start;
        let share = if duration > 0.0 { ((time - interval.start) / duration).clamp(0.0, 1.0) } else { 0.0 };
        let center = obstacle.center();
        self.moved.pose(k, share, center).unwrap_or_else(|| obstacle.motion.pose(time, center))
    }

    /// How fast points of an obstacle's surface move now, at the most; for infinite shapes without their turning (m/s).
    pub(super) fn surface_speed(&self, k: usize) -> Real {
        let obstacle = &self.obstacles[k];
        let Some((way, angle)) = self.moved.way(k) else { return obstacle.surface_speed(self.time) };
        let reach = obstacle.shape.bounds().map_or(0.0, |b| 0.5 * b.size().length());
        let duration = self.interval.end - self.interval.start;
        if duration > 0.0 { (way + angle * reach) / duration } else { 0.0 }
    }
}
