//! Changes to a running world: at once by a call, or at a given time by an event.
//!
//! Changes of gravity, materials and the hand are [`Action`]s. Actions of callers between steps are logged with their
//! time. If a world was changed only by actions, its [`World::past_events`], used as the events of another world,
//! reproduce the run bit for bit. Added and removed bodies, pushes and moved obstacles are not logged.

use super::drag::Pull;
use super::{Group, World, WorldError};
use crate::material::{Flow, Lame, Material, MaterialChange, Property};
use crate::math::{Real, Vec3};
use crate::methods::{StepError, find_method};

/// An action at a given time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time of the event, at least 0 (s). A step ends at it. An event that is due at the end of an interval happens at
    /// the beginning of the next one.
    pub time: Real,
    /// Action of the event.
    pub action: Action,
}

/// A change to a running world.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Sets gravity (m/s²).
    Gravity(Vec3),
    /// Changes the material of a body. Stresses change at once; rest shape and plastic state stay.
    Material {
        /// Name of the body.
        body: String,
        /// Properties that change.
        change: MaterialChange,
    },
    /// Pulls a particle and those around it towards a point; a particle that was pulled before is released.
    Drag {
        /// Particle to pull.
        hold: Hold,
        /// Point to pull towards (m).
        to: Vec3,
    },
    /// Releases the pulled particle.
    Release,
}

/// Selects the particle to pull.
#[derive(Clone, Debug, PartialEq)]
pub enum Hold {
    /// The particle with an id.
    Particle {
        /// Name of its body.
        body: String,
        /// Id of the particle.
        id: u32,
    },
    /// The particle of a body that is nearest to a point.
    Nearest {
        /// Name of the body.
        body: String,
        /// Point to which the particle is nearest (m).
        point: Vec3,
    },
    /// The particle that is already pulled; if there is none, nothing happens.
    Same,
}

/// Error: an action cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// There is no body with this name.
    #[error("there is no body \"{0}\"")]
    NoBody(String),
    /// The body has no particle with this id.
    #[error("body \"{body}\" has no particle {id}")]
    NoParticle {
        /// Name of the body.
        body: String,
        /// Id that was not found.
        id: u32,
    },
    /// The body cannot have this material.
    #[error("the material of body \"{body}\" cannot change: {problem}")]
    Material {
        /// Name of the body.
        body: String,
        /// Explains why, and what to do.
        problem: String,
    },
    /// A value is infinite or not a number.
    #[error("{0} must be finite")]
    NotFinite(&'static str),
    /// The time of an event is negative or not finite.
    #[error("the time of an event must be at least 0, and finite")]
    Time,
}

/// Difference below which two times count as the same (s).
const SAME_TIME: Real = 1e-9;

const REMEDY: &str = "Change the event, or leave it out";

/// Events in order of time, and the number of past ones.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    events: Vec<Event>,
    /// Number of past events. It is state, because past events determine the state of the methods.
    pub(super) n_past: u64,
}

impl Schedule {
    fn next(&self) -> Option<&Event> {
        self.events.get(self.n_past as usize)
    }

    /// Returns the time at which steps must stop next: the time of the next event, at most `end` (s).
    pub(super) fn pause(&self, end: Real) -> Real {
        self.next().map(|event| event.time).filter(|time| *time < end - SAME_TIME).unwrap_or(end)
    }
}

impl World {
    /// Returns gravity (m/s²).
    pub fn gravity(&self) -> Vec3 {
        self.gravity
    }

    /// Returns the present material of a body; `None` if there is no body with this name.
    pub fn material(&self, body: &str) -> Option<&crate::material::Material> {
        self.body_index(body).map(|k| &self.materials[k])
    }

    /// Returns the id of the pulled particle and the point towards which it is pulled (m); `None` if nothing is pulled.
    pub fn dragged(&self) -> Option<(u32, Vec3)> {
        self.pull.first().map(|pull| (pull.id, pull.target))
    }

    /// Sets gravity (m/s²).
    ///
    /// # Errors
    /// If it is not finite.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), ActionError> {
        self.act(Action::Gravity(gravity))
    }

    /// Changes the material of a body.
    ///
    /// # Errors
    /// If there is no such body, a value is not allowed, or the body's method cannot change it.
    pub fn set_material(&mut self, body: &str, change: MaterialChange) -> Result<(), ActionError> {
        self.act(Action::Material { body: body.into(), change })
    }

    /// Pulls a particle towards a point (m) until [`World::release`]. The pull is a damped spring on the particles
    /// around it; its force is limited, so that it is stable for every matter and distance. If the particle merges into
    /// another one, the nearest particle is pulled instead.
    ///
    /// # Errors
    /// If there is no such particle or the point is not finite.
    pub fn drag(&mut self, hold: Hold, to: Vec3) -> Result<(), ActionError> {
        self.act(Action::Drag { hold, to })
    }

    /// Releases the pulled particle.
    pub fn release(&mut self) {
        // a release cannot fail
        drop(self.act(Action::Release));
    }

    /// Carries out an action now and logs it as an event.
    ///
    /// # Errors
    /// If the action cannot be carried out; nothing has changed then.
    pub fn act(&mut self, action: Action) -> Result<(), ActionError> {
        self.apply_with_jump(&action)?;
        let Schedule { events, n_past } = &mut self.schedule;
        events.insert(*n_past as usize, Event { time: self.time, action });
        *n_past += 1;
        Ok(())
    }

    /// Plans events. They happen in order of time; those with the same time in the given order, after events planned
    /// earlier.
    ///
    /// # Errors
    /// If an event cannot happen: returns the index of the first such event and the reason; nothing is planned then.
    pub fn plan(&mut self, events: Vec<Event>) -> Result<(), (usize, ActionError)> {
        for (k, event) in events.iter().enumerate() {
            let is_time = event.time >= 0.0 && event.time.is_finite();
            let checked = if is_time { self.check(&event.action) } else { Err(ActionError::Time) };
            checked.map_err(|error| (k, error))?;
        }
        self.check_materials(&events)?;
        let n_past = self.schedule.n_past as usize;
        self.schedule.events.extend(events);
        self.schedule.events[n_past..].sort_by(|a, b| a.time.total_cmp(&b.time));
        Ok(())
    }

    /// Returns the past events, including the logged actions of callers.
    pub fn past_events(&self) -> &[Event] {
        &self.schedule.events[..self.schedule.n_past as usize]
    }

    /// Returns the planned events.
    pub fn future_events(&self) -> &[Event] {
        &self.schedule.events[self.schedule.n_past as usize..]
    }

    /// Carries out the events that are due.
    pub(super) fn act_on_due_events(&mut self) -> Result<(), WorldError> {
        while let Some(event) = self.schedule.next().filter(|e| e.time <= self.time + SAME_TIME).cloned() {
            self.apply_with_jump(&event.action).map_err(|error| self.event_error(&event.action, &error))?;
            self.schedule.n_past += 1;
        }
        Ok(())
    }

    /// Repeats the material changes of past events, after a visitor has written their number and before it writes more:
    /// they determine which state the methods have. All other changes are state themselves.
    pub(super) fn repeat_events(&mut self, n_before: u64) {
        let n_past = (self.schedule.n_past as usize).min(self.schedule.events.len());
        self.schedule.n_past = n_past as u64;
        for k in n_before as usize..n_past {
            let action = self.schedule.events[k].action.clone();
            if matches!(action, Action::Material { .. }) {
                // the change succeeded before, so it cannot fail
                drop(self.apply(&action));
            }
        }
    }

    fn event_error(&self, action: &Action, error: &ActionError) -> WorldError {
        let (body, particle) = match action {
            Action::Drag { hold: Hold::Particle { body, id }, .. } => (body.clone(), *id),
            Action::Drag { hold: Hold::Nearest { body, .. }, .. } | Action::Material { body, .. } => {
                (body.clone(), 0)
            }
            _ => (String::new(), 0),
        };
        let source = StepError::Event { reason: error.to_string() };
        WorldError { time: self.time, body, particle, source, remedy: REMEDY }
    }

    fn body_index(&self, name: &str) -> Option<usize> {
        self.body_names.iter().position(|n| n == name)
    }

    fn find_body(&self, name: &str) -> Result<usize, ActionError> {
        self.body_index(name).ok_or_else(|| ActionError::NoBody(name.into()))
    }

    /// Returns the index of the group that drives a body; `None` if the body has been removed.
    pub(super) fn group_of(&self, body: u32) -> Option<usize> {
        self.groups.iter().position(|group| group.bodies.contains(&body))
    }

    /// Checks an action without applying it, as far as possible before its time.
    fn check(&self, action: &Action) -> Result<(), ActionError> {
        let finite = |what, v: &Vec3| if v.is_finite() { Ok(()) } else { Err(ActionError::NotFinite(what)) };
        match action {
            Action::Gravity(gravity) => finite("gravity", gravity),
            Action::Material { body, change } => {
                let k = self.find_body(body)?;
                self.check_ability(k, change)
            }
            Action::Drag { hold, to } => {
                finite("the point to drag to", to)?;
                match hold {
                    Hold::Particle { body, .. } => self.find_body(body).map(drop),
                    Hold::Nearest { body, point } => {
                        self.find_body(body)?;
                        finite("the point to drag at", point)
                    }
                    Hold::Same => Ok(()),
                }
            }
            Action::Release => Ok(()),
        }
    }

    fn check_ability(&self, body: usize, change: &MaterialChange) -> Result<(), ActionError> {
        let Some(Group { key, .. }) = self.group_of(body as u32).map(|g| &self.groups[g]) else {
            return Ok(());
        };
        let begins = if change.is_plastic() { Flow::Creep(Default::default()) } else { Flow::None };
        let flow = change.flow.unwrap_or(begins);
        if let Some(refusal) = find_method(key).and_then(|entry| entry.refusal(None, flow)) {
            let (body, problem) = (self.body_names[body].clone(), refusal.message);
            return Err(ActionError::Material { body, problem });
        }
        Ok(())
    }

    /// Checks that all planned and new material changes are valid, one after the other in order of time.
    fn check_materials(&self, events: &[Event]) -> Result<(), (usize, ActionError)> {
        let mut order: Vec<(Option<usize>, &Event)> =
            self.future_events().iter().map(|e| (None, e)).collect();
        order.extend(events.iter().enumerate().map(|(k, e)| (Some(k), e)));
        order.sort_by(|a, b| a.1.time.total_cmp(&b.1.time));
        let mut materials = self.materials.clone();
        for (k, event) in order {
            let Action::Material { body, change } = &event.action else { continue };
            let Some(index) = self.body_index(body) else { continue };
            match change.clone().apply(&materials[index]) {
                Ok(changed) => materials[index] = changed,
                Err(problem) => {
                    let error = ActionError::Material { body: body.clone(), problem };
                    return Err((k.unwrap_or(0), error));
                }
            }
        }
        Ok(())
    }

    /// Applies an action; the energy that it changes at once is nobody's work.
    fn apply_with_jump(&mut self, action: &Action) -> Result<(), ActionError> {
        match action {
            Action::Gravity(_) | Action::Material { .. } => self.with_jump(|world| world.apply(action)),
            Action::Drag { .. } | Action::Release => self.apply(action),
        }
    }

    fn apply(&mut self, action: &Action) -> Result<(), ActionError> {
        self.check(action)?;
        match action {
            Action::Gravity(gravity) => self.gravity = *gravity,
            Action::Material { body, change } => self.apply_material(body, change.clone())?,
            Action::Drag { hold, to } => {
                if let Some(pull) = self.grab(hold)? {
                    self.pull = vec![Pull { target: *to, ..pull }];
                }
            }
            Action::Release => self.pull.clear(),
        }
        Ok(())
    }

    fn apply_material(&mut self, body: &str, mut change: MaterialChange) -> Result<(), ActionError> {
        let k = self.find_body(body)?;
        let fail = |problem: String| ActionError::Material { body: body.into(), problem };
        let changed = change.apply(&self.materials[k]).map_err(fail)?;
        if let Some(g) = self.group_of(k as u32) {
            let Group { method, particles, .. } = &mut self.groups[g];
            let before = particles.material.clone();
            for (info, value) in change.values.iter() {
                if let Some(value) = value {
                    particles.material[info.property].set(*value, &particles.body, k as u32);
                }
            }
            if let Err(error) = method.change_material(particles, k as u32, &change) {
                particles.material = before;
                return Err(fail(error.message));
            }
            // stiffer matter needs shorter steps; they must not count as a sign of torn matter
            let modulus = p_wave_modulus(&changed);
            self.stiffening[k] = (modulus / self.start_modulus[k]).max(1.0);
            let group = &mut self.groups[g];
            let most = group.bodies.iter().map(|b| self.stiffening[*b as usize]).fold(1.0, Real::max);
            group.rest_limit = group.start_limit / most.sqrt();
        }
        self.materials[k] = changed;
        Ok(())
    }

    fn grab(&self, hold: &Hold) -> Result<Option<Pull>, ActionError> {
        match hold {
            Hold::Same => Ok(self.pull.first().copied()),
            Hold::Particle { body, id } => {
                let k = self.find_body(body)? as u32;
                let missing = || ActionError::NoParticle { body: body.clone(), id: *id };
                let particles = &self.groups[self.group_of(k).ok_or_else(missing)?].particles;
                let is_it = |&i: &usize| particles.id[i] == *id && particles.body[i] == k;
                let i = (0..particles.len()).find(is_it).ok_or_else(missing)?;
                let position = particles.position[i];
                Ok(Some(Pull { id: *id, body: k, target: position, position }))
            }
            Hold::Nearest { body, point } => {
                let k = self.find_body(body)? as u32;
                let start = Pull { id: u32::MAX, body: k, target: *point, position: *point };
                Ok(self.nearest(&start))
            }
        }
    }
}

/// Returns the P-wave modulus for the smallest Young's modulus and Poisson's ratio of a material (Pa).
pub(super) fn p_wave_modulus(material: &Material) -> Real {
    let least = |property: Property| material[property].range().0;
    Lame::from_moduli(least(Property::YoungsModulus), least(Property::PoissonRatio)).p_wave_modulus()
}
