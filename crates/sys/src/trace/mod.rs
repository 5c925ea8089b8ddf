//! Which files a command opens, maps and executes, by ptrace(2): for users who may load no BPF.
//!
//! A seccomp filter stops only the calls that open or map a file, so that everything else runs at its own speed. A file
//! is named by what stands behind the descriptor after the call returned, so links, mount namespaces and chroots don't
//! matter. Not seen: what io_uring opens, descriptors received over sockets, programs of another word size than this
//! one's. setuid programs run without their privileges, as under any tracer without CAP_SYS_PTRACE.

mod files;
mod filter;
mod raw;
#[cfg(test)]
mod tests;
mod tracer;

use std::io;
use std::path::PathBuf;
use std::sync::mpsc;

use hotset_facts::{ExitStatus, FileId};

use crate::launch::Launch;

/// A file that the command opened, mapped or executed, with every way in which it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedFile {
    /// Its path as the process saw it; its last one where the name was gone.
    pub path: PathBuf,
    /// Its identity.
    pub id: FileId,
    /// Opened for reading, or executed.
    pub read: bool,
    /// Mapped, or executed.
    pub mapped: bool,
    /// Opened for writing.
    pub written: bool,
    /// True where it had no name left when it was first seen.
    pub deleted: bool,
}

/// What a traced command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// Regular files and block devices, in order of first use.
    pub files: Vec<TracedFile>,
    /// Files beyond [`MAX_FILES`], which are not in `files`.
    pub files_left_out: u64,
    /// How the command ended.
    pub exit: ExitStatus,
    /// Processes of the command that still ran when it ended. They go on, traced, as long as this program runs, and are
    /// ended with it: without a tracer their calls would fail.
    pub still_running: u32,
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
}

impl TraceError {
    fn refused(call: &'static str) -> Self {
        Self::Refused { call, error: io::Error::last_os_error() }
    }
}

/// Runs the command once to its end, and says which files it opened, mapped and executed, its children included.
///
/// # Errors
/// Where it can't be executed, or where tracing is refused. Then it did not run.
pub fn files_opened(command: Launch) -> Result<Traced, TraceError> {
    let (told, answer) = mpsc::channel();
    // A thread of its own: a tracer is a thread, and it sees the ends of its own tracees and of no other child. It
    // outlives this call where the command left processes behind.
    let thread = std::thread::Builder::new()
        .name("tracer".to_owned())
        .spawn(move || tracer::follow(command, &told));
    thread.map_err(|error| TraceError::Refused { call: "clone", error })?;
    answer.recv().unwrap_or_else(|_| {
        let error = io::Error::other("the tracing thread ended early");
        Err(TraceError::Refused { call: "wait4", error })
    })
}
