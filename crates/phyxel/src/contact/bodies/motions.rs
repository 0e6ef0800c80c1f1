//! Motion of bodies since pairs were listed, and the motion that is allowed until they are listed anew.

use super::{FARTHEST_TOUCH, HORIZON, Member, SKIN};
use crate::geometry::Aabb;
use crate::math::{Mat3, Real, Vec3, outer, svd, trace};

/// Relative motion of bodies that is allowed before pairs must be listed anew.
#[derive(Clone, Debug, Default)]
pub(super) struct Slack {
    /// Two bodies that are near each other, or twice the same body, with their common slack (m).
    near: Vec<(u32, u32, Real)>,
    /// Slack of all other pairs of bodies (m).
    far: Real,
    pub(super) smallest_spacing: Real,
    /// True for each body that has a particle in a pair.
    pub(super) has_pairs: Vec<bool>,
}

/// Motion of the members of each body since pairs were listed.
pub(super) struct Motions {
    bodies: Vec<BodyMotion>,
    mean: Vec3,
}

/// Motion of one body (m).
#[derive(Clone, Copy, Default)]
struct BodyMotion {
    /// Mean displacement of the body's members.
    common: Vec3,
    /// Largest deviation of a member's displacement from the mean.
    spread: Real,
    /// Upper limit of the approach of two parts that were near each other when pairs were listed: the deviations from
    /// the best affine motion, plus the shortening by that motion.
    approach: Real,
}

impl Motions {
    pub(super) fn new(
        members: &[Member],
        listed_at: &[Vec3],
        n_bodies: usize,
        spacing: Real,
        expected: impl Fn(&Member) -> Vec3,
    ) -> Self {
        let mut sums = vec![AffineFit::default(); n_bodies];
        for (m, &listed) in members.iter().zip(listed_at) {
            sums[m.body as usize].add(listed, expected(m));
        }
        let total: Vec3 = sums.iter().map(|s| s.to - s.from).sum();
        let maps: Vec<(Vec3, Vec3, Mat3)> = sums.iter().map(AffineFit::solve).collect();
        let motion = |&(from, to, map): &(Vec3, Vec3, Mat3)| BodyMotion {
            common: to - from,
            spread: 0.0,
            approach: (1.0 - svd(map).sigma.z).max(0.0) * (FARTHEST_TOUCH + SKIN) * spacing,
        };
        let mut bodies: Vec<BodyMotion> = maps.iter().map(motion).collect();
        let mut off = vec![0.0; n_bodies];
        for (m, &listed) in members.iter().zip(listed_at) {
            let (body, now) = (m.body as usize, expected(m));
            let (from, to, map) = maps[body];
            let spread = (now - listed - bodies[body].common).length();
            bodies[body].spread = bodies[body].spread.max(spread);
            off[body] = Real::max(off[body], (now - to - map * (listed - from)).length());
        }
        bodies.iter_mut().zip(off).for_each(|(body, off)| body.approach += 2.0 * off);
        Self { bodies, mean: total / (members.len() as Real).max(1.0) }
    }

    /// Returns an upper limit of the relative motion of particles that are near each other (m).
    pub(super) fn largest(&self, slack: &Slack) -> Real {
        slack.near.iter().fold(0.0, |largest, &(b, c, _)| {
            let (b, c) = (self.bodies[b as usize], self.bodies[c as usize]);
            largest.max(b.spread.max(c.spread) + b.common.distance(c.common))
        })
    }

    pub(super) fn are_within(&self, slack: &Slack) -> bool {
        let near = slack.near.iter().all(|&(b, c, most)| {
            let (body, other) = (self.bodies[b as usize], self.bodies[c as usize]);
            // in a body with pairs, normals are in use and must not turn far; otherwise only the approach counts
            if b == c && !slack.has_pairs[b as usize] {
                return body.approach < most;
            }
            body.spread + other.spread + body.common.distance(other.common) < most
        });
        near && self.bodies.iter().all(|b| 2.0 * (b.spread + b.common.distance(self.mean)) < slack.far)
    }
}

/// Least-squares fit of an affine map to points that have moved.
#[derive(Clone, Copy, Default)]
struct AffineFit {
    n: Real,
    from: Vec3,
    to: Vec3,
    moment: Mat3,
    product: Mat3,
}

impl AffineFit {
    fn add(&mut self, from: Vec3, to: Vec3) {
        self.n += 1.0;
        self.from += from;
        self.to += to;
        self.moment += outer(from, from);
        self.product += outer(to, from);
    }

    /// Returns the centres before and after, and the linear map about them; the identity if the points are coplanar.
    fn solve(&self) -> (Vec3, Vec3, Mat3) {
        let n = self.n.max(1.0);
        let (from, to) = (self.from / n, self.to / n);
        let moment = self.moment * (1.0 / n) - outer(from, from);
        let product = self.product * (1.0 / n) - outer(to, from);
        let size = trace(moment);
        let is_flat = moment.determinant() <= 1e-9 * size * size * size;
        (from, to, if is_flat { Mat3::IDENTITY } else { product * moment.inverse() })
    }
}

impl Slack {
    pub(super) fn renew(
        &mut self,
        members: &[Member],
        listed_at: &[Vec3],
        n_bodies: usize,
        largest_radius: Real,
    ) {
        let mut boxes = vec![Aabb::EMPTY; n_bodies];
        for (m, &x) in members.iter().zip(listed_at) {
            let of = &mut boxes[m.body as usize];
            *of = of.union(&Aabb { min: x, max: x });
        }
        let (skin, touch) = (SKIN * self.smallest_spacing, FARTHEST_TOUCH * 2.0 * largest_radius);
        self.far = if n_bodies > 1 { HORIZON * 2.0 * largest_radius } else { Real::INFINITY };
        self.near.clear();
        for b in 0..n_bodies {
            self.near.push((b as u32, b as u32, skin));
            for c in b + 1..n_bodies {
                let apart = (boxes[b].min - boxes[c].max).max(boxes[c].min - boxes[b].max).max(Vec3::ZERO);
                let apart = apart.length() - touch;
                if apart < self.far {
                    self.near.push((b as u32, c as u32, apart.max(skin)));
                }
            }
        }
    }
}
