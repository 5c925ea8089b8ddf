//! Looking at each file that a walk finds: one of these a thread.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hotset_analysis::listing::{Notes, all_cached};
use hotset_facts::{
    FileId, ListedFile, ListingTotals, Observed, PageRange, Reason, Residency, ResidencySource,
};
use hotset_sys::cache::{self, Prober, ResidencyCause};
use hotset_sys::tree::{Found, Visitor};

use super::job::{Form, Job, Keep};

/// Rows are gathered up to so much before they are printed,
const BUFFER_BYTES: usize = 32 * 1024;
/// but not longer than this while more are found.
const PATIENCE: Duration = Duration::from_millis(100);

/// What one thread has found so far.
pub(super) struct Looker<'a> {
    job: &'a Job<'a>,
    pub(super) keep: Keep,
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

impl<'a> Looker<'a> {
    pub(super) fn new(job: &'a Job<'a>) -> Self {
        let nothing = Residency::from_mincore(0, 0, 0);
        let file = ListedFile {
            path: PathBuf::new(),
            id: FileId::default(),
            size_bytes: 0,
            state: Observed::Value(Residency { source: ResidencySource::Cachestat, ..nothing }),
            cells: Vec::new(),
        };
        Self {
            job,
            keep: job.keep(),
            totals: ListingTotals::default(),
            notes: Notes::new(matches!(job.form, Form::Json)),
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
        self.job.print(&self.buffer);
        self.buffer.clear();
    }

    /// Where the cached pages lie, if the row shows it and the state doesn't say it all.
    fn add_cells(&mut self, found: &Found<'_>) {
        let Observed::Value(state) = &self.file.state else { return };
        let mixed = state.cached_pages > 0 && state.cached_pages < state.pages;
        if self.job.cells > 0 && (mixed || self.job.cells_always) {
            // A picture that can't be had is left blank; the numbers stand.
            self.file.cells =
                cache::cells(found.fd, found.size_bytes, self.job.cells).unwrap_or_default();
        }
    }

    fn take(&mut self, found: &Found<'_>) {
        if !self.job.has_rows || self.job.only.is_some_and(|only| !only.admits(&self.file)) {
            return;
        }
        if matches!(&self.keep, Keep::Top(top) if !top.wants(&self.file)) {
            return;
        }
        self.add_cells(found);
        match &mut self.keep {
            Keep::Nothing => {
                self.job.push_file(&self.file, &mut self.buffer);
                self.shown += 1;
                let waited = |since: Instant| since.elapsed() >= PATIENCE;
                if self.buffer.len() >= BUFFER_BYTES || self.printed.is_none_or(waited) {
                    self.flush();
                    self.printed = Some(Instant::now());
                }
            }
            Keep::All(arena) => arena.push(&self.file),
            Keep::Top(top) => top.push(self.file.clone()),
            Keep::Directories(roll_up) => {
                let root = self.job.roots.get(found.root).map_or(found.path, PathBuf::as_path);
                roll_up.add(found.root, root, &self.file);
            }
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

impl Visitor for Looker<'_> {
    fn file(&mut self, found: &Found<'_>) {
        let quiet = matches!(self.job.form, Form::Quiet);
        let file = &mut self.file;
        file.path.as_mut_os_string().clear();
        file.path.push(found.path);
        file.id = found.id;
        file.cells.clear();
        file.state = state_of(&mut self.prober, found);
        file.size_bytes = file.state.as_value().map_or(found.size_bytes, |state| state.size_bytes);
        let pages = file.state.as_value().map(|state| state.pages);
        let pages = pages.unwrap_or_else(|| hotset_sys::pages_of(found.size_bytes));
        self.totals.add(pages, file.size_bytes, &file.state);
        if let Observed::Missing(reason) = file.state {
            self.notes.add_unknown(found.path, reason);
        }
        let ready = |file| all_cached(file) && (!quiet || is_ready(found, pages));
        if !ready(file) {
            self.all_cached = false;
            if matches!(self.job.form, Form::Quiet) {
                self.job.stop();
            }
        }
        self.take(found);
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        let reason = error.to_string();
        // The number says nothing that the words don't.
        let words = reason.split(" (os error").next().unwrap_or_default();
        self.notes.add_unreadable(path, words.to_owned());
        if matches!(self.job.form, Form::Quiet) {
            self.job.stop();
        }
    }
}

fn state_of(prober: &mut Prober, found: &Found<'_>) -> Observed<Residency> {
    match prober.residency(found) {
        Ok(state) => Observed::Value(state),
        Err(ResidencyCause::Denied) => Observed::Missing(Reason::denied("no write permission")),
        Err(cause) => Observed::Missing(cause.reason()),
    }
}
