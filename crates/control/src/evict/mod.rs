//! `hotset evict`.

use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result};
use hotset_facts::{
    ControlReport, ControlVerb, ControlledFile, FileHolder, Skipped, StayReason, Stayed,
};
use hotset_sys::cache::{self, ByteSpan, Dirty, Evicted, Holders};
use hotset_sys::proc::meminfo;
use hotset_sys::tree::{Found, Selection, Visitor, walk};

use super::{Gathered, fail, finish, misused};
use crate::args::EvictArgs;
use crate::exit::Exit;
use crate::interrupt;

/// Evicting is work for a CPU and not for a device.
const THREADS: usize = 2;

/// Asks the kernel to forget the files, and says what stayed and why.
pub(crate) fn evict(args: &EvictArgs) -> Exit {
    if args.everything {
        return match everything(args) {
            Ok(report) => finish(&report, &args.output),
            Err(error) => fail(&error),
        };
    }
    let selection = match args.selection.selection() {
        Ok(selection) => selection,
        Err(error) => return misused(&error),
    };
    let stop = interrupt::stop_flag();
    let mut report = run(args, &selection, stop);
    name_holders(&mut report.files);
    finish(&report, &args.output)
}

fn run(args: &EvictArgs, selection: &Selection, stop: &AtomicBool) -> ControlReport {
    let begun = Instant::now();
    let dirty = if args.sync { Dirty::Write } else { Dirty::Leave };
    let visitors = (0..THREADS)
        .map(|_| Evicting {
            gathered: Gathered::new(ControlVerb::Evict, &args.output),
            span: args.range,
            dirty,
        })
        .collect();
    let walked = walk(selection, stop, visitors);
    let gathered = walked.visitors.into_iter().map(|visitor| visitor.gathered).collect();
    let mut report = Gathered::report(gathered, ControlVerb::Evict, &walked.skipped);
    report.interrupted = walked.interrupted;
    report.totals.wall_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    report
}

struct Evicting {
    gathered: Gathered,
    span: ByteSpan,
    dirty: Dirty,
}

impl Visitor for Evicting {
    fn file(&mut self, file: &Found<'_>) {
        match cache::evict_span(file.fd, file.path, self.span, self.dirty) {
            Ok(evicted) => self.gathered.file(outcome(file, &evicted)),
            Err(error) => self.gathered.file(super::unknown(&error, file)),
        }
    }

    fn unreadable(&mut self, path: &Path, error: &dyn Display) {
        self.gathered.unreadable(path, error);
    }
}

fn outcome(file: &Found<'_>, evicted: &Evicted) -> ControlledFile {
    let after = evicted.change.cached_after;
    // A page can be dirty and under writeback, and both were asked after `after`.
    let most = after.value().unwrap_or(u64::MAX);
    let dirty = evicted.dirty_pages.value().map(|dirty| dirty.min(most));
    let writeback = evicted.writeback_pages.value();
    let writeback = writeback.map(|pages| pages.min(most - dirty.unwrap_or(0)));
    let mut stayed = Vec::new();
    for (reason, pages) in [(StayReason::Dirty, dirty), (StayReason::Writeback, writeback)] {
        if pages.is_some_and(|pages| pages > 0) {
            stayed.push(Stayed { reason, pages, holder: None });
        }
    }
    let named = dirty.unwrap_or(0) + writeback.unwrap_or(0);
    let rest = after.value().unwrap_or(0).saturating_sub(named);
    if rest > 0 {
        let in_memory = cache::is_in_memory(file.fd);
        let reason = if in_memory { StayReason::MemoryOnly } else { StayReason::Unknown };
        stayed.push(Stayed { reason, pages: Some(rest), holder: None });
    }
    ControlledFile {
        path: file.path.to_owned(),
        id: file.id,
        size_bytes: evicted.size_bytes,
        pages: evicted.change.pages,
        cached_before: evicted.change.cached_before,
        cached_after: after,
        stayed,
        error: None,
    }
}

/// Puts processes in the place of what is not known: one look at all of them for all files.
fn name_holders(files: &mut [ControlledFile]) {
    let is_open = |file: &&mut ControlledFile| {
        file.stayed.last().is_some_and(|last| last.reason == StayReason::Unknown)
    };
    let asked: Vec<_> =
        files.iter_mut().filter(is_open).map(|file| (file.id, file.path.clone())).collect();
    let holders = cache::holders(&asked);
    for file in files.iter_mut().filter(is_open) {
        name_holders_of(file, &holders);
    }
}

/// A mapped page keeps its whole folio, so that processes explain all the rest, even where their pages are fewer.
fn name_holders_of(file: &mut ControlledFile, holders: &Holders) {
    // Who maps it and has none of its pages is not what keeps them.
    let keeps = |holder: &&FileHolder| holder.locked || holder.pages.value() != Some(0);
    let of_file: Vec<&FileHolder> = holders.of(file.id).iter().filter(keeps).collect();
    if of_file.is_empty() {
        return;
    }
    file.stayed.pop();
    file.stayed.extend(of_file.iter().map(|holder| Stayed {
        reason: if holder.locked { StayReason::Locked } else { StayReason::Mapped },
        pages: holder.pages.value(),
        holder: Some((holder.pid, holder.comm.clone())),
    }));
}

/// The whole host.
fn everything(args: &EvictArgs) -> Result<ControlReport> {
    let begun = Instant::now();
    let before = meminfo::now()?;
    cache::drop_everything(args.sync)
        .context("dropping all clean cache of the host is for root only")?;
    let after = meminfo::now()?;
    let mut report = Gathered::report(Vec::new(), ControlVerb::Evict, &Skipped::default());
    report.totals.wall_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    report.notes.push(hotset_view::control::dropped(
        before.cached_bytes,
        after.cached_bytes,
        after.shmem_bytes,
        after.dirty_bytes,
    ));
    Ok(report)
}
