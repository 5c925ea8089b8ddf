//! From the tables and the ring to facts.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use hotset_facts::{
    Dev, DeviceIo, DirectIo, FileId, FileKind, FileRow, Io, LookupCounters, Lookups, MmapIo,
    Observed, Pid, ProcessRow, ReadIo, ReadaheadIo, Reason, SizeHistogram, SyncIo, TimeIo, WriteIo,
};
use hotset_sys::proc::mountinfo::{self, Mount};

use crate::ObserveError;
use crate::collector::{Collector, Life};
use crate::record::{File, FileKey, Process, Row, RowKey};
use crate::select::Selection;
use crate::sensor;
use crate::session::{Observation, Scope, Session};
use crate::tables::Tables;

/// Files that are told apart in a report; the cheapest beyond it are summed up in one row.
const MAX_FILE_ROWS: usize = 30_000;
/// Files whose residency is asked again at the end, costliest first.
const MAX_CHECKED_AFTER: usize = 1_000;

const S_IFMT: u32 = 0o170_000;
const S_IFBLK: u32 = 0o060_000;

const NO_FAULTS: Reason =
    Reason::unsupported("this kernel has no tracepoints for file faults (Linux 6.12)");
const NO_BLOCK: Reason = Reason::unsupported("this kernel has no block_bio_queue tracepoint");
const NAME_LOST: Reason = Reason::lost("the record of its name did not fit into the ring");
const MANY_FILES: Reason = Reason::not_measured("many files in one row");

/// Everything that a finished session knows.
pub(crate) fn observation(session: &Session) -> Result<Observation, ObserveError> {
    let selection = &session.loaded.selection;
    let tables = Tables::new(&session.loaded.object, selection.build);
    let globals = tables.globals()?;
    let collector = session.collector.borrow();
    let mounts = mountinfo::own().unwrap_or_default();
    let mut gather = Gather::new(&collector, selection, &mounts, tables.files()?);
    tables.rows(|key, row| gather.row(key, &row))?;
    let (mut files, by_process) = gather.finish();
    files.iter_mut().take(MAX_CHECKED_AFTER).for_each(check_after);
    let mut totals = zero_io(selection);
    files.iter().for_each(|file| totals.add(&file.io.unpack()));
    let processes = tables.processes()?;
    let lookups = lookups(&collector, &mounts, &processes);
    if let Some(time) = totals.time.as_value_mut() {
        time.lookup_ns = lookups.counters.time_ns;
    }
    let processes = process_rows(session, &collector, by_process, &processes);
    let sensor = sensor::describe(selection, &globals, &collector);
    Ok(Observation { files, processes, totals, lookups: Observed::Value(lookups), sensor })
}

/// Sums rows into files and processes, a file at a time.
struct Gather<'a> {
    collector: &'a Collector,
    selection: &'a Selection,
    mounts: &'a [Mount],
    states: HashMap<(u32, u64), File>,
    own: Pid,
    /// The file whose rows are being summed, and the sum so far.
    current: Option<(RowKey, FileRow, Io)>,
    ahead_most: (u64, Pid),
    files: Vec<FileRow>,
    others: Option<FileRow>,
    processes: HashMap<Pid, Io>,
}

impl<'a> Gather<'a> {
    fn new(
        collector: &'a Collector,
        selection: &'a Selection,
        mounts: &'a [Mount],
        states: HashMap<(u32, u64), File>,
    ) -> Self {
        Self {
            collector,
            selection,
            mounts,
            states,
            own: std::process::id(),
            current: None,
            ahead_most: (0, 0),
            files: Vec::new(),
            others: None,
            processes: HashMap::new(),
        }
    }

    fn row(&mut self, key: RowKey, row: &Row) {
        // Between marking and spawning this process is followed too; that is not the command's.
        if key.tgid == self.own {
            return;
        }
        let io = io_of(row, self.selection);
        if key.tgid != 0 {
            self.processes.entry(key.tgid).or_insert_with(|| zero_io(self.selection)).add(&io);
        }
        if key.dev == 0 && key.ino == 0 {
            if *row_bytes(row) != [0; size_of::<Row>()] {
                self.fold(io, row.opens);
            }
            return;
        }
        if self
            .current
            .as_ref()
            .is_none_or(|(current, ..)| (current.dev, current.ino) != (key.dev, key.ino))
        {
            self.close();
            self.current = Some((key, self.open(key), zero_io(self.selection)));
        }
        if let Some((_, file, sum)) = &mut self.current {
            sum.add(&io);
            file.opens = file.opens.map(|opens| opens + row.opens);
            file.processes += 1;
        }
        if row.ra_pages > self.ahead_most.0 {
            self.ahead_most = (row.ra_pages, key.tgid);
        }
    }

    fn open(&self, key: RowKey) -> FileRow {
        let id = FileId { dev: Dev::from_kernel(key.dev), ino: key.ino };
        let mut file = FileRow::new(id, NAME_LOST);
        file.opens = Observed::Value(0);
        file.evicted_pages = Observed::Value(0);
        if let Some(named) = self.collector.files.get(&(key.dev, key.ino)) {
            let file_key = FileKey { ino: key.ino, dev: key.dev, pad: 0 };
            if named.mode & S_IFMT == S_IFBLK {
                file.kind = FileKind::BlockDevice;
            }
            if let Some(path) = self.collector.path(&file_key, self.mounts) {
                file.path = Observed::Value(path);
            }
            file.deleted = named.deleted;
            file.size_bytes = Observed::Value(named.size_bytes);
            file.cached_before = Observed::Value(named.cached_pages);
        }
        if file.kind == FileKind::BlockDevice
            && let Some(path) = block_device_path(id.dev, key.ino)
        {
            file.path = Observed::Value(path);
        }
        file
    }

    fn close(&mut self) {
        let Some((key, mut file, mut io)) = self.current.take() else { return };
        if let Some(state) = self.states.get(&(key.dev, key.ino)) {
            file.evicted_pages = Observed::Value(state.evicted);
            let wasted = ReadaheadIo { pages: 0, wasted_pages: state.wasted };
            if let Some(readahead) = io.readahead.as_value_mut() {
                readahead.add(&wasted);
            }
            // Waste belongs to a file; of its processes, the one that read most ahead caused most of it.
            let culprit = self.processes.get_mut(&self.ahead_most.1);
            if let Some(readahead) = culprit.and_then(|io| io.readahead.as_value_mut()) {
                readahead.add(&wasted);
            }
        }
        self.ahead_most = (0, 0);
        file.io = io.into();
        self.files.push(file);
        if self.files.len() >= 2 * MAX_FILE_ROWS {
            self.prune();
        }
    }

    /// Keeps the costliest files and folds the rest into one row.
    fn prune(&mut self) {
        if self.files.len() <= MAX_FILE_ROWS {
            return;
        }
        self.files.select_nth_unstable_by_key(MAX_FILE_ROWS, |file| std::cmp::Reverse(cost(file)));
        for file in self.files.split_off(MAX_FILE_ROWS) {
            self.fold(file.io.unpack(), file.opens.value().unwrap_or(0));
        }
    }

    fn fold(&mut self, io: Io, opens: u64) {
        let selection = self.selection;
        let others = self.others.get_or_insert_with(|| {
            let mut others = FileRow::new(FileId::default(), MANY_FILES);
            others.kind = FileKind::Others;
            others.io = zero_io(selection).into();
            others.opens = Observed::Value(0);
            others
        });
        others.io.edit(|sum| sum.add(&io));
        others.opens = others.opens.map(|sum| sum + opens);
        others.processes += 1;
    }

    fn finish(mut self) -> (Vec<FileRow>, HashMap<Pid, Io>) {
        self.close();
        self.prune();
        self.files.sort_by_cached_key(|file| std::cmp::Reverse(cost(file)));
        self.files.extend(self.others);
        (self.files, self.processes)
    }
}

/// What a file cost: pages from the device first, then time, then bytes.
fn cost(file: &FileRow) -> (u64, u64, u64) {
    let io = file.io.unpack();
    let read = io.read.value().unwrap_or_default();
    let write = io.write.value().unwrap_or_default();
    let time = io.time.value().unwrap_or_default();
    let faulted = io.mmap.pages_read.value().unwrap_or(0);
    (read.from_device() + faulted, time.total_ns(), read.bytes + write.bytes)
}

fn row_bytes(row: &Row) -> &[u8; size_of::<Row>()] {
    let bytes = crate::record::bytes_of(row);
    bytes.try_into().unwrap_or(&[0; size_of::<Row>()])
}

/// A raw device, or the metadata of the file system on it: the kernel keeps both in the device's own inode.
fn block_device_path(bdev: Dev, ino: u64) -> Option<std::path::PathBuf> {
    // The inodes of block devices live in a file system of their own; their number is the device's.
    let dev = if bdev.major == 0 { Dev::from_kernel(u32::try_from(ino).ok()?) } else { bdev };
    let link = std::fs::read_link(format!("/sys/dev/block/{dev}")).ok()?;
    Some(Path::new("/dev").join(link.file_name()?))
}

/// All counters at zero; what this kernel can't count is missing.
fn zero_io(selection: &Selection) -> Io {
    let mut io = Io::zero();
    if !selection.faults {
        io.mmap.faults = Observed::Missing(NO_FAULTS);
        io.mmap.minor_faults = Observed::Missing(NO_FAULTS);
        io.mmap.major_faults = Observed::Missing(NO_FAULTS);
        io.time =
            Observed::Value(TimeIo { fault_ns: Observed::Missing(NO_FAULTS), ..TimeIo::default() });
    }
    if !selection.block {
        io.device = DeviceIo {
            read_bytes: Observed::Missing(NO_BLOCK),
            write_bytes: Observed::Missing(NO_BLOCK),
        };
    }
    io
}

fn histogram(counts: [u32; crate::record::HISTOGRAM_BUCKETS]) -> SizeHistogram {
    SizeHistogram(counts.map(u64::from))
}

fn io_of(row: &Row, selection: &Selection) -> Io {
    let zero = zero_io(selection);
    let counted = |gate: Observed<u64>, value: u64| gate.map(|_| value);
    Io {
        read: Observed::Value(ReadIo {
            calls: row.read_calls,
            bytes: row.read_bytes,
            pages: row.read_pages,
            misses: row.read_misses,
            readahead_hits: row.read_ra_hits,
            refaults: row.read_refaults,
            sequential_calls: row.read_sequential,
            time_ns: row.hit_ns + row.wait_ns + row.miss_ns,
            size_histogram: histogram(row.read_histogram),
        }),
        write: Observed::Value(WriteIo {
            calls: row.write_calls,
            bytes: row.write_bytes,
            pages: row.write_pages,
            new_pages: row.write_new,
            misses: row.write_misses,
            dirtied_pages: row.write_dirtied,
            sequential_calls: row.write_sequential,
            time_ns: row.write_ns,
            size_histogram: histogram(row.write_histogram),
        }),
        mmap: MmapIo {
            faults: counted(zero.mmap.faults, row.faults),
            minor_faults: counted(
                zero.mmap.minor_faults,
                row.faults.saturating_sub(row.major_faults),
            ),
            major_faults: counted(zero.mmap.major_faults, row.major_faults),
            pages_read: Observed::Value(row.fault_pages),
        },
        direct: Observed::Value(DirectIo {
            read_calls: row.direct_read_calls,
            read_bytes: row.direct_read_bytes,
            reread_bytes: row.direct_reread_bytes,
            write_calls: row.direct_write_calls,
            write_bytes: row.direct_write_bytes,
            time_ns: row.direct_ns,
        }),
        readahead: Observed::Value(ReadaheadIo { pages: row.ra_pages, wasted_pages: 0 }),
        sync: Observed::Value(SyncIo { calls: row.sync_calls, time_ns: row.sync_ns }),
        device: DeviceIo {
            read_bytes: counted(zero.device.read_bytes, row.device_read_bytes),
            write_bytes: counted(zero.device.write_bytes, row.device_write_bytes),
        },
        time: Observed::Value(TimeIo {
            hit_ns: row.hit_ns,
            wait_ns: row.wait_ns,
            miss_ns: row.miss_ns,
            fault_ns: counted(zero.mmap.major_faults, row.fault_ns),
            direct_ns: row.direct_ns,
            write_ns: row.write_ns,
            sync_ns: row.sync_ns,
            lookup_ns: 0,
        }),
    }
}

/// Asks what is cached now, if the path still leads to the file.
fn check_after(file: &mut FileRow) {
    const GONE: Reason = Reason::not_measured("its path leads to another file now, or to none");
    file.cached_after = Observed::Missing(GONE);
    if file.kind != FileKind::Regular || file.deleted {
        return;
    }
    let Some(path) = file.path.as_value() else { return };
    let Ok((fd, stat)) = hotset_sys::cache::open_quietly(path) else { return };
    if hotset_sys::file_id(&stat) != file.id {
        return;
    }
    if let Ok(residency) = hotset_sys::cache::residency(&fd) {
        file.cached_after = Observed::Value(residency.cached_pages);
        file.size_bytes = Observed::Value(residency.size_bytes);
    }
}

fn lookup_counters(process: &Process) -> LookupCounters {
    LookupCounters {
        calls: process.lookups,
        failed: process.lookups_failed,
        time_ns: process.lookup_ns,
        failed_time_ns: process.lookup_failed_ns,
    }
}

fn lookups(collector: &Collector, mounts: &[Mount], processes: &HashMap<u32, Process>) -> Lookups {
    let own = std::process::id();
    let mut counters = LookupCounters::default();
    for (pid, process) in processes {
        if *pid != own {
            counters.add(&lookup_counters(process));
        }
    }
    let failed_paths = collector.failed_paths(mounts);
    let named: u64 = failed_paths.iter().map(|path| path.calls).sum();
    Lookups { counters, failed_paths, failed_unnamed: counters.failed.saturating_sub(named) }
}

fn process_rows(
    session: &Session,
    collector: &Collector,
    mut io: HashMap<Pid, Io>,
    counters: &HashMap<u32, Process>,
) -> Vec<ProcessRow> {
    let selection = &session.loaded.selection;
    let own = std::process::id();
    let mut lives: Vec<(Pid, Life)> =
        collector.processes.iter().map(|(pid, life)| (*pid, life.clone())).collect();
    lives.sort_by_key(|(_, life)| life.order);
    let strangers =
        io.keys().chain(counters.keys()).filter(|pid| !collector.processes.contains_key(pid));
    let mut strangers: Vec<Pid> = strangers.copied().collect();
    strangers.sort_unstable();
    strangers.dedup();
    lives.extend(strangers.into_iter().map(|pid| (pid, life_from_proc(pid))));
    let born_here = matches!(session.options.scope, Scope::Children);
    lives
        .into_iter()
        .filter(|(pid, _)| *pid != own && *pid != 0)
        .map(|(pid, life)| {
            let mut io = io.remove(&pid).unwrap_or_else(|| zero_io(selection));
            let process = counters.get(&pid);
            if let (Some(time), Some(process)) = (io.time.as_value_mut(), process) {
                time.lookup_ns = process.lookup_ns;
            }
            let (minor_faults, major_faults) = faults(process, &life, born_here);
            ProcessRow {
                pid,
                ppid: life.ppid,
                comm: life.comm,
                argv: life.argv,
                exit: life.exit.map_or(
                    Observed::Missing(Reason::not_measured("it still runs")),
                    Observed::Value,
                ),
                minor_faults,
                major_faults,
                lookups: Observed::Value(process.map(lookup_counters).unwrap_or_default()),
                io,
            }
        })
        .collect()
}

/// The kernel's counters since the process began; they are ours only if it began under our eyes and has ended.
fn faults(
    process: Option<&Process>,
    life: &Life,
    born_here: bool,
) -> (Observed<u64>, Observed<u64>) {
    const RUNS: Reason = Reason::not_measured("counted when a process ends");
    const OLDER: Reason = Reason::not_measured("it ran before the observation began");
    match process {
        _ if !born_here => (Observed::Missing(OLDER), Observed::Missing(OLDER)),
        Some(process) if life.exit.is_some() => {
            (Observed::Value(process.minor_faults), Observed::Value(process.major_faults))
        }
        _ => (Observed::Missing(RUNS), Observed::Missing(RUNS)),
    }
}

fn life_from_proc(pid: Pid) -> Life {
    let stat = hotset_sys::proc::stat::of(pid).ok().flatten();
    Life {
        order: usize::MAX,
        ppid: stat.as_ref().map_or(0, |stat| stat.ppid),
        comm: stat.map(|stat| stat.comm).unwrap_or_default(),
        argv: hotset_sys::proc::cmdline::of(pid).ok().flatten().unwrap_or_default(),
        exit: None,
    }
}

/// How often a caller should drain a session.
pub const DRAIN_INTERVAL: Duration = Duration::from_millis(50);
