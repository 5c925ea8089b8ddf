//! A program from its start to its end: how long it took and how much memory it had, measured from a small process.
//!
//! The kernel counts the memory that a process had before exec(2) to its peak, which is that of whoever forked it: under a
//! script's interpreter everything takes as much as the interpreter.

use std::error::Error;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use hotset_facts::ExitStatus;

/// `OUTPUT PROGRAM ARGUMENT…`: runs the program, both streams into OUTPUT. Answers its nanoseconds, the peak bytes of the
/// largest process in it, and its exit code, or minus the signal that ended it.
pub(crate) fn timed(words: &[String]) -> Result<String, Box<dyn Error>> {
    let [output, program, arguments @ ..] = words else {
        return Err("usage: loops timed OUTPUT PROGRAM ARGUMENT…".into());
    };
    let output = File::create(output)?;
    let mut command = Command::new(found(program)?);
    command.args(arguments).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let start = Instant::now();
    let child = command.spawn()?;
    let (exit, usage) = hotset_sys::child::reap(child.id())?;
    let nanoseconds = start.elapsed().as_nanos();
    let code = match exit {
        ExitStatus::Code(code) => code,
        ExitStatus::Signal(signal) => -signal,
    };
    Ok(format!("{nanoseconds} {} {code}", usage.max_rss_bytes))
}

/// Searched before the clock starts.
fn found(program: &str) -> Result<PathBuf, Box<dyn Error>> {
    let runs = |path: &Path| {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Ok(program.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&path).map(|dir| dir.join(program));
    candidates.find(|path| runs(path)).ok_or_else(|| format!("{program} is not installed").into())
}
