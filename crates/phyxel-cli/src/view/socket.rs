//! WebSocket conversation with one page: a thread reads the requests, the connection's own thread answers.
//!
//! Memory stays bounded: requests wait in a short queue, and if it is full the page itself waits; answers are written
//! one at a time, and a page that does not read them is disconnected.

use super::http::{WRITE_TIME, is_timeout};
use phyxel_io::viewer::message::Request;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tungstenite::error::{CapacityError, Error as SocketError};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Bytes, Message, WebSocket};

/// Longest message of a page (bytes).
const LARGEST_MESSAGE: usize = 64 * 1024;
/// Largest number of requests that wait for their answers.
const LONGEST_QUEUE: usize = 64;
/// Interval at which a silent page is checked.
const TICK: Duration = Duration::from_secs(5);
/// Time of silence after which a page gets a ping.
const QUIET_TIME: Duration = Duration::from_secs(20);
/// Time of silence after which a page is disconnected.
const LOST_TIME: Duration = Duration::from_secs(60);
/// Longest time for writing one message.
const MESSAGE_TIME: Duration = Duration::from_secs(60);
/// Interval at which a conversation checks for news by itself.
const NEWS_TIME: Duration = Duration::from_secs(1);

/// Error: the page has disconnected.
#[derive(Debug)]
pub(super) struct Gone;

/// Subject that pages display: a result or a live run.
pub(super) trait Source: Send + Sync {
    /// Starts a conversation with a page. The bell wakes the conversation up if there are news.
    fn converse(&self, bell: Bell) -> Box<dyn Conversation + '_>;
}

/// Conversation of one page with a source.
pub(super) trait Conversation {
    /// Sends the first messages to the page.
    fn welcome(&mut self, page: &mut Outbox) -> Result<(), Gone>;
    /// Answers a request, at once or later in [`Conversation::news`].
    fn answer(&mut self, request: Request, page: &mut Outbox) -> Result<(), Gone>;
    /// Sends the changes. Called after every request and ring of the bell, and about once a second.
    fn news(&mut self, page: &mut Outbox) -> Result<(), Gone>;
}

enum Event {
    Asked(Result<Request, String>),
    Rung,
    Ended,
}

/// Signal that wakes a conversation up.
#[derive(Clone, Debug)]
pub(super) struct Bell(SyncSender<Event>);

impl Bell {
    /// Creates a bell without a listener.
    #[cfg(test)]
    pub(super) fn unheard() -> Self {
        Self(sync_channel(1).0)
    }

    /// Rings without waiting. A conversation whose queue is full checks for news anyway.
    pub(super) fn ring(&self) {
        let _ = self.0.try_send(Event::Rung);
    }
}

/// Channel for the messages to a page.
pub(super) struct Outbox {
    socket: WebSocket<Sender>,
}

impl Outbox {
    /// Sends a message.
    pub(super) fn text(&mut self, message: &Value) -> Result<(), Gone> {
        self.send(Message::text(message.to_string()))
    }

    /// Sends a packet.
    pub(super) fn packet(&mut self, bytes: Vec<u8>) -> Result<(), Gone> {
        self.send(Message::Binary(Bytes::from(bytes)))
    }

    /// Sends an error that is not the answer to a request.
    pub(super) fn error(&mut self, message: &str) -> Result<(), Gone> {
        self.text(&json!({ "type": "error", "message": message }))
    }

    /// Sends an error in place of the answer to a request of the type `to`.
    pub(super) fn refuse(&mut self, to: &str, message: &str) -> Result<(), Gone> {
        self.text(&json!({ "type": "error", "to": to, "message": message }))
    }

    fn send(&mut self, message: Message) -> Result<(), Gone> {
        self.socket.send(message).map_err(|_| Gone)
    }
}

/// Converses with a page until it disconnects. `already_read` are bytes that followed the request for the WebSocket.
pub(super) fn serve(stream: TcpStream, already_read: Vec<u8>, source: &dyn Source) {
    let _ = try_serve(stream, already_read, source);
}

fn try_serve(stream: TcpStream, already_read: Vec<u8>, source: &dyn Source) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TICK))?;
    stream.set_write_timeout(Some(WRITE_TIME))?;
    let sender = Sender(Arc::new(Mutex::new(stream.try_clone()?)));
    let (events, queue) = sync_channel(LONGEST_QUEUE);
    let config = WebSocketConfig::default()
        .max_message_size(Some(LARGEST_MESSAGE))
        .max_frame_size(Some(LARGEST_MESSAGE))
        .read_buffer_size(8 * 1024)
        .write_buffer_size(0);
    let duplex = Duplex { stream: stream.try_clone()?, sender: sender.clone() };
    let reading = WebSocket::from_partially_read(duplex, already_read, Role::Server, Some(config));
    let writing = WebSocket::from_raw_socket(sender, Role::Server, Some(config));
    std::thread::scope(|scope| {
        let bell = Bell(events.clone());
        scope.spawn(move || listen(reading, &events));
        let _ = talk(&queue, source, bell, &mut Outbox { socket: writing });
        let _ = stream.shutdown(Shutdown::Both);
        // the listener may be waiting for room in the queue
        drop(queue);
    });
    Ok(())
}

/// Answers requests and sends news until the page disconnects.
fn talk(queue: &Receiver<Event>, source: &dyn Source, bell: Bell, page: &mut Outbox) -> Result<(), Gone> {
    let mut conversation = source.converse(bell);
    conversation.welcome(page)?;
    loop {
        match queue.recv_timeout(NEWS_TIME) {
            Ok(Event::Asked(Ok(request))) => conversation.answer(request, page)?,
            Ok(Event::Asked(Err(problem))) => page.error(&problem)?,
            Ok(Event::Rung) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Event::Ended) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        conversation.news(page)?;
    }
}

/// Reads the messages of a page until it disconnects or violates the protocol.
fn listen(mut socket: WebSocket<Duplex>, events: &SyncSender<Event>) {
    let mut heard = Instant::now();
    let mut asked = heard;
    let farewell = loop {
        let request = match socket.read() {
            Ok(Message::Text(text)) => Request::parse(&text),
            Ok(Message::Binary(_)) => Err("messages are texts in JSON".to_owned()),
            Ok(_) => {
                heard = Instant::now();
                continue;
            }
            Err(SocketError::Io(error)) if is_timeout(&error) => {
                if heard.elapsed() > LOST_TIME {
                    break None;
                }
                if heard.max(asked).elapsed() > QUIET_TIME {
                    asked = Instant::now();
                    if socket.send(Message::Ping(Bytes::new())).is_err() {
                        break None;
                    }
                }
                continue;
            }
            Err(error) => break close_frame(&error),
        };
        heard = Instant::now();
        if events.send(Event::Asked(request)).is_err() {
            break None;
        }
    };
    if farewell.is_some() {
        let _ = socket.close(farewell);
        let _ = socket.flush();
    }
    // done first, because the other thread may be in the middle of writing
    let _ = socket.get_ref().stream.shutdown(Shutdown::Both);
    let _ = events.send(Event::Ended);
}

/// Returns the farewell to a page that violated the protocol.
fn close_frame(error: &SocketError) -> Option<CloseFrame> {
    let (code, reason) = match error {
        SocketError::Capacity(CapacityError::MessageTooLong { .. }) => {
            (CloseCode::Size, "messages have at most 64 KiB")
        }
        SocketError::Capacity(_) => (CloseCode::Size, "too much"),
        SocketError::Utf8(_) => (CloseCode::Invalid, "texts are UTF-8"),
        SocketError::Protocol(_) => (CloseCode::Protocol, "this is no WebSocket frame"),
        _ => return None,
    };
    Some(CloseFrame { code, reason: reason.into() })
}

/// Writing half of the stream, shared by both threads. It writes whole frames: one call writes all or fails.
#[derive(Clone)]
struct Sender(Arc<Mutex<TcpStream>>);

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline = Instant::now() + MESSAGE_TIME;
        let mut rest = bytes;
        while !rest.is_empty() {
            match stream.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n_written) => rest = &rest[n_written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // half a frame is written, so the connection is unusable
                Err(_) => {
                    let _ = stream.shutdown(Shutdown::Both);
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
            }
            if !rest.is_empty() && Instant::now() > deadline {
                let _ = stream.shutdown(Shutdown::Both);
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Required by the WebSocket; the writer never reads.
impl Read for Sender {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// Reading half of the stream; answers to pings and farewells go through the shared writing half.
struct Duplex {
    stream: TcpStream,
    sender: Sender,
}

impl Read for Duplex {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.read(bytes)
    }
}

impl Write for Duplex {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sender.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
