//! Server: accepts connections, with a thread for each, and serves the page and WebSockets.

use super::access::{self, Access};
use super::http::{NoRequest, Request, Response, hang_up, read_request};
use super::socket::{self, Source};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tungstenite::handshake::derive_accept_key;

/// Largest number of connections at once.
const MOST_CONNECTIONS: usize = 64;
/// Largest number of pages at once.
const MOST_PAGES: usize = 16;
/// Waiting time if the system has no more file handles.
const REST: Duration = Duration::from_millis(100);

/// Server that listens for connections.
pub(super) struct Server {
    listener: TcpListener,
    room: Arc<Room>,
}

/// Data that all connections share.
struct Room {
    access: Access,
    page: String,
    source: Arc<dyn Source>,
    connections: Places,
    pages: Places,
}

impl Server {
    /// Binds a listener to an address.
    pub(super) fn bind(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
        let listener = TcpListener::bind(address)?;
        let bound = listener.local_addr()?;
        Ok((listener, bound))
    }

    /// Creates a server on a listener.
    pub(super) fn new(listener: TcpListener, access: Access, page: String, source: Arc<dyn Source>) -> Self {
        let (connections, pages) = (Places::new(MOST_CONNECTIONS), Places::new(MOST_PAGES));
        Self { listener, room: Arc::new(Room { access, page, source, connections, pages }) }
    }

    /// Accepts connections for ever.
    pub(super) fn run(self) {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => self.admit(stream),
                // the client has disconnected already, or too many files are open
                Err(_) => std::thread::sleep(REST),
            }
        }
    }

    fn admit(&self, mut stream: TcpStream) {
        let Some(place) = self.room.connections.take() else {
            let _ = Response::text(503, "there are too many connections").send(&mut stream, true);
            return;
        };
        let room = Arc::clone(&self.room);
        let work = move || {
            room.attend(stream);
            drop(place);
        };
        // without a thread the connection is dropped, and the client may try again
        let _ = std::thread::Builder::new().name("connection".into()).spawn(work);
    }
}

impl Room {
    /// Handles one connection, from its request to its end.
    fn attend(&self, mut stream: TcpStream) {
        let request = match read_request(&mut stream) {
            Ok(request) => request,
            Err(NoRequest::Gone) => return,
            Err(NoRequest::Refused(response)) => return finish(stream, &response, true),
        };
        if request.method != "GET" && request.method != "HEAD" {
            let response = Response::text(405, "only GET and HEAD are answered").with("Allow", "GET, HEAD");
            return finish(stream, &response, true);
        }
        let has_body = request.method == "GET";
        match self.route(&request) {
            Ok(Answer::Plain(response)) | Err(response) => finish(stream, &response, has_body),
            Ok(Answer::Socket(response, place)) => {
                if response.send(&mut stream, true).is_ok() {
                    socket::serve(stream, request.rest, &*self.source);
                }
                drop(place);
            }
        }
    }

    fn route(&self, request: &Request) -> Result<Answer, Response> {
        self.access.check(request)?;
        match request.path.as_str() {
            "/" => self.page().map(Answer::Plain),
            "/ws" => self.upgrade(request),
            "/healthz" => Ok(Answer::Plain(Response::text(200, "ok"))),
            "/favicon.ico" => Ok(Answer::Plain(Response::empty())),
            _ => Err(Response::text(404, "there is nothing here; the page is at /")),
        }
    }

    /// Returns the page, with a policy under which only its own script runs.
    fn page(&self) -> Result<Response, Response> {
        let nonce = access::new_token().map_err(|problem| Response::text(503, problem))?;
        let policy = format!(
            "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src 'self' data: blob:; \
             connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        Ok(Response::html(with_nonce(&self.page, &nonce)).with("Content-Security-Policy", policy))
    }

    fn upgrade(&self, request: &Request) -> Result<Answer, Response> {
        Access::check_origin(request)?;
        let is_upgrade = request.method == "GET"
            && request.field_has("Upgrade", "websocket")
            && request.field_has("Connection", "upgrade");
        if !is_upgrade || request.field("Sec-WebSocket-Version")? != Some("13") {
            let response = Response::text(426, "this is a WebSocket of version 13");
            return Err(response.with("Upgrade", "websocket").with("Sec-WebSocket-Version", "13"));
        }
        let key = request.field("Sec-WebSocket-Key")?.unwrap_or_default();
        if !is_key(key) {
            return Err(Response::text(400, "the header Sec-WebSocket-Key is not 16 bytes in base64"));
        }
        let place = self.pages.take().ok_or_else(|| {
            Response::text(503, format!("{MOST_PAGES} pages are watching already; close one of them"))
        })?;
        Ok(Answer::Socket(Response::switching(derive_accept_key(key.as_bytes())), place))
    }
}

enum Answer {
    Plain(Response),
    Socket(Response, Place),
}

fn finish(mut stream: TcpStream, response: &Response, has_body: bool) {
    if response.send(&mut stream, has_body).is_ok() {
        hang_up(stream);
    }
}

/// Returns the page with a nonce on its style and its script.
fn with_nonce(page: &str, nonce: &str) -> String {
    let styled = page.replacen("<style", &format!("<style nonce=\"{nonce}\""), 1);
    styled.replacen("<script", &format!("<script nonce=\"{nonce}\""), 1)
}

/// Returns true if the key is 16 bytes in base64: 22 digits and two equals signs.
fn is_key(key: &str) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    key.len() == 24 && key.ends_with("==") && key.as_bytes()[..22].iter().all(is_digit)
}

/// Counter of a limited number of places.
struct Places {
    taken: Arc<AtomicUsize>,
    n_places: usize,
}

impl Places {
    fn new(n_places: usize) -> Self {
        Self { taken: Arc::default(), n_places }
    }

    fn take(&self) -> Option<Place> {
        let place = Place(Arc::clone(&self.taken));
        // dropping the place frees it again, also if it was one too many
        (self.taken.fetch_add(1, Ordering::SeqCst) < self.n_places).then_some(place)
    }
}

/// Place that becomes free when this is dropped.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back() {
        let places = Places::new(2);
        let (first, second) = (places.take(), places.take());
        assert!(first.is_some() && second.is_some() && places.take().is_none() && places.take().is_none());
        drop(first);
        assert!(places.take().is_some());
    }

    #[test]
    fn keys_are_sixteen_bytes() {
        assert!(is_key("dGhlIHNhbXBsZSBub25jZQ=="));
        for bad in ["", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZ===", "dGhlIHNhbXBsZSBub25j\u{e9}=="]
        {
            assert!(!is_key(bad), "{bad}");
        }
    }

    #[test]
    fn style_and_script_of_the_page_get_the_nonce() {
        let page = with_nonce("<style>a</style><script type=\"module\">b = '<script>'</script>", "N");
        let expected =
            "<style nonce=\"N\">a</style><script nonce=\"N\" type=\"module\">b = '<script>'</script>";
        assert_eq!(page, expected);
    }
}
