//! Counts requests, and asks cachestat(2) before each one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::args::Args;
use super::snapshot::{Snapshot, cached_and_dirty, cached_in, learn_extents};
use super::truth::{FileTruth, RequestTruth, Truth};
use super::{Doing, Outcome};

/// What the measured loop counts about one file.
pub(super) struct Meter {
    path: PathBuf,
    file: File,
    /// What cachestat(2) is asked about: the file itself, or the layer's file behind it.
    probe: File,
    size: u64,
    page: u64,
    cached_before: u64,
    dirty_before: Option<u64>,
    /// Dirty pages after the last sync.
    dirty_base: Option<u64>,
    seen: PageSet,
    /// Bytes and missing pages of the request that was announced.
    asked_bytes: u64,
    asked_missing: Option<u64>,
    /// Requests that moved less than was announced: what was missing of them is unknown.
    short: u64,
    counted: Truth,
    start: Snapshot,
    started_at: Instant,
}

impl Meter {
    /// Begins to count; the loop should follow at once.
    pub(super) fn begin(args: &Args, path: &Path, file: &File) -> Outcome<Self> {
        let probe = match args.probe() {
            Some(probe) => File::open(probe).doing(probe.display())?,
            None => file.try_clone().doing(path.display())?,
        };
        learn_extents(&probe);
        let size = probe.metadata().doing(path.display())?.len();
        let page = hotset_sys::page_size();
        let (cached_before, dirty_before) = cached_and_dirty(&probe)?;
        let counted = Truth {
            case: args.case().to_owned(),
            backing: args.probe().map(|path| FileTruth::of(path, &probe)).transpose()?,
            page_size: page,
            pid: std::process::id(),
            pages_missing_before: Some(0),
            each: args.flag("--each").then(Vec::new),
            opens: 1,
            ..Truth::default()
        };
        Ok(Self {
            path: path.to_owned(),
            file: file.try_clone().doing(path.display())?,
            probe,
            size,
            page,
            cached_before,
            dirty_before,
            dirty_base: dirty_before,
            seen: PageSet::new(size.div_ceil(page)),
            asked_bytes: 0,
            asked_missing: Some(0),
            short: 0,
            counted,
            start: Snapshot::start()?,
            started_at: Instant::now(),
        })
    }

    /// The file's size when the run began.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Right before a read of `len` bytes at `offset`; what lies beyond the end is not requested.
    pub(super) fn before_read(&mut self, offset: u64, len: usize) -> Outcome<()> {
        self.ask(offset, (len as u64).min(self.size.saturating_sub(offset)))
    }

    /// Right before a write.
    pub(super) fn before_write(&mut self, offset: u64, len: usize) -> Outcome<()> {
        self.ask(offset, len as u64)
    }

    fn ask(&mut self, offset: u64, len: u64) -> Outcome<()> {
        let cached = cached_in(&self.probe, offset, len)?;
        self.asked_bytes = len;
        self.asked_missing = cached.map(|cached| self.pages_in(offset, len) - cached);
        Ok(())
    }

    /// Right after the request that was announced, which moved `moved` bytes.
    pub(super) fn done(&mut self, offset: u64, moved: usize) {
        let moved = moved as u64;
        if moved == 0 {
            self.counted.eof_calls += 1;
            return;
        }
        self.short += u64::from(moved != self.asked_bytes);
        let missing = self.asked_missing;
        self.counted.pages_missing_before =
            self.counted.pages_missing_before.zip(missing).map(|(sum, missing)| sum + missing);
        if let Some(each) = &mut self.counted.each {
            each.push(RequestTruth { offset, bytes: moved, missing });
        }
        self.moved(offset, moved);
    }

    /// A request that was not announced, because its state before is not well defined.
    pub(super) fn unasked(&mut self, offset: u64, moved: usize) {
        self.counted.pages_missing_before = None;
        self.moved(offset, moved as u64);
    }

    fn moved(&mut self, offset: u64, moved: u64) {
        self.counted.requests += 1;
        self.counted.bytes += moved;
        self.counted.pages += self.pages_in(offset, moved);
        if moved > 0 {
            self.seen.add(offset / self.page, (offset + moved - 1) / self.page);
        }
    }

    /// The file was opened once more.
    pub(super) fn opened(&mut self) {
        self.counted.opens += 1;
    }

    /// fsync, msync and the like: counts what had turned dirty until now, runs `sync`, and counts it.
    pub(super) fn sync(&mut self, sync: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
        self.count_dirtied()?;
        sync()?;
        self.counted.sync_calls += 1;
        self.dirty_base = cached_and_dirty(&self.probe)?.1;
        Ok(())
    }

    fn count_dirtied(&mut self) -> Outcome<()> {
        let dirty = cached_and_dirty(&self.probe)?.1;
        let before = self.counted.dirtied_pages.unwrap_or(0);
        self.counted.dirtied_pages =
            dirty.zip(self.dirty_base).map(|(now, base)| before + now.saturating_sub(base));
        self.dirty_base = dirty;
        Ok(())
    }

    /// Ends a run that read.
    pub(super) fn finish(mut self) -> Outcome<Truth> {
        let moved = self.start.added()?;
        self.counted.wall_ns = u64::try_from(self.started_at.elapsed().as_nanos())?;
        let (cached, dirty) = cached_and_dirty(&self.probe)?;
        let mut truth = self.counted;
        if self.short > 0 {
            truth.pages_missing_before = None;
        }
        truth.file = FileTruth {
            pages_cached_before: self.cached_before,
            pages_cached_after: cached,
            dirty_pages_before: self.dirty_before,
            dirty_pages_after: dirty,
            ..FileTruth::of(&self.path, &self.file)?
        };
        truth.pages_cached_before = self.cached_before;
        truth.pages_cached_after = cached;
        truth.distinct_pages = self.seen.len();
        truth.block_read_bytes = moved.read_bytes;
        truth.block_write_bytes = moved.write_bytes;
        truth.minflt = moved.minor_faults;
        truth.majflt = moved.major_faults;
        Ok(truth)
    }

    /// Ends a run that wrote through the cache: every page that was missing was made. Where that is not known, the
    /// file had no others to make.
    pub(super) fn finish_write(mut self) -> Outcome<Truth> {
        self.count_dirtied()?;
        let mut truth = self.finish()?;
        let grown = truth.pages_cached_after.checked_sub(truth.pages_cached_before);
        truth.new_pages = truth.pages_missing_before.or(grown);
        Ok(truth)
    }

    fn pages_in(&self, offset: u64, len: u64) -> u64 {
        if len == 0 { 0 } else { (offset + len - 1) / self.page - offset / self.page + 1 }
    }
}

/// A set of page numbers, a bit each.
struct PageSet(Vec<u64>);

impl PageSet {
    fn new(pages: u64) -> Self {
        Self(vec![0; (pages / 64 + 1) as usize])
    }

    fn add(&mut self, first: u64, last: u64) {
        let words = (last / 64 + 1) as usize;
        if words > self.0.len() {
            self.0.resize(words.next_power_of_two(), 0);
        }
        for page in first..=last {
            self.0[(page / 64) as usize] |= 1 << (page % 64);
        }
    }

    fn len(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}
