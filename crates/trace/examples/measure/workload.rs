//! Records such as programs make them, for measurements.

use hotset_facts::FileKind;
use hotset_facts::random::Random;
use hotset_facts::trace::{
    FileIndex, Operation, PathIndex, ProcessIndex, RecordFlags, RecordPages, SiteIndex, TraceBatch,
    TraceFile, TraceHead, TraceLists, TraceProcess, TraceRecord, TraceSource,
};

/// What a program does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads a file from its beginning, 64 KiB at a time.
    Sequential,
    /// Reads 4 KiB at random places of a file of 1 GiB.
    Random,
    /// Several processes look up, open, read, write and close 2,000 files.
    Mixed,
}

impl Kind {
    /// By its name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "sequential" => Some(Self::Sequential),
            "random" => Some(Self::Random),
            "mixed" => Some(Self::Mixed),
            _ => None,
        }
    }
}

const FILES: u32 = 2000;
const PROCESSES: u32 = 8;

/// Makes records.
pub(crate) struct Workload {
    kind: Kind,
    random: Random,
    now_ns: u64,
    made: u64,
    timings: Vec<Timing>,
}

/// How long a read really took, and the program until the next.
pub(crate) struct Timing {
    pub(crate) duration_ns: u64,
    pub(crate) pause_ns: u64,
}

/// The head of a trace of these records.
pub(crate) fn head() -> TraceHead {
    TraceHead {
        hotset: "0.1.0".to_owned(),
        source: TraceSource::Recorded,
        started_at: None,
        environment: None,
        command: None,
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: Vec::new(),
        lacks: Vec::new(),
    }
}

impl Workload {
    /// Always the same records, but for their times: those of these reads, over and over; made up if there are none.
    pub(crate) fn new(kind: Kind, timings: Vec<Timing>) -> Self {
        Self { kind, random: Random::new(7), now_ns: 1_000_000, made: 0, timings }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    /// So many more.
    pub(crate) fn batch(&mut self, records: usize) -> TraceBatch {
        let added = if self.made == 0 { self.lists() } else { TraceLists::default() };
        let paths = (0..if self.kind == Kind::Mixed { FILES } else { 1 })
            .map(|file| path(file).into_bytes())
            .collect();
        let records = (0..records).map(|_| self.record()).collect();
        TraceBatch { records, paths, added }
    }

    fn lists(&self) -> TraceLists {
        let files = if self.kind == Kind::Mixed { FILES } else { 1 };
        let processes = if self.kind == Kind::Mixed { PROCESSES } else { 1 };
        TraceLists {
            processes: (0..processes)
                .map(|number| TraceProcess {
                    pid: 4000 + number,
                    ppid: Some(1),
                    comm: format!("worker{number}"),
                    argv: vec!["worker".into()],
                })
                .collect(),
            files: (0..files)
                .map(|number| TraceFile {
                    path: Some(path(number).into()),
                    kind: FileKind::Regular,
                    id: None,
                    size_bytes: Some(1 << 30),
                    cached_pages: Some(0),
                })
                .collect(),
            sites: Vec::new(),
            gaps: Vec::new(),
        }
    }

    fn record(&mut self) -> TraceRecord {
        let number = self.made;
        self.made += 1;
        match self.kind {
            Kind::Sequential => self.read(0, number * (64 << 10) % (1 << 40), 16),
            Kind::Random => {
                let page = self.below(1 << 18);
                self.read(0, page << 12, 1)
            }
            Kind::Mixed => self.mixed(number),
        }
    }

    /// A read that takes about as long as reads take: mostly from memory, now and then from the device.
    fn read(&mut self, file: u32, offset: u64, pages: u32) -> TraceRecord {
        let misses = if self.below(16) == 0 { pages } else { 0 };
        let noise = self.below(64) + self.below(64);
        let device = if misses > 0 { 60_000 + self.below(40_000) } else { 0 };
        let mut duration = 300 + 40 * u64::from(pages) + noise + device;
        let mut pause = 150 + self.below(64);
        let real = self.timings.len().checked_sub(1).map(|last| self.made as usize % (last + 1));
        if let Some(timing) = real.and_then(|at| self.timings.get(at)) {
            (duration, pause) = (timing.duration_ns + device, timing.pause_ns);
        }
        let begins = self.now_ns;
        self.now_ns += duration + pause;
        let bytes = u64::from(pages) * 4096;
        let mut record = TraceRecord::new(begins, Operation::Pread);
        record.duration_ns = Some(duration);
        record.process = Some(ProcessIndex(0));
        record.tid = Some(4000);
        record.file = Some(FileIndex(file));
        record.path = Some(PathIndex(file));
        record.description = Some(u64::from(file) + 17);
        record.offset = Some(offset);
        record.asked_bytes = Some(bytes);
        record.result = Some(bytes as i64);
        record.pages = Some(RecordPages {
            pages,
            hits: pages - misses,
            ahead_hits: if self.kind == Kind::Sequential { pages - misses } else { 0 },
            misses,
            zeros: Some(0),
            read_ahead: if self.kind == Kind::Sequential { misses * 2 } else { 0 },
        });
        record.device_read_bytes = Some(u64::from(misses) * 4096);
        record
    }

    fn mixed(&mut self, number: u64) -> TraceRecord {
        let file = self.below(u64::from(FILES)) as u32;
        let process = self.below(u64::from(PROCESSES)) as u32;
        let offset = self.below(1 << 12) << 12;
        let mut record = self.read(file, offset, 1);
        record.process = Some(ProcessIndex(process));
        record.tid = Some(4000 + process);
        // They run at the same time: records don't come in the order in which they began.
        record.start_ns -= self.below(5_000).min(record.start_ns);
        let operation = match number % 8 {
            0 => Operation::Newfstatat,
            1 => Operation::Openat,
            2 => Operation::Close,
            3 => Operation::Pwrite,
            _ => return record,
        };
        record.operation = operation;
        record.class = operation.class();
        if operation == Operation::Pwrite {
            record.flags = RecordFlags::POSITION;
            return record;
        }
        record.pages = None;
        record.device_read_bytes = None;
        record.offset = None;
        record.asked_bytes = None;
        record.site = Some(SiteIndex(0)).filter(|_| false);
        record.result = Some(if self.below(3) == 0 { -2 } else { 0 });
        record
    }
}

fn path(file: u32) -> String {
    format!("/srv/data/projects/alpha-{:02}/input-{file:05}.bin", file % 40)
}
