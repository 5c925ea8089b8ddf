//! Warming: fetching what is missing of the files, and no more than fits.

mod guard;
mod outcome;
mod plan;

use std::fmt::Display;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hotset_facts::{ControlNote, ControlVerb};
use hotset_sys::cache::{self, ByteSpan, Warmed};
use hotset_sys::cgroup::{Headroom, headroom};
use hotset_sys::tree::{Found, Selection, Visitor, walk};

use crate::Progress;
use crate::outcomes::{Controlled, Named, Outcomes, unchanged};
use guard::Guard;
use plan::Plan;

/// Small files wait for the device one by one, so that several at a time keep it busy.
const THREADS: usize = 8;

/// Larger files keep it busy alone, and are read best one after the other.
const LARGE_BYTES: u64 = 1 << 20;

/// Pages of a file that are worth being looked at again later.
const WITNESS_PAGES: u64 = 256;

/// What to warm.
#[derive(Debug)]
pub struct WarmOptions {
    /// Which files.
    pub selection: Selection,
    /// Which part of each.
    pub span: ByteSpan,
    /// Bytes to fetch at most.
    pub budget_bytes: Option<u64>,
    /// Which files the report names.
    pub named: Named,
}

/// Fetches what is missing of the files, and says what is cached then.
pub fn warm(options: &WarmOptions, stop: &AtomicBool, progress: &dyn Progress) -> Controlled {
    let plan = Plan::new(&options.selection, options.span, stop);
    let memory = headroom();
    let budget = options.budget_bytes.unwrap_or(u64::MAX);
    let room = memory.room_bytes().saturating_sub(plan.cached_bytes);
    let room_now = || headroom().room_bytes();
    let guard = Guard::new(stop, budget, room, &room_now, progress);
    progress.begin(plan.missing_bytes.min(budget));
    let begun = Instant::now();
    let large = Mutex::new(());
    let visitors = (0..THREADS)
        .map(|_| WarmVisitor {
            outcomes: Outcomes::new(ControlVerb::Warm, options.named),
            span: options.span,
            guard: &guard,
            large: &large,
        })
        .collect();
    let walked = walk(&options.selection, stop, visitors);
    let report = Outcomes::new(ControlVerb::Warm, options.named).report(walked, begun);
    Controlled { report, notes: notes(&plan, budget, &memory, guard.lost_pages()) }
}

fn notes(
    plan: &Plan,
    budget: u64,
    memory: &Headroom,
    (seen, lost): (u64, u64),
) -> Vec<ControlNote> {
    let mut notes = Vec::new();
    let (needed_bytes, room_bytes) = (plan.needed_bytes(budget), memory.room_bytes());
    if needed_bytes > room_bytes {
        let group = memory.group.as_ref().filter(|group| group.room_bytes() == room_bytes);
        let group = group.map(|group| (group.dir.clone(), group.limit_bytes));
        notes.push(ControlNote::ShortOfMemory { needed_bytes, room_bytes, group });
    }
    if lost > 0 {
        notes.push(ControlNote::EvictedAgain { lost_pages: lost, seen_pages: seen });
    }
    notes
}

struct WarmVisitor<'a> {
    outcomes: Outcomes,
    span: ByteSpan,
    guard: &'a Guard<'a>,
    large: &'a Mutex<()>,
}

impl Visitor for WarmVisitor<'_> {
    fn file(&mut self, file: &Found<'_>) {
        let alone = (file.size_bytes > LARGE_BYTES)
            .then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner));
        let warmed = cache::warm_span(file.fd, file.path, self.span, self.guard);
        drop(alone);
        match warmed {
            Ok(warmed) => {
                self.remember(file, &warmed);
                self.outcomes.totals.fetched_bytes += warmed.fetched_bytes;
                self.outcomes.add(outcome::of(file, warmed, self.guard.halted()));
            }
            Err(error) => {
                self.outcomes.add(unchanged(file.path, file.id, file.size_bytes, &error));
            }
        }
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        self.outcomes.add_unreadable(path, error);
    }
}

impl From<WarmVisitor<'_>> for Outcomes {
    fn from(visitor: WarmVisitor<'_>) -> Self {
        visitor.outcomes
    }
}

impl WarmVisitor<'_> {
    /// Large parts are looked at again later: do they stay?
    fn remember(&self, file: &Found<'_>, warmed: &Warmed) {
        let cached = warmed.change.cached_after.value();
        if let Some(cached) = cached.filter(|&pages| pages >= WITNESS_PAGES)
            && let Ok(fd) = file.fd.try_clone_to_owned()
        {
            let fd: OwnedFd = fd;
            self.guard.remember(fd, self.span.pages(warmed.size_bytes), cached);
        }
    }
}

#[cfg(test)]
mod tests;
