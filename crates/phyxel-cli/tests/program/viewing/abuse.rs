//! Tests with ten thousand malformed messages: the server answers or hangs up, continues to serve, and does not grow.

use super::{Socket, Viewer, status};
use crate::support::{BLOCK, Workplace};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;
use tungstenite::Message;

const N_REQUESTS: usize = 4_000;
const N_TEXTS: usize = 5_000;
const N_FRAMES: usize = 1_000;

/// Pseudorandom numbers, the same on every machine (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        let n_bytes = self.below(most + 1);
        (0..n_bytes).map(|_| self.roll() as u8).collect()
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Returns a request that is malformed in one of several ways.
fn bad_request(dice: &mut Dice, host: &str) -> Vec<u8> {
    let whole = format!(
        "GET /ws HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    match dice.below(10) {
        0 => dice.bytes(300),
        1 => whole.as_bytes()[..dice.below(whole.len())].to_vec(),
        2 => {
            // a whole request with some bytes changed
            let mut bytes = whole.into_bytes();
            for _ in 0..=dice.below(8) {
                let at = dice.below(bytes.len());
                bytes[at] = dice.roll() as u8;
            }
            bytes
        }
        3 => {
            let path = dice.pick(&[
                "/../../../etc/passwd",
                "/%2e%2e%2f",
                "/..\\..\\x",
                "//",
                "/ws/",
                "/\u{0}",
                "*",
                "http://evil/",
                "/?token=x",
                "/run.json",
                "/frames/particles_0000.ply",
            ]);
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes()
        }
        4 => {
            let method = dice.pick(&["POST", "PUT", "DELETE", "CONNECT", "TRACE", "get", "", "G\u{e9}T"]);
            format!("{method} / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 99999999999999\r\n\r\n")
                .into_bytes()
        }
        5 => {
            let version = dice.pick(&["HTTP/0.9", "HTTP/1.2", "HTTP/2", "HTTP/9.9", "", "PRI"]);
            format!("GET / {version}\r\nHost: {host}\r\n\r\n").into_bytes()
        }
        6 => whole.replace("13", dice.pick(&["12", "0", "-1", "x"])).into_bytes(),
        7 => whole.replace("dGhlIHNhbXBsZSBub25jZQ==", dice.pick(&["", "x", "====", "\u{fc}"])).into_bytes(),
        8 => {
            let host = dice.pick(&["evil.example", "", "127.0.0.1:99999999", "[::1", "\u{ff}"]);
            format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes()
        }
        _ => {
            let value = dice.pick(&["\r\n\r\n\r\n", ": \r\n", "A:\u{1}\r\n\r\n", "\r\n A: folded\r\n\r\n"]);
            format!("GET / HTTP/1.1\r\nHost: {host}{value}").into_bytes()
        }
    }
}

/// Returns a few huge heads of several kinds.
fn huge_requests(host: &str) -> [Vec<u8>; 4] {
    let long = "x".repeat(200_000);
    let many = "A: b\r\n".repeat(20_000);
    [
        format!("GET /{long} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\nHost: {host}\r\nA: {long}\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\nHost: {host}\r\n{many}\r\n").into_bytes(),
        long.repeat(10).into_bytes(),
    ]
}

/// Returns a text that is not a request, or asks for something that does not exist.
fn bad_text(dice: &mut Dice) -> String {
    let number = |dice: &mut Dice| {
        dice.pick(&[
            "-1",
            "1e999",
            "1e308",
            "99999999999999999999",
            "0.5",
            "null",
            "\"1\"",
            "[]",
            "{}",
            "NaN",
            "true",
            "18446744073709551615",
            "123456789",
            "-1e-320",
        ])
        .to_owned()
    };
    match dice.below(9) {
        0 => String::from_utf8_lossy(&dice.bytes(200)).into_owned(),
        1 => dice.pick(&["[", "{\"a\":", "{\"type\":"]).repeat(1 + dice.below(5_000)),
        2 => format!("{{\"type\":{}}}", number(dice)),
        3 => format!("{{\"type\":\"frame\",\"index\":{},\"columns\":{}}}", number(dice), number(dice)),
        4 => format!("{{\"type\":\"particle\",\"frame\":{},\"row\":{}}}", number(dice), number(dice)),
        5 => format!(
            "{{\"type\":\"drag\",\"frame\":{},\"row\":{},\"to\":[0,0,{}]}}",
            number(dice),
            number(dice),
            number(dice)
        ),
        6 => format!("{{\"type\":\"gravity\",\"value\":[{},0]}}", number(dice)),
        7 => {
            let body = dice.pick(&["block", "nobody", "", "\\u0000"]);
            format!("{{\"type\":\"set\",\"body\":\"{body}\",\"key\":\"density\",\"value\":{}}}", number(dice))
        }
        _ => format!("{{\"type\":\"next\",\"columns\":[\"{}\"]}}", "y".repeat(dice.below(3_000) + 1)),
    }
}

/// Returns bytes that are not a valid WebSocket frame, or a frame that must not be sent.
fn bad_frame(dice: &mut Dice) -> Vec<u8> {
    let masked = |head: &[u8], payload: &[u8]| {
        let mut bytes = head.to_vec();
        bytes.push(0x80 | payload.len() as u8);
        bytes.extend_from_slice(&[1, 2, 3, 4]);
        bytes.extend(payload.iter().enumerate().map(|(k, byte)| byte ^ [1, 2, 3, 4][k % 4]));
        bytes
    };
    match dice.below(8) {
        0 => dice.bytes(100),
        // without a mask
        1 => vec![0x81, 2, b'{', b'}'],
        // invalid UTF-8
        2 => masked(&[0x81], &[0xff, 0xfe, 0xc0]),
        // a length of many exabytes, then one of a gigabyte
        3 => vec![0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4],
        4 => vec![0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4, b'x'],
        // reserved bits, an unknown kind, a continuation without a start, a ping in pieces, a farewell of one byte
        5 => masked(&[[0xf1, 0x83, 0x80, 0x09, 0x88][dice.below(5)]], b"a"),
        // a ping that is too long
        6 => [&[0x89, 0xfe, 0x01, 0x00, 1, 2, 3, 4][..], &[0; 256]].concat(),
        // half a frame
        _ => vec![0x81, 0xfe, 0xff],
    }
}

/// Returns the current memory of a process (bytes).
fn memory(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?)
}

/// Sends bytes and reads the answer, unless the connection is closed before.
fn throw(viewer: &Viewer, bytes: &[u8]) {
    let mut stream = viewer.connect();
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn ten_thousand_malformed_messages_leave_the_server_serving() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "-q", "--frames", "2"]);
    for source in ["a", "scene.toml"] {
        let viewer = Viewer::start(&place, &[source]);
        let host = viewer.address.to_string();
        let mut dice = Dice(20_040_829);
        // the first requests warm the server up
        (0..200).for_each(|_| throw(&viewer, &bad_request(&mut dice, &host)));
        let (_watching, _) = viewer.socket();
        let before = memory(viewer.id());
        for _ in 0..N_REQUESTS / 2 {
            throw(&viewer, &bad_request(&mut dice, &host));
        }
        huge_requests(&host).iter().for_each(|bytes| throw(&viewer, bytes));
        bad_texts(&viewer, &mut dice);
        for _ in 0..N_FRAMES / 2 {
            let (socket, _) = viewer.socket();
            let mut stream = socket.0.get_ref();
            let _ = stream.write_all(&bad_frame(&mut dice));
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
        if let (Some(before), Some(after)) = (before, memory(viewer.id())) {
            assert!(after < before + (32 << 20), "{source}: memory grew from {before} to {after}");
        }
        still_serves(&viewer, source == "a");
    }
}

/// Sends bad texts over one connection: none of them may end it.
fn bad_texts(viewer: &Viewer, dice: &mut Dice) {
    let (mut socket, _) = viewer.socket();
    for _ in 0..N_TEXTS / 2 {
        let text = bad_text(dice);
        socket.0.send(Message::text(text.clone())).unwrap();
        let answer = socket.text_of_type("error");
        assert!(answer["message"].as_str().unwrap().len() < 500, "{answer}");
    }
    // a message over the size limit
    let _ = socket.0.send(Message::text("x".repeat(70_000)));
    let closed = std::iter::from_fn(|| socket.0.read().ok()).find_map(|message| match message {
        Message::Close(frame) => frame,
        _ => None,
    });
    assert_eq!(closed.map(|frame| u16::from(frame.code)), Some(1009));
}

fn still_serves(viewer: &Viewer, is_replay: bool) {
    assert_eq!(status(&viewer.page("/")), 200);
    let (mut socket, info) = viewer.socket();
    if is_replay {
        socket.ask_frame(2, &["stress"]);
        assert_eq!(socket.packet().floats("position").len(), 3 * 125);
        return;
    }
    assert_eq!(info["mode"], "live");
    let frame = |socket: &mut Socket| {
        socket.ask(&json!({ "type": "next" }));
        socket.packet().header["frame"].as_u64().unwrap()
    };
    let first = frame(&mut socket);
    assert!(frame(&mut socket) > first, "the run goes on");
    socket.ask(&json!({ "type": "pause" }));
    while socket.text_of_type("state")["running"] != false {}
}

/// Clients that connect and send nothing, or never read, must not keep others out.
#[test]
fn silent_and_deaf_clients_are_survived() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "-q", "--frames", "2"]);
    let viewer = Viewer::start(&place, &["a"]);
    let _silent: Vec<TcpStream> = (0..40).map(|_| viewer.connect()).collect();
    let (mut deaf, _) = viewer.socket();
    deaf.0.get_mut().set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let question = json!({ "type": "frame", "index": 1, "columns": ["stress", "velocity"] }).to_string();
    let before = memory(viewer.id());
    // until the server accepts no more
    let n_asked = (0..200_000).take_while(|_| deaf.0.send(Message::text(question.clone())).is_ok()).count();
    assert!(n_asked < 200_000, "questions pile up somewhere");
    if let (Some(before), Some(after)) = (before, memory(viewer.id())) {
        assert!(after < before + (16 << 20), "memory grew from {before} to {after}");
    }
    still_serves(&viewer, true);
}
