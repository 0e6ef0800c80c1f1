//! Opening of the page in the user's browser, if there is one.

use std::process::{Command, Stdio};

/// Asks the system to open an address. Without a browser nothing happens: the address was printed.
pub(super) fn open(url: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        // `start` takes a first argument in quotes for a window's title
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    let opened = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut child) = opened {
        // waiting prevents a zombie process
        std::thread::spawn(move || child.wait());
    }
}
