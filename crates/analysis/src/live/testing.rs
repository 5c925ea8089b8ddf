//! Intervals made by hand, for the tests of whoever shows them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hotset_facts::{
    Dev, FileId, FileKind, HostMemory, Interval, LiveFile, LiveIo, LiveLosses, LiveProcess,
    LiveRow, MemInfo, Observed, Pressure, Reason,
};

const NO_NAMES: Reason = Reason::not_measured("names were not asked for");

/// What a process did: see [`reads`].
#[derive(Debug, Clone)]
pub struct Doing {
    /// Its number, from 0; also says its PID, command and group.
    pub process: u32,
    /// The file's number, from 0.
    pub file: u32,
    /// What was counted.
    pub io: LiveIo,
}

/// Process `process` read `pages` pages of file 0, `misses` of them not cached.
pub fn reads(process: u32, pages: u64, misses: u64) -> Doing {
    let io = LiveIo {
        read_calls: pages,
        read_bytes: pages * 4096,
        read_pages: pages,
        read_misses: misses,
        ..LiveIo::default()
    };
    Doing { process, file: 0, io }
}

/// Process number `n`, from 0: PID 1000 + n, named `worker-n`, in the group `/system.slice/n.service`.
pub fn process(n: u32) -> LiveProcess {
    LiveProcess {
        id: n + 1,
        pid: 1000 + n,
        ppid: Observed::Value(1),
        uid: Observed::Value(0),
        comm: format!("worker-{n}").into(),
        cgroup: Observed::Value(Arc::from(format!("/system.slice/{n}.service"))),
        ended: false,
    }
}

/// File number `n`, from 0: inode 100 + n of device 8:1.
pub fn file(n: u32) -> LiveFile {
    LiveFile {
        id: FileId::new(Dev { major: 8, minor: 1 }, 100 + u64::from(n)),
        kind: FileKind::Regular,
        path: Observed::Missing(NO_NAMES),
        deleted: false,
        mounted: Dev { major: 8, minor: 1 },
    }
}

/// A host with 16 GiB, of which 2 GiB are cached, that did nothing.
pub fn host() -> HostMemory {
    HostMemory {
        memory: Observed::Value(MemInfo {
            total_bytes: 16 << 30,
            free_bytes: 8 << 30,
            cached_bytes: 2 << 30,
            buffers_bytes: 24 << 20,
            dirty_bytes: 1 << 20,
            ..MemInfo::default()
        }),
        refaulted_pages: Observed::Value(0),
        reclaimed_pages: Observed::Value(0),
        written_back_pages: Observed::Value(0),
        pressure: Pressure {
            memory_some_ns: Observed::Value(0),
            memory_full_ns: Observed::Value(0),
            io_some_ns: Observed::Value(0),
            io_full_ns: Observed::Value(0),
            cpu_some_ns: Observed::Value(0),
        },
    }
}

/// An interval of one second, the first of its session, in which this was done.
pub fn interval(doing: Vec<Doing>) -> Interval {
    let end = |of: fn(&Doing) -> u32| doing.iter().map(|d| of(d) + 1).max().unwrap_or(0);
    Interval {
        at: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        ended_after_ns: 1_000_000_000,
        length_ns: 1_000_000_000,
        processes: (0..end(|doing| doing.process)).map(process).collect(),
        files: (0..end(|doing| doing.file)).map(file).collect(),
        rows: doing
            .iter()
            .map(|doing| LiveRow { process: doing.process, file: doing.file, io: doing.io.into() })
            .collect(),
        active_rows: doing.len() as u64,
        others: LiveIo::default(),
        evicted_pages: Observed::Value(0),
        host: host(),
        losses: LiveLosses::default(),
        curves: None,
        lookups: None,
    }
}
