//! Tests of access: the server admits the page that it has served, and clients that have the token.

use super::{Viewer, status};
use crate::support::{BLOCK, Workplace};
use std::net::TcpListener;

fn recorded() -> Workplace {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "-q", "--frames", "1"]);
    place
}

#[test]
fn the_page_is_served_with_a_policy_of_its_own_script() {
    let place = recorded();
    let viewer = Viewer::start(&place, &["a"]);
    let page = viewer.page("/");
    assert_eq!(status(&page), 200);
    let nonce = page.split("script-src 'nonce-").nth(1).unwrap().split('\'').next().unwrap();
    assert!(nonce.len() >= 16 && page.contains(&format!("<script nonce=\"{nonce}\"")));
    assert_eq!(page.matches("<script").count(), 1, "another script would be blocked");
    assert!(!viewer.page("/").contains(nonce), "a nonce is used once");
    let lower = page.to_lowercase();
    for field in
        ["connect-src 'self'", "x-content-type-options: nosniff", "no-referrer", "cache-control: no-store"]
    {
        assert!(lower.contains(field), "{field} is missing");
    }
    let head = viewer.raw(format!("HEAD / HTTP/1.1\r\nHost: {}\r\n\r\n", viewer.address).as_bytes());
    assert!(status(&head) == 200 && head.ends_with("\r\n\r\n"), "HEAD has no body");
    assert_eq!(status(&viewer.page("/healthz")), 200);
    for path in ["/index.html", "/../../etc/passwd", "/%2e%2e/run.json", "//", "/a/scene.toml", "*"] {
        let answer = viewer.page(path);
        assert!(status(&answer) == 404 && answer.len() < 1000, "{path}: {answer}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"] {
        let request = format!("{method} / HTTP/1.1\r\nHost: {}\r\nContent-Length: 9\r\n\r\n", viewer.address);
        let answer = viewer.raw(request.as_bytes());
        assert!(status(&answer) == 405 && answer.contains("Allow: GET, HEAD"), "{method}: {answer}");
    }
}

#[test]
fn other_names_and_other_sites_are_turned_away() {
    let place = recorded();
    let viewer = Viewer::start(&place, &["a"]);
    let port = viewer.address.port();
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        assert_eq!(status(&viewer.get("/", &format!("Host: {host}:{port}\r\n"))), 200, "{host}");
    }
    // names that could be made to point here (DNS rebinding)
    for host in [
        "evil.example:PORT",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:PORT.evil.example",
        "",
        "localhost.:PORT",
    ] {
        let host = host.replace("PORT", &port.to_string());
        assert_eq!(status(&viewer.get("/", &format!("Host: {host}\r\n"))), 421, "{host}");
    }
    assert_eq!(status(&viewer.get("/", "")), 421, "no host");
    let own = format!("http://127.0.0.1:{port}");
    assert!(viewer.try_socket("/ws", &own).is_ok());
    for origin in [
        "http://evil.example",
        "null",
        "https://127.0.0.1:PORT",
        "http://127.0.0.1:1",
        "http://localhost:PORT",
        "http://127.0.0.1:PORT.evil.example",
        "",
    ] {
        let origin = origin.replace("PORT", &port.to_string());
        let refused = viewer.try_socket("/ws", &origin);
        let refused = refused.err().unwrap_or_else(|| panic!("{origin} may connect"));
        assert!(refused.to_string().contains("403"), "{origin}: {refused}");
    }
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let no_origin = viewer.get("/ws", &format!("Host: 127.0.0.1:{port}\r\n{upgrade}"));
    assert_eq!(status(&no_origin), 403);
    let plain = viewer.get("/ws", &format!("Host: 127.0.0.1:{port}\r\nOrigin: {own}\r\n"));
    assert!(status(&plain) == 426 && plain.contains("Sec-WebSocket-Version: 13"));
}

#[test]
fn elsewhere_than_on_loopback_a_token_is_needed() {
    let place = recorded();
    let viewer = Viewer::start(&place, &["a", "--host", "0.0.0.0"]);
    let token = viewer.url.split("?token=").nth(1).expect("a token").to_owned();
    assert!(token.len() >= 32);
    let port = viewer.address.port();
    let host = format!("Host: some.name.example:{port}\r\n");
    let wrong = format!("{}{}", &token[..token.len() - 1], if token.ends_with('0') { '1' } else { '0' });
    for path in
        ["/", "/?token=", "/?token=x", &format!("/?token={wrong}"), &format!("/?token={token}x"), "/healthz"]
    {
        let answer = viewer.get(path, &host);
        assert!(status(&answer) == 403 && !answer.contains(&token), "{path}: {answer}");
    }
    assert_eq!(status(&viewer.get(&format!("/?token={token}"), &host)), 200);
    let origin = format!("http://{}", viewer.address);
    assert!(viewer.try_socket("/ws", &origin).is_err());
    assert!(viewer.try_socket(&format!("/ws?token={token}"), "http://evil.example").is_err());
    assert!(viewer.try_socket(&format!("/ws?token={token}"), &origin).is_ok());
}

#[test]
fn a_token_of_ones_own_is_needed_on_loopback_too() {
    let place = recorded();
    let viewer = Viewer::start(&place, &["a", "--token", "my-own-token"]);
    assert!(viewer.url.ends_with("/?token=my-own-token"));
    assert_eq!(status(&viewer.page("/")), 403);
    assert_eq!(status(&viewer.page("/?token=my-own-token")), 200);
    let ended = place.phyxel(&["view", "a", "--token", "short"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("8 to 128"), "{}", ended.stderr);
}

#[test]
fn a_port_in_use_is_named_with_a_way_out() {
    let place = recorded();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ended = place.phyxel(&["view", "a", "--no-open", "--port", &port]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stdout.is_empty());
    for word in [&*port, "in use", "--port 0"] {
        assert!(ended.stderr.contains(word), "{word} is missing in {}", ended.stderr);
    }
    let ended = place.phyxel(&["view", "a", "--no-open", "--port", "0", "--host", "192.0.2.1"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("no address of this machine"), "{}", ended.stderr);
    let ended = place.phyxel(&["view", "a", "--host", "example.org"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("127.0.0.1"), "{}", ended.stderr);
}

#[test]
fn the_seventeenth_page_is_asked_to_wait() {
    let place = recorded();
    let viewer = Viewer::start(&place, &["a"]);
    let mut sockets: Vec<_> = (0..16).map(|_| viewer.socket()).collect();
    let origin = format!("http://{}", viewer.address);
    let refused = viewer.try_socket("/ws", &origin).err().expect("too many").to_string();
    assert!(refused.contains("503"), "{refused}");
    assert_eq!(status(&viewer.page("/")), 200, "the page itself is still served");
    sockets.pop();
    let is_free = |_: &i32| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        viewer.try_socket("/ws", &origin).is_ok()
    };
    assert!((0..100).any(|k| is_free(&k)), "a closed page leaves its place");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_well() {
    let place = recorded();
    let mut viewer = Viewer::start(&place, &["a"]);
    let (_socket, _) = viewer.socket();
    let killed = std::process::Command::new("kill").args(["-INT", &viewer.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let ended = viewer.child.wait().unwrap();
    assert_eq!(ended.code(), Some(0));
}
