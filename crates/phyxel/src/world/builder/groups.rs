//! Builds groups (the bodies that one method drives together) from filled bodies.

use super::{Body, BuildError};
use crate::contact::{BodyTraits, Holds, TOUCHES_NOTHING};
use crate::geometry::Filled;
use crate::material::{PROPERTIES, Property, PropertyInfo};
use crate::math::{Real, Vec3};
use crate::methods::{GroupBody, Matter, MethodError, MethodFactory, find_method};
use crate::particles::{PARTICLES, Particles, Remap};
use crate::surface::{Carried, CarriedPoints};
use crate::world::clearance::{Placed, make_clear};
use crate::world::{Group, sorting};
use std::sync::Arc;

/// Methods from which a world can build groups.
#[derive(Clone, Debug)]
pub(in crate::world) struct Methods {
    /// Methods added by the caller; the last one with a key is used. Other methods come from the catalogue.
    pub(super) given: Vec<Arc<dyn MethodFactory>>,
    /// Key of the method that drives bodies without a method of their own.
    pub(super) default: String,
}

impl Methods {
    /// Returns the key of the method of a body.
    pub(in crate::world) fn key<'a>(&'a self, body: &'a Body) -> &'a str {
        body.method.as_deref().unwrap_or(&self.default)
    }

    fn factory(&self, key: &str) -> Option<Arc<dyn MethodFactory>> {
        let given = self.given.iter().rev().find(|f| f.key() == key).cloned();
        given.or_else(|| Some(Arc::from(find_method(key)?.default_factory?())))
    }

    /// Builds a group of bodies with one method among all bodies and obstacles, and returns it with warnings. `hold`
    /// finds the particles that grips hold.
    pub(in crate::world) fn build_group(
        &self,
        members: &[Member<'_>],
        (traits, obstacles): (&[BodyTraits], &[Placed<'_>]),
        hold: impl FnOnce(&Particles) -> Holds,
    ) -> Result<(Group, Vec<String>), BuildError> {
        let first = &members[0];
        let key = self.key(first.body);
        check_abilities(key, members)?;
        let (mut particles, matter) = gather_matter(members, traits);
        let mut holds = hold(&particles);
        let mut is_held = vec![false; particles.len()];
        holds.particle.iter().for_each(|&i| is_held[i as usize] = true);
        let name = |body| members.iter().find(|m| m.index == body).map_or("", |m| &m.body.name);
        let mut warnings = make_clear(&mut particles, &is_held, obstacles, name)
            .map_err(|(body, pairs)| BuildError::InObstacle { body: body as usize, pairs })?;
        let cell = 4.0 * particles.radius.iter().sum::<Real>() / particles.len() as Real;
        let order = sorting::morton_order(&particles.position, &particles.body, cell);
        let mut remap = Remap::reorder(PARTICLES, &order, &particles.mass);
        particles.visit_state(&mut remap);
        holds.visit_state(&mut remap);
        let factory = self.factory(key).ok_or_else(|| BuildError::UnknownMethod {
            body: first.index as usize,
            name: first.body.name.clone(),
            method: key.into(),
        })?;
        let method = factory
            .build(&mut particles, &matter)
            .map_err(|source| BuildError::Method { body: source.body.map(|b| b as usize), source })?;
        warnings.extend(method.warnings(&particles));
        warnings.extend(members.iter().filter_map(|member| unused_flow(member.body)));
        let rest_limit = method.max_time_step(&particles).value;
        let bonds = |i: usize, visit: &mut dyn FnMut(usize, Vec3)| method.visit_bonds(&particles, i, visit);
        let bodies = members.iter().map(|m| (m.index, &m.body.carried));
        let with_points: Vec<(u32, &Carried)> = bodies.filter(|b| !b.1.points.is_empty()).collect();
        let carried = CarriedPoints::new(&with_points, &particles, &bonds);
        let (touching, slip) = (vec![TOUCHES_NOTHING; particles.len()], vec![Vec3::ZERO; particles.len()]);
        let group = Group {
            key: key.into(),
            bodies: members.iter().map(|m| m.index).collect(),
            particles,
            method,
            holds,
            touching,
            slip,
            given: Vec::new(),
            pushes: Vec::new(),
            carried,
            start_limit: rest_limit,
            rest_limit,
        };
        Ok((group, warnings))
    }
}

/// A body of a group that is to be built.
#[derive(Clone, Copy)]
pub(in crate::world) struct Member<'a> {
    /// Index of the body in the world.
    pub(in crate::world) index: u32,
    pub(in crate::world) body: &'a Body,
    pub(in crate::world) points: &'a Filled,
    /// Id of the first particle of the body.
    pub(in crate::world) first_id: u64,
}

/// Returns a warning if a material has properties of a flow that it does not have.
fn unused_flow(body: &Body) -> Option<String> {
    let material = &body.material;
    let is_unused = |info: &&PropertyInfo| {
        !material.flow.has(info.property) && material[info.property].uniform() != Some(info.absent)
    };
    let unused: Vec<&str> = PROPERTIES.iter().filter(is_unused).map(|info| info.key).collect();
    let message = format!(
        "body \"{}\" does not flow, and {} is not used: set the material's `flow`",
        body.name,
        unused.join(", ")
    );
    (!unused.is_empty()).then_some(message)
}

/// Refuses materials that a method of the catalogue cannot run.
fn check_abilities(key: &str, members: &[Member<'_>]) -> Result<(), BuildError> {
    let Some(entry) = find_method(key) else { return Ok(()) };
    for &Member { index, body: Body { name, material, .. }, .. } in members {
        if let Some(refusal) = entry.refusal(material.law, material.flow) {
            let message = format!("body \"{name}\": {}", refusal.message);
            let source = MethodError { body: Some(index), message };
            return Err(BuildError::Method { body: Some(index as usize), source });
        }
    }
    Ok(())
}

/// Returns the particles of a group in order of id, and the description of its bodies.
fn gather_matter(members: &[Member<'_>], traits: &[BodyTraits]) -> (Particles, Matter) {
    let mut particles = Particles::default();
    let mut matter = Matter { bodies: Vec::new() };
    for &Member { index, body, points, first_id } in members {
        let n = points.positions.len();
        let material = body.material.resolve(&points.positions);
        let density = &material[Property::Density];
        let mut own = Particles {
            id: (first_id..first_id + n as u64).map(|id| id as u32).collect(),
            body: vec![index; n],
            position: points.positions.clone(),
            velocity: vec![body.velocity; n],
            mass: (0..n).map(|i| density.at(i) * points.volumes[i]).collect(),
            volume: points.volumes.clone(),
            radius: points.spacing.iter().map(|s| 0.5 * s).collect(),
            contact_radius: points.spacing.iter().map(|s| 0.5 * s).collect(),
            impulse: Vec::new(),
            material,
        };
        let center = own.center_of_mass();
        for (v, x) in own.velocity.iter_mut().zip(&own.position) {
            *v += body.angular_velocity.cross(*x - center);
        }
        particles.append(own);
        matter.bodies.push(GroupBody {
            index,
            name: body.name.clone(),
            matter: traits[index as usize].matter,
            sampling: body.fill.sampling,
            volume: points.volume,
            law: body.material.law,
            flow: body.material.flow,
        });
    }
    (particles, matter)
}
