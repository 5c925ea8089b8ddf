//! Pinning: holding files in memory, as far as the limits allow, wherever their names lead.

mod follow;
mod limits;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_facts::{ControlReport, ControlVerb, ControlledFile, FileId, NotCached};
use hotset_sys::cache::{CacheChange, Pin, Supervisor, lock_limit};
use hotset_sys::cgroup::headroom;
use hotset_sys::tree::{Found, Selection};

use crate::outcomes::{NamedFiles, Outcomes, changed, unchanged};
use crate::{ControlFailure, Progress};
use limits::may_pin;

pub use follow::{FollowListener, Held};
pub use limits::PinRefused;

/// What to pin.
#[derive(Debug)]
pub struct PinOptions {
    /// Which files. Their names are looked up again and again: they should be absolute.
    pub selection: Selection,
    /// Bytes to hold at most, now and as files grow.
    pub budget_bytes: Option<u64>,
    /// Which files the report names.
    pub named: NamedFiles,
}

/// The files are held.
#[derive(Debug)]
pub struct Pinned {
    /// What was reached.
    pub report: ControlReport,
    /// What is held, for as long as this lives.
    pub held: Held,
}

/// Locks the files into memory.
///
/// # Errors
/// Where a limit is too small for all of them: nothing is held then.
pub fn pin(
    options: &PinOptions,
    stop: &AtomicBool,
    progress: &dyn Progress,
) -> Result<Pinned, ControlFailure> {
    let mut files: Vec<FileToPin> = Vec::new();
    // The walk hands on every file once, whatever its names.
    let visit = |file: &Found<'_>, _: &mut Outcomes| {
        let (path, id) = (file.path.to_owned(), file.id);
        files.push(FileToPin { path, id, size_bytes: file.size_bytes });
    };
    let outcomes = Outcomes::new(ControlVerb::Pin, options.named);
    let mut outcomes = outcomes.gather(&options.selection, stop, vec![visit]);
    let needed =
        files.iter().fold(0_u64, |sum, file| sum.saturating_add(whole_pages(file.size_bytes)));
    may_pin(needed, options.budget_bytes, lock_limit(), &headroom())?;
    progress.begin(needed);
    let mut held = Held::new(options.budget_bytes);
    for file in files.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
        // One that has grown since the limits were asked is followed like others, as far as they allow.
        let most = whole_pages(file.size_bytes);
        let outcome = match Pin::new(&file.path, most, &Stoppable(stop)) {
            Ok((pin, change)) => {
                progress.advance(pin.locked_bytes());
                let size_bytes = pin.size_bytes();
                held.add(pin);
                pinned(file, change, size_bytes)
            }
            Err(error) => unchanged(&file.path, file.id, file.size_bytes, &error),
        };
        outcomes.add(outcome);
    }
    let mut report = outcomes.report();
    report.interrupted = stop.load(Ordering::Relaxed);
    Ok(Pinned { report, held })
}

struct FileToPin {
    path: PathBuf,
    id: FileId,
    size_bytes: u64,
}

/// Bytes that holding a file of this size takes.
fn whole_pages(bytes: u64) -> u64 {
    hotset_sys::pages_of(bytes).saturating_mul(hotset_sys::page_size())
}

/// Allows everything until somebody asks to stop.
struct Stoppable<'a>(&'a AtomicBool);

impl Supervisor for Stoppable<'_> {
    fn grant(&self, bytes: u64) -> u64 {
        if self.0.load(Ordering::Relaxed) { 0 } else { bytes }
    }
}

fn pinned(file: &FileToPin, change: CacheChange, size_bytes: u64) -> ControlledFile {
    let mut outcome = changed(&file.path, file.id, size_bytes, change);
    let missing = outcome.short_pages(ControlVerb::Pin).filter(|&pages| pages > 0);
    outcome.not_cached = missing.map(|_| NotCached::Unknown);
    outcome
}

#[cfg(test)]
mod tests;
