//! Reading what is missing, in parts that fit into memory.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Instant;

use hotset_facts::{FileId, PageRange, RestoreReport};
use hotset_snapshot::{Choice, SavedFile, cut};
use hotset_sys::cache::{self, ResidencyCause};
use hotset_sys::scattered::{self, Scattered};

use super::RestoreOrder;
use super::source::{Next, Source};
use super::target::{self, Target};
use crate::ControlFailure;
use crate::unchanged::difference;

/// Ranges and files that are held at a time, about 100 bytes each, and 40 for each further piece of a range on the device: what
/// is more is read in several parts, each in its order.
pub(super) const PART_RANGES: usize = 1 << 18;
const PART_FILES: usize = 1 << 16;

/// Requests of a megabyte leave a device idle where there is one at a time.
const THREADS: usize = 4;

/// Takes a snapshot in parts that fit into memory.
pub(super) struct Parts<'a, 'b> {
    order: RestoreOrder,
    target: &'a Target<'b>,
    report: &'a mut RestoreReport,
    set: Scattered,
    files: usize,
    /// The file whose ranges come; nothing where it is not to be restored.
    current: Option<OpenFile>,
    /// A survey has counted the files that are as they were, and not only those that the budget allows.
    surveyed: bool,
}

struct OpenFile {
    path: PathBuf,
    fd: OwnedFd,
    id: FileId,
    size_bytes: u64,
    /// Pages that the budget still allows.
    pages_left: u64,
}

impl<'a, 'b> Parts<'a, 'b> {
    pub(super) fn new(
        order: RestoreOrder,
        target: &'a Target<'b>,
        report: &'a mut RestoreReport,
        surveyed: bool,
    ) -> Self {
        let set = Scattered::default();
        Self { order, target, report, set, files: 0, current: None, surveyed }
    }

    /// True as long as more is wanted.
    pub(super) fn take(&mut self, next: Next, choice: Option<&Choice>) -> bool {
        match next {
            Next::File(index, saved) => {
                let allowed = match choice {
                    Some(choice) => choice.rank(index).map(|(_, pages)| pages),
                    None => Some(u64::MAX),
                };
                self.current = allowed.and_then(|pages| self.open(&saved, pages));
            }
            Next::Ranges(ranges) => {
                self.add(ranges);
            }
        }
        if self.set.ranges() >= PART_RANGES || self.files >= PART_FILES {
            self.finish();
        }
        self.target.watch.stopped().is_none() && !self.target.watch.is_interrupted()
    }

    /// The files of one window of the order, hottest first.
    pub(super) fn window(
        &mut self,
        source: &mut Source,
        choice: &Choice,
        window: std::ops::Range<u32>,
    ) -> Result<(), ControlFailure> {
        let mut files: Vec<(u32, SavedFile, Vec<PageRange>)> = Vec::new();
        let mut wanted = false;
        source.read(|next| {
            match next {
                Next::File(index, saved) => {
                    let rank = choice.rank(index).map(|(rank, _)| rank);
                    wanted = rank.is_some_and(|rank| window.contains(&rank));
                    if let Some(rank) = rank.filter(|_| wanted) {
                        files.push((rank, saved, Vec::new()));
                    }
                }
                Next::Ranges(ranges) if wanted => {
                    if let Some((_, _, all)) = files.last_mut() {
                        all.extend(ranges);
                    }
                }
                Next::Ranges(_) => {}
            }
            !self.target.watch.is_interrupted()
        })?;
        files.sort_by_key(|(rank, ..)| *rank);
        for (rank, saved, ranges) in files {
            self.current = self.open(&saved, choice.pages(rank));
            self.add(ranges);
        }
        self.finish();
        Ok(())
    }

    fn open(&mut self, saved: &SavedFile, pages_left: u64) -> Option<OpenFile> {
        let path = self.target.path_of(saved);
        let opened = cache::open_quietly(&path)
            .map_err(|error| error.cause)
            .and_then(|(fd, stat)| scattered::size_bytes(&fd, &stat).map(|size| (fd, stat, size)));
        let (fd, stat, size_bytes) = match opened {
            Ok(opened) => opened,
            Err(ResidencyCause::System { errno, .. }) => {
                target::add_failure(errno, path, self.report);
                return None;
            }
            Err(cause) => {
                self.report.changed.add(path, cause.to_string());
                return None;
            }
        };
        if let Some(why) = difference(saved, &stat, size_bytes, self.target.ignore_mtime) {
            self.report.changed.add(path, why);
            return None;
        }
        self.report.unchanged_files += u64::from(!self.surveyed);
        self.files += 1;
        Some(OpenFile { path, fd, id: hotset_sys::file_id(&stat), size_bytes, pages_left })
    }

    /// Adds ranges of the current file, as far as the budget goes.
    fn add(&mut self, mut ranges: Vec<PageRange>) {
        let Some(file) = &mut self.current else { return };
        cut(&mut ranges, file.pages_left);
        file.pages_left -= ranges.iter().map(|range| range.count).sum::<u64>();
        if ranges.is_empty() {
            return;
        }
        let added = self.set.add(&file.path, file.fd.as_fd(), file.id, file.size_bytes, &ranges);
        let cached = added.cached.value().unwrap_or(0);
        self.report.wanted_pages += added.wanted;
        self.report.cached_before_pages += cached;
        self.target.watch.holds(cached * self.report.page_bytes);
    }

    /// Reads and verifies what was gathered.
    pub(super) fn finish(&mut self) {
        let mut set = std::mem::take(&mut self.set);
        self.files = 0;
        if set.is_empty() {
            return;
        }
        match self.order {
            RestoreOrder::Device => set.order_by_device(),
            RestoreOrder::Hot => set.order_as_added(),
            RestoreOrder::Path => set.order_by_path(),
        }
        if self.report.dry_run {
            self.report.fetched_pages += set.missing_pages();
            return;
        }
        let begun = Instant::now();
        let read = set.read(THREADS, self.target.watch);
        self.report.read_ns += hotset_facts::units::nanos(begun.elapsed());
        self.report.fetched_pages += read.fetched_pages;
        for failure in read.failures {
            self.report.refused.add(failure.path, failure.reason);
        }
        let reached = set.verify(THREADS);
        self.report.cached_after_pages += reached.cached;
        self.report.unknown_pages += reached.unknown;
    }
}
