//! What a session holds on the heap where all its tables are full.

use hotset_analysis::top::{NoNames, SinceStart, TopFrame};
use hotset_facts::{Counter, Interval, LiveIo, LiveRow, Unit};

use super::assembly::{Assembly, RowAction, RowState};
use super::cgroups::Cgroups;
use super::chunks::Sweeper;
use super::files::Files;
use super::processes::Processes;
use crate::DEFAULT_MAX_ROWS;
use crate::event::NamedFile;
use crate::heap::peak_of;
use crate::record::{
    CHUNK_WORDS, Chunk, ChunkKey, FileKey, OWNER_SLOTS, PLANE_AHEAD, PLANES, Process, RowKey, read,
};

const MIB: usize = 1 << 20;
const DEV: u32 = 8 << 20 | 1;

/// What user space remembers, without the kernel's tables.
struct Remembered {
    rows: Vec<RowState>,
    files: Files,
    processes: Processes,
    now: u64,
}

/// One sample, as far as memory goes.
struct Sampled {
    interval: Interval,
    released: usize,
}

impl Remembered {
    fn new(names: bool, processes: u32) -> Self {
        let mut known = Processes::default();
        let zero: Process = read(&[0; size_of::<Process>()]).expect("zeros");
        for owner in 1..=processes {
            let comm = *b"worker-of-pool\0\0";
            let seen = Process { owner, tgid: owner + 1000, ppid: 1, comm, ..zero };
            known.register(&seen, 1, &mut Cgroups::default());
        }
        let (rows, files) = (Vec::new(), Files::new(names));
        Self { rows, files, processes: known, now: 0 }
    }

    /// Each slot holds this row with these counters.
    fn sample<Rows: Iterator<Item = RowKey>>(
        &mut self,
        idle_limit: u16,
        rows: impl Fn() -> Rows,
        counted: &LiveIo,
    ) -> Sampled {
        self.now += 1;
        self.files.begin(self.now);
        let (processes, files) = (&mut self.processes, &mut self.files);
        let mut assembly = Assembly::new(self.now, idle_limit, processes, files);
        self.rows.resize_with(rows().count(), RowState::default);
        let mut released = 0;
        for (state, key) in self.rows.iter_mut().zip(rows()) {
            if state.is_released() {
                assembly.add_late(state, counted);
            } else {
                let action = assembly.add_row(state, key, (0o100_644, 0), counted);
                released += usize::from(action == RowAction::Release);
            }
        }
        assembly.close();
        let Assembly { processes, files: shown, rows, active_rows, others, .. } = assembly;
        self.files.end();
        let empty = hotset_analysis::live::testing::interval(Vec::new());
        let interval = Interval { processes, files: shown, rows, active_rows, others, ..empty };
        Sampled { interval, released }
    }
}

fn keys(first_ino: u64, rows: u32, processes: u32) -> impl Iterator<Item = RowKey> {
    let key = move |n: u32| FileKey { ino: first_ino + u64::from(n), dev: DEV, generation: 1 };
    (0..rows).map(move |n| RowKey { file: key(n), owner: n % processes + 1, pad: 0 })
}

fn pages(rows: &[LiveRow]) -> u64 {
    rows.iter().map(|row| row.io.unpack().read_pages).sum()
}

/// A row with every counter: a million calls and pages of each kind, 4 GiB, 17 seconds.
fn busy() -> serde_json::Result<LiveIo> {
    let counter = |counter: &Counter| {
        let count: u64 = match counter.unit {
            Unit::Count | Unit::Pages => 1 << 20,
            Unit::Bytes => 1 << 32,
            Unit::Nanoseconds => 1 << 34,
        };
        (counter.name.to_owned(), count.into())
    };
    let io = LiveIo::COUNTERS.iter().map(counter).collect();
    serde_json::from_value(serde_json::Value::Object(io))
}

#[test]
fn without_names_memory_is_bounded_however_many_files_come_and_go() {
    let counted = busy().expect("counters");
    let owners = OWNER_SLOTS - 1;
    let (peak, read) = peak_of(|| {
        let mut read = 0;
        let mut remembered = Remembered::new(false, owners);
        for burst in 0..3 {
            let rows = || keys(burst << 20, DEFAULT_MAX_ROWS, owners);
            // All rows are new and did much; then all are idle, released, and free.
            let first = remembered.sample(1, rows, &counted);
            assert_eq!(first.interval.active_rows, u64::from(DEFAULT_MAX_ROWS));
            assert_eq!(first.interval.files.len(), 1, "one for the file system");
            assert_eq!(first.interval.rows.len(), owners as usize, "one for each process");
            read += pages(&first.interval.rows) + first.interval.others.read_pages;
            assert_eq!(remembered.sample(1, rows, &counted).released, DEFAULT_MAX_ROWS as usize);
            assert!(remembered.sample(1, rows, &counted).interval.rows.is_empty());
        }
        read
    });
    assert_eq!(read, (3 * u64::from(DEFAULT_MAX_ROWS)) << 20, "nothing is dropped");
    assert!(peak < 36 * MIB, "{} KiB", peak >> 10);
    assert!(peak > 20 * MIB, "{} KiB: the bound was not reached", peak >> 10);
}

#[test]
fn sweeping_a_full_table_of_chunks_is_bounded() {
    const CHUNKS: u32 = 32_768;
    let chunk = |n: u32| {
        let mut bits = [[0; CHUNK_WORDS]; PLANES];
        bits[PLANE_AHEAD][0] = 1;
        let file = FileKey { ino: n.into(), dev: DEV, generation: 1 };
        (ChunkKey { file, chunk: n, pad: 0 }, Chunk { bits })
    };
    let (peak, forgotten) = peak_of(|| {
        let mut sweeper = Sweeper::new(CHUNKS.into());
        let all: Vec<_> = (0..CHUNKS).map(chunk).collect();
        sweeper.forgotten_of(&all) + sweeper.forgotten_of(&all)
    });
    assert_eq!(forgotten, CHUNKS as usize / 2);
    assert!(peak < 14 * MIB, "{} KiB", peak >> 10);
}

const PROCESSES: u32 = 10_000;
const FILES: u32 = 100_000;

/// 10,000 processes that use 100,000 files in each of three intervals; calls `each` with the lines of each.
fn crowd(mut each: impl FnMut(TopFrame)) {
    let mut remembered = Remembered::new(true, PROCESSES);
    for (id, parent, name) in [(1, 0, ""), (2, 1, "bench-live-x2k8c0_p"), (3, 2, "many")] {
        remembered.files.take_directory(id, parent, name.as_bytes());
    }
    for n in 0..u64::from(FILES) {
        let parent = 4 + n / 100;
        if n % 100 == 0 {
            remembered.files.take_directory(parent, 3, format!("d{}", n / 100).as_bytes());
        }
        let name = NamedFile {
            parent,
            name: format!("f{n}").into_bytes().into(),
            size_bytes: 3000,
            cached_pages: 1,
            mode: 0o100_644,
            deleted: false,
            used: true,
            mounted: DEV,
        };
        remembered.files.named(FileKey { ino: n, dev: DEV, generation: 1 }, name);
    }
    for n in 1..=3 {
        let counted = LiveIo {
            read_calls: n,
            read_bytes: 3000 * n,
            read_pages: n,
            sequential_reads: n,
            read_hit_ns: 1_400 * n,
            ..LiveIo::ZERO
        };
        let sampled = remembered.sample(10, || keys(0, FILES, PROCESSES), &counted);
        each(TopFrame::of(sampled.interval, &mut NoNames));
    }
}

fn lines(frame: &TopFrame) -> usize {
    frame.lines.iter().map(hotset_analysis::top::Lines::len).sum()
}

#[test]
fn the_lines_of_a_crowd_stay_small() {
    let (peak, ()) = peak_of(|| {
        crowd(|frame| {
            assert_eq!(frame.totals.read_pages, u64::from(FILES));
            assert_eq!(lines(&frame), (FILES + PROCESSES + 1) as usize);
        });
    });
    assert!(peak < 72 * MIB, "{} KiB", peak >> 10);
}

/// A screen holds the last interval while the next is made, and the sums since the start.
#[test]
fn a_screen_of_a_crowd_stays_small() {
    let (peak, summed) = peak_of(|| {
        let (mut since, mut shown) = (SinceStart::default(), None);
        crowd(|frame| {
            since.add(&frame);
            shown = Some(frame);
        });
        since.frame().map(|sums| sums.totals.read_pages)
    });
    assert_eq!(summed, Some(3 * u64::from(FILES)));
    assert!(peak < 96 * MIB, "{} KiB", peak >> 10);
}
