//! Known file I/O with its truth: what was asked for, and what cachestat(2) said right before each request.
//!
//! `workload CASE --file PATH [options]`; see `workload/mod.rs` for the cases. Fails with a message and a non-zero exit code.

use std::io::Write;
use std::process::ExitCode;

#[path = "../workload/mod.rs"]
mod workload;

fn main() -> ExitCode {
    match workload::run(std::env::args_os().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done about a standard error that is gone.
            let _ = writeln!(std::io::stderr(), "workload: {error}");
            ExitCode::FAILURE
        }
    }
}
