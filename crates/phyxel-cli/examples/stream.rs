//! Measures how fast `phyxel view` streams a recorded run, with a client that draws nothing.
//!
//! ```text
//! phyxel view out/clay --no-open &
//! cargo run --release -p phyxel-cli --example stream -- http://127.0.0.1:7878/ [FRAMES] [COLUMN]
//! ```

use serde_json::{Value, json};
use std::error::Error;
use std::net::TcpStream;
use std::time::Instant;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

/// Number of requests that are pending at a time, the same as in the browser page.
const UNDER_WAY: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("the address that phyxel view has printed is expected")?;
    let n_wanted: usize = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let columns: Vec<String> = arguments.collect();
    let (mut socket, opened) = (connect(&url)?, Instant::now());
    let info: Value = serde_json::from_str(socket.read()?.to_text()?)?;
    let n_frames = info["frames"].as_u64().ok_or("this is no recorded run")? as usize;
    let mut n_asked = 0;
    let mut ask = |socket: &mut WebSocket<TcpStream>| {
        let question = json!({ "type": "frame", "index": n_asked % n_frames, "columns": columns });
        n_asked += 1;
        socket.send(Message::text(question.to_string()))
    };
    for _ in 0..UNDER_WAY {
        ask(&mut socket)?;
    }
    let (mut start, mut n_bytes, mut n_got) = (opened, 0, 0);
    while n_got <= n_wanted {
        match socket.read()? {
            Message::Binary(bytes) => {
                if n_got == 0 {
                    println!("first frame after {:.0} ms", opened.elapsed().as_secs_f64() * 1e3);
                    start = Instant::now();
                } else {
                    n_bytes += bytes.len();
                }
                n_got += 1;
                ask(&mut socket)?;
            }
            Message::Text(text) if text.contains("\"error\"") => return Err(text.as_str().into()),
            _ => {}
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{n_wanted} frames of {n_frames} in {seconds:.2} s: {:.1} frames/s, {:.2} MB each",
        n_wanted as f64 / seconds,
        n_bytes as f64 / n_wanted as f64 / 1e6
    );
    Ok(())
}

fn connect(url: &str) -> Result<WebSocket<TcpStream>, Box<dyn Error>> {
    let rest = url.strip_prefix("http://").ok_or("an address with http:// is expected")?;
    let (host, query) = rest.split_once('/').unwrap_or((rest, ""));
    let mut request = format!("ws://{host}/ws{query}").into_client_request()?;
    request.headers_mut().insert("Origin", format!("http://{host}").parse()?);
    let (socket, _) = tungstenite::client(request, TcpStream::connect(host)?)?;
    Ok(socket)
}
