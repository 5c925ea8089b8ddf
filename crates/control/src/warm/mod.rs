//! Warming: fetching what is missing of the files, and no more than fits.

mod guard;
mod outcome;
mod plan;

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use hotset_facts::{ControlNote, ControlVerb};
use hotset_sys::cache::{self, ByteSpan, Warmed};
use hotset_sys::cgroup::{Headroom, headroom};
use hotset_sys::tree::{Found, Selection};

use crate::Progress;
use crate::outcomes::{Controlled, NamedFiles, Outcomes};
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
    pub named: NamedFiles,
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
    let large = Mutex::new(());
    let visit = |file: &Found<'_>, outcomes: &mut Outcomes| {
        let alone = (file.size_bytes > LARGE_BYTES)
            .then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
        let warmed = cache::warm_span(file.fd, file.path, options.span, &guard);
        drop(alone);
        let outcome = warmed.map(|warmed| {
            remember(&guard, file, options.span, &warmed);
            outcomes.add_fetched(warmed.fetched_bytes);
            outcome::of(file, warmed, guard.halted())
        });
        outcomes.add_result(file, outcome);
    };
    let outcomes = Outcomes::new(ControlVerb::Warm, options.named);
    let report = outcomes.gather(&options.selection, stop, vec![&visit; THREADS]).report();
    Controlled { report, notes: notes(&plan, budget, &memory, guard.lost_pages()) }
}

/// Large parts are looked at again later: do they stay?
fn remember(guard: &Guard<'_>, file: &Found<'_>, span: ByteSpan, warmed: &Warmed) {
    let cached = warmed.change.cached_after.value();
    if let Some(cached) = cached.filter(|&pages| pages >= WITNESS_PAGES)
        && let Ok(fd) = file.fd.try_clone_to_owned()
    {
        guard.remember(fd, span.pages(warmed.size_bytes), cached);
    }
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

#[cfg(test)]
mod tests;
