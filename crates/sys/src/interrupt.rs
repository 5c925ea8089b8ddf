//! Being asked to stop: the first Ctrl-C sets a flag, a later one ends the program as if nothing had caught it.

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// When the first one came, in milliseconds of the monotonic clock; 0: not yet.
static FIRST_MS: AtomicU64 = AtomicU64::new(0);

/// timeout(1) signals the program and then its whole process group: what comes this soon is the same request.
const SAME_REQUEST_MS: u64 = 200;

/// Sets the flag that [`catch`] returns; a later request ends the program. Only what is async-signal-safe may be called here.
extern "C" fn note(signal: libc::c_int) {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `now` only.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    let now_ms = (now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000).max(1);
    let relaxed = Ordering::Relaxed;
    match FIRST_MS.compare_exchange(0, now_ms, relaxed, relaxed) {
        Ok(_) => {
            SIGNAL.store(signal, relaxed);
            STOP.store(true, relaxed);
        }
        Err(first) if now_ms.saturating_sub(first) < SAME_REQUEST_MS => {}
        Err(_) => end_by(signal),
    }
}

/// Lets the signal do what it does where nobody catches it, as soon as the handler returns.
fn end_by(signal: libc::c_int) {
    // SAFETY: both calls take numbers and are async-signal-safe.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Catches SIGINT, SIGTERM and SIGHUP from now on, and returns the flag that the first sets; one that comes later than
/// 200 ms after it ends the program. What a parent has ignored
/// (nohup, a background job) stays ignored. System calls that can go on go on; poll(2) and the like return EINTR.
///
/// # Errors
/// As sigaction(2) gives them.
pub fn catch() -> io::Result<&'static AtomicBool> {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a null action asks only; `before` is a valid place for the answer.
        if unsafe { libc::sigaction(signal, std::ptr::null(), before.as_mut_ptr()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: all zeros is a valid sigaction, and the call above filled it.
        let before = unsafe { before.assume_init() };
        if before.sa_sigaction == libc::SIG_IGN {
            continue;
        }
        let mut action = before;
        action.sa_sigaction = note as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: the handler calls async-signal-safe functions only; the mask is the one that the kernel gave.
        if unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(&STOP)
}

/// The signal that asked to stop, if one did.
pub fn signal() -> Option<i32> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caught_signal_sets_the_flag_and_is_told() {
        // What started this test may have ignored them, as nohup does with SIGHUP.
        for signal in [libc::SIGHUP, libc::SIGINT] {
            // SAFETY: gives a signal that no other test raises its default action back.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        let stop = catch().expect("caught");
        assert!(!stop.load(Ordering::Relaxed) && signal().is_none());
        // SAFETY: raises a signal that the handler above takes.
        unsafe { libc::raise(libc::SIGHUP) };
        assert!(stop.load(Ordering::Relaxed));
        assert_eq!(signal(), Some(libc::SIGHUP));
        // What timeout(1) sends right after it must not end the program: this test would die.
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGINT) };
        assert_eq!(signal(), Some(libc::SIGHUP));
    }
}
