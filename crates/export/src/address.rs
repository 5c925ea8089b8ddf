//! Where to listen.

use std::collections::HashSet;
use std::fmt;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};

/// An address as it was typed: `127.0.0.1:9467`, `[::1]:9467`, `localhost:9467`, `:9467`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    text: String,
    /// Without brackets; nothing for every address.
    host: Option<String>,
    port: u16,
}

const EXPECTED: &str =
    "expected HOST:PORT, [IPV6]:PORT or :PORT, such as 127.0.0.1:9467 or [::1]:9467";

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (host, port) = text.rsplit_once(':').ok_or(EXPECTED)?;
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match bracketed {
            Some(inner) if inner.parse::<Ipv6Addr>().is_ok() => Some(inner.to_owned()),
            Some(inner) => return Err(format!("{inner:?} is not an IPv6 address; {EXPECTED}")),
            None if host.is_empty() => None,
            // An IPv6 address whose last group would be taken for the port.
            None if host.contains(':') => {
                return Err(format!("an IPv6 address stands in brackets: {EXPECTED}"));
            }
            None if is_name(host) => Some(host.to_owned()),
            None => return Err(format!("{host:?} is no host: {EXPECTED}")),
        };
        // parse() would take a sign.
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = (digits.then(|| port.parse().ok()).flatten())
            .ok_or_else(|| format!("{port:?} is no port, which is a number from 0 to 65535"))?;
        Ok(Self { text: text.to_owned(), host, port })
    }
}

fn is_name(host: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    // What looks like an IPv4 address has to be one.
    if host.split('.').all(digits) {
        return host.parse::<Ipv4Addr>().is_ok();
    }
    host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Listen {
    /// Opens the sockets, one for each address that the name stands for.
    pub(crate) fn bind(&self) -> Result<Vec<TcpListener>> {
        let listeners = match &self.host {
            None => vec![self.bind_everywhere()?],
            Some(host) => {
                let found = (host.as_str(), self.port).to_socket_addrs();
                self.bind_each(
                    found
                        .with_context(|| format!("--listen {self}: {host:?} can't be resolved"))?,
                )?
            }
        };
        listeners.iter().try_for_each(|one| one.set_nonblocking(true)).context("a socket")?;
        Ok(listeners)
    }

    /// A name may stand for an address twice, or for one that this host has not: `localhost` is ::1 also where there is no IPv6.
    fn bind_each(&self, found: impl Iterator<Item = SocketAddr>) -> Result<Vec<TcpListener>> {
        let (mut seen, mut bound, mut absent) = (HashSet::new(), Vec::new(), None);
        for address in found {
            if !seen.insert(address) {
                continue;
            }
            match bind(address) {
                Ok(listener) => bound.push(listener),
                Err(error) if error.kind() == ErrorKind::AddrNotAvailable => absent = Some(error),
                Err(error) => return Err(self.refused(&error)),
            }
        }
        match absent {
            Some(error) if bound.is_empty() => Err(self.refused(&error)),
            _ => Ok(bound),
        }
    }

    /// IPv6 sockets take IPv4 too, where there is IPv6.
    fn bind_everywhere(&self) -> Result<TcpListener> {
        let (v6, v4) = (Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into());
        match bind(SocketAddr::new(v6, self.port)) {
            Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => {
                bind(SocketAddr::new(v4, self.port)).map_err(|error| self.refused(&error))
            }
            other => other.map_err(|error| self.refused(&error)),
        }
    }

    fn refused(&self, error: &std::io::Error) -> anyhow::Error {
        let why = match error.kind() {
            std::io::ErrorKind::AddrInUse => format!(
                "port {} is in use already: stop who has it (`ss -ltnp sport = :{}` names it), or choose another port",
                self.port, self.port
            ),
            std::io::ErrorKind::AddrNotAvailable => {
                "no local interface has this address; run `ip addr` to list them".to_owned()
            }
            std::io::ErrorKind::PermissionDenied => {
                "ports below 1024 need CAP_NET_BIND_SERVICE".to_owned()
            }
            _ => error.to_string(),
        };
        anyhow!("--listen {self}: {why}")
    }
}

/// As the standard library binds: with SO_REUSEADDR, so that a restart need not wait.
fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    TcpListener::bind(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_write_them() {
        for (text, host, port) in [
            ("127.0.0.1:9467", Some("127.0.0.1"), 9467),
            ("[::1]:9467", Some("::1"), 9467),
            ("[::]:0", Some("::"), 0),
            (":9467", None, 9467),
            ("localhost:80", Some("localhost"), 80),
        ] {
            let listen: Listen = text.parse().expect(text);
            assert_eq!((listen.host.as_deref(), listen.port), (host, port));
            assert_eq!(listen.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_says_what_would_be() {
        for (bad, word) in [
            ("9467", "HOST:PORT"),
            ("127.0.0.1", "HOST:PORT"),
            ("::1:9467", "in brackets"),
            ("[::g]:9467", "not an IPv6 address"),
            ("127.0.0.1:", "no port"),
            ("127.0.0.1:http", "no port"),
            ("127.0.0.1:+80", "no port"),
            ("127.0.0.1:65536", "no port"),
            ("256.0.0.1:80", "no host"),
            ("http://localhost:80", "in brackets"),
            ("a b:80", "no host"),
        ] {
            let error = bad.parse::<Listen>().expect_err(bad);
            assert!(error.contains(word), "{bad}: {error}");
        }
    }

    #[test]
    fn an_address_that_is_not_here_is_passed_over_where_another_is() {
        let listen: Listen = "localhost:0".parse().expect("an address");
        let at = |text: &str| text.parse::<SocketAddr>().expect("an address");
        // 192.0.2.0/24 is nobody's (RFC 5737).
        let (here, nobody) = (at("127.0.0.1:0"), at("192.0.2.1:0"));
        let bound = |list: Vec<SocketAddr>| listen.bind_each(list.into_iter());
        assert_eq!(bound(vec![nobody, here, here]).expect("one of them").len(), 1);
        let error = bound(vec![nobody]).expect_err("none of them").to_string();
        assert!(error.contains("no local interface has this address"), "{error}");
    }

    #[test]
    fn a_port_in_use_is_named() {
        let holder = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = holder.local_addr().expect("its address").port();
        let listen: Listen = format!("127.0.0.1:{port}").parse().expect("an address");
        let error = listen.bind().expect_err("in use").to_string();
        assert!(error.contains(&format!("port {port} is in use")), "{error}");
    }
}
