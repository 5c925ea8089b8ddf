//! Random traces: threads that open, read, write, map, sync and close a few files, one record after another, as a kernel would
//! answer them.

use hotset_facts::replay::ReplayPlan;
use hotset_facts::trace::{FileIndex, Operation, ProcessIndex, RecordFlags};
use proptest::prelude::*;

use crate::build::testing::Trace;

/// Sizes of the files before; of those from [`FIRST_READ_ONLY`] on, nobody writes any.
const SIZES: [u64; 4] = [5_000, 0, 10_000, 16_384];
const FIRST_READ_ONLY: usize = 2;

/// One request: of which thread, what, of which file, and a number that chooses among the ways to do it.
pub(super) type Request = (u32, u8, usize, u64);

/// Some requests.
pub(super) fn requests(most: usize) -> impl Strategy<Value = Vec<Request>> {
    // Most are of one thread and of two files, so that neighbours have something to do with each other.
    let thread = prop_oneof![3 => Just(0_u32), 1 => Just(1), 1 => Just(2)];
    let file = prop_oneof![3 => Just(0_usize), 1 => Just(1), 3 => Just(2), 1 => Just(3)];
    proptest::collection::vec((thread, 0_u8..33, file, 0_u64..8), 1..most)
}

#[derive(Debug, Clone, Copy)]
struct Description {
    number: u64,
    process: ProcessIndex,
    file: usize,
    position: u64,
    /// Where the next request that says where it is goes on.
    next: u64,
    appends: bool,
    flags: RecordFlags,
}

/// The state of a small machine.
struct World {
    trace: Trace,
    processes: [ProcessIndex; 2],
    files: Vec<FileIndex>,
    sizes: [u64; 4],
    open: Vec<Description>,
    mapped: Vec<(ProcessIndex, usize)>,
    numbers: u64,
    has_directory: bool,
}

/// The plan of a trace of these requests.
pub(super) fn plan(requests: &[Request]) -> ReplayPlan {
    let mut trace = Trace::default();
    let processes = [trace.process(1, None), trace.process(3, Some(1))];
    let files = SIZES.iter().enumerate().map(|(at, size)| trace.file(&path(at), *size)).collect();
    let (open, mapped, sizes) = (Vec::new(), Vec::new(), SIZES);
    let mut world =
        World { trace, processes, files, sizes, open, mapped, numbers: 0, has_directory: false };
    for request in requests {
        world.request(*request);
    }
    world.trace.plan()
}

fn path(file: usize) -> String {
    format!("/d/{file}")
}

impl World {
    fn request(&mut self, (thread, what, file, way): Request) {
        // The first two threads are of one process.
        let who = (self.processes[usize::from(thread == 2)], thread + 1);
        let times = 1 + way % 4;
        let bytes = [100, 4096, 700][(way % 3) as usize];
        match what {
            0..=4 => (0..times).for_each(|_| self.read(who, file, bytes)),
            5..=6 => (0..times).for_each(|_| self.read_at(who, file, bytes)),
            7..=9 => (0..times).for_each(|_| self.write(who, file, bytes)),
            10 => (0..times).for_each(|_| self.write_at(who, file, bytes)),
            11 => {
                let at = self.description(who, file, way);
                (self.open[at].position, self.open[at].next) = (way * 1000, way * 4096);
            }
            12 => self.sync(who, file, way),
            13 => {
                for _ in 0..=times {
                    self.write(who, file, bytes);
                    self.sync(who, file, way);
                }
            }
            14 => self.update(who, file, bytes),
            15 => self.close(who, file),
            16 => {
                self.trace.on_path(Operation::Stat, who, &format!("/absent/{}", way % 2), -2);
            }
            17 => {
                self.trace.on_path(Operation::Newfstatat, who, &path(file), 0);
            }
            18 => {
                self.open(who, file, way);
            }
            19..=20 => self.touch(who, file, way),
            21 if file < FIRST_READ_ONLY => {
                let at = self.description(who, file, way);
                self.on(Operation::Ftruncate, who, at, (way * 1000, 0), 0);
                self.sizes[file] = way * 1000;
            }
            22 => self.unmap(who, file),
            23..=24 => (0..times).for_each(|_| self.read_by_ring(who, file, bytes)),
            25..=26 => self.read_whole(who, file, way),
            27 => self.directory(who, way),
            28 => self.write_by_ring(who, file, bytes, way),
            29..=30 => self.copy(Operation::CopyFileRange, who, (file, way)),
            31 => self.copy(Operation::Sendfile, who, (file, way)),
            _ => self.sync_others(who, file, way),
        }
    }

    fn open(&mut self, who: (ProcessIndex, u32), file: usize, way: u64) -> usize {
        let at = self.put(who, file, way);
        let flags = self.open[at].flags;
        self.on(Operation::Openat, who, at, (0, 0), 3);
        if let Some(record) = self.trace.last() {
            record.flags = flags;
        }
        at
    }

    fn put(&mut self, (process, _): (ProcessIndex, u32), file: usize, way: u64) -> usize {
        self.numbers += 1;
        let appends = file < FIRST_READ_ONLY && way == 3;
        let flags = match (appends, way) {
            (true, _) => RecordFlags::APPEND,
            (false, 5) => RecordFlags::DIRECT,
            (false, 6) => RecordFlags::SYNC,
            _ => RecordFlags::NONE,
        };
        let (number, position, next) = (self.numbers, 0, 0);
        self.open.push(Description { number, process, file, position, next, appends, flags });
        self.open.len() - 1
    }

    /// An open description of a file: one of the process's, or a new one that somebody was seen to open, or nobody.
    fn description(&mut self, who: (ProcessIndex, u32), file: usize, way: u64) -> usize {
        let own = self.open.iter().rposition(|open| (open.process, open.file) == (who.0, file));
        match own {
            Some(at) => at,
            None if way == 7 => self.put(who, file, 0),
            None => self.open(who, file, way),
        }
    }

    fn on(
        &mut self,
        operation: Operation,
        who: (ProcessIndex, u32),
        at: usize,
        range: (u64, u64),
        result: u64,
    ) {
        let Description { number, file, flags, .. } = self.open[at];
        let of = path(file);
        let of = (of.as_str(), self.files[file], number);
        let record = self.trace.on_file(operation, who, of, range);
        (record.result, record.flags) = (Some(result as i64), flags);
        if matches!(operation, Operation::Read | Operation::Write) {
            record.flags = flags.with(RecordFlags::POSITION);
        }
    }

    fn read(&mut self, who: (ProcessIndex, u32), file: usize, bytes: u64) {
        let at = self.description(who, file, bytes % 8);
        let open = self.open[at];
        let result = bytes.min(self.sizes[file].saturating_sub(open.position));
        self.on(Operation::Read, who, at, (open.position, bytes), result);
        self.open[at].position += result;
    }

    fn read_at(&mut self, who: (ProcessIndex, u32), file: usize, bytes: u64) {
        let at = self.description(who, file, bytes % 8);
        let next = self.open[at].next;
        let result = bytes.min(self.sizes[file].saturating_sub(next));
        self.on(Operation::Pread, who, at, (next, bytes), result);
        self.open[at].next += result;
    }

    /// It is in flight while the next few requests are made.
    fn read_by_ring(&mut self, who: (ProcessIndex, u32), file: usize, bytes: u64) {
        let at = self.description(who, file, bytes % 8);
        let next = self.open[at].next;
        let result = bytes.min(self.sizes[file].saturating_sub(next));
        self.on(Operation::UringRead, who, at, (next, bytes), result);
        if let Some(record) = self.trace.last() {
            record.duration_ns = Some(next % 7 * 90);
        }
        self.open[at].next += result;
    }

    fn write(&mut self, who: (ProcessIndex, u32), file: usize, bytes: u64) {
        if file >= FIRST_READ_ONLY {
            return self.read(who, file, bytes);
        }
        let at = self.description(who, file, bytes % 8);
        let open = self.open[at];
        let begin = if open.appends { self.sizes[file] } else { open.position };
        self.on(Operation::Write, who, at, (begin, bytes), bytes);
        self.open[at].position = begin + bytes;
        self.sizes[file] = self.sizes[file].max(begin + bytes);
    }

    fn write_at(&mut self, who: (ProcessIndex, u32), file: usize, bytes: u64) {
        let at = self.description(who, file, bytes % 8);
        if file >= FIRST_READ_ONLY || self.open[at].appends {
            return self.write(who, file, bytes);
        }
        let next = self.open[at].next;
        self.on(Operation::Pwrite, who, at, (next, bytes), bytes);
        self.open[at].next += bytes;
        self.sizes[file] = self.sizes[file].max(next + bytes);
    }

    /// Takes some bytes of a file to one of those that are written.
    fn copy(&mut self, operation: Operation, who: (ProcessIndex, u32), (file, way): (usize, u64)) {
        let to = (way % 2) as usize;
        let [from, target] = [file, to].map(|file| self.description(who, file, 0));
        if file == to || self.open[target].appends {
            return;
        }
        let (begin, open) = (way * 512, self.open[target]);
        let moves = operation == Operation::Sendfile;
        let there = if moves { open.position } else { way * 700 };
        let moved = 2_000.min(self.sizes[file].saturating_sub(begin));
        self.on(operation, who, from, (begin, 2_000), moved);
        let start_ns = self.trace.last().map_or(0, |record| record.start_ns);
        self.on(operation, who, target, (there, 2_000), moved);
        if let Some(record) = self.trace.last() {
            record.class = hotset_facts::trace::OperationClass::Write;
            (record.start_ns, record.duration_ns) = (start_ns, None);
        }
        if moves {
            self.open[target].position += moved;
        }
        if moved > 0 {
            self.sizes[to] = self.sizes[to].max(there + moved);
        }
    }

    /// It is in flight while the next few requests are made.
    fn write_by_ring(&mut self, who: (ProcessIndex, u32), file: usize, bytes: u64, way: u64) {
        if file >= FIRST_READ_ONLY {
            return self.read_by_ring(who, file, bytes);
        }
        let at = self.description(who, file, bytes % 8);
        if self.open[at].appends {
            return;
        }
        let next = self.open[at].next;
        self.on(Operation::UringWrite, who, at, (next, bytes), bytes);
        if let Some(record) = self.trace.last() {
            record.duration_ns = Some(way % 2 * 90);
        }
        self.open[at].next += bytes;
        self.sizes[file] = self.sizes[file].max(next + bytes);
        if way == 7 {
            self.on(Operation::UringSync, who, at, (0, 0), 0);
        }
    }

    /// A part of a file, or all files.
    fn sync_others(&mut self, who: (ProcessIndex, u32), file: usize, way: u64) {
        if way < 4 {
            self.trace.add(Operation::Sync, who, 0);
        } else {
            let at = self.description(who, file, way);
            self.on(Operation::SyncFileRange, who, at, (0, 4096), 0);
        }
    }

    fn sync(&mut self, who: (ProcessIndex, u32), file: usize, way: u64) {
        let at = self.description(who, file, way);
        let operation = [Operation::Fsync, Operation::Fdatasync][(way % 2) as usize];
        self.on(operation, who, at, (0, 0), 0);
    }

    /// Reads the same bytes before and after they are written; then writes what follows.
    fn update(&mut self, who: (ProcessIndex, u32), file: usize, bytes: u64) {
        let at = self.description(who, file, 0);
        let next = self.open[at].next;
        self.read_at(who, file, bytes);
        self.open[at].next = next;
        self.write_at(who, file, bytes);
        self.open[at].next = next;
        self.read_at(who, file, bytes);
        self.write_at(who, file, bytes);
    }

    fn close(&mut self, who: (ProcessIndex, u32), file: usize) {
        let own = self.open.iter().rposition(|open| (open.process, open.file) == (who.0, file));
        if let Some(at) = own {
            self.on(Operation::Close, who, at, (0, 0), 0);
            self.open.remove(at);
        }
    }

    /// Opens a file that nobody writes, reads it to its end, and closes it.
    fn read_whole(&mut self, who: (ProcessIndex, u32), file: usize, way: u64) {
        let file = FIRST_READ_ONLY + file % 2;
        let at = self.open(who, file, way % 4);
        self.trace.on_path(Operation::Newfstatat, who, &path(file), 0);
        for _ in 0..=SIZES[file].div_ceil(4096) {
            self.read(who, file, 4096);
        }
        self.on(Operation::Close, who, at, (0, 0), 0);
        self.open.remove(at);
    }

    /// Loads a page of a mapping of a read-only file. It is made first, or nobody was seen to make it.
    fn touch(&mut self, who: (ProcessIndex, u32), file: usize, way: u64) {
        let file = FIRST_READ_ONLY + file % 2;
        if !self.mapped.contains(&(who.0, file)) && way != 7 {
            let at = self.description(who, file, way);
            self.on(Operation::Mmap, who, at, (0, SIZES[file]), 0x7000);
            if let Some(record) = self.trace.last() {
                record.flags = RecordFlags::PRIVATE;
            }
            self.mapped.push((who.0, file));
        }
        let page = way % SIZES[file].div_ceil(4096);
        let of = self.trace.path(&path(file));
        let index = self.files[file];
        let fault = self.trace.add(Operation::MinorFault, who, 0);
        (fault.path, fault.file, fault.offset) = (Some(of), Some(index), Some(page * 4096));
        (fault.result, fault.duration_ns) = (None, None);
    }

    fn unmap(&mut self, who: (ProcessIndex, u32), file: usize) {
        let file = FIRST_READ_ONLY + file % 2;
        let known = self.mapped.iter().position(|known| *known == (who.0, file));
        if let Some(known) = known {
            self.mapped.remove(known);
            let of = self.trace.path(&path(file));
            let index = self.files[file];
            let record = self.trace.add(Operation::Munmap, who, 0);
            (record.path, record.file) = (Some(of), Some(index));
            (record.offset, record.asked_bytes) = (Some(0), Some(SIZES[file]));
        }
    }

    /// Makes or removes a directory, or asks whether it is there.
    fn directory(&mut self, who: (ProcessIndex, u32), way: u64) {
        let (operation, result) = match (way % 2, self.has_directory) {
            (0, true) => (Operation::Rmdir, 0),
            (0, false) => (Operation::Mkdir, 0),
            (_, is_there) => (Operation::Stat, if is_there { 0 } else { -2 }),
        };
        self.has_directory ^= way.is_multiple_of(2);
        self.trace.on_path(operation, who, "/n", result);
    }
}
