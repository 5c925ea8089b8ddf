//! Restoring a saved set of cached pages: the files that are as they were, in an order, within a budget.

mod memory;
mod parts;
mod source;
mod survey;
mod target;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use hotset_facts::RestoreReport;
use hotset_snapshot::Preference;
use hotset_sys::cgroup::headroom;

use crate::{ControlFailure, Progress};
use memory::{LookAtMemory, MemoryWatch};
use parts::{PART_RANGES, Parts};
use source::Source;
use survey::survey;
use target::Target;

/// In which order to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RestoreOrder {
    /// As it lies on the device: the fastest.
    #[default]
    Device,
    /// First the files that most processes used, then those of which the greatest share was cached.
    Hot,
    /// By path.
    Path,
}

/// What to restore.
#[derive(Debug, Clone, Default)]
pub struct RestoreOptions {
    /// The snapshot.
    pub file: PathBuf,
    /// Bytes to restore at most, what is cached already included.
    pub budget_bytes: Option<u64>,
    /// In which order to read; it also says which files a budget takes, where `Device` takes what `Hot` would.
    pub order: RestoreOrder,
    /// The directory that stands in the place of `/`.
    pub root: Option<PathBuf>,
    /// Also restore files whose modification time differs.
    pub ignore_mtime: bool,
    /// Read nothing.
    pub dry_run: bool,
}

impl RestoreOptions {
    fn budget_pages(&self) -> Option<u64> {
        self.budget_bytes.map(|bytes| bytes / hotset_sys::page_size())
    }
}

/// Restores what a snapshot holds, and says what is cached then.
///
/// # Errors
/// Where the snapshot is damaged, from another kind of host, or can't be read: nothing is done then.
pub fn restore(
    options: &RestoreOptions,
    stop: &AtomicBool,
    progress: &dyn Progress,
) -> Result<RestoreReport, ControlFailure> {
    restore_within(options, stop, progress, &headroom)
}

fn restore_within(
    options: &RestoreOptions,
    stop: &AtomicBool,
    progress: &dyn Progress,
    headroom: LookAtMemory<'_>,
) -> Result<RestoreReport, ControlFailure> {
    let mut source = Source::open(&options.file)?;
    if let Some(root) = options.root.as_ref().filter(|root| !root.is_dir()) {
        return Err(ControlFailure::Root(root.clone()));
    }
    let watch = MemoryWatch::new(stop, headroom, progress);
    let target =
        Target { root: options.root.as_deref(), ignore_mtime: options.ignore_mtime, watch: &watch };
    let mut report = RestoreReport {
        file: options.file.clone(),
        page_bytes: hotset_sys::page_size(),
        created_s: source.verified.header.created_s,
        files: source.verified.totals.files,
        pages: source.verified.totals.pages,
        dry_run: options.dry_run,
        ..RestoreReport::default()
    };
    if !options.dry_run {
        let pages = report.pages.min(options.budget_pages().unwrap_or(u64::MAX));
        progress.begin(pages.saturating_mul(report.page_bytes));
    }
    all_parts(options, &mut source, &target, &mut report)?;
    report.stopped = watch.stopped();
    Ok(report)
}

fn all_parts(
    options: &RestoreOptions,
    source: &mut Source,
    target: &Target<'_>,
    report: &mut RestoreReport,
) -> Result<(), ControlFailure> {
    if options.order != RestoreOrder::Hot && options.budget_bytes.is_none() {
        let mut parts = Parts::new(options.order, target, report, false);
        source.read(|next| parts.take(next, None))?;
        parts.finish();
        return Ok(());
    }
    let preference = match options.order {
        RestoreOrder::Path => Preference::Saved,
        RestoreOrder::Hot | RestoreOrder::Device => Preference::Hot,
    };
    let choice = survey(source, target, preference, options.budget_pages(), report)?;
    report.beyond_budget_pages = choice.beyond_pages;
    let mut parts = Parts::new(options.order, target, report, true);
    if options.order != RestoreOrder::Hot {
        // The order among whole files doesn't matter: they are taken as they come.
        source.read(|next| parts.take(next, Some(&choice)))?;
        parts.finish();
        return Ok(());
    }
    for window in choice.windows(PART_RANGES as u64) {
        parts.window(source, &choice, window)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
