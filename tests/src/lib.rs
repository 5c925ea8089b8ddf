//! Helpers for the tests of the whole: where the programs are, how to run them, and how to read what they wrote.
//!
//! Truth comes from the `workload` program, which asks the kernel and never hotset. A helper that can't do its part
//! panics with the reason: a test that can't run must not pass.

pub mod aio;
pub mod attached;
pub mod bench;
pub mod books;
pub mod browser;
pub mod cells;
pub mod children;
pub mod conversions;
pub mod evictions;
pub mod exporter;
pub mod filesystems;
pub mod flushes;
pub mod gate;
pub mod group;
pub mod held;
pub mod invariants;
pub mod json;
pub mod labs;
pub mod listing;
pub mod metadata;
pub mod mounted;
pub mod nobody;
pub mod observed;
pub mod pageflags;
pub mod programs;
pub mod replays;
pub mod run;
pub mod s3;
pub mod scratch;
pub mod shell;
pub mod state;
pub mod tmux;
pub mod traced;
mod tracepoints;
pub mod watching;

pub use attached::Attached;
pub use evictions::{Evictions, once_undisturbed, undisturbed, undisturbed_on};
pub use group::{Group, LimitedGroup, NamedGroup};
pub use invariants::assert_invariants;
pub use json::{bytes_of, file_row, lost_counts, number, process_row, row_at};
pub use mounted::Mounted;
pub use nobody::{NOBODY, as_nobody, as_nobody_with};
pub use observed::{Cache, Observed, observe, observe_files};
pub use programs::{hotset, loaded_by, mix, workload};
pub use run::{
    HotsetRun, code, measure, prepare, profile_of, read_json, run_hotset, stderr, stdout, unwrapped,
};
pub use scratch::Scratch;
pub use shell::Shell;
pub use state::{
    evict_verified, has_cachestat, is_same, until, until_ok, until_within, warm_verified,
};

/// Bytes of a mebibyte.
pub const MIB: u64 = 1 << 20;
/// Bytes of a page on the hosts that run these tests.
pub const PAGE: u64 = 4096;

/// Gives a command the signals' default actions: a shell's background job, as a CI runner may be, has SIGINT and SIGQUIT
/// ignored, and what is ignored stays so across exec.
pub fn with_default_signals(command: &mut std::process::Command) -> &mut std::process::Command {
    use std::os::unix::process::CommandExt;
    let reset = || {
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM] {
            // SAFETY: signal(2) is async-signal-safe and SIG_DFL is a valid action for each of these.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the closure calls only signal(2), which may be called between fork and exec.
    unsafe { command.pre_exec(reset) }
}
