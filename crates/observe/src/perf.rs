//! The software event "major fault", one on each CPU: it fires once at the end of such a fault.

use std::os::fd::OwnedFd;

use hotset_sys::perf_event::{self, MAJOR_FAULTS};

/// Opens the event on every CPU that is online; `None` where that is refused.
pub(crate) fn open_everywhere() -> Option<Vec<OwnedFd>> {
    let mut events = Vec::new();
    for cpu in 0..libbpf_rs::num_possible_cpus().ok()? {
        match perf_event::open(MAJOR_FAULTS, -1, i32::try_from(cpu).ok()?) {
            Ok(fd) => events.push(fd),
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
            Err(_) => return None,
        }
    }
    Some(events)
}
