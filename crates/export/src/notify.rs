//! Telling systemd how it goes (sd_notify(3)); nothing happens where nobody asked.

use std::ffi::OsString;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The socket of the service manager.
pub struct Notify {
    socket: Option<(UnixDatagram, SocketAddr)>,
}

impl Notify {
    /// The one that `NOTIFY_SOCKET` names.
    pub fn from_environment() -> Self {
        Self::new(std::env::var_os("NOTIFY_SOCKET"))
    }

    fn new(name: Option<OsString>) -> Self {
        let address = name.and_then(|name| match name.as_bytes().strip_prefix(b"@") {
            Some(hidden) => SocketAddr::from_abstract_name(hidden).ok(),
            None => SocketAddr::from_pathname(name).ok(),
        });
        let socket = address.and_then(|address| Some((UnixDatagram::unbound().ok()?, address)));
        if let Some((socket, _)) = &socket {
            // A manager that doesn't read must not hold up sampling.
            let _ = socket.set_nonblocking(true);
        }
        Self { socket }
    }

    /// Sends a state. A manager that can't be told is no reason to stop.
    pub fn tell(&self, state: &str) {
        if let Some((socket, address)) = &self.socket {
            let _ = socket.send_to_addr(state.as_bytes(), address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_reaches_the_socket_and_nothing_goes_nowhere() {
        let name = format!("hotset-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let manager = UnixDatagram::bind_addr(&address).expect("a socket");
        Notify::new(Some(format!("@{name}").into())).tell("READY=1");
        let mut state = [0; 16];
        let len = manager.recv(&mut state).expect("a state");
        assert_eq!(&state[..len], b"READY=1");
        Notify::new(None).tell("READY=1");
        Notify::new(Some("/no/such/socket".into())).tell("READY=1");
    }
}
