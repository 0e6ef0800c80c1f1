//! Tests of the method against differences of its energy, closed forms and the numbers of its validation targets.

mod flow;
mod forces;
mod updates;

use super::bases::growth_to_even;
use super::*;
use crate::contact::{BodyContactStep, BodyContacts, Contacts, Grips, Holds};
use crate::forces::Fields;
use crate::material::Lame;
use crate::math::{Random, frobenius_norm, polar, svd, trace, vec3};
use crate::methods::testing::{E, NU, lattice, matter, random_map};
use crate::methods::{ForceWork, Timings};
use crate::neighbors::BondRows;
use crate::surface::CarriedPoints;

fn build(params: Params, particles: &mut Particles) -> Embedded {
    let matter = matter(particles, Law::Corotated, None);
    Embedded::build(params, particles, &matter).unwrap()
}

/// Returns settings with the paper's support radius, with which the targets of the notes were measured.
fn wide() -> Params {
    Params { support_factor: 2.0, ..Params::default() }
}

/// Changes the rest bonds so that they no longer fit one shape, as after plastic flow.
fn disagree(method: &mut Embedded, particles: &Particles) {
    let mut random = Random::new(31);
    for i in 0..particles.len() {
        let noise = Mat3::from_cols(random.in_cube(), random.in_cube(), random.in_cube());
        method.bonds.row_mut(i).map_vectors(|u| (Mat3::IDENTITY + noise * 0.1) * u);
    }
    method.compute_bases(particles);
}

/// Runs `act` with a context that has no obstacles, grips or fields.
fn with_context<T>(time_step: Real, act: impl FnOnce(&mut StepContext<'_>) -> T) -> T {
    let (mut touching, mut given, mut holds) = (Vec::new(), Vec::new(), Holds::default());
    let (mut touches, mut pushes, mut slip) = (Vec::new(), Vec::new(), Vec::new());
    let (mut obstacle_work, mut grip_work, mut n_pinched) = (0.0, 0.0, 0);
    let (mut next_id, mut timings, mut carried) = (1_000_000, Timings::default(), CarriedPoints::default());
    let mut no_bodies = BodyContacts::new(false, Vec::new());
    let contacts = Contacts {
        obstacles: &[],
        time_step,
        touching: &mut touching,
        slip: &mut slip,
        given: &mut given,
        phase: None,
        impulses: &mut [],
        touches: &mut touches,
        work: &mut obstacle_work,
        pushes: &mut pushes,
        n_pinched: &mut n_pinched,
        bodies: BodyContactStep::new(&mut no_bodies, 0, vec![None]),
    };
    let mut ctx = StepContext {
        time: 0.0,
        time_step,
        fields: Fields { gravity: Vec3::ZERO, fields: &[], time: 0.0 },
        contacts,
        grips: Grips { moves: &[], holds: &mut holds, time_step, impulses: &mut [], work: &mut grip_work },
        work: ForceWork::default(),
        carried: &mut carried,
        next_id: &mut next_id,
        timings: &mut timings,
    };
    act(&mut ctx)
}
