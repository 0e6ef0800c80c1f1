//! A result folder for pages, also while its run goes on.

use super::message::Request;
use super::socket::{Bell, Conversation, Gone, Outbox, Source};
use phyxel_io::viewer::{Replay, ViewerError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often the folder is looked at.
const POLL_TIME: Duration = Duration::from_secs(1);

/// A result folder that pages look at.
pub(super) struct ReplaySource {
    folder: PathBuf,
}

impl ReplaySource {
    /// Looks whether there is a result to show.
    ///
    /// # Errors
    /// When it is no result, cannot be read, or has no frames yet.
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

/// Every page opens the folder anew, so that a reload shows what a new run has written.
struct ReplayConversation<'a> {
    source: &'a ReplaySource,
    replay: Option<Replay>,
    /// When the folder was last looked at.
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
