//! The signals as this process was started with them: a command is to have them as it would without whoever starts it here.

use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// What execve(2) hands on.
#[derive(Clone, Copy)]
pub(super) struct Inherited {
    /// The signals that were blocked.
    pub(super) blocked: libc::sigset_t,
    /// Whether SIGPIPE was ignored, as it is for what systemd starts.
    pub(super) ignores_pipe: bool,
}

static AT_START: OnceLock<Inherited> = OnceLock::new();

/// Before `main`, for the standard library ignores SIGPIPE by itself.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

extern "C" fn note() {
    let (mut blocked, mut pipe) = (MaybeUninit::uninit(), MaybeUninit::<libc::sigaction>::uninit());
    // SAFETY: both calls only write what they were given, and succeed: neither changes anything, and SIGPIPE is a signal.
    let inherited = unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), blocked.as_mut_ptr());
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), pipe.as_mut_ptr());
        Inherited {
            blocked: blocked.assume_init(),
            ignores_pipe: pipe.assume_init_ref().sa_sigaction == libc::SIG_IGN,
        }
    };
    let _ = AT_START.set(inherited);
}

/// None blocked and none ignored where nobody could note it.
pub(super) fn inherited() -> Inherited {
    AT_START.get().copied().unwrap_or_else(|| {
        let mut blocked = MaybeUninit::uninit();
        // SAFETY: initialises the set.
        let blocked = unsafe {
            libc::sigemptyset(blocked.as_mut_ptr());
            blocked.assume_init()
        };
        Inherited { blocked, ignores_pipe: false }
    })
}
