//! The sums of a control group's span in the shape of a run.

use std::time::UNIX_EPOCH;

use hotset_facts::{
    Command, Counter, Dev, DeviceIo, Feature, FileId, FileKind, FileRow, Io, LIVE, LiveIo, MmapIo,
    NotMeasured, Observed, Profile, ReadIo, ReadaheadIo, Reason, Sensor, SensorLevel, SensorLosses,
    SyncIo, Target, TimeIo, WriteIo,
};

use super::{GroupSpan, SpanFile, SpanHost};

const NOT_LIVE: Reason = Reason::not_measured("a live sampler does not count it");
const REREAD: Reason =
    Reason::not_measured("which bytes direct reads had read before is not kept between intervals");
const FAULT_TIME: Reason = Reason::not_measured("the time of page faults is not measured");
const ORIGINS: Reason = Reason::lost("which pages had been read ahead");
const MAPPED: Reason =
    Reason::not_measured("which pages of a mapped file were used is not counted");

pub(super) fn of_group(host: &SpanHost, group: &GroupSpan) -> Profile {
    let refaults = refaults_of_reads(group);
    let totals = Io {
        read: Observed::Value(ReadIo { refaults, ..read(host, &group.io) }),
        readahead: readahead(host, &group.io),
        ..io(host, &group.io)
    };
    let mut files: Vec<FileRow> = group.files.iter().map(|file| row(host, file)).collect();
    files.extend(others(host, group));
    let mut environment = host.environment.clone();
    environment.memory_limit_bytes = group.memory_limit_bytes;
    // Threads that wait at the same time have more time than the clock: see the room's head.
    let io_ns = totals.time.value().map_or(0, |time| time.total_ns());
    Profile {
        started_at: UNIX_EPOCH,
        environment,
        command: Command {
            target: Target::System,
            argv: Vec::new(),
            exit: Observed::Missing(NOT_LIVE),
            wall_ns: group.active_ns.max(io_ns),
            user_ns: Observed::Missing(NOT_LIVE),
            system_ns: Observed::Missing(NOT_LIVE),
            max_rss_bytes: Observed::Missing(NOT_LIVE),
            still_running: 0,
        },
        sensor: Sensor {
            name: "live",
            level: SensorLevel::Full,
            losses: SensorLosses::default(),
            not_measured: gaps(&host.not_measured),
        },
        totals,
        files,
        processes: Vec::new(),
        lookups: Observed::Missing(NOT_LIVE),
        sites: None,
    }
}

/// What the sensor takes for its tables counts in hotset's own group, and not in that of others.
fn gaps(not_measured: &[NotMeasured]) -> Vec<NotMeasured> {
    let gaps = not_measured.iter().filter(|gap| gap.feature != Feature::FreeTables);
    gaps.cloned().collect()
}

/// Refaults that were certainly of reads: the kernel counts those of faults with them, so as many as pages that faults read are
/// taken off.
fn refaults_of_reads(group: &GroupSpan) -> u64 {
    group.refaulted_pages.value().unwrap_or(0).saturating_sub(group.io.fault_pages)
}

fn row(host: &SpanHost, file: &SpanFile) -> FileRow {
    let mut row = FileRow::new(file.id, NOT_LIVE);
    // A sync of a file system is told by its mount, and subvolumes of btrfs have devices of their own.
    if file.mounted != Dev::default() {
        row.id.dev = file.mounted;
    }
    if let Some(path) = file.path.as_value() {
        row.path = Observed::Value(path.to_path_buf());
    }
    row.kind = file.kind;
    row.deleted = file.deleted;
    row.io = io(host, &file.io).into();
    row
}

/// What the files that are not told apart add up to.
fn others(host: &SpanHost, group: &GroupSpan) -> Option<FileRow> {
    let mut told = LiveIo::ZERO;
    group.files.iter().for_each(|file| told.add(&file.io));
    let rest = group.io.zip_with(&told, u64::saturating_sub);
    let mut row = FileRow::new(FileId::default(), NOT_LIVE);
    row.kind = FileKind::Others;
    row.io = io(host, &rest).into();
    (!rest.is_idle()).then_some(row)
}

fn io(host: &SpanHost, counted: &LiveIo) -> Io {
    let known = |counter: Counter| counter.observed(counted, &host.not_measured);
    let time = TimeIo {
        hit_ns: counted.read_hit_ns,
        // Waits for pages in flight are counted with misses.
        wait_ns: 0,
        miss_ns: counted.read_wait_ns,
        fault_ns: Observed::Missing(FAULT_TIME),
        direct_ns: counted.direct_ns,
        write_ns: counted.write_ns,
        sync_ns: counted.sync_ns,
        lookup_ns: 0,
    };
    Io {
        read: Observed::Value(read(host, counted)),
        write: Observed::Value(WriteIo {
            calls: counted.write_calls,
            bytes: counted.write_bytes,
            pages: counted.write_pages,
            new_pages: counted.new_pages,
            misses: known(LIVE.write_misses),
            dirtied_pages: known(LIVE.dirtied_pages),
            sequential_calls: known(LIVE.sequential_writes),
            time_ns: counted.write_ns,
            ..WriteIo::default()
        }),
        mmap: MmapIo {
            faults: known(LIVE.faults),
            minor_faults: Observed::Missing(NOT_LIVE),
            major_faults: known(LIVE.major_faults),
            pages_read: Observed::Value(counted.fault_pages),
            zeros: Observed::Missing(NOT_LIVE),
        },
        direct: Observed::Missing(REREAD),
        readahead: match counted.faults.max(counted.fault_pages) {
            0 => readahead(host, counted),
            _ => Observed::Missing(MAPPED),
        },
        sync: Observed::Value(SyncIo { calls: counted.sync_calls, time_ns: counted.sync_ns }),
        device: DeviceIo {
            read_bytes: known(LIVE.device_read_bytes),
            write_bytes: known(LIVE.device_write_bytes),
        },
        time: Observed::Value(time),
    }
}

fn read(host: &SpanHost, counted: &LiveIo) -> ReadIo {
    ReadIo {
        calls: counted.read_calls,
        bytes: counted.read_bytes,
        pages: counted.read_pages,
        zeros: LIVE.read_zeros.observed(counted, &host.not_measured),
        misses: counted.read_misses,
        readahead_hits: counted.readahead_hits,
        refaults: 0,
        sequential_calls: LIVE.sequential_reads.observed(counted, &host.not_measured),
        time_ns: counted.read_hit_ns.saturating_add(counted.read_wait_ns),
        ..ReadIo::default()
    }
}

/// Pages that were read ahead and not requested until the span ended, as of a run.
fn readahead(host: &SpanHost, counted: &LiveIo) -> Observed<ReadaheadIo> {
    let pages = counted.readahead_pages;
    let wasted_pages = pages.saturating_sub(counted.readahead_hits);
    if wasted_pages > 0 && host.lost_origins {
        return Observed::Missing(ORIGINS);
    }
    Observed::Value(ReadaheadIo { pages, wasted_pages })
}
