//! Live run: a scene that is computed while pages watch and change it.

mod hub;
mod parameters;
mod simulation;

use super::socket::{Bell, Conversation, Gone, Outbox, Source};
use crate::failure::Failure;
use crate::scene_source::{SceneSource, SceneText};
use hub::{Answer, Hub, PageId, Snapshot, Wish};
use phyxel::methods::ColumnInfo;
use phyxel_io::viewer::message::{Command, Request, shortened};
use phyxel_io::viewer::{
    PageBounds, PageColumnInfo, PageFrame, PageInfo, PageSurface, Scenery, ledger_columns, page_bounds,
    page_middle,
};
use serde_json::{Value, json};
use simulation::Simulation;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

/// Largest number of pending requests of a page for snapshots.
const MOST_PENDING: usize = 16;
/// Longest time that a page waits for an answer of the run; a frame may take that long.
const REPLY_TIME: Duration = Duration::from_secs(120);

/// Live run that pages watch.
pub(super) struct LiveSource {
    hub: Arc<Hub>,
    /// Constant facts: title, bodies, columns, obstacles.
    info: Value,
    columns: Vec<String>,
    scenery: Scenery,
}

impl LiveSource {
    /// Starts the run; it waits for its first page.
    ///
    /// # Errors
    /// Fails if a thread cannot be started.
    pub(super) fn start(
        text: SceneText,
        source: SceneSource,
        n_threads: Option<usize>,
    ) -> Result<Self, Failure> {
        let start = source.world.frame(&[]);
        let bounds = page_bounds(&start.position, &start.radius);
        let scenery = Scenery::new(source.obstacles.clone(), page_middle(bounds));
        let info = info(&source, &scenery, bounds);
        let columns = source.world.columns().iter().map(|column| column.name.to_owned()).collect();
        let (simulation, hub) = Simulation::new(text, source);
        let meeting = Arc::clone(&hub);
        let work = move || {
            if let Err(failure) = simulation::run_in_pool(simulation, &meeting, n_threads) {
                let _ = failure.report();
            }
        };
        let started = std::thread::Builder::new().name("simulation".into()).spawn(work);
        started.map_err(|error| Failure::Run(format!("cannot start a thread: {error}")))?;
        Ok(Self { hub, info, columns, scenery })
    }

    /// Encodes the packet of a snapshot.
    fn packet(&self, snapshot: &Snapshot, columns: &[String]) -> Vec<u8> {
        let mut page_frame = PageFrame::of_frame(snapshot.index, &snapshot.frame, columns);
        page_frame.obstacles = self.scenery.poses(snapshot.frame.time);
        page_frame.surfaces =
            snapshot.surfaces.iter().map(|(body, table)| PageSurface::of_table(*body, table)).collect();
        page_frame.ledger = Some((*snapshot.ledger).clone());
        page_frame.encode()
    }
}

fn info(source: &SceneSource, scenery: &Scenery, bounds: PageBounds) -> Value {
    let columns = source.world.columns();
    let column = |column: &ColumnInfo| PageColumnInfo {
        name: column.name,
        unit: column.unit,
        n_components: column.n_components,
        range: None,
    };
    let columns: Vec<PageColumnInfo<'_>> = columns.iter().map(column).collect();
    let info = PageInfo {
        mode: "live",
        title: &source.title,
        version: env!("CARGO_PKG_VERSION"),
        n_frames: 1,
        first_frame: 0,
        frame_rate: source.scene.frame_rate,
        bodies: &source.bodies,
        columns: &columns,
        bounds,
        scenery,
        ledger: &json!({ "columns": ledger_columns(&source.world.ledger()), "rows": [] }),
        notes: source.world.warnings(),
    };
    info.to_json()
}

impl Source for LiveSource {
    fn converse(&self, bell: Bell) -> Box<dyn Conversation + '_> {
        Box::new(LiveConversation {
            source: self,
            page: self.hub.join(bell),
            seen_state: None,
            seen: 0,
            sent_columns: Vec::new(),
            pending: VecDeque::new(),
            refreshed: 0,
        })
    }
}

struct LiveConversation<'a> {
    source: &'a LiveSource,
    page: PageId,
    /// Version of the state that the page knows.
    seen_state: Option<u64>,
    /// Sequence number of the last snapshot that the page got, and its columns.
    seen: u64,
    sent_columns: Vec<String>,
    /// Columns of the snapshots that the page waits for.
    pending: VecDeque<Vec<String>>,
    /// Sequence number of the snapshot that lacked a column when a refresh was ordered.
    refreshed: u64,
}

impl Drop for LiveConversation<'_> {
    fn drop(&mut self) {
        self.source.hub.leave(self.page);
    }
}

impl Conversation for LiveConversation<'_> {
    fn welcome(&mut self, page: &mut Outbox) -> Result<(), Gone> {
        let (hub, mut info) = (&self.source.hub, self.source.info.clone());
        let (state, version) = hub.state();
        info["ledger"]["rows"] = hub.rows().iter().map(|row| (**row).clone()).collect();
        info["frames"] = (hub.snapshot().index + 1).into();
        for key in ["gravity", "parameters"] {
            info[key] = state[key].clone();
        }
        page.text(&info)?;
        self.seen_state = Some(version);
        page.text(&state)
    }

    fn answer(&mut self, request: Request, page: &mut Outbox) -> Result<(), Gone> {
        let kind = request.kind();
        let ordered = match request {
            Request::Frame { .. } => Err("this run is live and keeps no frames: ask for \"next\"".into()),
            Request::Next { columns } => self.expect(columns),
            Request::Particle { frame, row } => {
                return self.ask(kind, |reply| Wish::Particle { frame, row, reply }, page);
            }
            Request::Live(Command::Save) => return self.ask(kind, |reply| Wish::Save { reply }, page),
            Request::Live(command) => self.source.hub.order(self.page, Wish::Command(command)),
        };
        ordered.or_else(|problem| page.refuse(kind, &problem))
    }

    fn news(&mut self, page: &mut Outbox) -> Result<(), Gone> {
        let hub = &self.source.hub;
        for problem in hub.take_problems(self.page) {
            page.error(&problem)?;
        }
        let (state, version) = hub.state();
        if self.seen_state != Some(version) {
            self.seen_state = Some(version);
            page.text(&state)?;
        }
        self.deliver(page)
    }
}

impl LiveConversation<'_> {
    /// Notes that the page waits for the next snapshot.
    fn expect(&mut self, columns: Vec<String>) -> Result<(), String> {
        if let Some(unknown) = columns.iter().find(|name| !self.source.columns.contains(name)) {
            return Err(format!("there is no column {:?}", shortened(unknown)));
        }
        if self.pending.len() >= MOST_PENDING {
            return Err(format!("{MOST_PENDING} moments are waited for already"));
        }
        self.source.hub.want(self.page, &columns);
        self.pending.push_back(columns);
        Ok(())
    }

    /// Sends the newest snapshot if the page waits for one that it has not seen, or has seen with other columns. If a
    /// page asks again, its earlier requests are answered at once, so that they do not delay the new one.
    fn deliver(&mut self, page: &mut Outbox) -> Result<(), Gone> {
        while self.pending.len() > 1 {
            let snapshot = self.source.hub.snapshot();
            let columns = self.pending.front().filter(|columns| snapshot.has(columns));
            let packet = self.source.packet(&snapshot, columns.unwrap_or(&Vec::new()));
            self.seen = snapshot.sequence;
            self.sent_columns = self.pending.pop_front().unwrap_or_default();
            page.packet(packet)?;
        }
        let Some(columns) = self.pending.front() else { return Ok(()) };
        let snapshot = self.source.hub.snapshot();
        if snapshot.sequence == self.seen && *columns == self.sent_columns {
            return Ok(());
        }
        if !snapshot.has(columns) {
            // a paused run must be asked for a new snapshot; once is enough
            if self.refreshed != snapshot.sequence && self.source.hub.order(self.page, Wish::Refresh).is_ok()
            {
                self.refreshed = snapshot.sequence;
            }
            return Ok(());
        }
        let packet = self.source.packet(&snapshot, columns);
        self.seen = snapshot.sequence;
        self.sent_columns = self.pending.pop_front().unwrap_or_default();
        page.packet(packet)
    }

    /// Asks the run a question and waits for the answer, so that later requests of the page are answered after it.
    fn ask(
        &self,
        kind: &str,
        wish: impl FnOnce(SyncSender<Answer>) -> Wish,
        page: &mut Outbox,
    ) -> Result<(), Gone> {
        let (reply, answer) = sync_channel(1);
        if let Err(problem) = self.source.hub.order(self.page, wish(reply)) {
            return page.refuse(kind, &problem);
        }
        match answer.recv_timeout(REPLY_TIME) {
            Ok(Ok(answer)) => page.text(&answer),
            Ok(Err(problem)) => page.refuse(kind, &problem),
            Err(_) => page.refuse(kind, "the run does not answer: its frames take very long"),
        }
    }
}
