//! `hotset pin`.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hotset_facts::{
    ControlReport, ControlVerb, ControlledFile, FileId, StayReason, Stayed, Unreadable,
};
use hotset_sys::cache::{CacheChange, Followed, Pin, may_pin};
use hotset_sys::cgroup::headroom;
use hotset_sys::tree::{Found, Selection, Visitor, walk};
use hotset_view::control::{follow_line, pin_line};

use super::pidfile::PidFile;
use super::{Gathered, daemon, fail, misused, print, progress};
use crate::args::PinArgs;
use crate::exit::Exit;
use crate::{interrupt, output};

/// How often the files are looked at.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(1);

/// Holds the files until a signal arrives.
pub(crate) fn pin(args: &PinArgs) -> Exit {
    let selection = match check(args) {
        Ok(selection) => selection,
        Err(error) => return misused(&error),
    };
    if args.daemon && !args.daemon_child {
        return daemon::start().unwrap_or_else(|error| fail(&error));
    }
    hold(args, &selection).unwrap_or_else(|error| fail(&error))
}

fn check(args: &PinArgs) -> Result<Selection> {
    if args.daemon && args.selection.files_from.as_deref() == Some(Path::new("-")) {
        bail!("--daemon has no standard input: give --files-from a file");
    }
    if args.selection.paths.is_empty() && args.selection.files_from.is_none() {
        bail!("name a file or directory, or --files-from FILE");
    }
    let mut selection = args.selection.selection()?;
    // The names are looked up again and again, wherever the process may be by then.
    for root in &mut selection.roots {
        *root = std::path::absolute(&*root).with_context(|| root.display().to_string())?;
    }
    Ok(selection)
}

fn hold(args: &PinArgs, selection: &Selection) -> Result<Exit> {
    if args.daemon_child {
        daemon::detach()?;
    }
    let pid_file = args.pid_file.as_deref().map(std::path::absolute).transpose()?;
    let pid_file = pid_file.as_deref().map(PidFile::create).transpose()?;
    let stop = interrupt::stop_flag();
    let begun = Instant::now();
    let walked = walk(selection, stop, vec![Finding::default()]);
    let (mut files, mut unreadable) = (Vec::new(), Vec::new());
    for found in walked.visitors {
        files.extend(found.files);
        unreadable.extend(found.unreadable);
    }
    let needed =
        files.iter().fold(0_u64, |sum, file| sum.saturating_add(pages_bytes(file.size_bytes)));
    may_pin(needed, args.budget, &headroom()).context("not pinned")?;
    let mut held = Held::default();
    let mut gathered = Gathered::new(ControlVerb::Pin, &args.output);
    let quiet = args.output.quiet;
    let done = AtomicU64::new(0);
    progress::during(quiet, needed, &|| done.load(Ordering::Relaxed), || {
        for file in files.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
            gathered.file(held.add(file, stop));
            let bytes = held.locked_bytes();
            done.store(bytes, Ordering::Relaxed);
        }
    });
    gathered.unreadable = unreadable;
    let mut report = Gathered::report(vec![gathered], ControlVerb::Pin, &walked.skipped);
    report.interrupted = stop.load(Ordering::Relaxed);
    report.totals.wall_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    if report.interrupted || held.pins.is_empty() {
        return Ok(super::finish(&report, &args.output));
    }
    announce(args, &report, &held)?;
    held.follow_until(stop, args);
    drop(pid_file);
    Ok(if report.is_reached() { Exit::Success } else { Exit::Failure })
}

/// Says what is held, to whoever waits for that.
fn announce(args: &PinArgs, report: &ControlReport, held: &Held) -> Result<()> {
    print(report, &args.output)?;
    if !args.output.quiet {
        let pid = std::process::id();
        let line = pin_line(held.pins.len(), held.locked_bytes(), pid, args.daemon_child);
        output::say(line);
    }
    if args.daemon_child { daemon::ready(report.is_reached()) } else { Ok(()) }
}

fn pages_bytes(bytes: u64) -> u64 {
    hotset_sys::pages_of(bytes).saturating_mul(hotset_sys::page_size())
}

/// The walk hands on every file once, whatever its names.
#[derive(Default)]
struct Finding {
    files: Vec<ToPin>,
    unreadable: Vec<Unreadable>,
}

struct ToPin {
    path: PathBuf,
    id: FileId,
    size_bytes: u64,
}

impl Visitor for Finding {
    fn file(&mut self, file: &Found<'_>) {
        let (path, id) = (file.path.to_owned(), file.id);
        self.files.push(ToPin { path, id, size_bytes: file.size_bytes });
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        let reason = error.to_string();
        self.unreadable.push(Unreadable { path: path.to_owned(), reason });
    }
}

/// All that is held.
#[derive(Default)]
struct Held {
    pins: Vec<Watched>,
}

struct Watched {
    pin: Pin,
    /// What was said last of a file that can't be followed, so that it is not said every second.
    trouble: Option<String>,
}

impl Held {
    fn locked_bytes(&self) -> u64 {
        self.pins.iter().map(|watched| watched.pin.locked_bytes()).sum()
    }

    fn add(&mut self, file: &ToPin, stop: &AtomicBool) -> ControlledFile {
        let (change, size_bytes, error) = match Pin::new(&file.path, &Stoppable(stop)) {
            Ok((pin, change)) => {
                let size = pin.size_bytes();
                self.pins.push(Watched { pin, trouble: None });
                (Some(change), size, None)
            }
            Err(error) => (None, file.size_bytes, Some(error.to_string())),
        };
        outcome(file, change, size_bytes, error)
    }

    /// Looks at every file again and again.
    fn follow_until(&mut self, stop: &AtomicBool, args: &PinArgs) {
        let interval = rustix::event::Timespec {
            tv_sec: FOLLOW_INTERVAL.as_secs() as i64,
            tv_nsec: i64::from(FOLLOW_INTERVAL.subsec_nanos()),
        };
        while !stop.load(Ordering::Relaxed) {
            // A signal ends it early.
            let _ = rustix::event::poll(&mut [], Some(&interval));
            let mut total = self.locked_bytes();
            for watched in &mut self.pins {
                let before = watched.pin.locked_bytes();
                let said = watched.follow(total - before, args.budget, stop);
                total = total - before + watched.pin.locked_bytes();
                if let Some(line) = said.filter(|_| !args.output.quiet) {
                    output::say(line);
                }
            }
        }
    }
}

impl Watched {
    /// Follows the file where the limits allow it; what is worth saying.
    fn follow(&mut self, others: u64, budget: Option<u64>, stop: &AtomicBool) -> Option<String> {
        let path = self.pin.path().to_owned();
        let now = std::fs::metadata(&path).map_or(0, |there| pages_bytes(there.len()));
        let grown = now.saturating_sub(self.pin.locked_bytes());
        let left = budget.map(|budget| budget.saturating_sub(others + self.pin.locked_bytes()));
        let followed = if grown == 0 {
            self.pin.follow(&Stoppable(stop)).map_err(|error| error.to_string())
        } else {
            may_pin(grown, left, &headroom())
                .map_err(|refused| refused.to_string())
                .and_then(|()| self.pin.follow(&Stoppable(stop)).map_err(|error| error.to_string()))
        };
        match followed {
            Ok(Followed::Same) => {
                self.trouble = None;
                None
            }
            // Said once, for as long as the name stays away.
            Ok(Followed::Gone) if self.trouble.is_some() => None,
            Ok(followed) => {
                let line = follow_line(&path, words(followed));
                self.trouble = (followed == Followed::Gone).then(|| line.clone());
                Some(line)
            }
            Err(trouble) => {
                let line = follow_line(&path, format!("not followed: {trouble}"));
                // Numbers in it change all the time.
                let known = self.trouble.replace(line.clone()).is_some();
                (!known).then_some(line)
            }
        }
    }
}

fn words(followed: Followed) -> String {
    match followed {
        Followed::Same => "unchanged".to_owned(),
        Followed::Resized { from, to } => {
            format!(
                "{} instead of {} held",
                hotset_view::units::bytes(to),
                hotset_view::units::bytes(from)
            )
        }
        Followed::Replaced { size_bytes } => {
            format!("replaced; {} held of the new file", hotset_view::units::bytes(size_bytes))
        }
        Followed::Gone => "gone; nothing held of it".to_owned(),
    }
}

/// Stops at Ctrl-C.
struct Stoppable<'a>(&'a AtomicBool);

impl hotset_sys::cache::Supervisor for Stoppable<'_> {
    fn grant(&self, bytes: u64) -> u64 {
        if self.0.load(Ordering::Relaxed) { 0 } else { bytes }
    }
}

fn outcome(
    file: &ToPin,
    change: Option<CacheChange>,
    size_bytes: u64,
    error: Option<String>,
) -> ControlledFile {
    let missing = hotset_facts::Observed::Missing(hotset_facts::Reason::not_measured("not pinned"));
    let mut outcome = ControlledFile {
        path: file.path.clone(),
        id: file.id,
        size_bytes,
        pages: change.map_or_else(|| hotset_sys::pages_of(size_bytes), |change| change.pages),
        cached_before: change.map_or(missing, |change| change.cached_before),
        cached_after: change.map_or(missing, |change| change.cached_after),
        stayed: Vec::new(),
        error,
    };
    if let Some(pages) = outcome.short_pages(ControlVerb::Pin).filter(|&pages| pages > 0) {
        let stayed = Stayed { reason: StayReason::Unknown, pages: Some(pages), holder: None };
        outcome.stayed.push(stayed);
    }
    outcome
}
