//! Lengths of steps: their limits, and the groups that must be stepped together.

use super::drag::LARGEST_ACCELERATION;
use super::{Group, Hand, World};
use crate::contact::Obstacle;
use crate::forces::Fields;
use crate::geometry::{Aabb, Shape};
use crate::math::{Real, Vec3, max_over};
use crate::methods::ContactResponse;
use crate::neighbors::Components;
use crate::particles::Particles;

/// Ratio of the step limit to that at rest, or of the start, below which going on is hopeless.
const COLLAPSE: Real = 1e-3;
/// Largest motion of a particle in a step while it can reach an obstacle or another body (radii).
const RADII_PER_STEP: Real = 1.0;
/// Factor on the motion of groups, estimated from their speeds, when it is tested whether they may meet in an interval:
/// elastic bodies may gain speed.
const MARGIN: Real = 2.0;
/// Number of times in an interval at which the motion of grips is evaluated.
const LOOKS: usize = 4;

/// Largest length of a step, and the reason for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) value: Real,
    pub(super) reason: &'static str,
    /// Group and particle whose limit has become hopelessly short, and the reason.
    pub(super) hopeless: Option<(usize, usize, &'static str)>,
}

const TORN: &str = "the matter is stretched so far that stable steps become uselessly short";
const TOO_FAST: &str = "the particle has become so fast that steps which do not pass through obstacles or bodies \
                        become uselessly short";

impl Limit {
    fn take(&mut self, value: Real, reason: &'static str) {
        if value < self.value {
            (self.value, self.reason) = (value, reason);
        }
    }
}

impl World {
    /// Returns the longest step that groups can take together.
    pub(super) fn limit(&self, groups: &[usize], hand: Option<&Hand>) -> Limit {
        let mut limit =
            Limit { value: self.largest_step.unwrap_or(Real::INFINITY), reason: "asked", hopeless: None };
        for &g in groups {
            let group = &self.groups[g];
            let own = group.method.max_time_step(&group.particles);
            if !(own.value >= COLLAPSE * group.rest_limit) {
                limit.hopeless = limit.hopeless.or(Some((g, own.particle.unwrap_or(0), TORN)));
            }
            // a requested step may use the whole stable range
            limit.take(if self.largest_step.is_some() { own.stable } else { own.value }, own.reason);
        }
        let fields = Fields { gravity: self.gravity, fields: &self.fields, time: self.time };
        limit.take(fields.largest_step(), "force field");
        limit.take(hand.map_or(Real::INFINITY, |hand| hand.largest_step), "drag");
        self.limit_by_speed(groups, &mut limit);
        limit
    }

    /// Limits the motion in a step if a particle can reach another body, or an obstacle, within it. Obstacles set no
    /// limit if the method detects contact along the whole path.
    fn limit_by_speed(&self, groups: &[usize], limit: &mut Limit) {
        let moving = (0..self.obstacles.len()).filter(|&k| self.posed[k].moving);
        let surface_speed = moving.map(|k| self.surface_speed(k)).fold(0.0, Real::max);
        let meets_others = self.body_contacts.is_on() && self.body_names.len() > 1;
        for &g in groups {
            let Group { particles: p, method, .. } = &self.groups[g];
            let meets_obstacles =
                !self.obstacles.is_empty() && method.contact_response() != ContactResponse::SweptRows;
            if !(meets_obstacles || meets_others) {
                continue;
            }
            let rate = |i: usize| (p.velocity[i].length() + surface_speed) / p.radius[i];
            let fastest = max_over(p.len(), rate);
            // values that are not finite are detected and reported after the step
            let Some((rate, particle)) = fastest.filter(|f| f.0 > 0.0 && f.0.is_finite()) else { continue };
            let value = RADII_PER_STEP / rate;
            if value < limit.value {
                let fastest = max_over(p.len(), |i| p.velocity[i].length()).map_or(0.0, |m| m.0);
                let way = (fastest + surface_speed) * limit.value;
                if (meets_obstacles && self.can_reach_obstacle(p, way))
                    || (meets_others && self.can_reach_body(groups, g, way))
                {
                    limit.take(value, "speed");
                    if value < COLLAPSE * self.start_limit.min(self.groups[g].rest_limit) {
                        limit.hopeless = limit.hopeless.or(Some((g, particle, TOO_FAST)));
                    }
                }
            }
        }
    }

    /// Returns true if particles that move at most by `way` (m) may touch an obstacle.
    fn can_reach_obstacle(&self, particles: &Particles, way: Real) -> bool {
        let reach = way + 2.0 * largest_radius(particles);
        let bounds = bounds(particles);
        let mut all = self.obstacles.iter().zip(&self.posed);
        all.any(|(obstacle, posed)| posed.moving || is_near(obstacle, &bounds, reach))
    }

    /// Returns true if bodies of group `own` may touch others if both move at most by `way` (m).
    fn can_reach_body(&self, groups: &[usize], own: usize, way: Real) -> bool {
        let reach =
            2.0 * way + 4.0 * self.groups.iter().map(|g| largest_radius(&g.particles)).fold(0.0, Real::max);
        let mut boxes = vec![Aabb::EMPTY; self.body_names.len()];
        for Particles { position, body, .. } in groups.iter().map(|&g| &self.groups[g].particles) {
            for (&x, &body) in position.iter().zip(body) {
                boxes[body as usize] = boxes[body as usize].union(&Aabb { min: x, max: x });
            }
        }
        self.groups[own].bodies.iter().any(|&b| {
            let near = boxes[b as usize].grown(reach);
            boxes.iter().enumerate().any(|(c, other)| c != b as usize && near.overlaps(other))
        })
    }

    /// Divides the groups into sets that may meet within a duration (s), each in ascending order. A group that cannot
    /// meet others is a set of its own.
    pub(super) fn meeting_groups(&self, duration: Real) -> Vec<Vec<usize>> {
        let n = self.groups.len();
        let mut joined = Components::new(n);
        if n > 1 && self.body_contacts.is_on() {
            let boxes: Vec<Aabb> = self.groups.iter().map(|g| self.reach_of(g, duration)).collect();
            for g in 0..n {
                (0..g)
                    .filter(|&h| boxes[g].overlaps(&boxes[h]))
                    .for_each(|h| joined.join(g as u32, h as u32));
            }
        }
        let roots: Vec<u32> = (0..n as u32).map(|g| joined.root(g)).collect();
        let of_root = |root: u32| (0..n).filter(|&g| roots[g] == root).collect();
        (0..n as u32).filter(|&g| roots[g as usize] == g).map(of_root).collect()
    }

    /// Returns a box that a group is not expected to leave within a duration (s).
    fn reach_of(&self, group: &Group, duration: Real) -> Aabb {
        let p = &group.particles;
        let speed = max_over(p.len(), |i| p.velocity[i].length()).map_or(0.0, |m| m.0);
        let fields = Fields { gravity: self.gravity, fields: &self.fields, time: self.time };
        let pull = |i: usize| fields.acceleration(p.position[i], p.velocity[i]).length();
        let mut acceleration = max_over(p.len(), pull).map_or(0.0, |m| m.0);
        if self.pull.first().is_some_and(|pull| group.bodies.contains(&pull.body)) {
            acceleration += LARGEST_ACCELERATION;
        }
        let pushed = (0..self.obstacles.len()).filter(|&k| self.posed[k].moving);
        let pushed = pushed.map(|k| self.surface_speed(k)).fold(0.0, Real::max);
        let by_itself = (speed + pushed + acceleration * duration) * duration;
        let bounds = bounds(p);
        let is_led = |&k: &usize| group.holds.grip.contains(&(k as u32));
        let led = (0..self.grips.len()).filter(is_led).map(|k| {
            let (motion, center) = (&self.grips[k].motion, self.grip_centers[k]);
            let now = motion.pose(self.time, center);
            let looks = (1..=LOOKS).map(|look| {
                let then = motion.pose(self.time + duration * look as Real / LOOKS as Real, center);
                let turned = now.rotation.angle_between(then.rotation);
                now.translation.distance(then.translation) + turned * bounds.size().length()
            });
            looks.fold(0.0, Real::max)
        });
        let motion = led.fold(by_itself, Real::max);
        bounds.grown(MARGIN * (motion + 2.0 * largest_radius(p)))
    }
}

fn bounds(particles: &Particles) -> Aabb {
    Aabb::from_points(particles.position.iter().copied())
}

fn largest_radius(particles: &Particles) -> Real {
    max_over(particles.len(), |i| particles.radius[i]).map_or(0.0, |m| m.0)
}

/// Returns true if the surface of an obstacle at rest may be within `reach` (m) of a box, or if this is unknown.
fn is_near(obstacle: &Obstacle, bounds: &Aabb, reach: Real) -> bool {
    if obstacle.inside {
        return true;
    }
    if let Shape::HalfSpace { normal, .. } = obstacle.shape.shape {
        let normal = obstacle.shape.placement.direction_to_world(normal).normalize();
        let half = 0.5 * bounds.size();
        let lowest = obstacle.shape.signed_distance(bounds.center()) - Vec3::dot(normal.abs(), half);
        return lowest < reach;
    }
    obstacle.shape.bounds().is_none_or(|own| own.grown(reach).overlaps(bounds))
}
