//! One measurement of a user at a time: bench, lab, replay, check, size.

use std::io;
use std::sync::atomic::AtomicBool;

use hotset_lab::{SessionLock, Waiting};

use crate::output;

/// Waits until no other measurement of this user runs; none after Ctrl-C. That it waits is said under `--quiet` too:
/// silence would look like a hang.
///
/// # Errors
/// Where the lock can't be had at all.
pub(crate) fn lock(stop: &AtomicBool) -> io::Result<Option<SessionLock>> {
    let mut waits = |waiting: Waiting| {
        let who = waiting.pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
        output::say(format_args!("waiting for another measurement of this user to end{who}"));
    };
    SessionLock::take(stop, &mut waits)
}
