//! Saving which pages of the files are cached.

mod destination;
mod gather;
mod ranges;
mod systems;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use hotset_facts::SaveReport;
use hotset_snapshot::{HOTSET_VERSION, Header, WriteError, Writer};
use hotset_sys::proc::users::FileUsers;
use hotset_sys::tree::{Selection, walk};

use crate::ControlFailure;
use destination::Destination;
use gather::{Out, SaveVisitor, Shared};
pub use ranges::save_ranges;
use systems::Systems;

/// One takes a CPU, and opening files waits for locks in the kernel beyond a few.
const MOST_THREADS: usize = 4;

/// Where a snapshot goes.
pub enum SaveTo {
    /// To this file, which appears, or is replaced, when the snapshot is complete.
    File(PathBuf),
    /// Out as it is made.
    Stream(Box<dyn Write + Send>),
}

/// What to save.
#[derive(Debug)]
pub struct SaveOptions {
    /// Which files.
    pub selection: Selection,
}

/// Saves which pages are cached, and says how many. Where it is stopped, no file is written.
///
/// # Errors
/// Where the snapshot can't be written.
pub fn save(
    options: SaveOptions,
    to: SaveTo,
    stop: &AtomicBool,
) -> Result<SaveReport, ControlFailure> {
    let (destination, file) = match to {
        SaveTo::File(path) => (Destination::file(&path)?, Some(path)),
        SaveTo::Stream(stream) => (Destination::stream(stream), None),
    };
    let path = file.clone().unwrap_or_else(|| "standard output".into());
    let failed = |source| ControlFailure::Write { path: path.clone(), source };
    let own = destination.own_files();
    let writer = Writer::new(BufWriter::new(destination), &header()).map_err(failed)?;
    let selection = options.selection;
    let shared = Shared {
        out: Mutex::new(Out::new(writer)),
        users: FileUsers::now(),
        systems: Systems::now(),
        roots: selection.roots.iter().map(|root| canonical(root)).collect(),
        given: selection.roots.clone(),
        own,
        stop,
    };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(MOST_THREADS));
    let visitors = (0..threads).map(|_| SaveVisitor::new(&shared)).collect();
    let walked = walk(&selection, stop, visitors);
    let mut report = SaveReport {
        file,
        page_bytes: hotset_sys::page_size(),
        skipped: walked.skipped,
        hidden_processes: shared.users.hidden_processes,
        interrupted: walked.interrupted,
        ..SaveReport::default()
    };
    for visitor in walked.visitors {
        report.uncached_files += visitor.uncached;
        report.refused.merge(visitor.refused);
    }
    report.refused.named.sort();
    let out = shared.out.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = out.failed {
        return Err(failed(error));
    }
    if !report.interrupted {
        complete(out.writer, &mut report).map_err(failed)?;
    }
    Ok(report)
}

fn complete(
    writer: Writer<BufWriter<Destination>>,
    report: &mut SaveReport,
) -> Result<(), WriteError> {
    let (buffer, totals) = writer.finish()?;
    let destination = buffer.into_inner().map_err(|error| error.into_error())?;
    (report.files, report.ranges, report.pages) = (totals.files, totals.ranges, totals.pages);
    report.snapshot_bytes = destination.bytes;
    destination.keep()?;
    Ok(())
}

fn header() -> Header {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut kernel = hotset_sys::environment::kernel_release();
    // Releases have 64 bytes at most; this holds whatever a kernel says.
    while kernel.len() > 255 {
        kernel.pop();
    }
    Header {
        page_size: hotset_sys::page_size(),
        created_s: since.map_or(0, |since| since.as_secs()),
        kernel,
        written_by: HOTSET_VERSION.to_owned(),
    }
}

/// Without links, so that it means the same wherever one is; what can't be resolved is named by the walk.
fn canonical(root: &Path) -> PathBuf {
    std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned())
}

#[cfg(test)]
mod tests;
