//! Minimal HTTP/1.1 for a page and a WebSocket: a request's head is read within limits and answered, and the
//! connection is closed. Bodies of requests are never read.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longest head of a request (bytes).
const LARGEST_HEAD: usize = 16 * 1024;
/// Largest number of header fields of a request.
const MOST_FIELDS: usize = 64;
/// Time after which an incomplete head is refused.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Longest time that a client may take to read an answer.
pub(super) const WRITE_TIME: Duration = Duration::from_secs(10);
/// Time for which further input of a client is read after the answer, so that the answer is not lost.
const DRAIN_TIME: Duration = Duration::from_millis(300);

/// Head of a request.
#[derive(Debug)]
pub(super) struct Request {
    /// Method as sent: "GET".
    pub(super) method: String,
    /// Part of the target before the question mark, as sent.
    pub(super) path: String,
    /// Part of the target after the question mark, as sent.
    pub(super) query: Option<String>,
    fields: Vec<(String, String)>,
    /// Bytes after the head.
    pub(super) rest: Vec<u8>,
}

impl Request {
    /// Returns a header field that may occur once.
    ///
    /// # Errors
    /// Fails if the field occurs more than once.
    pub(super) fn field(&self, name: &str) -> Result<Option<&str>, Response> {
        let mut found = self.fields.iter().filter(|field| field.0.eq_ignore_ascii_case(name));
        let first = found.next().map(|field| field.1.as_str());
        if found.next().is_some() {
            return Err(Response::text(400, format!("the header {name} stands there more than once")));
        }
        Ok(first)
    }

    /// Returns true if a word is in a header's list of words separated by commas, in upper or lower case.
    pub(super) fn field_has(&self, name: &str, word: &str) -> bool {
        let named = self.fields.iter().filter(|field| field.0.eq_ignore_ascii_case(name));
        named.flat_map(|field| field.1.split(',')).any(|found| found.trim().eq_ignore_ascii_case(word))
    }

    /// Returns a value of the query, as sent.
    pub(super) fn query_value(&self, name: &str) -> Option<&str> {
        let pairs = self.query.as_deref()?.split('&');
        pairs.filter_map(|pair| pair.split_once('=')).find(|pair| pair.0 == name).map(|pair| pair.1)
    }
}

/// Reason why there is no request.
#[derive(Debug)]
pub(super) enum NoRequest {
    /// The client closed the connection.
    Gone,
    /// The request is refused with this answer.
    Refused(Response),
}

/// Reads the head of a request, which may arrive slowly, up to a time limit.
pub(super) fn read_request(stream: &mut TcpStream) -> Result<Request, NoRequest> {
    let deadline = Instant::now() + HEAD_TIME;
    let mut bytes = Vec::with_capacity(2048);
    let mut chunk = [0u8; 2048];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(NoRequest::Refused(Response::text(408, "the request took too long")));
        }
        stream.set_read_timeout(Some(left)).map_err(|_| NoRequest::Gone)?;
        let n_read = match stream.read(&mut chunk) {
            Ok(0) => return Err(NoRequest::Gone),
            Ok(n_read) => n_read,
            Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(NoRequest::Gone),
        };
        bytes.extend_from_slice(&chunk[..n_read]);
        if let Some(request) = parse_head(&bytes).map_err(NoRequest::Refused)? {
            return Ok(request);
        }
        if bytes.len() > LARGEST_HEAD {
            return Err(NoRequest::Refused(Response::text(431, "the request's head is too long")));
        }
    }
}

/// Parses the request; returns `None` if its head is incomplete.
fn parse_head(bytes: &[u8]) -> Result<Option<Request>, Response> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length <= LARGEST_HEAD => length,
        Ok(httparse::Status::Complete(_)) | Err(httparse::Error::TooManyHeaders) => {
            return Err(Response::text(431, "the request's head is too long"));
        }
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::Version) => return Err(Response::text(505, "HTTP/1.1 is spoken here")),
        Err(error) => return Err(Response::text(400, format!("this is no HTTP request: {error}"))),
    };
    let target = head.path.unwrap_or_default();
    let (path, query) =
        target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query.to_owned())));
    let mut kept = Vec::with_capacity(head.headers.len());
    for field in head.headers.iter() {
        let value = std::str::from_utf8(field.value)
            .map_err(|_| Response::text(400, format!("the header {} is no text", field.name)))?;
        kept.push((field.name.to_owned(), value.trim().to_owned()));
    }
    Ok(Some(Request {
        method: head.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query,
        fields: kept,
        rest: bytes[length..].to_vec(),
    }))
}

/// Answer to a request.
#[derive(Debug)]
pub(super) struct Response {
    status: u16,
    fields: Vec<(&'static str, Cow<'static, str>)>,
    body: Vec<u8>,
}

impl Response {
    /// Creates an answer with a short text.
    pub(super) fn text(status: u16, text: impl Into<String>) -> Self {
        let body = (text.into() + "\n").into_bytes();
        Self { status, fields: Vec::new(), body }.with("Content-Type", "text/plain; charset=utf-8")
    }

    /// Creates an answer with a page.
    pub(super) fn html(text: String) -> Self {
        let body = text.into_bytes();
        Self { status: 200, fields: Vec::new(), body }.with("Content-Type", "text/html; charset=utf-8")
    }

    /// Creates an answer without content.
    pub(super) fn empty() -> Self {
        Self { status: 204, fields: Vec::new(), body: Vec::new() }
    }

    /// Creates the answer to a client that wants a WebSocket; the data after it is no longer HTTP.
    pub(super) fn switching(accept_key: String) -> Self {
        let response = Self { status: 101, fields: Vec::new(), body: Vec::new() };
        response
            .with("Upgrade", "websocket")
            .with("Connection", "Upgrade")
            .with("Sec-WebSocket-Accept", accept_key)
    }

    /// Adds a header field.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// Sends the answer; `has_body` is false for HEAD.
    pub(super) fn send(&self, stream: &mut TcpStream, has_body: bool) -> io::Result<()> {
        stream.set_write_timeout(Some(WRITE_TIME))?;
        let mut bytes = self.head().into_bytes();
        if has_body {
            bytes.extend_from_slice(&self.body);
        }
        stream.write_all(&bytes)
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        let mut put = |name: &str, value: &str| {
            head += &format!("{name}: {value}\r\n");
        };
        for (name, value) in &self.fields {
            put(name, value);
        }
        if self.status != 101 {
            put("Connection", "close");
            put("Cache-Control", "no-store");
            put("X-Content-Type-Options", "nosniff");
            put("X-Frame-Options", "DENY");
            put("Referrer-Policy", "no-referrer");
            put("Cross-Origin-Opener-Policy", "same-origin");
            put("Cross-Origin-Resource-Policy", "same-origin");
            if !self.fields.iter().any(|field| field.0 == "Content-Security-Policy") {
                put("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
            }
            if self.status != 204 {
                put("Content-Length", &self.body.len().to_string());
            }
        }
        head + "\r\n"
    }
}

/// Closes a connection so that the client gets the answer, even if it has sent more than was read.
pub(super) fn hang_up(mut stream: TcpStream) {
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let deadline = Instant::now() + DRAIN_TIME;
    let mut chunk = [0u8; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        if !matches!(stream.read(&mut chunk), Ok(1..)) {
            return;
        }
    }
}

/// Returns true if nothing arrived in the allowed time.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn reason(status: u16) -> &'static str {
    match status {
        101 => "Switching Protocols",
        200 => "OK",
        204 => "No Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        421 => "Misdirected Request",
        426 => "Upgrade Required",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Option<Request>, u16> {
        parse_head(text.as_bytes()).map_err(|response| response.status)
    }

    #[test]
    fn heads_are_taken_apart() {
        let text =
            "GET /ws?a=1&token=xyz HTTP/1.1\r\nHost:  a:1 \r\nConnection: keep-alive, Upgrade\r\n\r\nrest";
        let request = parsed(text).unwrap().unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/ws"));
        assert_eq!(request.field("host").unwrap(), Some("a:1"));
        assert_eq!(request.field("origin").unwrap(), None);
        assert!(request.field_has("connection", "upgrade") && !request.field_has("connection", "up"));
        assert_eq!((request.query_value("token"), request.query_value("b")), (Some("xyz"), None));
        assert_eq!(request.rest, b"rest");
        assert!(parsed(&text[..40]).unwrap().is_none());
    }

    #[test]
    fn what_is_no_request_or_too_long_is_refused() {
        let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(LARGEST_HEAD));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(MOST_FIELDS + 1));
        for (text, status) in [
            ("\x16\x03\x01 hello", 400),
            ("GET / HTTP/2.0\r\n\r\n", 505),
            ("GET /\r\n\r\n", 400),
            (&long, 431),
            (&many, 431),
        ] {
            assert_eq!(parsed(text).unwrap_err(), status, "{:?}", &text[..10]);
        }
        let twice = parsed("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").unwrap().unwrap();
        assert_eq!(twice.field("host").unwrap_err().status, 400);
    }

    #[test]
    fn answers_carry_what_keeps_the_page_to_itself() {
        let head = Response::text(404, "there is nothing here").head();
        for field in ["Content-Security-Policy: default-src 'none'", "nosniff", "no-store", "no-referrer"] {
            assert!(head.contains(field), "{field} is missing in {head}");
        }
        assert!(head.starts_with("HTTP/1.1 404 Not Found\r\n") && head.ends_with("\r\n\r\n"));
        let own = Response::html(String::new()).with("Content-Security-Policy", "script-src 'none'").head();
        assert_eq!(own.matches("Content-Security-Policy").count(), 1);
    }
}
