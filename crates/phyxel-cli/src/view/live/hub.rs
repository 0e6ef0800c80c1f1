//! Exchange between the thread that computes and the threads that talk to pages: orders in, snapshots and states out.

use super::super::socket::Bell;
use phyxel::frame::Frame;
use phyxel_io::results::SurfaceTable;
use phyxel_io::viewer::message::Command;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Largest number of orders that wait for the end of a frame.
const MOST_ORDERS: usize = 256;
/// Largest number of problems that wait to be sent to a page; the oldest are dropped.
const MOST_PROBLEMS: usize = 16;
/// Largest number of kept rows of the ledger for pages that connect later; beyond it every second one is dropped.
const MOST_ROWS: usize = 4096;

/// Identifier of a connected page.
pub(super) type PageId = u64;

/// State of the world at one time.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// Sequence number, which grows with every snapshot.
    pub(super) sequence: u64,
    /// Number of the frame.
    pub(super) index: usize,
    /// Particles, with the columns that the pages want.
    pub(super) frame: Frame,
    /// Surfaces, with the indices of their bodies.
    pub(super) surfaces: Vec<(usize, SurfaceTable)>,
    /// Row of the ledger.
    pub(super) ledger: Arc<Value>,
}

impl Snapshot {
    /// Returns true if the snapshot has all of these columns.
    pub(super) fn has(&self, columns: &[String]) -> bool {
        columns.iter().all(|name| self.frame.columns.iter().any(|column| column.name == *name))
    }
}

/// Answer of the run to a question, or the reason why there is none.
pub(super) type Answer = Result<Value, String>;

/// Request of a page to the run.
#[derive(Debug)]
pub(super) enum Wish {
    /// Changes the run.
    Command(Command),
    /// Asks for a particle of a frame.
    Particle {
        /// Number of the frame.
        frame: usize,
        /// Row in the frame.
        row: usize,
        /// Channel for the answer.
        reply: SyncSender<Answer>,
    },
    /// Asks for the run as a scene.
    Save {
        /// Channel for the answer.
        reply: SyncSender<Answer>,
    },
    /// Asks for a snapshot with the currently wanted columns.
    Refresh,
    /// Reports that the page has disconnected.
    Leave,
}

/// Request together with the page that made it.
#[derive(Debug)]
pub(super) struct Order {
    /// Page that made the request.
    pub(super) page: PageId,
    /// The request itself.
    pub(super) wish: Wish,
}

impl Order {
    /// Returns true if a later order replaces this one: only the last position of a hand and of a slider counts.
    fn is_replaced_by(&self, later: &Self) -> bool {
        let (Wish::Command(this), Wish::Command(that)) = (&self.wish, &later.wish) else { return false };
        self.page == later.page
            && match (this, that) {
                (Command::Move { .. }, Command::Move { .. }) => true,
                (Command::Set { body, key, .. }, Command::Set { body: other_body, key: other_key, .. }) => {
                    body == other_body && key == other_key
                }
                _ => false,
            }
    }
}

struct Page {
    bell: Bell,
    columns: Vec<String>,
    problems: VecDeque<String>,
}

struct Shared {
    orders: VecDeque<Order>,
    pages: BTreeMap<PageId, Page>,
    next_page: PageId,
    snapshot: Arc<Snapshot>,
    rows: Vec<Arc<Value>>,
    /// Interval of the kept rows: one of this many is kept.
    stride: usize,
    n_rows: usize,
    state: Arc<Value>,
    state_version: u64,
}

impl Shared {
    fn ring_all(&self) {
        self.pages.values().for_each(|page| page.bell.ring());
    }
}

/// State that the threads of a live run share.
pub(super) struct Hub {
    shared: Mutex<Shared>,
    wake: Condvar,
}

impl Hub {
    /// Creates the hub with the start of a run.
    pub(super) fn new(snapshot: Snapshot, state: Value) -> Self {
        let shared = Shared {
            orders: VecDeque::new(),
            pages: BTreeMap::new(),
            next_page: 0,
            rows: vec![Arc::clone(&snapshot.ledger)],
            stride: 1,
            n_rows: 1,
            snapshot: Arc::new(snapshot),
            state: Arc::new(state),
            state_version: 0,
        };
        Self { shared: Mutex::new(shared), wake: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Methods for the threads of the pages.

    /// Registers a page. The run continues while there is a page.
    pub(super) fn join(&self, bell: Bell) -> PageId {
        let mut shared = self.lock();
        let id = shared.next_page;
        shared.next_page += 1;
        shared.pages.insert(id, Page { bell, columns: Vec::new(), problems: VecDeque::new() });
        self.wake.notify_all();
        id
    }

    /// Removes a page.
    pub(super) fn leave(&self, page: PageId) {
        let mut shared = self.lock();
        shared.pages.remove(&page);
        shared.orders.push_back(Order { page, wish: Wish::Leave });
        self.wake.notify_all();
    }

    /// Queues an order; it is carried out at the end of the frame that is being computed.
    ///
    /// # Errors
    /// Fails if too many orders wait already.
    pub(super) fn order(&self, page: PageId, wish: Wish) -> Result<(), String> {
        let mut shared = self.lock();
        let order = Order { page, wish };
        let n_orders = shared.orders.len();
        match shared.orders.back_mut() {
            Some(last) if last.is_replaced_by(&order) => *last = order,
            _ if n_orders >= MOST_ORDERS => {
                return Err("the run is still busy with earlier orders; wait a moment".into());
            }
            _ => shared.orders.push_back(order),
        }
        self.wake.notify_all();
        Ok(())
    }

    /// Sets the columns that a page wants from now on.
    pub(super) fn want(&self, page: PageId, columns: &[String]) {
        if let Some(page) = self.lock().pages.get_mut(&page) {
            columns.clone_into(&mut page.columns);
        }
    }

    /// Returns the newest snapshot.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.lock().snapshot)
    }

    /// Returns the state of the run and its version.
    pub(super) fn state(&self) -> (Arc<Value>, u64) {
        let shared = self.lock();
        (Arc::clone(&shared.state), shared.state_version)
    }

    /// Returns the ledger so far, for a page that connects late.
    pub(super) fn rows(&self) -> Vec<Arc<Value>> {
        self.lock().rows.clone()
    }

    /// Takes the problems that a page is to be told.
    pub(super) fn take_problems(&self, page: PageId) -> Vec<String> {
        self.lock().pages.get_mut(&page).map_or_else(Vec::new, |page| page.problems.drain(..).collect())
    }

    // Methods for the thread of the run.

    /// Waits for orders, or until the next frame is due if a page is connected. A paused run waits for orders only.
    pub(super) fn wait(&self, due: Option<Instant>) -> Vec<Order> {
        let mut shared = self.lock();
        loop {
            if !shared.orders.is_empty() {
                return shared.orders.drain(..).collect();
            }
            shared = match due.filter(|_| !shared.pages.is_empty()) {
                Some(due) => {
                    let left = due.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Vec::new();
                    }
                    self.wake.wait_timeout(shared, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.wake.wait(shared).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Returns true if a page is connected.
    pub(super) fn is_watched(&self) -> bool {
        !self.lock().pages.is_empty()
    }

    /// Returns all columns that pages want, each once.
    pub(super) fn wanted_columns(&self) -> Vec<String> {
        let mut all: Vec<String> = self.lock().pages.values().flat_map(|page| page.columns.clone()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Publishes a snapshot to all pages.
    pub(super) fn publish(&self, snapshot: Snapshot, is_new_row: bool) {
        let mut shared = self.lock();
        if is_new_row {
            if shared.n_rows.is_multiple_of(shared.stride) {
                shared.rows.push(Arc::clone(&snapshot.ledger));
            }
            shared.n_rows += 1;
            if shared.rows.len() > MOST_ROWS {
                let mut index = 0;
                shared.rows.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                shared.stride *= 2;
            }
        }
        shared.snapshot = Arc::new(snapshot);
        shared.ring_all();
    }

    /// Deletes the ledger, because the run starts again.
    pub(super) fn forget_rows(&self) {
        let mut shared = self.lock();
        shared.rows.clear();
        (shared.stride, shared.n_rows) = (1, 0);
    }

    /// Sends the state of the run to all pages.
    pub(super) fn tell(&self, state: Value) {
        let mut shared = self.lock();
        shared.state = Arc::new(state);
        shared.state_version += 1;
        shared.ring_all();
    }

    /// Reports a problem to one page.
    pub(super) fn complain(&self, page: PageId, problem: String) {
        if let Some(page) = self.lock().pages.get_mut(&page) {
            if page.problems.len() >= MOST_PROBLEMS {
                page.problems.pop_front();
            }
            page.problems.push_back(problem);
            page.bell.ring();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn snapshot(index: usize) -> Snapshot {
        let ledger = Arc::new(json!([index]));
        Snapshot { sequence: index as u64 + 1, index, frame: Frame::default(), surfaces: Vec::new(), ledger }
    }

    fn set(key: &str, value: f64) -> Wish {
        Wish::Command(Command::Set { body: "a".into(), key: key.into(), value })
    }

    #[test]
    fn only_the_last_place_of_a_hand_or_slider_waits() {
        let hub = Hub::new(snapshot(0), Value::Null);
        let (one, two) = (hub.join(Bell::unheard()), hub.join(Bell::unheard()));
        for k in 0..1000 {
            hub.order(one, Wish::Command(Command::Move { to: [f64::from(k); 3] })).unwrap();
        }
        hub.order(two, Wish::Command(Command::Move { to: [0.0; 3] })).unwrap();
        for value in [1.0, 2.0, 3.0] {
            hub.order(one, set("viscosity", value)).unwrap();
        }
        hub.order(one, set("youngs_modulus", 4.0)).unwrap();
        let orders = hub.wait(None);
        assert_eq!(orders.len(), 4);
        let last = |wish: &Wish| matches!(wish, Wish::Command(Command::Move { to }) if to[0] == 999.0);
        assert!(last(&orders[0].wish) && orders[1].page == two);
        assert!(matches!(&orders[2].wish, Wish::Command(Command::Set { value, .. }) if *value == 3.0));
    }

    #[test]
    fn orders_and_problems_are_bounded_but_a_farewell_always_arrives() {
        let hub = Hub::new(snapshot(0), Value::Null);
        let page = hub.join(Bell::unheard());
        let n_taken = (0..1000).filter(|_| hub.order(page, Wish::Command(Command::Step)).is_ok()).count();
        assert_eq!(n_taken, MOST_ORDERS);
        (0..1000).for_each(|k| hub.complain(page, k.to_string()));
        let problems = hub.take_problems(page);
        assert_eq!((problems.len(), problems.last().map(String::as_str)), (MOST_PROBLEMS, Some("999")));
        assert!(hub.is_watched());
        hub.leave(page);
        assert!(!hub.is_watched());
        assert!(matches!(hub.wait(None).last(), Some(Order { wish: Wish::Leave, .. })));
    }

    /// A page that connects after hours gets the whole ledger, thinned out.
    #[test]
    fn the_ledger_for_late_pages_is_bounded_and_even() {
        let hub = Hub::new(snapshot(0), Value::Null);
        let n_frames = 5 * MOST_ROWS;
        (1..n_frames).for_each(|k| hub.publish(snapshot(k), true));
        let rows: Vec<u64> = hub.rows().iter().map(|row| row[0].as_u64().unwrap()).collect();
        assert!((MOST_ROWS / 2..=MOST_ROWS).contains(&rows.len()), "{}", rows.len());
        let gap = rows[1] - rows[0];
        assert!(rows[0] == 0 && rows.windows(2).all(|pair| pair[1] - pair[0] == gap), "gaps differ");
        hub.forget_rows();
        hub.publish(snapshot(0), true);
        assert_eq!(hub.rows().len(), 1);
    }
}
