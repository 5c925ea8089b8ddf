//! `hotset restore`.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, ensure};
use hotset_facts::{PageRange, RestoreReport, RestoreStop};
use hotset_snapshot::{Choice, Preference, SavedFile, cut};
use hotset_sys::cache::{self, ResidencyCause};
use hotset_sys::scattered::{self, Scattered};
use rustix::fs::Stat;
use rustix::io::Errno;

use super::source::{Next, Source};
use super::survey::survey;
use super::watch::Watch;
use crate::args::{RestoreArgs, RestoreOrder};
use crate::control::progress;
use crate::exit::Exit;
use crate::{interrupt, output};

/// Ranges and files that are held at a time, about 100 bytes each: what is more is read in several parts, each in its order.
const PART_RANGES: usize = 1 << 18;
const PART_FILES: usize = 1 << 16;

/// Requests of a megabyte leave a device idle where there is one at a time.
const THREADS: usize = 4;

/// Restores what a snapshot holds, and says what is cached then.
pub(crate) fn restore(args: &RestoreArgs) -> Exit {
    match run(args) {
        Ok(report) => finish(args, &report),
        Err(error) => {
            output::say(format_args!("{error:#}"));
            Exit::Failure
        }
    }
}

fn finish(args: &RestoreArgs, report: &RestoreReport) -> Exit {
    let printed = if args.json {
        output::print(&hotset_view::restore_json(report))
    } else if args.quiet {
        Ok(())
    } else {
        output::print(hotset_view::restore_text(report).as_bytes())
    };
    if let Err(error) = &printed {
        output::say(format_args!("{error:#}"));
    }
    if report.stopped == Some(RestoreStop::Interrupted) {
        return interrupt::exit();
    }
    if report.is_complete() && printed.is_ok() { Exit::Success } else { Exit::Failure }
}

/// Where the files are, and who watches.
pub(super) struct Target<'a> {
    root: Option<&'a Path>,
    pub(super) ignore_mtime: bool,
    pub(super) watch: &'a Watch<'a>,
}

impl Target<'_> {
    /// Where the saved file should be.
    pub(super) fn path_of(&self, saved: &SavedFile) -> PathBuf {
        let path = Path::new(OsStr::from_bytes(&saved.path));
        match self.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }
}

fn run(args: &RestoreArgs) -> Result<RestoreReport> {
    let mut source = Source::open(&args.file)?;
    if let Some(root) = &args.root {
        ensure!(root.is_dir(), "--root {}: expected a directory", root.display());
    }
    let watch = Watch::new(interrupt::stop_flag());
    let target =
        Target { root: args.root.as_deref(), ignore_mtime: args.ignore_mtime, watch: &watch };
    let mut report = RestoreReport {
        file: args.file.clone(),
        page_bytes: hotset_sys::page_size(),
        created_s: source.verified.header.created_s,
        files: source.verified.totals.files,
        pages: source.verified.totals.pages,
        dry_run: args.dry_run,
        ..RestoreReport::default()
    };
    let pages = report.pages.min(args.budget.map_or(u64::MAX, |bytes| bytes / report.page_bytes));
    let total_bytes = pages.saturating_mul(report.page_bytes);
    let done = || watch.done_bytes();
    progress::during(args.quiet || args.dry_run, total_bytes, &done, || {
        all_parts(args, &mut source, &target, &mut report)
    })?;
    report.stopped = watch.stopped();
    Ok(report)
}

fn all_parts(
    args: &RestoreArgs,
    source: &mut Source,
    target: &Target<'_>,
    report: &mut RestoreReport,
) -> Result<()> {
    let preference = match args.order {
        RestoreOrder::Path => Preference::Saved,
        RestoreOrder::Hot | RestoreOrder::Device => Preference::Hot,
    };
    let mut parts = Parts {
        order: args.order,
        target,
        report,
        set: Scattered::default(),
        files: 0,
        look: Look::None,
        surveyed: false,
    };
    if args.order != RestoreOrder::Hot && args.budget.is_none() {
        source.read(|next| parts.take(next, None))?;
        parts.finish();
        return Ok(());
    }
    parts.surveyed = true;
    let budget_pages = args.budget.map(|bytes| bytes / hotset_sys::page_size());
    let choice = survey(source, target, preference, budget_pages, parts.report)?;
    parts.report.beyond_budget_pages = choice.beyond_pages;
    // Only for the order of whole files it matters which of them are in a part.
    let windows = match args.order {
        RestoreOrder::Hot => choice.windows(PART_RANGES as u64),
        RestoreOrder::Device | RestoreOrder::Path => {
            vec![std::ops::Range { start: 0, end: u32::MAX }]
        }
    };
    for window in windows {
        if args.order == RestoreOrder::Hot {
            parts.window(source, &choice, window)?;
        } else {
            source.read(|next| parts.take(next, Some(&choice)))?;
            parts.finish();
        }
    }
    Ok(())
}

/// The file whose ranges come.
pub(super) enum Look {
    /// It is not to be restored.
    None,
    File {
        path: PathBuf,
        fd: OwnedFd,
        stat: Stat,
        size_bytes: u64,
        pages_left: u64,
    },
}

impl Look {
    /// Names a file that can't be opened.
    pub(super) fn failed(errno: Errno, path: PathBuf, report: &mut RestoreReport) {
        match errno {
            Errno::NOENT | Errno::NOTDIR => report.vanished.add(path, "there is no such file"),
            errno => report.refused.add(path, errno.to_string()),
        }
    }
}

/// Takes a snapshot in parts that fit into memory.
struct Parts<'a, 'b> {
    order: RestoreOrder,
    target: &'a Target<'b>,
    report: &'a mut RestoreReport,
    set: Scattered,
    files: usize,
    look: Look,
    surveyed: bool,
}

impl Parts<'_, '_> {
    /// True as long as more is wanted.
    fn take(&mut self, next: Next, choice: Option<&Choice>) -> bool {
        match next {
            Next::File(index, saved) => {
                self.look = match choice.map(|choice| choice.rank(index)) {
                    None => self.open(&saved, u64::MAX),
                    Some(Some((_, pages))) => self.open(&saved, pages),
                    Some(None) => Look::None,
                };
            }
            Next::Ranges(ranges) => {
                if let Some(ranges) = self.within_budget(ranges) {
                    self.add(&ranges);
                }
            }
        }
        if self.set.ranges() >= PART_RANGES || self.files >= PART_FILES {
            self.finish();
        }
        self.target.watch.stopped().is_none() && !self.target.watch.is_interrupted()
    }

    /// The files of one window of the order, hottest first.
    fn window(
        &mut self,
        source: &mut Source,
        choice: &Choice,
        window: std::ops::Range<u32>,
    ) -> Result<()> {
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
            self.look = self.open(&saved, choice.pages(rank));
            if let Some(ranges) = self.within_budget(ranges) {
                self.add(&ranges);
            }
        }
        self.finish();
        Ok(())
    }

    fn open(&mut self, saved: &SavedFile, pages_left: u64) -> Look {
        let path = self.target.path_of(saved);
        let opened = cache::open_quietly(&path)
            .map_err(|error| error.cause)
            .and_then(|(fd, stat)| scattered::size_bytes(&fd, &stat).map(|size| (fd, stat, size)));
        let (fd, stat, size_bytes) = match opened {
            Ok(opened) => opened,
            Err(ResidencyCause::System { errno, .. }) => {
                Look::failed(errno, path, self.report);
                return Look::None;
            }
            Err(cause) => {
                self.report.changed.add(path, cause.to_string());
                return Look::None;
            }
        };
        if let Some(why) =
            super::compare::difference(saved, &stat, size_bytes, self.target.ignore_mtime)
        {
            self.report.changed.add(path, why);
            return Look::None;
        }
        // A survey has counted all that are, and not only those that the budget allows.
        self.report.unchanged_files += u64::from(!self.surveyed);
        self.files += 1;
        Look::File { path, fd, stat, size_bytes, pages_left }
    }

    fn within_budget(&mut self, mut ranges: Vec<PageRange>) -> Option<Vec<PageRange>> {
        let Look::File { pages_left, .. } = &mut self.look else { return None };
        cut(&mut ranges, *pages_left);
        *pages_left -= ranges.iter().map(|range| range.count).sum::<u64>();
        Some(ranges).filter(|ranges| !ranges.is_empty())
    }

    fn add(&mut self, ranges: &[PageRange]) {
        let Look::File { path, fd, stat, size_bytes, .. } = &self.look else { return };
        let id = hotset_sys::file_id(stat);
        let added = self.set.add(path, fd.as_fd(), id, *size_bytes, ranges);
        let cached = added.cached.value().unwrap_or(0);
        self.report.wanted_pages += added.wanted;
        self.report.cached_before_pages += cached;
        self.target.watch.holds(cached * self.report.page_bytes);
    }

    /// Reads and verifies what was gathered.
    fn finish(&mut self) {
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
        self.report.read_ns += u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.report.fetched_pages += read.fetched_pages;
        for failure in read.failures {
            self.report.refused.add(failure.path, failure.reason);
        }
        let reached = set.verify(THREADS);
        self.report.cached_after_pages += reached.cached;
        self.report.unknown_pages += reached.unknown;
    }
}
