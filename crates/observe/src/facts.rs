//! From the tables and the ring to facts.

use std::time::Duration;

use hotset_facts::{Feature, FileKind, FileRow, Io, Observed, Reason};
use hotset_sys::proc::mountinfo;

use crate::ObserveError;
use crate::collector::Collector;
use crate::gather::Gather;
use crate::load::Loaded;
use crate::observation::{Observation, Options};
use crate::processes::{lookups, process_rows};
use crate::sensor;
use crate::tables::Tables;

/// Files whose residency is asked again at the end, costliest first.
const MAX_CHECKED_AFTER: usize = 1_000;

/// How often a caller should drain a session.
pub const DRAIN_INTERVAL: Duration = Duration::from_millis(50);

/// Everything that a session knows whose sensor is detached; the kernel skipped so many programs.
pub(crate) fn observation(
    loaded: &Loaded,
    collector: &Collector,
    options: &Options,
    skipped: u64,
) -> Result<Observation, ObserveError> {
    let selection = &loaded.selection;
    let tables = Tables::new(&loaded.object, selection.build);
    let globals = tables.globals()?;
    let mounts = mountinfo::own().unwrap_or_default();
    let processes = tables.processes()?;
    let own = processes.iter().find(|(_, process)| process.tgid == std::process::id());
    let own = own.map(|(owner, _)| *owner);
    let mut gather =
        Gather::new(collector, &selection.missing, &mounts, tables.files()?, own, options.files);
    tables.rows(|key, row| gather.row(key, &row))?;
    let unordered = sensor::unordered(gather.unordered_calls);
    let (mut files, mut by_process) = gather.finish();
    if globals.delayed_reads > 0 {
        files.iter_mut().for_each(|file| file.io.edit(without_delayed));
        by_process.values_mut().for_each(without_delayed);
    }
    files.iter_mut().take(MAX_CHECKED_AFTER).for_each(check_after);
    let mut totals = Io::zero().without(&selection.missing);
    files.iter().for_each(|file| totals.add(&file.io()));
    let lookups = lookups(collector, &mounts, &processes);
    if let (Some(time), Some(ns)) = (totals.time.as_value_mut(), lookups.counters.time_ns.value()) {
        time.lookup_ns = ns;
    }
    let processes = process_rows(loaded, &options.scope, collector, by_process, &processes);
    let mut sensor =
        sensor::describe(selection, &globals, skipped, loaded.limited.as_ref(), collector);
    sensor.not_measured.extend(unordered);
    let subvolumes = collector.subvolumes();
    Ok(Observation {
        files,
        subvolumes,
        processes,
        totals,
        lookups: Observed::Value(lookups),
        sensor,
    })
}

/// Leaves out what can't be told where the kernel held reads back: whose they were, and which pages they filled.
fn without_delayed(io: &mut Io) {
    let delayed = Observed::Missing(Feature::DelayedReads.reason());
    io.device.read_bytes = delayed;
    if let Some(read) = io.read.as_value_mut() {
        read.zeros = delayed;
    }
    let zeros = io.mmap.zeros.value().unwrap_or(0);
    io.mmap.pages_read = io.mmap.pages_read.map(|pages| pages + zeros);
    io.mmap.zeros = delayed;
}

/// Asks what is cached now, if the path still leads to the file.
fn check_after(file: &mut FileRow) {
    const GONE: Reason = Reason::not_measured("its path leads to another file now, or to none");
    file.cached_after = Observed::Missing(GONE);
    if !ask_again(file) && was_written(file) {
        // The size at first sight is not the size that the run left behind.
        file.size_bytes = Observed::Missing(GONE);
    }
}

fn ask_again(file: &mut FileRow) -> bool {
    if file.kind != FileKind::Regular || file.deleted {
        return false;
    }
    let Some(path) = file.path.as_value() else { return false };
    let Ok((fd, stat)) = hotset_sys::cache::open_quietly(path) else { return false };
    if !hotset_sys::is_same_file(&fd, &stat, &file.id) {
        return false;
    }
    let Ok(residency) = hotset_sys::cache::residency(&fd) else { return false };
    file.cached_after = Observed::Value(residency.cached_pages);
    file.size_bytes = Observed::Value(residency.size_bytes);
    true
}

fn was_written(file: &FileRow) -> bool {
    let io = file.io();
    let write = io.write.value().unwrap_or_default();
    let direct = io.direct.value().unwrap_or_default();
    write.calls + write.dirtied_pages.value().unwrap_or(0) + direct.write_calls > 0
}
