//! `phyxel view`: a server for one page in the browser, which replays a result or shows a run live.
//!
//! The server uses threads, not async tasks: reading frames, encoding them and computing are blocking work, and there
//! are few pages. The rest of the program does not know of sockets.

mod access;
mod browser;
mod http;
mod live;
mod replay;
mod server;
mod socket;

pub(crate) use access::parse_token;

use crate::failure::{Failure, warn};
use crate::scene_source::SceneText;
use crate::{interrupt, threads};
use access::Access;
use live::LiveSource;
use phyxel_io::viewer;
use replay::ReplaySource;
use server::Server;
use socket::Source;
use std::io::{ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Interval at which the main thread checks whether it is to end.
const GLANCE: Duration = Duration::from_millis(50);

/// Address to listen on, and the access to it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Address of the host.
    pub(crate) host: IpAddr,
    /// Port; 0 takes a free one.
    pub(crate) port: u16,
    /// Token that a page needs; always present if other machines can reach the server.
    pub(crate) token: Option<String>,
    /// True if the browser is to be opened.
    pub(crate) opens_browser: bool,
}

/// Shows a result folder until Ctrl-C.
pub(crate) fn replay(folder: &Path, place: &Place) -> Result<(), Failure> {
    let source = ReplaySource::open(folder.to_owned())?;
    serve(place, &format!("replaying {}", folder.display()), Arc::new(source))
}

/// Runs a scene live until Ctrl-C.
pub(crate) fn live(
    scene: &Path,
    overrides: &[(String, String)],
    n_threads: Option<usize>,
    place: &Place,
) -> Result<(), Failure> {
    let text = SceneText::read(scene, overrides)?;
    let source = threads::with_threads(n_threads, || text.build())?;
    source.world.warnings().iter().for_each(|warning| warn(warning));
    let what = format!("running {} live while a page is open", scene.display());
    serve(place, &what, Arc::new(LiveSource::start(text, source, n_threads)?))
}

fn serve(place: &Place, what: &str, source: Arc<dyn Source>) -> Result<(), Failure> {
    let (listener, address) = bind(place)?;
    let access = Access::new(address, place.token.clone()).map_err(Failure::Run)?;
    let url = access.url();
    announce(&url, what, &access, address)?;
    let server = Server::new(listener, access, viewer::page(), source);
    let started = std::thread::Builder::new().name("server".into()).spawn(move || server.run());
    started.map_err(|error| Failure::Run(format!("cannot start a thread: {error}")))?;
    if place.opens_browser {
        browser::open(&url);
    }
    while !interrupt::requested() {
        std::thread::sleep(GLANCE);
    }
    Ok(())
}

fn bind(place: &Place) -> Result<(TcpListener, SocketAddr), Failure> {
    let Place { host, port, .. } = *place;
    Server::bind(SocketAddr::new(host, port)).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Failure::Usage(format!(
            "port {port} is in use, perhaps by another phyxel view\n  another port:  --port {}\n  any free one:  --port 0",
            port.checked_add(1).unwrap_or(7878)
        )),
        ErrorKind::PermissionDenied => Failure::Usage(format!(
            "port {port} is reserved by the system; choose one from 1024 on, or --port 0 for any free one"
        )),
        ErrorKind::AddrNotAvailable => {
            Failure::Usage(format!("{host} is no address of this machine; leave --host out for this machine only"))
        }
        _ => Failure::Run(format!("cannot listen on {host}, port {port}: {error}")),
    })
}

/// Prints the address alone on the first line, for scripts; then the explanation.
fn announce(url: &str, what: &str, access: &Access, address: SocketAddr) -> Result<(), Failure> {
    let mut text = format!("{url}\n{what}; Ctrl-C ends it\n");
    if access.is_public() {
        let port = address.port();
        text += &format!(
            "other machines can reach port {port}: put this machine's name in place of the address above\n\
             whoever has the whole address can watch; nothing is encrypted on the way\n"
        );
    }
    crate::commands::print(&text)?;
    // a parent process that reads a pipe waits for the address
    let _ = std::io::stdout().flush();
    Ok(())
}
