//! Obstacles that the caller moves: each moves evenly to its new pose within the next interval, so that it pushes the
//! particles in its way.

use super::{ObstacleId, World};
use crate::contact::Pose;
use crate::math::{Quat, Real, Vec3};
use crate::particles::{Carry, OBSTACLES, StateData, StateItem, StateVisitor};

/// Name of the set of moved obstacles, in checkpoints.
const MOVED: &str = "moved_obstacles";

/// Obstacles that have been moved by calls: their present poses and their targets.
#[derive(Clone, Debug, Default)]
pub(super) struct MovedObstacles {
    obstacle: Vec<u32>,
    /// Present translation from time 0 (m), and rotation as axis times angle (rad), of each obstacle of the list.
    now: [Vec<Vec3>; 2],
    /// Target translation (m) and rotation (rad) of each obstacle of the list.
    to: [Vec<Vec3>; 2],
}

impl MovedObstacles {
    fn find(&self, obstacle: usize) -> Option<usize> {
        self.obstacle.iter().position(|&own| own as usize == obstacle)
    }

    /// Returns the pose of an obstacle after a fraction of its way; `None` if it was never moved.
    pub(super) fn pose(&self, obstacle: usize, share: Real, center: Vec3) -> Option<Pose> {
        let k = self.find(obstacle)?;
        let [translation, rotation] = [0, 1].map(|part| self.now[part][k].lerp(self.to[part][k], share));
        Some(Pose { rotation: Quat::from_scaled_axis(rotation), translation, center })
    }

    /// Returns the distance (m) and the angle (rad) that are left of an obstacle's way; `None` if it was never moved.
    pub(super) fn way(&self, obstacle: usize) -> Option<(Real, Real)> {
        let k = self.find(obstacle)?;
        Some((self.now[0][k].distance(self.to[0][k]), self.now[1][k].distance(self.to[1][k])))
    }

    /// Moves all obstacles by a fraction of their way.
    pub(super) fn go_on(&mut self, share: Real) {
        for (now, to) in self.now.iter_mut().flatten().zip(self.to.iter().flatten()) {
            *now = if share < 1.0 { now.lerp(*to, share) } else { *to };
        }
    }

    pub(super) fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let mut item =
            |name, unit, carry, data| visitor.visit(StateItem { name, unit, set: MOVED, carry, data });
        let Self { obstacle, now: [translation, rotation], to: [to_translation, to_rotation] } = self;
        item("moved_obstacle", "1", Carry::Index(OBSTACLES), StateData::Integers(obstacle));
        item("moved_by", "m", Carry::Copy, StateData::Vectors(translation));
        item("turned_by", "rad", Carry::Copy, StateData::Vectors(rotation));
        item("move_to", "m", Carry::Copy, StateData::Vectors(to_translation));
        item("turn_to", "rad", Carry::Copy, StateData::Vectors(to_rotation));
    }
}

impl World {
    /// Moves an obstacle to a translation (m) from its position at time 0 and a rotation about its centre (axis times
    /// angle, rad). It moves there evenly within the next interval of the world and stays; its own keyframes no longer
    /// apply.
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

    /// Returns the present pose of an obstacle, between two intervals.
    pub(super) fn present_pose(&self, k: usize) -> Pose {
        let (obstacle, center) = (&self.obstacles[k], self.obstacles[k].center());
        self.moved.pose(k, 0.0, center).unwrap_or_else(|| obstacle.motion.pose(self.time, center))
    }

    /// Returns the pose of an obstacle at a time of the present interval (s).
    pub(super) fn obstacle_pose(&self, k: usize, time: Real) -> Pose {
        let (obstacle, interval) = (&self.obstacles[k], &self.interval);
        let duration = interval.end - interval.start;
        let share = if duration > 0.0 { ((time - interval.start) / duration).clamp(0.0, 1.0) } else { 0.0 };
        let center = obstacle.center();
        self.moved.pose(k, share, center).unwrap_or_else(|| obstacle.motion.pose(time, center))
    }

    /// Returns an upper limit of the present speed of an obstacle's surface (m/s); rotation of infinite shapes is
    /// ignored.
    pub(super) fn surface_speed(&self, k: usize) -> Real {
        let obstacle = &self.obstacles[k];
        let Some((way, angle)) = self.moved.way(k) else { return obstacle.surface_speed(self.time) };
        let reach = obstacle.shape.bounds().map_or(0.0, |b| 0.5 * b.size().length());
        let duration = self.interval.end - self.interval.start;
        if duration > 0.0 { (way + angle * reach) / duration } else { 0.0 }
    }
}
