//! Access rules of the server: it answers pages that it has served itself, and clients that have the token.

use super::http::{Request, Response};
use std::net::{IpAddr, SocketAddr};

/// Number of bytes of a generated token.
const TOKEN_BYTES: usize = 16;
/// Allowed lengths of a given token.
const TOKEN_LENGTHS: std::ops::RangeInclusive<usize> = 8..=128;

/// Access rules of one server.
#[derive(Clone, Debug)]
pub(super) struct Access {
    address: SocketAddr,
    token: Option<String>,
}

impl Access {
    /// Creates the rules for a server that listens on an address. Outside of loopback there is always a token.
    ///
    /// # Errors
    /// Fails if the system has no random numbers for a token.
    pub(super) fn new(address: SocketAddr, token: Option<String>) -> Result<Self, String> {
        let token = match token {
            None if !address.ip().is_loopback() => Some(new_token()?),
            token => token,
        };
        Ok(Self { address, token })
    }

    /// Returns the address for a browser on this machine.
    pub(super) fn url(&self) -> String {
        let ip = match self.address.ip() {
            // a server that listens on all addresses is reached on loopback
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        let query = self.token.as_ref().map_or(String::new(), |token| format!("?token={token}"));
        format!("http://{}/{query}", SocketAddr::new(ip, self.address.port()))
    }

    /// Returns true if other machines can reach the server.
    pub(super) fn is_public(&self) -> bool {
        !self.address.ip().is_loopback()
    }

    /// Checks a request; returns the refusal if it is not allowed.
    ///
    /// On loopback the header Host must name this machine, so that a site whose name is made to point here
    /// (DNS rebinding) is not taken for this page.
    pub(super) fn check(&self, request: &Request) -> Result<(), Response> {
        let host = request.field("Host")?.unwrap_or_default();
        if !self.is_public() && !self.own_hosts().iter().any(|own| host.eq_ignore_ascii_case(own)) {
            let hosts = self.own_hosts().join(" or ");
            return Err(Response::text(421, format!("this server is only {hosts}")));
        }
        if let Some(token) = &self.token {
            let given = request.query_value("token").unwrap_or_default();
            if !is_same(token.as_bytes(), given.as_bytes()) {
                let text = "a token is needed: open the whole address that phyxel view has printed";
                return Err(Response::text(403, text));
            }
        }
        Ok(())
    }

    /// Checks that the page of this server opens the WebSocket: browsers send the origin of a page.
    pub(super) fn check_origin(request: &Request) -> Result<(), Response> {
        let host = request.field("Host")?.unwrap_or_default();
        match request.field("Origin")? {
            Some(origin) if !host.is_empty() && origin.eq_ignore_ascii_case(&format!("http://{host}")) => {
                Ok(())
            }
            _ => Err(Response::text(403, "only the page of this server may connect")),
        }
    }

    /// Returns the allowed values of the header Host on loopback.
    fn own_hosts(&self) -> Vec<String> {
        let port = self.address.port();
        let ip = match self.address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let mut hosts = Vec::new();
        for name in ["127.0.0.1", "localhost", "[::1]", &ip] {
            let host = format!("{name}:{port}");
            if !hosts.contains(&host) {
                hosts.push(host);
            }
            // browsers omit the default port
            if port == 80 && !hosts.iter().any(|host| host == name) {
                hosts.push(name.to_owned());
            }
        }
        hosts
    }
}

/// Parses a token chosen by the user, for clap.
pub(crate) fn parse_token(text: &str) -> Result<String, String> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_plain && TOKEN_LENGTHS.contains(&text.len()) {
        Ok(text.to_owned())
    } else {
        let (shortest, longest) = TOKEN_LENGTHS.into_inner();
        Err(format!("{shortest} to {longest} letters, digits, `-` and `_` are expected"))
    }
}

/// Creates a token from the system's own source of random numbers.
pub(super) fn new_token() -> Result<String, String> {
    let mut bytes = [0u8; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gives no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares bytes in a time that does not depend on the position of the first difference.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).fold(0u8, |sum, (l, r)| std::hint::black_box(sum | (l ^ r)));
    left.len() == right.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_needs_no_token_and_other_addresses_always_have_one() {
        let access = |ip: [u8; 4], token: Option<&str>| {
            Access::new(SocketAddr::from((ip, 7878)), token.map(str::to_owned)).unwrap()
        };
        assert_eq!(access([127, 0, 0, 1], None).url(), "http://127.0.0.1:7878/");
        assert_eq!(access([127, 0, 0, 1], Some("secret-1")).url(), "http://127.0.0.1:7878/?token=secret-1");
        let (one, two) = (access([0, 0, 0, 0], None), access([0, 0, 0, 0], None));
        assert!(one.is_public() && one.token.as_ref().is_some_and(|token| token.len() == 2 * TOKEN_BYTES));
        assert_ne!(one.token, two.token);
        assert!(one.url().starts_with("http://127.0.0.1:7878/?token="));
        let v6 = Access::new("[::1]:7878".parse().unwrap(), None).unwrap();
        assert_eq!(v6.url(), "http://[::1]:7878/");
        assert!(!v6.is_public());
    }

    #[test]
    fn tokens_are_equal_only_as_a_whole() {
        assert!(is_same(b"abcdefgh", b"abcdefgh") && is_same(b"", b""));
        for other in [&b"abcdefg"[..], b"abcdefghi", b"abcdefgH", b""] {
            assert!(!is_same(b"abcdefgh", other));
        }
        for bad in ["", "short", "with space", "a&b=c-----", "ümlaut-ümlaut", &"x".repeat(129)] {
            assert!(parse_token(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_token("Long_enough-1").unwrap(), "Long_enough-1");
    }
}
