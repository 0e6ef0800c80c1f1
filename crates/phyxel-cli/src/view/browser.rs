//! Opens the page in the user's browser, where there is one.

use std::process::{Command, Stdio};

/// Asks the system to show an address. Without a browser nothing happens: the address was printed.
pub(super) fn open(url: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        // the first argument in quotes would be taken for a window's title
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    let opened = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut child) = opened {
        // so that it does not stay as a zombie
        std::thread::spawn(move || child.wait());
    }
}
