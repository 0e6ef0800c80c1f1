//! State of each body at one moment: its volume, inverted matter and largest speed.

use super::World;
use crate::math::Real;

/// State of a body at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyState {
    /// Name of the body.
    pub name: String,
    /// Present volume divided by the volume at rest, Σ V_i det F_i / Σ V_i (1).
    pub volume_ratio: Real,
    /// Number of particles whose matter is turned inside out, det F ≤ 0.
    pub n_inverted: usize,
    /// Number of particles.
    pub n_particles: usize,
    /// Largest speed of a particle (m/s).
    pub max_speed: Real,
}

impl World {
    /// Returns the state of every body that has particles.
    pub(super) fn body_states(&self) -> Vec<BodyState> {
        let mut states: Vec<(BodyState, Real)> = Vec::new();
        let mut place = vec![usize::MAX; self.body_names.len()];
        for group in &self.groups {
            let p = &group.particles;
            for i in 0..p.len() {
                let body = p.body[i] as usize;
                if place[body] == usize::MAX {
                    place[body] = states.len();
                    let name = self.body_names[body].clone();
                    let state =
                        BodyState { name, volume_ratio: 0.0, n_inverted: 0, n_particles: 0, max_speed: 0.0 };
                    states.push((state, 0.0));
                }
                let (state, rest_volume) = &mut states[place[body]];
                let det = group.method.elastic_gradient(i).determinant();
                state.volume_ratio += p.volume[i] * det;
                state.n_inverted += usize::from(det <= 0.0);
                state.n_particles += 1;
                state.max_speed = state.max_speed.max(p.velocity[i].length());
                *rest_volume += p.volume[i];
            }
        }
        let finished = |(state, rest_volume): (BodyState, Real)| BodyState {
            volume_ratio: state.volume_ratio / rest_volume,
            ..state
        };
        states.into_iter().map(finished).collect()
    }
}
