//! `phyxel view`: a result or a live run in the browser.

use super::run::parse_override;
use crate::failure::Failure;
use crate::view::{self, Place};
use crate::{interrupt, threads};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  phyxel view out/clay                         plays a result; its run may still be going on
  phyxel view scene.toml                       runs a scene live: pull it, change it, save what you did as a scene
  phyxel view scene.toml --set duration=2      the same, changed
  phyxel view out/clay --port 0 --no-open      on any free port; the first line printed is the address
  phyxel view out/clay --host 0.0.0.0          for other machines, too; the address has a token that they need";

/// Shows a result or a live run in the browser, served by this program alone: nothing is loaded from the network.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A result folder to replay, or a scene file to run live.
    #[arg(value_name = "DIR|SCENE.toml")]
    source: PathBuf,
    /// Port of the server; 0 takes a free one.
    #[arg(long, value_name = "N", default_value_t = 7878)]
    port: u16,
    /// Address to listen on; other than loopback, a token is needed to connect.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1", value_parser = parse_host)]
    host: IpAddr,
    /// Token that a page needs to connect: 8 to 128 letters, digits, `-` and `_`. Random if it is needed and not given.
    #[arg(long, value_name = "TOKEN", value_parser = view::parse_token)]
    token: Option<String>,
    /// Does not open the browser.
    #[arg(long)]
    no_open: bool,
    /// Threads of a live run; all cores by default.
    #[arg(long, value_name = "N", value_parser = threads::parse_threads)]
    threads: Option<usize>,
    /// Changes a key of the scene of a live run; an empty value removes it.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_override)]
    set: Vec<(String, String)>,
}

fn parse_host(text: &str) -> Result<IpAddr, String> {
    if text == "localhost" {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().map_err(|_| {
        "an address is expected: 127.0.0.1 for this machine only, 0.0.0.0 for all networks of this machine".into()
    })
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    interrupt::listen_with("\nstopping; Ctrl-C again quits at once")?;
    let place =
        Place { host: args.host, port: args.port, token: args.token.clone(), opens_browser: !args.no_open };
    if args.source.is_dir() {
        if !args.set.is_empty() {
            let text = "--set changes a scene that is run; this is a folder with a finished one";
            return Err(Failure::Usage(text.into()));
        }
        return view::replay(&args.source, &place);
    }
    view::live(&args.source, &args.set, args.threads, &place)
}
