//! Thread that computes a live run: frame after frame, no faster than real time, with orders between frames.
//!
//! All changes by pages go through the world's own log of events, at times of frames, so that the saved scene
//! gives the same bits.

use super::hub::{Hub, Order, PageId, Snapshot, Wish};
use super::parameters::Panel;
use crate::failure::Failure;
use crate::scene_source::{SceneSource, SceneText};
use crate::surfaces::Surfaces;
use phyxel::math::Vec3;
use phyxel::world::{Action, Hold, World};
use phyxel_io::results::BodyInfo;
use phyxel_io::scene::with_events;
use phyxel_io::viewer::message::Command;
use phyxel_io::viewer::{ledger_row, particle_of_frame};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of past frames in which a page may refer to a particle.
const MEMORY: usize = 64;
/// Largest number of changes of a run, so that its log stays bounded; further changes are refused.
const MOST_EVENTS: usize = 1_000_000;
/// Interval at which pages are told the speed of the run.
const METER_TIME: Duration = Duration::from_secs(1);

/// Identity and body of the particle in each row of a frame.
#[derive(Debug, PartialEq)]
struct Rows {
    id: Vec<u32>,
    body: Vec<u32>,
}

/// A live run.
pub(super) struct Simulation {
    text: SceneText,
    frame_rate: f64,
    bodies: Vec<BodyInfo>,
    columns: Vec<String>,
    world: World,
    surfaces: Surfaces,
    panel: Panel,
    /// Number of the frame at which the world is.
    frame: usize,
    is_running: bool,
    n_steps_due: usize,
    error: Option<String>,
    /// Page that drags a particle.
    hand: Option<PageId>,
    /// Rows of the last frames, with the numbers of the frames.
    rows: VecDeque<(usize, Arc<Rows>)>,
    sequence: u64,
    ledger: Arc<Value>,
    /// Time at which the next frame may begin.
    due: Instant,
    meter: Meter,
}

/// Measurement of the simulated time per second of real time.
struct Meter {
    since: Instant,
    n_frames: usize,
    speed: f64,
}

impl Meter {
    fn new() -> Self {
        Self { since: Instant::now(), n_frames: 0, speed: 0.0 }
    }
}

impl Simulation {
    /// Creates the simulation at its start, and the hub for its pages.
    pub(super) fn new(text: SceneText, source: SceneSource) -> (Self, Arc<Hub>) {
        let SceneSource { scene, bodies, world, surfaces, .. } = source;
        let now = Instant::now();
        let mut simulation = Self {
            text,
            frame_rate: scene.frame_rate,
            columns: world.columns().iter().map(|column| column.name.to_owned()).collect(),
            panel: Panel::new(&world, &bodies),
            bodies,
            ledger: Arc::new(ledger_row(&world.ledger())),
            world,
            surfaces,
            frame: 0,
            is_running: true,
            n_steps_due: 0,
            error: None,
            hand: None,
            rows: VecDeque::new(),
            sequence: 0,
            due: now,
            meter: Meter::new(),
        };
        let snapshot = simulation.snapshot(&[]);
        let hub = Arc::new(Hub::new(snapshot, simulation.state()));
        (simulation, hub)
    }

    /// Computes frames for ever.
    pub(super) fn run(&mut self, hub: &Hub) {
        loop {
            let orders = hub.wait(self.next_frame());
            if !orders.is_empty() {
                self.obey(orders, hub);
            }
            if self.next_frame().is_some_and(|due| Instant::now() >= due) && hub.is_watched() {
                self.advance(hub);
            }
        }
    }

    /// Returns the time at which the next frame is to begin, if there is one.
    fn next_frame(&self) -> Option<Instant> {
        let due =
            if self.n_steps_due > 0 { Some(Instant::now()) } else { self.is_running.then_some(self.due) };
        due.filter(|_| self.error.is_none())
    }

    /// Carries out orders between two frames.
    fn obey(&mut self, orders: Vec<Order>, hub: &Hub) {
        let mut is_changed = false;
        for Order { page, wish } in orders {
            match wish {
                Wish::Command(command) => match self.carry_out(command, page, hub) {
                    Ok(()) => is_changed = true,
                    Err(problem) => hub.complain(page, problem),
                },
                Wish::Particle { frame, row, reply } => {
                    let _ = reply.try_send(self.particle(frame, row));
                }
                Wish::Save { reply } => {
                    let _ = reply.try_send(self.save());
                }
                Wish::Refresh => {
                    let snapshot = self.snapshot(&hub.wanted_columns());
                    hub.publish(snapshot, false);
                }
                Wish::Leave if self.hand == Some(page) => {
                    self.hand = None;
                    if self.error.is_none() {
                        self.world.release();
                    }
                }
                Wish::Leave => {}
            }
        }
        if is_changed {
            hub.tell(self.state());
        }
    }

    fn carry_out(&mut self, command: Command, page: PageId, hub: &Hub) -> Result<(), String> {
        match command {
            Command::Pause => self.is_running = false,
            Command::Reset => return self.reset(hub),
            _ if self.error.is_some() => return Err("the run has failed; reset it first".into()),
            Command::Play => {
                self.is_running = true;
                self.due = Instant::now();
                self.meter = Meter::new();
            }
            Command::Step => {
                self.is_running = false;
                self.n_steps_due += 1;
            }
            Command::Set { body, key, value } => {
                let change = self.panel.change(&body, &key, value)?;
                self.act(Action::Material { body, change })?;
            }
            Command::Gravity(gravity) => self.act(Action::Gravity(Vec3::from_array(gravity)))?,
            Command::Grab { frame, row, to } => {
                if self.hand.is_some_and(|other| other != page) {
                    return Err("another page is pulling".into());
                }
                let (id, body) = self.particle_at(frame, row)?;
                let body = self.bodies.get(body).map_or_else(String::new, |body| body.name.clone());
                let hold = Hold::Particle { body, id };
                self.act(Action::Drag { hold, to: Vec3::from_array(to) })?;
                self.hand = Some(page);
            }
            // a hand that holds nothing, for example after a reset, moves nothing
            Command::Move { to } if self.hand == Some(page) => {
                self.act(Action::Drag { hold: Hold::Same, to: Vec3::from_array(to) })?;
            }
            Command::Release if self.hand == Some(page) => {
                self.hand = None;
                self.world.release();
            }
            Command::Move { .. } | Command::Release | Command::Save => {}
        }
        Ok(())
    }

    /// Changes the world and thereby its log.
    fn act(&mut self, action: Action) -> Result<(), String> {
        if self.world.past_events().len() >= MOST_EVENTS {
            return Err(format!("{MOST_EVENTS} changes are logged; save the run and reset it"));
        }
        self.world.act(action).map_err(|error| error.to_string())
    }

    fn reset(&mut self, hub: &Hub) -> Result<(), String> {
        let source = self.text.build().map_err(|failure| {
            let _ = failure.report();
            "the scene cannot be built any more; the terminal says why".to_owned()
        })?;
        self.world = source.world;
        self.panel = Panel::new(&self.world, &self.bodies);
        (self.frame, self.n_steps_due, self.error, self.hand) = (0, 0, None, None);
        self.rows.clear();
        self.due = Instant::now();
        self.meter = Meter::new();
        hub.forget_rows();
        self.publish(hub);
        Ok(())
    }

    /// Computes one frame.
    fn advance(&mut self, hub: &Hub) {
        self.n_steps_due = self.n_steps_due.saturating_sub(1);
        let begin = Instant::now();
        if begin > self.due + METER_TIME {
            // the run stood still: no page was connected, or it was paused
            (self.due, self.meter) = (begin, Meter::new());
        }
        let next = self.frame + 1;
        let end = next as f64 / self.frame_rate;
        // a mistake in the engine must not end the server
        let advanced = catch_unwind(AssertUnwindSafe(|| self.world.advance_to(end)));
        let error = match advanced {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("the run failed {error}.")),
            Err(_) => Some(
                "the run failed by a mistake of phyxel; the terminal says more. Please report it.".into(),
            ),
        };
        if let Some(error) = error {
            (self.error, self.is_running, self.n_steps_due, self.hand) = (Some(error), false, 0, None);
            return hub.tell(self.state());
        }
        self.frame = next;
        self.publish(hub);
        let now = Instant::now();
        self.due = now.max(self.due + Duration::from_secs_f64(1.0 / self.frame_rate));
        self.measure(now, hub);
    }

    fn measure(&mut self, now: Instant, hub: &Hub) {
        self.meter.n_frames += 1;
        let elapsed = now.duration_since(self.meter.since);
        let is_over = elapsed >= METER_TIME;
        if is_over {
            let speed = self.meter.n_frames as f64 / self.frame_rate / elapsed.as_secs_f64();
            self.meter = Meter { speed, ..Meter::new() };
        }
        if is_over || !self.is_running {
            hub.tell(self.state());
        }
    }

    fn publish(&mut self, hub: &Hub) {
        self.ledger = Arc::new(ledger_row(&self.world.ledger()));
        let snapshot = self.snapshot(&hub.wanted_columns());
        hub.publish(snapshot, true);
    }

    /// Takes a snapshot of the current world, and records the particle of each row.
    fn snapshot(&mut self, columns: &[String]) -> Snapshot {
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let frame = self.world.frame(&columns);
        let rows = Rows { id: frame.id.clone(), body: frame.body.clone() };
        match self.rows.back() {
            Some((index, _)) if *index == self.frame => {}
            // most methods keep their particles, so the rows are shared
            Some((_, same)) if **same == rows => self.rows.push_back((self.frame, Arc::clone(same))),
            _ => self.rows.push_back((self.frame, Arc::new(rows))),
        }
        if self.rows.len() > MEMORY {
            self.rows.pop_front();
        }
        let index_of = |name: &String| self.bodies.iter().position(|body| body.name == *name);
        let surfaces = self.surfaces.now(&self.world).0.into_iter();
        let surfaces = surfaces.filter_map(|(name, table)| Some((index_of(&name)?, table))).collect();
        self.sequence += 1;
        let ledger = Arc::clone(&self.ledger);
        Snapshot { sequence: self.sequence, index: self.frame, frame, surfaces, ledger }
    }

    /// Returns id and body of the particle in a row of a frame.
    fn particle_at(&self, frame: usize, row: usize) -> Result<(u32, usize), String> {
        let rows = self.rows.iter().find(|(index, _)| *index == frame).map(|found| &found.1);
        let rows = rows.ok_or_else(|| format!("frame {frame} is not among the last ones"))?;
        let found = rows.id.get(row).zip(rows.body.get(row));
        let (id, body) = found
            .ok_or_else(|| format!("there is no row {row}: the frame has {} particles", rows.id.len()))?;
        Ok((*id, *body as usize))
    }

    /// Returns all current values of a particle.
    fn particle(&self, frame: usize, row: usize) -> Result<Value, String> {
        let (id, _) = self.particle_at(frame, row)?;
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let now = self.world.frame(&columns);
        let names: Vec<String> = self.bodies.iter().map(|body| body.name.clone()).collect();
        let answer = now.id.binary_search(&id).ok().and_then(|now_row| {
            let mut answer = particle_of_frame(frame, now_row, &now, &names)?;
            answer["row"] = row.into();
            answer["time"] = now.time.into();
            Some(answer)
        });
        answer.ok_or_else(|| format!("particle {id} has merged into another"))
    }

    /// Returns the run so far as a scene.
    fn save(&self) -> Result<Value, String> {
        let end = self.frame as f64 / self.frame_rate;
        let text = with_events(self.text.text(), self.text.name(), self.world.past_events(), end);
        let text = text.map_err(|error| format!("the run cannot be saved: {error}"))?;
        Ok(json!({ "type": "scene", "name": format!("{}-live.toml", self.text.stem()), "text": text }))
    }

    fn state(&self) -> Value {
        json!({
            "type": "state",
            "running": self.is_running && self.error.is_none(),
            "time": self.frame as f64 / self.frame_rate,
            "frame": self.frame,
            "speed": if self.is_running { self.meter.speed } else { 0.0 },
            "gravity": self.world.gravity().to_array(),
            "parameters": self.panel.to_json(&self.world),
            "error": self.error,
        })
    }
}

/// Runs the simulation in a thread pool of its own.
pub(super) fn run_in_pool(
    mut simulation: Simulation,
    hub: &Hub,
    n_threads: Option<usize>,
) -> Result<(), Failure> {
    crate::threads::with_threads(n_threads, || {
        simulation.run(hub);
        Ok(())
    })
}
