//! An interval as rows.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hotset_analysis::live::{LiveNumbers, summarise_interval};
use hotset_facts::fleet::{
    CountedIo, FileIntervalRow, GroupIntervalRow, GroupMemory, HostRow, IntervalKey, Workload,
};
use hotset_facts::{
    Feature, FileId, Interval, LiveFile, LiveIo, LiveLosses, MemInfo, NotMeasured, Residency,
};
use hotset_fleet::Rows;
use hotset_sys::cache::open_quietly;
use hotset_sys::cgroup::{GroupDetail, Hierarchies};

use super::identity::Identity;
use super::lookups::Lookups;
use crate::workloads::{Workloads, other};

/// Control groups with rows of their own, in an interval.
const MOST_GROUPS: usize = 500;

/// What rows need of the intervals before, and of the host.
pub(super) struct RowMaker {
    identity: Identity,
    session: u64,
    sequence: u64,
    most_files: usize,
    hierarchies: Hierarchies,
    pub(super) workloads: Workloads,
    /// Groups that did something in this session and are still there, with their memory at the last interval.
    groups: HashMap<Arc<str>, Option<GroupDetail>>,
    losses: LiveLosses,
    /// What this host can't count.
    lacks: Vec<Feature>,
}

impl RowMaker {
    pub(super) fn new(identity: Identity, session: u64, most_files: usize) -> Self {
        Self {
            identity,
            session,
            sequence: 0,
            most_files,
            hierarchies: Hierarchies::now(),
            workloads: Workloads::default(),
            groups: HashMap::new(),
            losses: LiveLosses::default(),
            lacks: Vec::new(),
        }
    }

    /// The key of the interval, in which so much could not be counted; the next has the next number.
    pub(super) fn key(&mut self, interval: &Interval, gaps: &[NotMeasured]) -> IntervalKey {
        self.lacks = gaps.iter().map(|gap| gap.feature).collect();
        let Identity { host, host_id, boot_id, .. } = self.identity.clone();
        let sequence = self.sequence;
        self.sequence += 1;
        IntervalKey {
            ts: hotset_fleet::micros(interval.at),
            length_ns: interval.length_ns,
            host,
            host_id,
            boot_id,
            session: self.session,
            sequence,
        }
    }

    /// Every control group that did something in the session and is still there: one that is idle holds memory, too.
    pub(super) fn groups(
        &mut self,
        key: &IntervalKey,
        interval: &Interval,
    ) -> Vec<GroupIntervalRow> {
        let mut active: HashMap<Arc<str>, LiveIo> = HashMap::new();
        let mut rest = LiveIo::ZERO;
        for (path, io) in summarise_interval(interval).cgroups {
            match path {
                Some(path) => drop(active.insert(path, io)),
                None => rest.add(&io),
            }
        }
        let mut lookups = Lookups::of(interval);
        for path in lookups.iter().flat_map(Lookups::groups) {
            active.entry(Arc::clone(path)).or_insert(LiveIo::ZERO);
        }
        self.groups.retain(|path, _| active.contains_key(path) || self.hierarchies.has(path));
        for path in active.keys() {
            self.groups.entry(Arc::clone(path)).or_default();
        }
        let mut paths: Vec<Arc<str>> = self.groups.keys().cloned().collect();
        paths.sort_by_cached_key(|path| {
            let work = active.get(path).map_or(0, activity);
            (std::cmp::Reverse(work), Arc::clone(path))
        });
        for path in paths.split_off(paths.len().min(MOST_GROUPS)) {
            rest.add(active.get(&path).unwrap_or(&LiveIo::ZERO));
        }
        let mut rows: Vec<GroupIntervalRow> = paths
            .into_iter()
            .map(|path| {
                let lookups = lookups.as_mut().map(|lookups| lookups.take(&path));
                GroupIntervalRow {
                    key: key.clone(),
                    io: self.counted(active.get(&path).copied().unwrap_or_default()),
                    memory: self.memory(&path),
                    who: self.workloads.of(&path),
                    lookups: lookups.map(|lookups| lookups.calls),
                    failed_lookups: lookups.map(|lookups| lookups.failed),
                }
            })
            .collect();
        let lookups = lookups.map(|lookups| lookups.sum());
        if !rest.is_idle() || lookups.is_some_and(|lookups| lookups.calls > 0) {
            rows.push(GroupIntervalRow {
                key: key.clone(),
                who: other(),
                io: self.counted(rest),
                memory: GroupMemory::default(),
                lookups: lookups.map(|lookups| lookups.calls),
                failed_lookups: lookups.map(|lookups| lookups.failed),
            });
        }
        rows
    }

    /// What was counted, with what this host can't count.
    pub(super) fn counted(&self, io: LiveIo) -> CountedIo {
        CountedIo { io, lacks: self.lacks.clone() }
    }

    fn memory(&mut self, path: &Arc<str>) -> GroupMemory {
        let now = self.hierarchies.detail(path);
        let before = self.groups.insert(Arc::clone(path), now).flatten();
        now.map(|now| memory(&now, before.as_ref())).unwrap_or_default()
    }

    /// The files that most was done to.
    pub(super) fn files(&mut self, key: &IntervalKey, interval: &Interval) -> Vec<FileIntervalRow> {
        let mut sums: HashMap<(u32, Option<Arc<str>>), LiveIo> = HashMap::new();
        for row in &interval.rows {
            let process = interval.processes.get(row.process as usize);
            let group = process.and_then(|process| process.cgroup.as_value().cloned());
            sums.entry((row.file, group)).or_default().add(&row.io.unpack());
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_cached_key(|((file, group), io)| {
            (std::cmp::Reverse(activity(io)), *file, group.clone())
        });
        sums.truncate(self.most_files);
        let rows = sums.into_iter().filter_map(|((file, group), io)| {
            let file = interval.files.get(file as usize)?;
            let who = group.map_or_else(Workload::default, |group| self.workloads.of(&group));
            Some(file_row(key, who, file, self.counted(io)))
        });
        rows.collect()
    }

    pub(super) fn host(
        &mut self,
        key: &IntervalKey,
        interval: &Interval,
        gaps: &[NotMeasured],
        dropped_files: u64,
    ) -> HostRow {
        let lost = lost(&interval.losses).saturating_sub(lost(&self.losses));
        let unattributed = interval.losses.unattributed.saturating_sub(self.losses.unattributed);
        self.losses = interval.losses.clone();
        let curves = interval.curves.as_ref();
        let lookups = Lookups::of(interval).map(|lookups| lookups.sum());
        let names: Vec<&str> = gaps.iter().map(|gap| gap.feature.name()).collect();
        let host = &interval.host;
        let memory = |of: fn(&MemInfo) -> u64| host.memory.as_value().map(of);
        HostRow {
            key: key.clone(),
            hotset: env!("CARGO_PKG_VERSION").into(),
            kernel: Arc::clone(&self.identity.kernel),
            machine: Arc::clone(&self.identity.machine),
            cpus: hotset_sys::environment(&[], &[]).cpus.into(),
            page_bytes: hotset_sys::page_size(),
            multi_gen_lru: hotset_sys::environment::reclaim().multi_gen_lru,
            not_measured: names.join("; ").into(),
            io: self.counted(LiveNumbers::of_interval(interval).io),
            memory_bytes: memory(|memory| memory.total_bytes),
            free_bytes: memory(|memory| memory.free_bytes),
            cached_bytes: memory(|memory| memory.cached_bytes),
            shmem_bytes: memory(|memory| memory.shmem_bytes),
            dirty_bytes: memory(|memory| memory.dirty_bytes),
            refaulted_pages: host.refaulted_pages.value(),
            reclaimed_pages: host.reclaimed_pages.value(),
            evicted_pages: interval.evicted_pages.value(),
            written_back_pages: host.written_back_pages.value(),
            memory_some_ns: host.pressure.memory_some_ns.value(),
            io_some_ns: host.pressure.io_some_ns.value(),
            cpu_some_ns: host.pressure.cpu_some_ns.value(),
            unattributed,
            lost,
            lost_references: curves.map_or(0, |curves| curves.lost + curves.unattributed),
            groups: self.groups.len() as u64,
            dropped_files,
            lookups: lookups.map(|lookups| lookups.calls),
            failed_lookups: lookups.map(|lookups| lookups.failed),
        }
    }
}

/// What ranks groups and files: bytes and calls that went through the kernel, in pages.
fn activity(io: &LiveIo) -> u64 {
    const PAGE: u64 = 4096;
    let pages = [io.read_pages, io.write_pages, io.fault_pages, io.faults, io.sync_calls];
    let sum = pages.into_iter().fold(0, u64::saturating_add);
    sum.saturating_add((io.direct_bytes() + io.device_read_bytes) / PAGE)
}

fn lost(losses: &LiveLosses) -> u64 {
    let LiveLosses { events, tasks, requests, skipped_programs, calls, .. } = losses;
    [events, tasks, requests, skipped_programs, calls].into_iter().sum()
}

fn memory(now: &GroupDetail, before: Option<&GroupDetail>) -> GroupMemory {
    // Of a group that is new, what it counted since it was made is not of this interval alone.
    let grown =
        |of: fn(&GroupDetail) -> Option<u64>| Some(of(now)?.saturating_sub(before.and_then(of)?));
    GroupMemory {
        limit_bytes: now.max_bytes,
        high_bytes: now.high_bytes,
        low_bytes: now.low_bytes,
        used_bytes: Some(now.usage.used_bytes),
        file_bytes: Some(now.usage.file_bytes),
        mapped_bytes: now.mapped_bytes,
        anon_bytes: now.anon_bytes,
        shmem_bytes: now.shmem_bytes,
        kernel_bytes: now.kernel_bytes,
        refaulted_pages: grown(|detail| detail.usage.refaulted_pages),
        oom_kills: grown(|detail| detail.oom_kills),
        memory_some_ns: grown(|detail| detail.memory_some_ns),
        io_some_ns: grown(|detail| detail.io_some_ns),
    }
}

fn file_row(key: &IntervalKey, who: Workload, file: &LiveFile, io: CountedIo) -> FileIntervalRow {
    FileIntervalRow {
        key: key.clone(),
        who,
        path: file.path.as_value().map(|path| path.to_string_lossy().as_ref().into()),
        device: device(&file.id).into(),
        inode: file.id.ino,
        deleted: file.deleted,
        io,
        size_bytes: None,
        cached_pages: None,
    }
}

/// A device as the tables have it.
pub(super) fn device(id: &FileId) -> String {
    format!("{}:{}", id.dev.major, id.dev.minor)
}

/// Adds size and cached pages of files that are still there. It opens them, and may wait for the network.
pub(super) fn look_at_files(rows: &mut Rows) {
    for row in rows.files.iter_mut().filter(|row| !row.deleted) {
        let Some(residency) = residency(row) else { continue };
        row.size_bytes = Some(residency.size_bytes);
        row.cached_pages = Some(residency.cached_pages);
    }
}

fn residency(row: &FileIntervalRow) -> Option<Residency> {
    let (fd, stat) = open_quietly(Path::new(row.path.as_deref()?)).ok()?;
    let id = hotset_sys::file_id(&stat);
    let is_it = id.ino == row.inode && *row.device == *device(&id);
    is_it.then(|| hotset_sys::cache::residency(fd).ok())?
}
