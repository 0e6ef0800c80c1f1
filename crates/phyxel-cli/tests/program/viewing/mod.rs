//! Tests of `phyxel view` from outside: clients of their own over HTTP and WebSockets, against the built program.

mod abuse;
mod access;
mod living;
mod replaying;

use crate::support::Workplace;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

/// Longest time that any answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Server of one test, stopped at its end.
pub(crate) struct Viewer {
    child: Child,
    /// Address as printed.
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
}

impl Viewer {
    /// Starts `phyxel view` on a free port and waits for its address.
    pub(crate) fn start(place: &Workplace, arguments: &[&str]) -> Self {
        let all = [&["view", "--port", "0", "--no-open"], arguments].concat();
        let mut child = place.command(&all).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let host = url.trim().strip_prefix("http://").expect("an address").split('/').next().unwrap();
        let address = host.parse().unwrap();
        Self { child, url: url.trim().to_owned(), address }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes and returns the whole answer.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Returns the answer to GET with the given headers.
    pub(crate) fn get(&self, path: &str, headers: &str) -> String {
        self.raw(format!("GET {path} HTTP/1.1\r\n{headers}\r\n").as_bytes())
    }

    /// Returns the answer to GET as a browser sends it.
    pub(crate) fn page(&self, path: &str) -> String {
        self.get(path, &format!("Host: {}\r\n", self.address))
    }

    /// Opens a WebSocket like the page, and returns it with its first message.
    pub(crate) fn socket(&self) -> (Socket, Value) {
        let mut socket = self.try_socket("/ws", &format!("http://{}", self.address)).unwrap();
        let info = socket.text();
        assert_eq!(info["type"], "info", "{info}");
        (socket, info)
    }

    pub(crate) fn try_socket(&self, path: &str, origin: &str) -> Result<Socket, tungstenite::Error> {
        let mut request = format!("ws://{}{path}", self.address).into_client_request()?;
        request.headers_mut().insert("Origin", origin.parse().unwrap());
        match tungstenite::client(request, self.connect()) {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(tungstenite::HandshakeError::Failure(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the status of an answer.
pub(crate) fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Client side of a WebSocket.
pub(crate) struct Socket(pub(crate) WebSocket<TcpStream>);

impl Socket {
    pub(crate) fn ask(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    fn message(&mut self) -> Message {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "nothing but pings");
            match self.0.read().unwrap() {
                Message::Ping(_) | Message::Pong(_) => {}
                message => return message,
            }
        }
    }

    /// Returns the next message, which must be a text.
    pub(crate) fn text(&mut self) -> Value {
        match self.message() {
            Message::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("a text is expected, not {} bytes", other.len()),
        }
    }

    /// Returns the next text of a type; other texts and packets are skipped.
    pub(crate) fn text_of_type(&mut self, kind: &str) -> Value {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "no {kind}");
            if let Message::Text(text) = self.message() {
                let value: Value = serde_json::from_str(&text).unwrap();
                if value["type"] == kind {
                    return value;
                }
            }
        }
    }

    /// Returns the next packet; texts are skipped.
    pub(crate) fn packet(&mut self) -> Packet {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "no packet");
            if let Message::Binary(bytes) = self.message() {
                return Packet::read(&bytes);
            }
        }
    }

    pub(crate) fn ask_frame(&mut self, index: usize, columns: &[&str]) {
        self.ask(&json!({ "type": "frame", "index": index, "columns": columns }));
    }
}

/// Packet, decoded from the description in docs/viewer.md and not by the program's code.
pub(crate) struct Packet {
    pub(crate) header: Value,
    arrays: Vec<u8>,
}

impl Packet {
    fn read(bytes: &[u8]) -> Self {
        assert_eq!(&bytes[..4], b"PHXF");
        let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        assert_eq!(length % 4, 0);
        let header = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        Self { header, arrays: bytes[8 + length..].to_vec() }
    }

    /// Returns an array of floats; "column" is the first column.
    pub(crate) fn floats(&self, name: &str) -> Vec<f32> {
        let arrays = self.header["arrays"].as_array().unwrap();
        let entry = arrays.iter().find(|array| array["name"] == name).expect(name);
        assert_eq!(entry["type"], "f32");
        let number = |key: &str| entry[key].as_u64().unwrap() as usize;
        let (offset, n_values) = (number("offset"), number("components") * number("length"));
        let bytes = &self.arrays[offset..offset + 4 * n_values];
        bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
    }
}
