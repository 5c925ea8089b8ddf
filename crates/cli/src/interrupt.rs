//! Ctrl-C: the first asks a command to stop and say how far it came, the second ends it at once.

use std::sync::atomic::AtomicBool;

use hotset_facts::ExitStatus;

use crate::exit::Exit;

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets. Where signals can't be caught they end the program, as ever.
pub(crate) fn stop_flag() -> &'static AtomicBool {
    static NEVER: AtomicBool = AtomicBool::new(false);
    hotset_sys::interrupt::catch().unwrap_or(&NEVER)
}

/// How to end after a stop: 128 and the signal's number, 130 for Ctrl-C.
pub(crate) fn exit() -> Exit {
    const SIGINT: i32 = 2;
    Exit::Command(ExitStatus::Signal(hotset_sys::interrupt::signal().unwrap_or(SIGINT)))
}
