//! The ledger: one row of sums over the world per frame.

use super::{BodyState, EnergyBalance, SamplingQuality, World};
use crate::math::{Real, Vec3, max_over};
use crate::methods::ElasticEnergy;

/// Sums over the world at one moment, and means over the interval before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// Time of the row (s).
    pub time: Real,
    /// Length of the last steps of the interval (s).
    pub time_step: Real,
    /// Reason why the steps were not longer.
    pub time_step_reason: &'static str,
    /// Number of steps in the interval.
    pub n_steps: usize,
    /// Kinetic energy (J).
    pub kinetic_energy: Real,
    /// Elastic energy (J); `None` if a method does not compute it.
    pub elastic_energy: Option<Real>,
    /// Parts of the elastic energy; they add up to it (J).
    pub elastic_parts: Option<ElasticEnergy>,
    /// Potential energy of gravity, −Σ m g·x (J).
    pub gravity_energy: Real,
    /// Plastic work (J).
    pub plastic_work: Real,
    /// Energy balance since the start; `None` if a method does not record its work or its elastic energy.
    pub balance: Option<EnergyBalance>,
    /// Momentum (kg m/s).
    pub momentum: Vec3,
    /// Angular momentum about the origin (kg m²/s).
    pub angular_momentum: Vec3,
    /// Current volume, Σ V_i det F_i (m³).
    pub volume: Real,
    /// Number of particles.
    pub n_particles: usize,
    /// State of each body.
    pub bodies: Vec<BodyState>,
    /// Quality of the sampling of the matter by particles.
    pub sampling: SamplingQuality,
    /// Largest number of particles of one group that yielded in one step.
    pub n_yielded: usize,
    /// Largest number of particles in one step that obstacles left no room: pushed in opposite directions at once.
    pub n_pinched: usize,
    /// Largest speed of a particle (m/s).
    pub max_speed: Real,
    /// Mean force of each grip and obstacle on the bodies over the interval (N).
    pub forces: Vec<(String, Vec3)>,
    /// Mean torque of each obstacle on the bodies over the interval (N m), about the obstacle's centre at the
    /// interval's end.
    pub torques: Vec<(String, Vec3)>,
    /// Named counters: solver iterations and unconverged solves in the interval, body contacts, the deepest overlap,
    /// then the counters of the methods.
    pub counters: Vec<(&'static str, Real)>,
}

impl Ledger {
    /// Returns a counter by its name; `None` if there is none.
    pub fn counter(&self, name: &str) -> Option<Real> {
        self.counters.iter().find(|counter| counter.0 == name).map(|counter| counter.1)
    }
}

impl World {
    /// Returns the ledger row for the present moment and the interval before it.
    pub fn ledger(&self) -> Ledger {
        let interval = &self.interval;
        let duration = self.time - interval.start;
        let mean = |impulse: Option<&Vec3>| match impulse {
            Some(&impulse) if duration > 0.0 => impulse / duration,
            _ => Vec3::ZERO,
        };
        let grips =
            self.grips.iter().enumerate().map(|(k, g)| (g.name.clone(), mean(interval.grip_impulses.get(k))));
        let obstacles = self
            .obstacles
            .iter()
            .enumerate()
            .map(|(k, o)| (o.name.clone(), mean(interval.obstacle_impulses.get(k))));
        let forces = grips.chain(obstacles).collect();
        let torques = self.obstacles.iter().enumerate().map(|(k, o)| {
            let center = self.present_pose(k).apply(o.center());
            let own = interval.touches.iter().filter(|touch| touch.other == k);
            let torque = own.map(|touch| touch.angular - center.cross(touch.impulse)).sum::<Vec3>();
            (o.name.clone(), mean(Some(&torque)))
        });
        let torques = torques.collect();
        let groups = || self.groups.iter();
        let energies = self.energies();
        let (n_contacts, deepest_overlap) = interval.body_contacts;
        let mut counters = vec![
            ("solver_iterations", interval.iterations as Real),
            ("unconverged_solves", interval.n_unconverged as Real),
            ("body_contacts", n_contacts as Real),
            ("deepest_overlap", deepest_overlap),
        ];
        for (name, value) in groups().flat_map(|g| g.method.counters(&g.particles)) {
            match counters.iter_mut().find(|c| c.0 == name) {
                Some(counter) => counter.1 += value,
                None => counters.push((name, value)),
            }
        }
        Ledger {
            time: self.time,
            time_step: interval.time_step,
            time_step_reason: interval.reason,
            n_steps: interval.n_steps,
            kinetic_energy: energies.kinetic,
            elastic_energy: energies.elastic.as_ref().map(ElasticEnergy::total),
            elastic_parts: energies.elastic,
            gravity_energy: energies.gravity,
            plastic_work: energies.plastic_work,
            balance: self.balance(&energies),
            momentum: groups().map(|g| g.particles.momentum()).sum(),
            angular_momentum: groups().map(|g| g.particles.angular_momentum()).sum(),
            volume: groups().map(|g| g.method.current_volume(&g.particles)).sum(),
            n_particles: self.n_particles(),
            bodies: self.body_states(),
            sampling: self.sampling_quality(),
            n_yielded: interval.n_yielded,
            n_pinched: interval.n_pinched,
            max_speed: groups()
                .map(|g| &g.particles.velocity)
                .filter_map(|v| max_over(v.len(), |i| v[i].length()))
                .fold(0.0, |m, (speed, _)| m.max(speed)),
            forces,
            torques,
            counters,
        }
    }
}
