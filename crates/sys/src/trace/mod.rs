//! What a command opens, maps, executes and looks up, by ptrace(2): for users who may load no BPF.
//!
//! A seccomp filter stops only the calls that matter, so that everything else runs at its own speed. A file is named by what stands behind the
//! descriptor after the call returned, so links, mount namespaces and chroots don't matter. Lookups are the calls that the sensor counts, by its
//! rules. What can't be seen is a [`TraceGap`], where lookups are counted; and where a command only has its files learned: what io_uring opens,
//! descriptors received over sockets, programs of another word size than this one's. setuid programs run without their privileges, as under
//! any tracer without CAP_SYS_PTRACE.

#[cfg(test)]
mod count_tests;
mod counts;
mod files;
mod filter;
mod gap;
mod lookup;
mod memory;
mod processes;
mod raw;
#[cfg(test)]
mod tests;
mod tracer;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use hotset_facts::{ExitStatus, FileId, FileKind, Observed};

use crate::child::{Usage, send_signal};
use crate::launch::Launch;

pub use counts::TraceCounts;
pub use gap::TraceGap;
pub use lookup::looks_up;
pub use processes::TracedProcess;

use filter::Wanted;

/// How often it is asked whether a command may go on.
const LOOK: Duration = Duration::from_millis(50);
/// How long processes that were killed may take to end.
const DEATH: Duration = Duration::from_secs(10);

/// A file that the command opened, mapped or executed, with every way in which it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedFile {
    /// Its path as the process saw it; its last one where the name was gone.
    pub path: PathBuf,
    /// Its identity.
    pub id: FileId,
    /// A regular file or a block device.
    pub kind: FileKind,
    /// Opened for reading, or executed.
    pub read: bool,
    /// Mapped, or executed.
    pub mapped: bool,
    /// Opened for writing.
    pub written: bool,
    /// True where it had no name left when it was first seen.
    pub deleted: bool,
    /// Successful opens by path; 0 where lookups are not counted.
    pub opens: u64,
    /// Processes that opened or executed it; 0 where lookups are not counted.
    pub processes: u32,
    /// Its size in bytes when it was first seen.
    pub size_bytes: u64,
    /// Pages that were cached when it was first seen, if that was asked.
    pub cached_before: Observed<u64>,
}

/// What a traced command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// Regular files and block devices, in order of first use; where lookups are counted, only those that have pages.
    pub files: Vec<TracedFile>,
    /// Files beyond [`MAX_FILES`], which are not in `files`.
    pub files_left_out: u64,
    /// How the command ended.
    pub exit: ExitStatus,
    /// Processes of the command that still ran when it ended. They go on, traced, as long as this program runs, and are
    /// ended with it: without a tracer their calls would fail.
    pub still_running: u32,
    /// Whether it was ended because that was enough.
    pub was_killed: bool,
    /// What it used, with the descendants that it waited for, and what the stops took.
    pub usage: Usage,
    /// From its start to its end.
    pub wall: Duration,
    /// Lookups and processes; nothing where only files were wanted.
    pub counts: Option<TraceCounts>,
}

/// Files that are told apart.
pub const MAX_FILES: usize = 100_000;

/// Why a command could not be traced.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// It can't be executed.
    #[error("can't execute the command: {0}")]
    Execute(io::Error),
    /// This host allows no tracing.
    #[error("{call} failed: {error}; this user or container may not trace its own processes")]
    Refused {
        /// The system call.
        call: &'static str,
        /// The kernel's answer.
        error: io::Error,
    },
    /// It ran and was killed, and is still there.
    #[error("the command was killed and did not end within {} seconds", DEATH.as_secs())]
    Stuck,
}

impl TraceError {
    fn refused(call: &'static str) -> Self {
        Self::Refused { call, error: io::Error::last_os_error() }
    }
}

/// What the tracer tells.
enum Told {
    /// The command was started.
    Began(OwnedFd),
    /// It has ended, or was not run.
    Ended(Box<Result<Traced, TraceError>>),
}

/// Runs the command once to its end, and says which files it opened, mapped and executed, its children included. Where it is `enough`, all
/// its processes are killed.
///
/// # Errors
/// Where it can't be executed, or where tracing is refused. Then it did not run.
pub fn files_opened(
    command: Launch,
    enough: &mut dyn FnMut() -> bool,
) -> Result<Traced, TraceError> {
    run(command, Wanted::Files, enough)
}

/// The same with the paths that each of its processes looked up, and how much of each file was cached before it was opened.
///
/// # Errors
/// Where it can't be executed, or where tracing is refused. Then it did not run.
pub fn lookups_counted(
    command: Launch,
    enough: &mut dyn FnMut() -> bool,
) -> Result<Traced, TraceError> {
    run(command, Wanted::Lookups, enough)
}

fn run(
    command: Launch,
    wanted: Wanted,
    enough: &mut dyn FnMut() -> bool,
) -> Result<Traced, TraceError> {
    let (told, answer) = mpsc::channel();
    let ends = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&ends);
    // A thread of its own: a tracer is a thread, and it sees the ends of its own tracees and of no other child. It
    // outlives this call where the command left processes behind.
    let thread = std::thread::Builder::new()
        .name("tracer".to_owned())
        .spawn(move || tracer::follow(command, wanted, &seen, &told));
    thread.map_err(|error| TraceError::Refused { call: "clone", error })?;
    let (mut main, mut killed): (Option<OwnedFd>, Option<Instant>) = (None, None);
    loop {
        match answer.recv_timeout(LOOK) {
            Ok(Told::Began(pidfd)) => main = Some(pidfd),
            Ok(Told::Ended(outcome)) => return *outcome,
            Err(RecvTimeoutError::Disconnected) => {
                let error = io::Error::other("the tracing thread ended early");
                return Err(TraceError::Refused { call: "wait4", error });
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if killed.is_some_and(|since| since.elapsed() >= DEATH) {
            return Err(TraceError::Stuck);
        }
        if killed.is_some() || enough() {
            killed.get_or_insert_with(Instant::now);
            ends.store(true, Ordering::Relaxed);
            // Its end wakes the tracer, which kills the others.
            let _ = main.as_ref().map(|main| send_signal(main, libc::SIGKILL));
        }
    }
}
