//! `hotset warm`.

use std::fmt::Display;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hotset_facts::{ControlReport, ControlVerb, ControlledFile, StayReason, Stayed};
use hotset_sys::cache::{self, ByteSpan, ControlError, Guard, Halt, Warmed};
use hotset_sys::cgroup::{Headroom, headroom};
use hotset_sys::tree::{Found, Selection, Visitor, walk};
use hotset_view::control::short_of_memory;

use super::{Gathered, finish, misused, progress};
use crate::args::WarmArgs;
use crate::exit::Exit;
use crate::interrupt;

/// Small files wait for the device one by one, so that several at a time keep it busy.
const THREADS: usize = 8;

/// Larger files keep it busy alone, and are read best one after the other.
const LARGE_BYTES: u64 = 1 << 20;

/// Pages of a file that are worth being looked at again later.
const WITNESS_PAGES: u64 = 256;

/// Fetches what is missing of the files, and says what is cached then.
pub(crate) fn warm(args: &WarmArgs) -> Exit {
    let selection = match args.selection.selection() {
        Ok(selection) => selection,
        Err(error) => return misused(&error),
    };
    let stop = interrupt::stop_flag();
    let plan = Plan::of(&selection, args.range, stop);
    let memory = headroom();
    let room = memory.room_bytes().saturating_sub(plan.cached_bytes);
    let room_now = || headroom().room_bytes();
    let guard = Guard::new(stop, args.budget.unwrap_or(u64::MAX), room, &room_now);
    let wanted = plan.missing_bytes.min(args.budget.unwrap_or(u64::MAX));
    let mut report = progress::during(args.output.quiet, wanted, &|| guard.done_bytes(), || {
        run(args, &selection, &guard, stop)
    });
    add_notes(&mut report, &plan, &memory, &guard);
    finish(&report, &args.output)
}

fn run(
    args: &WarmArgs,
    selection: &Selection,
    guard: &Guard<'_>,
    stop: &AtomicBool,
) -> ControlReport {
    let begun = Instant::now();
    let large = Mutex::new(());
    let visitors = (0..THREADS)
        .map(|_| Warming {
            gathered: Gathered::new(ControlVerb::Warm, &args.output),
            span: args.range,
            guard,
            large: &large,
        })
        .collect();
    let walked = walk(selection, stop, visitors);
    let gathered = walked.visitors.into_iter().map(|visitor| visitor.gathered).collect();
    let mut report = Gathered::report(gathered, ControlVerb::Warm, &walked.skipped);
    report.interrupted = walked.interrupted;
    report.totals.wall_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    report
}

fn add_notes(report: &mut ControlReport, plan: &Plan, memory: &Headroom, guard: &Guard<'_>) {
    let needed = plan.cached_bytes.saturating_add(plan.missing_bytes);
    if needed > memory.room_bytes() {
        let limit = memory.group.as_ref().filter(|group| group.room_bytes() == memory.room_bytes());
        let limit = limit.map(|group| (group.dir.as_path(), group.limit_bytes));
        report.notes.push(short_of_memory(needed, memory.room_bytes(), limit));
    }
    let (seen, lost) = guard.lost_pages();
    if lost > 0 {
        report.notes.push(hotset_view::control::lost_again(lost, seen));
    }
}

/// What there is to do, before it is done.
#[derive(Debug, Default)]
struct Plan {
    cached_bytes: u64,
    missing_bytes: u64,
}

impl Plan {
    fn of(selection: &Selection, span: ByteSpan, stop: &AtomicBool) -> Self {
        let visitors = (0..2).map(|_| Planning { span, plan: Self::default() }).collect();
        walk(selection, stop, visitors).visitors.into_iter().fold(Self::default(), |all, one| {
            Self {
                cached_bytes: all.cached_bytes.saturating_add(one.plan.cached_bytes),
                missing_bytes: all.missing_bytes.saturating_add(one.plan.missing_bytes),
            }
        })
    }
}

struct Planning {
    span: ByteSpan,
    plan: Plan,
}

impl Visitor for Planning {
    fn file(&mut self, file: &Found<'_>) {
        let page = hotset_sys::page_size();
        let pages = self.span.pages(file.size_bytes);
        let (offset, len) = (pages.first * page, pages.count * page);
        // Where nobody tells, all of it may be missing.
        let cached = cache::cached_pages_in(file.fd, offset, len).unwrap_or(0).min(pages.count);
        let plan = &mut self.plan;
        plan.cached_bytes = plan.cached_bytes.saturating_add(cached * page);
        plan.missing_bytes = plan.missing_bytes.saturating_add((pages.count - cached) * page);
    }

    // The second walk says so.
    fn unreadable(&mut self, _: &Path, _: &dyn Display) {}
}

struct Warming<'a> {
    gathered: Gathered,
    span: ByteSpan,
    guard: &'a Guard<'a>,
    large: &'a Mutex<()>,
}

impl Visitor for Warming<'_> {
    fn file(&mut self, file: &Found<'_>) {
        let alone = (file.size_bytes > LARGE_BYTES)
            .then(|| self.large.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        let warmed = cache::warm_span(file.fd, file.path, self.span, self.guard);
        drop(alone);
        match warmed {
            Ok(warmed) => {
                self.remember(file, &warmed);
                self.gathered.totals.fetched_bytes += warmed.fetched_bytes;
                self.gathered.file(outcome(file, warmed, self.guard.halted()));
            }
            Err(error) => self.gathered.file(super::unknown(&error, file)),
        }
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        self.gathered.unreadable(path, error);
    }
}

impl Warming<'_> {
    fn remember(&self, file: &Found<'_>, warmed: &Warmed) {
        let Some(cached) =
            warmed.change.cached_after.value().filter(|&pages| pages >= WITNESS_PAGES)
        else {
            return;
        };
        if let Ok(fd) = file.fd.try_clone_to_owned() {
            let fd: OwnedFd = fd;
            self.guard.remember(fd, self.span.pages(warmed.size_bytes), cached);
        }
    }
}

fn outcome(file: &Found<'_>, warmed: Warmed, halt: Option<Halt>) -> ControlledFile {
    let mut outcome = ControlledFile {
        path: file.path.to_owned(),
        id: file.id,
        size_bytes: warmed.size_bytes,
        pages: warmed.change.pages,
        cached_before: warmed.change.cached_before,
        cached_after: warmed.change.cached_after,
        stayed: Vec::new(),
        error: warmed.error.as_ref().map(|error| match error {
            // The path stands beside it.
            ControlError::Read { offset, errno, .. } => {
                format!("reading at byte {offset} failed: {errno}")
            }
            other => other.to_string(),
        }),
    };
    let short = outcome.short_pages(ControlVerb::Warm);
    if short != Some(0) {
        let reason = match halt {
            _ if outcome.error.is_some() => StayReason::Unreadable,
            Some(Halt::Budget) if warmed.stopped => StayReason::Budget,
            Some(Halt::Memory | Halt::Thrashing) if warmed.stopped => StayReason::Memory,
            Some(Halt::Interrupted) if warmed.stopped => StayReason::Interrupted,
            _ => StayReason::Unknown,
        };
        outcome.stayed.push(Stayed { reason, pages: short, holder: None });
    }
    outcome
}
