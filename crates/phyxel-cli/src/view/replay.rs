//! Replay of a result folder for pages, also while its run continues.

use super::socket::{Bell, Conversation, Gone, Outbox, Source};
use phyxel_io::viewer::message::Request;
use phyxel_io::viewer::{Replay, ViewerError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Interval at which the folder is checked for new frames.
const POLL_TIME: Duration = Duration::from_secs(1);

/// Result folder that pages display.
pub(super) struct ReplaySource {
    folder: PathBuf,
}

impl ReplaySource {
    /// Checks that there is a result to display.
    ///
    /// # Errors
    /// Fails if the folder is not a result, cannot be read, or has no frames yet.
    pub(super) fn open(folder: PathBuf) -> Result<Self, ViewerError> {
        Replay::open(&folder)?;
        Ok(Self { folder })
    }
}

impl Source for ReplaySource {
    fn converse(&self, _: Bell) -> Box<dyn Conversation + '_> {
        Box::new(ReplayConversation { source: self, replay: None, looked: Instant::now() })
    }
}

/// Conversation with one page. Every page opens the folder again, so that a reload shows the frames of a new run.
struct ReplayConversation<'a> {
    source: &'a ReplaySource,
    replay: Option<Replay>,
    /// Time at which the folder was last checked.
    looked: Instant,
}

impl Conversation for ReplayConversation<'_> {
    fn welcome(&mut self, page: &mut Outbox) -> Result<(), Gone> {
        match Replay::open(&self.source.folder) {
            Ok(replay) => {
                let info = replay.info();
                self.replay = Some(replay);
                page.text(&info)
            }
            Err(error) => {
                page.error(&error.to_string())?;
                Err(Gone)
            }
        }
    }

    fn answer(&mut self, request: Request, page: &mut Outbox) -> Result<(), Gone> {
        let Some(replay) = &self.replay else { return Err(Gone) };
        let kind = request.kind();
        let answered = match request {
            Request::Frame { index, columns } => {
                replay.packet(index, &columns).map(|packet| page.packet(packet))
            }
            Request::Particle { frame, row } => {
                replay.particle(frame, row).map(|particle| page.text(&particle))
            }
            Request::Next { .. } | Request::Live(_) => {
                return page.refuse(
                    kind,
                    "this is a recorded run; live runs are started with phyxel view SCENE.toml",
                );
            }
        };
        answered.unwrap_or_else(|error| page.refuse(kind, &error.to_string()))
    }

    fn news(&mut self, page: &mut Outbox) -> Result<(), Gone> {
        let Some(replay) = &mut self.replay else { return Err(Gone) };
        if self.looked.elapsed() < POLL_TIME {
            return Ok(());
        }
        self.looked = Instant::now();
        match replay.refresh() {
            Ok(Some(frames)) => page.text(&frames),
            // a folder that is being replaced may be gone for a moment
            Ok(None) | Err(_) => Ok(()),
        }
    }
}
