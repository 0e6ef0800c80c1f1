//! Construction of the method from particles (neighbourhoods, volumes, scales), and restoration from a checkpoint.

use super::{BodyFacts, Embedded, Flow, Pace, Params, RestFacts, Tallies, VolumeRule};
use crate::forces::{SphViscosity, Viscosity, repulsion};
use crate::geometry::Sampling;
use crate::material::{LameParameter, Law, Property};
use crate::math::{Mat3, Real, Vec3};
use crate::methods::stiffness::Stiffness;
use crate::methods::thin_bodies::refuse_thin_bodies;
use crate::methods::{GroupBody, Matter, MethodError, keys};
use crate::mls::{Laplacian, PointAnswer};
use crate::neighbors::{Points, SLOTS, SlotBonds, nearest};
use crate::particles::Particles;

/// If more than this fraction of a body's particles would split or merge at rest, the thresholds are refused.
const RESAMPLED_AT_REST: Real = 0.05;

/// Returns a warning for bodies on a lattice, because flow lines up its layers and merges them all at once.
fn lattice_warning(body: &GroupBody) -> Option<String> {
    (body.sampling == Sampling::Lattice).then(|| {
        format!(
            "body \"{}\" flows and its particles are on a lattice, whose layers show in the flow: sampling = \"jittered\" flows \
             more evenly",
            body.name
        )
    })
}

impl Embedded {
    /// Builds the method. Jones 2014 Sec. 3.6: 32 nearest neighbours, support of twice their mean distance
    /// (`support_factor`), u_ij = x_ij, e_i = x_i.
    pub(super) fn build(
        params: Params,
        particles: &mut Particles,
        matter: &Matter,
    ) -> Result<Self, MethodError> {
        let n = particles.len();
        let x = &particles.position;
        let keys = keys(&matter.pieces(), particles);
        let lists = nearest(Points { positions: x, keys: &keys }, SLOTS);
        let mut bonds = SlotBonds::new(n);
        let (mut support_radius, mut room) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            let mut row: Vec<(u32, Vec3)> = lists.row(i).iter().map(|&j| (j, x[j as usize] - x[i])).collect();
            let distances: Real = row.iter().map(|bond| bond.1.length()).sum();
            support_radius[i] = params.support_factor * distances / row.len().max(1) as Real;
            let nearest = row.iter().map(|bond| bond.1.length()).fold(Real::INFINITY, Real::min);
            room[i] = repulsion::room(nearest, 2.0 * particles.radius[i]);
            bonds.row_mut(i).set(&mut row);
        }
        drop(lists);
        if let Some(i) = support_radius.iter().position(|h| !(*h > 0.0)) {
            let message = "particles lie on top of each other: they need distances to have a rest shape";
            return Err(MethodError { body: Some(particles.body[i]), message: message.into() });
        }
        bonds.index_incoming();
        let n_bodies = matter.bodies.iter().map(|b| b.index as usize + 1).max().unwrap_or(0);
        let unknown = BodyFacts {
            law: Law::Corotated,
            measure: Default::default(),
            piece: 0,
            support: 0.0,
            volume_scale: 1.0,
            sph_scale: 1.0,
        };
        let mut bodies = vec![unknown; n_bodies];
        for body in &matter.bodies {
            let mut supports: Vec<Real> =
                (0..n).filter(|&i| particles.body[i] == body.index).map(|i| support_radius[i]).collect();
            supports.sort_unstable_by(Real::total_cmp);
            bodies[body.index as usize] = BodyFacts {
                law: body.law.unwrap_or(Law::Corotated),
                measure: body.flow.measure(),
                piece: body.matter,
                support: supports.get(supports.len() / 2).copied().unwrap_or(0.0),
                ..unknown
            };
        }
        let lame = LameParameter::new(&particles.material, n);
        let mut method = Self {
            stiffness: Stiffness::new(particles, &lame),
            lame,
            bodies,
            reach: vec![0.0; particles.len()],
            log_volume: Vec::new(),
            room,
            origin: particles.position.clone(),
            embedded_position: particles.position.clone(),
            support_radius,
            hardening: vec![0.0; n],
            shear_stress: vec![0.0; n],
            plastic_strain: vec![0.0; n],
            plastic_work: vec![0.0; n],
            plastic_gradient: vec![Mat3::IDENTITY; n],
            force: vec![Vec3::ZERO; n],
            bonds,
            pace: Pace { n_steps: 0, flowed: 0.0, time_scale_ratio: 1.0, shortening: 1.0 },
            tallies: Tallies::default(),
            basis: Vec::new(),
            gradients: Vec::new(),
            flows: Vec::new(),
            near: Vec::new(),
            has_flowed: Vec::new(),
            answers: Vec::new(),
            viscous: Viscosity::default(),
            sph: SphViscosity::default(),
            laplacian: Laplacian::default(),
            rest: RestFacts::default(),
            lattice_warnings: matter
                .bodies
                .iter()
                .filter(|b| b.flows())
                .filter_map(lattice_warning)
                .collect(),
            params,
        };
        method.compute_bases(particles);
        method.calibrate(particles, matter);
        refuse_thin_bodies(particles, matter, |i| method.basis[i].is_degenerate())?;
        method.refuse_resampling_at_rest(particles, matter)?;
        method.resize_scratch(n);
        method.find_rest_limits(particles);
        method.rest.n_degenerate = method.n_degenerate();
        method.forces_at(&particles.position, particles);
        Ok(method)
    }

    /// Sets volumes by Jones 2014 Eq. 3, scaled to the bodies' true volumes, if `volume_rule` asks for it, and finds
    /// the scales of the ledger's volume estimates.
    fn calibrate(&mut self, particles: &mut Particles, matter: &Matter) {
        let n = particles.len();
        let moments: Vec<Real> = (0..n).map(|i| self.moment_volume(i)).collect();
        for body in &matter.bodies {
            let members: Vec<usize> = (0..n).filter(|&i| particles.body[i] == body.index).collect();
            let total: Real = members.iter().map(|&i| moments[i]).sum();
            let scale = if total > 0.0 { body.volume / total } else { 1.0 };
            self.bodies[body.index as usize].volume_scale = scale;
            if self.params.volume_rule == VolumeRule::Moments && total > 0.0 {
                for &i in &members {
                    particles.volume[i] = scale * moments[i];
                    particles.mass[i] = particles.volume[i] * particles.material[Property::Density].at(i);
                }
            }
        }
        let sph = self.sph_volumes(particles);
        for body in &matter.bodies {
            let total: Real = (0..n).filter(|&i| particles.body[i] == body.index).map(|i| sph[i]).sum();
            self.bodies[body.index as usize].sph_scale = if total > 0.0 { body.volume / total } else { 1.0 };
        }
        self.compute_bases(particles);
    }

    fn refuse_resampling_at_rest(
        &mut self,
        particles: &mut Particles,
        matter: &Matter,
    ) -> Result<(), MethodError> {
        self.find_rest_eigenvalues();
        self.find_rest_thickness();
        self.find_rest_density(particles);
        let plan = self.plan_resampling(particles);
        for body in &matter.bodies {
            let n_all = particles.body.iter().filter(|b| **b == body.index).count();
            let count = |who: &mut dyn Iterator<Item = usize>| {
                who.filter(|&i| particles.body[i] == body.index).count()
            };
            let (n_split, n_merge) =
                (count(&mut plan.splits.iter().map(|s| s.1)), count(&mut plan.merges.iter().map(|m| m.1)));
            for (n, what, key) in [(n_split, "split", "split_at"), (n_merge, "merge", "merge_at")] {
                if n as Real > RESAMPLED_AT_REST * n_all as Real {
                    let message = format!(
                        "body \"{}\": {n} of {n_all} particles would {what} at rest: change `{key}` of \
                         [methods.embedded], or choose a more even sampling",
                        body.name
                    );
                    return Err(MethodError { body: Some(body.index), message });
                }
            }
        }
        Ok(())
    }

    /// Resizes the scratch buffers to n particles.
    pub(super) fn resize_scratch(&mut self, n: usize) {
        self.gradients.resize(n, Mat3::IDENTITY);
        self.flows.resize(n, Flow::NONE);
        self.near.resize(n, 0);
        self.answers.resize(n, PointAnswer::default());
    }

    /// Rebuilds derived data after state was loaded. Forces are state: they are those before the last flow.
    pub(super) fn restore(&mut self, particles: &Particles) {
        let n = particles.len();
        self.bonds.restore();
        self.stiffness.forget_absent(particles);
        self.lame = LameParameter::new(&particles.material, n);
        self.compute_bases(particles);
        self.resize_scratch(n);
        self.refit(&particles.position);
    }
}
