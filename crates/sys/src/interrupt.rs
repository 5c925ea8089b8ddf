//! Being asked to stop: the first Ctrl-C sets a flag, the second ends the program as if nothing had caught it.

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Sets the flag that [`catch`] returns, when SIGINT, SIGTERM or SIGHUP arrives for the first time.
extern "C" fn note(signal: libc::c_int) {
    // Both stores are lock-free: nothing else may be done in a handler.
    SIGNAL.store(signal, Ordering::Relaxed);
    STOP.store(true, Ordering::Relaxed);
}

/// Catches SIGINT, SIGTERM and SIGHUP once each from now on, and returns the flag that they set. What a parent has ignored
/// (nohup, a background job) stays ignored. System calls that can go on go on; poll(2) and its kin return EINTR.
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
        action.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
        // SAFETY: the handler does nothing but two lock-free stores; the mask is the one that the kernel gave.
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
        let stop = catch().expect("caught");
        assert!(!stop.load(Ordering::Relaxed) && signal().is_none());
        // SAFETY: raises a signal that the handler above takes.
        unsafe { libc::raise(libc::SIGHUP) };
        assert!(stop.load(Ordering::Relaxed));
        assert_eq!(signal(), Some(libc::SIGHUP));
        let mut now = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a null action asks only.
        let asked = unsafe { libc::sigaction(libc::SIGHUP, std::ptr::null(), now.as_mut_ptr()) };
        // SAFETY: filled by the call above; all zeros would be valid too.
        let now = unsafe { now.assume_init() };
        assert_eq!((asked, now.sa_sigaction), (0, libc::SIG_DFL), "the second one ends it");
    }
}
