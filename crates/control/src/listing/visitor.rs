//! Asking for the cache state of each file that a walk finds: one of these a thread.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hotset_analysis::listing::{Notes, RowStore, all_cached};
use hotset_facts::message::without_error_numbers;
use hotset_facts::{
    FileId, ListedFile, ListingTotals, Observed, PageRange, Residency, ResidencySource,
};
use hotset_sys::cache::{self, Prober};
use hotset_sys::tree::{Found, Visitor};

use super::Shared;

/// Rows are gathered up to so much, or for so long while more are found, before they are printed.
const BUFFER_BYTES: usize = 32 * 1024;
const MAX_DELAY: Duration = Duration::from_millis(100);

/// What one thread has found so far.
pub(super) struct ResidencyVisitor<'a> {
    shared: &'a Shared<'a>,
    pub(super) kept: RowStore,
    pub(super) totals: ListingTotals,
    pub(super) notes: Notes,
    /// Rows printed at once.
    pub(super) shown: u64,
    /// No file was found yet that is not wholly cached.
    pub(super) all_cached: bool,
    prober: Prober,
    /// The file in hand; its path's memory is used again.
    file: ListedFile,
    buffer: Vec<u8>,
    printed: Option<Instant>,
}

impl<'a> ResidencyVisitor<'a> {
    pub(super) fn new(shared: &'a Shared<'a>) -> Self {
        let nothing = Residency::from_mincore(0, 0, 0);
        let file = ListedFile {
            path: PathBuf::new(),
            id: FileId::default(),
            size_bytes: 0,
            state: Observed::Value(Residency { source: ResidencySource::Cachestat, ..nothing }),
            cells: Vec::new(),
        };
        Self {
            shared,
            kept: shared.options.rows.keep(hotset_sys::page_size()),
            totals: ListingTotals::default(),
            notes: Notes::new(shared.options.name_all_unreadable),
            shown: 0,
            all_cached: true,
            prober: Prober::new(),
            file,
            buffer: Vec::new(),
            printed: None,
        }
    }

    /// Prints what was gathered.
    pub(super) fn flush(&mut self) {
        self.shared.print(&self.buffer);
        self.buffer.clear();
    }

    /// Where the cached pages lie, if the row shows it and the state doesn't say it all.
    fn add_cells(&mut self, found: &Found<'_>) {
        let Observed::Value(state) = &self.file.state else { return };
        let mixed = state.cached_pages > 0 && state.cached_pages < state.pages;
        let cells = self.shared.options.cells;
        if cells.count > 0 && (mixed || cells.of_every_file) {
            // A picture that can't be had is left blank; the numbers stand.
            self.file.cells =
                cache::cells(found.fd, found.size_bytes, cells.count).unwrap_or_default();
        }
    }

    fn take(&mut self, found: &Found<'_>) {
        let options = self.shared.options;
        if !options.rows.admits(&self.file) || !self.kept.wants(&self.file) {
            return;
        }
        self.add_cells(found);
        if !options.rows.is_streamed() {
            let root = options.selection.roots.get(found.root).map_or(found.path, PathBuf::as_path);
            return self.kept.push(found.root, root, &self.file);
        }
        self.shared.sink.push(&self.file, &mut self.buffer);
        self.shown += 1;
        let waited = |since: Instant| since.elapsed() >= MAX_DELAY;
        if self.buffer.len() >= BUFFER_BYTES || self.printed.is_none_or(waited) {
            self.flush();
            self.printed = Some(Instant::now());
        }
    }

    /// Where the question is whether all is cached, one file can answer it for all.
    fn answer_no(&self) {
        if self.shared.options.asks_if_cached {
            self.shared.end_early();
        }
    }
}

/// Whether all of a file can be read from the cache at once: cachestat(2) also counts pages that are still being read in.
fn is_ready(found: &Found<'_>, pages: u64) -> bool {
    let mut ready = 0;
    let looked = cache::visit_ranges(found.fd, PageRange { first: 0, count: pages }, |run| {
        ready += run.count;
        ControlFlow::Continue(())
    });
    looked.is_ok() && ready >= pages
}

impl Visitor for ResidencyVisitor<'_> {
    fn file(&mut self, found: &Found<'_>) {
        let file = &mut self.file;
        file.path.as_mut_os_string().clear();
        file.path.push(found.path);
        file.id = found.id;
        file.cells.clear();
        file.state = self.prober.state(found);
        file.size_bytes = file.state.as_value().map_or(found.size_bytes, |state| state.size_bytes);
        let pages = file.state.as_value().map(|state| state.pages);
        let pages = pages.unwrap_or_else(|| hotset_sys::pages_of(found.size_bytes));
        self.totals.add(pages, file.size_bytes, &file.state);
        if let Observed::Missing(reason) = file.state {
            self.notes.add_unknown(found.path, reason);
        }
        let exact = self.shared.options.asks_if_cached;
        if !all_cached(file) || (exact && !is_ready(found, pages)) {
            self.all_cached = false;
            self.answer_no();
        }
        self.take(found);
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        let reason = error.to_string();
        self.notes.add_unreadable(path, without_error_numbers(&reason).into_owned());
        self.answer_no();
    }
}
