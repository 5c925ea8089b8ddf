//! What the threads of the fixture do.

use std::collections::HashSet;

use hotset_facts::random::Random;
use hotset_facts::trace::{
    FileIndex, Operation, ProcessIndex, RecordFlags, RecordPages, SiteIndex, TraceRecord,
};

use super::lists::*;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
/// How long the recording takes, in nanoseconds.
const LENGTH: u64 = 12_000 * MS;
const PAGE: u64 = 4096;

/// A record, with its path as text.
pub(super) struct Event {
    pub(super) record: TraceRecord,
    pub(super) path: Option<String>,
}

/// A thread with its own clock.
struct Thread {
    tid: u32,
    process: ProcessIndex,
    now: u64,
    random: Random,
    events: Vec<Event>,
}

/// About so many records.
pub(super) fn events(records: usize) -> Vec<Event> {
    let share = |percent: usize| (records * percent / 100).max(1);
    let mut cached = HashSet::new();
    let mut all: Vec<Event> = (0..4)
        .flat_map(|worker| Thread::new(4101 + worker, SHOPD).queries(share(16), &mut cached))
        .collect();
    all.extend(Thread::new(4105, SHOPD).commits(share(6)));
    all.extend(Thread::new(4110, LOADER).load(share(15)));
    all.extend(Thread::new(4100, SHOPD).start_up(share(10)));
    all.extend(Thread::new(4106, SHOPD).audit(share(3)));
    all
}

impl Thread {
    fn new(tid: u32, process: ProcessIndex) -> Self {
        let random = Random::new(u64::from(tid));
        Self { tid, process, now: u64::from(tid % 7) * 3 * MS, random, events: Vec::new() }
    }

    /// A time around `ns`: most a little less, some many times as much.
    fn around(&mut self, ns: u64) -> u64 {
        let tail = if self.random.below(50) == 0 { 2 + self.random.below(9) } else { 1 };
        (ns * 7 / 10 + self.random.below(ns * 6 / 10 + 1)) * tail
    }

    /// Makes a record that takes about so long, and has the clock go on.
    fn event(
        &mut self,
        operation: Operation,
        file: FileIndex,
        ns: u64,
        change: impl FnOnce(&mut TraceRecord),
    ) {
        let duration = self.around(ns);
        let mut record = TraceRecord {
            duration_ns: Some(duration),
            process: Some(self.process),
            tid: Some(self.tid),
            file: Some(file),
            ..TraceRecord::new(self.now, operation)
        };
        change(&mut record);
        self.now += duration;
        self.events.push(Event { record, path: None });
    }

    /// Lets time pass, so that `count` requests fill the recording.
    fn pause(&mut self, count: usize, used: u64) {
        let mean = (LENGTH / count.max(1) as u64).saturating_sub(used);
        self.now += self.random.below(2 * mean + 1);
    }

    /// Random reads of a few hot blocks and many cold ones; now and then a scan, and a lookup in a mapped index.
    fn queries(mut self, count: usize, cached: &mut HashSet<u64>) -> Vec<Event> {
        const BLOCK: u64 = 8192;
        let blocks = DATABASE_BYTES / BLOCK;
        while self.events.len() < count && self.now < LENGTH {
            let hot = self.random.below(3) > 0;
            let block =
                if hot { self.random.below(blocks / 64) } else { self.random.below(blocks) };
            let missed = cached.insert(block);
            let pages = if missed { pages(2, 0, 2, 0) } else { pages(2, 0, 0, 0) };
            let site = if hot { QUERY } else { SCAN };
            let read = Request { at: block * BLOCK, bytes: BLOCK, pages: Some(pages), site };
            let (ns, waited) = if missed { (190 * US, true) } else { (2 * US, false) };
            self.event(Operation::Pread, DATABASE, ns, |record| read.fill(record, waited));
            if self.random.below(6) == 0 {
                self.fault(INDEX, INDEX_BYTES, 150 * US);
            }
            self.pause(count, 60 * US);
        }
        self.events
    }

    /// A first touch of a page: most bring in the pages around them.
    fn fault(&mut self, file: FileIndex, file_bytes: u64, ns: u64) {
        let page = self.random.below(file_bytes / PAGE);
        let major = self.random.below(3) == 0;
        let operation = if major { Operation::MajorFault } else { Operation::MinorFault };
        let brought = if major { pages(16, 0, 16, 0) } else { pages(0, 0, 0, 0) };
        let read = Request { at: page * PAGE, bytes: 0, pages: Some(brought), site: RANK };
        self.event(operation, file, if major { ns } else { US }, |record| {
            read.fill(record, major);
            (record.result, record.asked_bytes) = (None, None);
            record.duration_ns = record.duration_ns.filter(|_| major);
            record.device_read_bytes = major.then_some(16 * PAGE);
        });
    }

    /// Small writes to the end of the log, each synced.
    fn commits(mut self, count: usize) -> Vec<Event> {
        let mut end = 0;
        while self.events.len() < count && self.now < LENGTH {
            let bytes = 4096 + 24 * self.random.below(700);
            let created = u32::try_from(bytes.div_ceil(PAGE)).unwrap_or(1);
            let written = RecordPages { pages: created + 1, hits: 1, ..RecordPages::default() };
            let write = Request { at: end, bytes, pages: Some(written), site: APPEND };
            self.event(Operation::Pwrite, LOG, 6 * US, |record| write.fill(record, false));
            let sync = Request { at: 0, bytes: 0, pages: None, site: COMMIT };
            self.event(Operation::Fdatasync, LOG, 1_800 * US, |record| {
                sync.fill(record, true);
                (record.offset, record.asked_bytes) = (None, None);
                record.device_write_bytes = Some(bytes.next_multiple_of(PAGE) + PAGE);
            });
            end += bytes;
            self.pause(count / 2, 1_800 * US);
        }
        self.events
    }

    /// The whole file in order: the kernel reads ahead, and every so often the thread waits for it.
    fn load(mut self, count: usize) -> Vec<Event> {
        const BUFFER: u64 = 32 << 10;
        self.now = 2_000 * MS;
        let (size, mut at) = (IMPORT_BYTES, 0);
        for number in 0..count {
            let bytes = BUFFER.min(size - at % size);
            let (pages, waited, ns) = match number % 16 {
                0 => (pages(8, 0, 8, 24), true, 480 * US),
                1..8 => (pages(8, 8, 0, 0), number % 5 == 0, 9 * US),
                _ => (pages(8, 8, 0, 32), false, 11 * US),
            };
            let read = Request { at: at % size, bytes, pages: Some(pages), site: PARSE };
            self.event(Operation::Read, IMPORT, ns, |record| {
                read.fill(record, waited);
                record.flags = record.flags.with(RecordFlags::POSITION);
            });
            at += bytes;
            self.now += self.random.below(2 * 4_000 * MS / count.max(1) as u64 + 1);
        }
        self.events
    }

    /// Configuration that is looked for in many places, and a library that is mapped.
    fn start_up(mut self, count: usize) -> Vec<Event> {
        const PLACES: [&str; 5] = [
            "/opt/shop/etc",
            "/usr/local/etc/shop",
            "/root/.config/shop",
            "/srv/shop/conf",
            "/etc/shop",
        ];
        for number in 0..count {
            let place = PLACES[number % PLACES.len()];
            let found = number % PLACES.len() == PLACES.len() - 1;
            let operation = if number % 3 == 0 { Operation::Newfstatat } else { Operation::Openat };
            self.event(operation, CONFIG, if found { 5 * US } else { 3 * US }, |record| {
                record.result = Some(if found { 7 } else { -2 });
                record.file = record.file.filter(|_| found);
                record.site = Some(STARTUP);
            });
            let path = format!("{place}/shop.conf.{}", number / PLACES.len() % 12);
            if let Some(event) = self.events.last_mut() {
                event.path = Some(path);
            }
            if number % 4 == 0 {
                self.fault(LIBRARY, LIBRARY_BYTES, 120 * US);
            }
            self.now += self.random.below(900 * MS / count.max(1) as u64 + 1);
        }
        self.events
    }

    /// Direct writes to a ring of a few megabytes.
    fn audit(mut self, count: usize) -> Vec<Event> {
        for number in 0..count as u64 {
            let at = number * (64 << 10) % (8 << 20);
            let write = Request { at, bytes: 64 << 10, pages: None, site: AUDITED };
            self.event(Operation::Pwrite, AUDIT, 310 * US, |record| {
                write.fill(record, true);
                record.flags = record.flags.with(RecordFlags::DIRECT);
                record.device_write_bytes = Some(64 << 10);
            });
            self.pause(count, 310 * US);
        }
        self.events
    }
}

/// Pages of a read: how many, of these read-ahead hits and misses, and pages read ahead beside.
fn pages(pages: u32, ahead_hits: u32, misses: u32, read_ahead: u32) -> RecordPages {
    RecordPages { pages, hits: pages - misses, ahead_hits, misses, zeros: Some(0), read_ahead }
}

struct Request {
    at: u64,
    bytes: u64,
    pages: Option<RecordPages>,
    site: SiteIndex,
}

impl Request {
    fn fill(&self, record: &mut TraceRecord, waited: bool) {
        record.offset = Some(self.at);
        record.asked_bytes = Some(self.bytes);
        record.result = i64::try_from(self.bytes).ok();
        record.pages = self.pages;
        record.site = Some(self.site);
        record.description = record.file.map(|file| u64::from(file.0) + 1);
        record.flags = if waited { RecordFlags::WAITED } else { RecordFlags::NONE };
        let read = self.pages.map_or(0, |pages| u64::from(pages.misses + pages.read_ahead));
        record.device_read_bytes = Some(read * PAGE);
    }
}
