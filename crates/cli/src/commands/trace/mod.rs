//! `hotset trace`.

mod export;
mod import;
mod join;

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result, bail};
use hotset_trace::Reader;

use crate::args::{TraceArgs, TraceCommand};
use crate::destination::check_destination;
use crate::exit::{Exit, Stop};

/// Does with traces what was asked.
pub(super) fn trace(args: &TraceArgs) -> Result<Exit, Stop> {
    match &args.what {
        TraceCommand::Info(args) => super::trace_info::info(args)?,
        TraceCommand::Export(args) => return export::export(args),
        TraceCommand::Import(args) => import::import(args)?,
        TraceCommand::Join(args) => join::join(args)?,
    }
    Ok(Exit::Success)
}

/// Opens a trace.
pub(crate) fn open(path: &Path) -> Result<Reader<File>> {
    let named = || path.display().to_string();
    // Asked before it is opened: that of a pipe waits for somebody who writes, and no signal ends the wait.
    let there = fs::metadata(path).with_context(named)?;
    if there.is_dir() {
        bail!("{}: is a directory, expected a trace", path.display());
    }
    if !there.is_file() {
        bail!("{}: expected a regular file: a trace is read from its end", path.display());
    }
    Reader::new(File::open(path).with_context(named)?).with_context(named)
}

/// Refuses a destination that can't be written to, and to replace a file that nobody said to. What is written to as it is, a
/// device or a pipe, is not replaced.
fn check_new(path: &Path, force: bool) -> Result<()> {
    check_destination(path)?;
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        bail!("{}: is the name of a directory, expected a file name", path.display());
    }
    let is_stream = fs::metadata(path).is_ok_and(|there| !there.is_file());
    if !force && !is_stream && fs::symlink_metadata(path).is_ok() {
        return Err(exists(path));
    }
    Ok(())
}

/// Refuses a destination of a trace: as [`check_new`], and where it is no file.
fn check_new_trace(path: &Path, force: bool) -> Result<(), Stop> {
    if path == Path::new("-") {
        return Err(Stop::usage("-o -: a trace is a file; expected a file name"));
    }
    check_new(path, force)?;
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(Stop::new(
            Exit::Failure,
            format_args!("{}: expected the name of a regular file", path.display()),
        ));
    }
    Ok(())
}

fn exists(path: &Path) -> anyhow::Error {
    anyhow::anyhow!(
        "{}: exists; choose another name, or pass --force to replace it",
        path.display()
    )
}
