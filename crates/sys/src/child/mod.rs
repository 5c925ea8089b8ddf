//! Waiting for a child, and the signals that arrive meanwhile.

mod supervise;
mod wait;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use hotset_facts::{ExitStatus, Pid};
use rustix::process::{Pid as RawPid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

pub use supervise::{Attendant, Ended, Running, supervise};
pub use wait::{Wait, Woken};

/// What getrusage(2) counts in.
const BLOCK_BYTES: u64 = 512;

/// What a process used, with the descendants that it waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// The largest resident set of one of these processes.
    pub max_rss_bytes: u64,
    /// Faults that needed no I/O.
    pub minor_faults: u64,
    /// Faults that did.
    pub major_faults: u64,
    /// Bytes that these processes themselves had read from a device (`ru_inblock`).
    pub device_read_bytes: u64,
    /// Bytes that these processes themselves had written to a device, or made dirty in the cache (`ru_oublock`).
    pub device_write_bytes: u64,
    /// Times that they gave up a CPU, usually to wait.
    pub voluntary_switches: u64,
    /// Times that a CPU was taken from them.
    pub involuntary_switches: u64,
}

/// A descriptor that becomes readable when the process ends.
///
/// # Errors
/// ESRCH where there is no such process.
pub fn pidfd(pid: Pid) -> io::Result<OwnedFd> {
    let pid =
        i32::try_from(pid).ok().and_then(RawPid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Sends a signal through a pidfd: never to another process that got the same number.
///
/// # Errors
/// ESRCH where the process has ended.
pub fn send_signal(pidfd: impl AsFd, signal: i32) -> io::Result<()> {
    // SAFETY: the number came from the kernel by way of a signalfd, so it is a signal's.
    let signal = unsafe { Signal::from_raw_unchecked(signal) };
    Ok(pidfd_send_signal(pidfd, signal)?)
}

/// Reaps a child and says how it ended and what it used.
///
/// # Errors
/// ECHILD where it is no child of ours, or was reaped already.
pub fn reap(pid: Pid) -> io::Result<(ExitStatus, Usage)> {
    let raw = libc::pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    let (wait_status, usage) = wait_for(raw)?;
    Ok((ExitStatus::from_wait_status(wait_status), Usage::from(usage)))
}

/// Waits for the child and takes its status and usage as the kernel gives them.
pub(crate) fn wait_for(raw: libc::pid_t) -> io::Result<(i32, libc::rusage)> {
    let mut wait_status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    loop {
        // SAFETY: both pointers are valid for writes of their types for the length of the call.
        let reaped = unsafe { libc::wait4(raw, &raw mut wait_status, 0, usage.as_mut_ptr()) };
        if reaped == raw {
            // SAFETY: wait4 succeeded and so has filled the structure.
            return Ok((wait_status, unsafe { usage.assume_init() }));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// What this process (`RUSAGE_SELF`) or this thread (`RUSAGE_THREAD`) used so far.
pub(crate) fn own_usage(who: libc::c_int) -> Usage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: writes to `usage` only, for which all zeros is a valid value too.
    let usage = unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    Usage::from(usage)
}

impl From<libc::rusage> for Usage {
    fn from(usage: libc::rusage) -> Self {
        Self {
            user_ns: nanoseconds(usage.ru_utime),
            system_ns: nanoseconds(usage.ru_stime),
            max_rss_bytes: unsigned(usage.ru_maxrss) * 1024,
            minor_faults: unsigned(usage.ru_minflt),
            major_faults: unsigned(usage.ru_majflt),
            device_read_bytes: unsigned(usage.ru_inblock).saturating_mul(BLOCK_BYTES),
            device_write_bytes: unsigned(usage.ru_oublock).saturating_mul(BLOCK_BYTES),
            voluntary_switches: unsigned(usage.ru_nvcsw),
            involuntary_switches: unsigned(usage.ru_nivcsw),
        }
    }
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn nanoseconds(time: libc::timeval) -> u64 {
    unsigned(time.tv_sec) * 1_000_000_000 + unsigned(time.tv_usec) * 1_000
}

/// The peak of this process's own resident set so far, in bytes.
pub fn own_peak_rss_bytes() -> Option<u64> {
    crate::proc::status::own_bytes("VmHWM")
}

/// A signal that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// Its number.
    pub signal: i32,
    /// Sent by the kernel, as for Ctrl-C: then the whole foreground process group has it.
    pub from_terminal: bool,
}

/// The signals that end a program politely, held back and read from a descriptor instead.
#[derive(Debug)]
pub struct Signals {
    fd: OwnedFd,
}

/// Signals that would end this process and may be meant for the command.
const HELD: [libc::c_int; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];
/// siginfo's code for a signal that the kernel sent.
const SI_KERNEL: i32 = 0x80;

impl Signals {
    /// Holds the signals back from this thread on. A child that the standard library starts inherits that; one that
    /// [`Launch`](crate::launch::Launch) starts does not.
    ///
    /// # Errors
    /// Where no descriptor is left.
    pub fn hold() -> io::Result<Self> {
        Self::hold_also(&[])
    }

    /// As [`Signals::hold`], with more signals, for instance those of job control for whoever has the terminal to himself.
    ///
    /// # Errors
    /// Where no descriptor is left.
    pub fn hold_also(more: &[libc::c_int]) -> io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: sigemptyset initialises the set and sigaction the action, which is read only where that succeeded; the calls
        // after them only read and write that set.
        let fd = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for &signal in HELD.iter().chain(more) {
                // What nohup or a background job has ignored stays ignored; held back, it would be queued all the same.
                let mut action = MaybeUninit::<libc::sigaction>::uninit();
                let known = libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0;
                if known && action.assume_init_ref().sa_sigaction == libc::SIG_IGN {
                    continue;
                }
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
            libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call succeeded, so this is a new descriptor that nobody else owns.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// The next signal that arrived, if one did.
    pub fn next(&self) -> Option<Arrived> {
        let mut info = [0_u8; size_of::<libc::signalfd_siginfo>()];
        let read = rustix::io::read(&self.fd, &mut info).ok()?;
        if read != info.len() {
            return None;
        }
        let word =
            |at: usize| info[at..].first_chunk::<4>().map_or(0, |bytes| i32::from_ne_bytes(*bytes));
        let signal = word(std::mem::offset_of!(libc::signalfd_siginfo, ssi_signo));
        let code = word(std::mem::offset_of!(libc::signalfd_siginfo, ssi_code));
        Some(Arrived { signal, from_terminal: code == SI_KERNEL })
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use crate::launch::spawn;

    #[test]
    fn a_child_is_reaped_once_with_its_status() {
        let child =
            spawn(Path::new("/bin/sh"), &["sh".into(), "-c".into(), "exit 7".into()]).expect("sh");
        let (exit, usage) = reap(child).expect("reaped");
        assert_eq!(exit, ExitStatus::Code(7));
        assert!(usage.max_rss_bytes > 0);
        assert!(reap(child).is_err());
    }

    #[test]
    fn a_signal_reaches_the_process_behind_a_pidfd() {
        let child = spawn(Path::new("/bin/sleep"), &["sleep".into(), "60".into()]).expect("sleep");
        let pidfd = pidfd(child).expect("pidfd");
        send_signal(&pidfd, libc::SIGTERM).expect("sent");
        assert_eq!(reap(child).expect("reaped").0, ExitStatus::Signal(libc::SIGTERM));
    }
}
