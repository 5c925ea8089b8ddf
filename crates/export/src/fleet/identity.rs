//! Which host it is, over boots and among others of its name.

use std::sync::Arc;

use ring::digest::{SHA256, digest};

/// The parts of a key that are the same in every row of a session.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) host: Arc<str>,
    pub(super) host_id: Arc<str>,
    pub(super) boot_id: Arc<str>,
    pub(super) kernel: Arc<str>,
    pub(super) machine: Arc<str>,
}

impl Identity {
    /// The host that this runs on, which is called `host`.
    pub(super) fn of_this_host(host: &str) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let uname = rustix::system::uname();
        let machine_id = ["/etc/machine-id", "/var/lib/dbus/machine-id"].map(read);
        let known = machine_id.iter().map(|id| id.trim()).find(|id| is_id(id));
        Self {
            host_id: host_id(known.unwrap_or(host)).into(),
            boot_id: read("/proc/sys/kernel/random/boot_id").trim().into(),
            kernel: hotset_sys::environment::kernel_release().into(),
            machine: uname.machine().to_string_lossy().into(),
            host: host.into(),
        }
    }
}

/// An image that was not booted yet says `uninitialized`.
fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// machine-id(5) asks not to show the id itself, and to hash it with the name of the program.
fn host_id(machine_id: &str) -> String {
    let hash = digest(&SHA256, format!("hotset fleet {machine_id}").as_bytes());
    hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_id_which_is_not_that_of_the_machine() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(host_id(id).len(), 32);
        assert_eq!(host_id(id), host_id(id));
        assert_ne!(host_id(id), id);
        assert!(is_id(id) && !is_id("uninitialized") && !is_id(""));
        assert_eq!(Identity::of_this_host("a").host_id, Identity::of_this_host("a").host_id);
        assert_eq!(&*Identity::of_this_host("a").host, "a");
    }
}
