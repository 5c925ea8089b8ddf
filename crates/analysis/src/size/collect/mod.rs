//! The records of a recording as references to pages, and what a prediction has to know beside them.

mod leave;
mod mapped;
mod read_ahead;
mod spare;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;

use hotset_facts::format::required;
use hotset_facts::trace::{
    FileIndex, Operation, OperationClass, RecordFlags, TraceBatch, TraceHead, TraceLists,
    TraceRecord,
};
use hotset_facts::{Dev, FileId, FileKind, PageRange};
use serde::{Deserialize, Serialize};

use hotset_sizing::evidence::counts_random_faults;
use hotset_sizing::{Bytes, PAGE_BYTES, References, ReferencesBuilder, TooMany};

use super::SizeHost;
use mapped::Mapped;
use read_ahead::Windows;
use spare::Spare;

/// Threads that are told apart.
const MOST_THREADS: usize = 1 << 12;

/// What was seen of a recording, beside its references.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Seen {
    /// Records of all kinds.
    pub records: u64,
    /// Pages that were asked for by read calls.
    pub read_pages: u64,
    /// Pages that were asked for by write calls.
    pub written_pages: u64,
    /// Touches of mapped pages that were not mapped yet. Later touches of the same page are seen by nobody.
    pub faults: u64,
    /// Of these, those of program code.
    pub code_faults: u64,
    /// Bytes of program code whose pages were touched. What the kernel mapped around them (`fault_around_bytes`) can be in use too, and
    /// is not counted.
    pub code_bytes: u64,
    /// Pages that were read from the device while no request was under way, such as the first of a program.
    pub beside_pages: u64,
    /// Of these, in mappings that the program said it would read at random.
    pub random_faults: u64,
    /// Bytes that went past the cache.
    pub direct_bytes: u64,
    /// Requests whose file or place in it is not known: they are not in the references.
    pub unplaced: u64,
    /// Files with pages in the references.
    pub files: u64,
    /// Threads that asked for them.
    pub threads: u64,
    /// Nanoseconds that read calls and faults waited for pages that the cache lacked.
    pub waited_ns: u64,
    /// Pages that were read from the device for them, those read ahead included; holes of files are not among them.
    pub device_pages: u64,
    /// Of the pages that were asked for, those that the cache had; null where the recording does not tell.
    #[serde(deserialize_with = "required")]
    pub hits: Option<u64>,
    /// Whether a request asked for more than one page.
    pub has_large_requests: bool,
    /// Nanoseconds from the first record to the end of the last.
    pub span_ns: u64,
    /// Records that found no room.
    pub lost: u64,
}

/// What came of the records.
#[derive(Debug)]
pub struct Collected {
    /// The requests and their pages.
    pub references: References,
    /// How often a page was asked for that is cached for others, and is not among them.
    pub held_requests: u64,
    /// What was seen beside.
    pub seen: Seen,
}

/// Takes the records of a recording, batch by batch, all columns.
#[derive(Debug)]
pub struct Collector<'a> {
    lists: &'a TraceLists,
    builder: ReferencesBuilder,
    /// Sizes of files, as far as they were seen to change.
    sizes: HashMap<u32, u64>,
    /// Which file a path led to last.
    files_by_path: HashMap<Vec<u8>, u32>,
    /// Files without a name: their pages go when they are closed.
    nameless: HashSet<u32>,
    /// Processes and files whose mappings are read at random.
    random: HashSet<(u32, u32)>,
    mapped: Mapped,
    spare: Spare<'a>,
    windows: Windows,
    /// Whether the kernel counts their use as recent.
    counts_random: bool,
    files: HashSet<u32>,
    threads: HashSet<u32>,
    from_ns: Option<u64>,
    /// The end of the last record.
    clock_ns: u64,
    is_untold: bool,
    hits: u64,
    seen: Seen,
}

impl<'a> Collector<'a> {
    /// Of a recording with these lists, all of them, for this host; without one, for a new kernel.
    pub fn new(lists: &'a TraceLists, host: Option<SizeHost>) -> Self {
        let paths = (0_u32..).zip(&lists.files).filter_map(|(index, file)| {
            Some((file.path.as_ref()?.as_os_str().as_bytes().to_vec(), index))
        });
        Self {
            lists,
            builder: ReferencesBuilder::new(),
            sizes: HashMap::new(),
            files_by_path: paths.collect(),
            nameless: HashSet::new(),
            random: HashSet::new(),
            mapped: Mapped::default(),
            spare: Spare::default(),
            windows: Windows::default(),
            counts_random: host.is_some_and(|host| counts_random_faults(host.kernel)),
            files: HashSet::new(),
            threads: HashSet::new(),
            from_ns: None,
            clock_ns: 0,
            is_untold: false,
            hits: 0,
            seen: Seen::default(),
        }
    }

    /// Leaves out pages that are cached for others and stay, whatever the limit.
    pub fn hold(&mut self, stuck: &[(FileId, Vec<PageRange>)]) {
        // Who looked did not learn the generation, and did so while the file was there.
        let stuck: HashMap<(Dev, u64), &Vec<PageRange>> =
            stuck.iter().map(|(id, ranges)| ((id.dev, id.ino), ranges)).collect();
        for (index, file) in (0_u32..).zip(&self.lists.files) {
            if let Some(ranges) = file.id.and_then(|id| stuck.get(&(id.dev, id.ino))) {
                self.mapped.hold(index, ranges);
                let ranges = ranges.iter().map(|range| range.first..range.end()).collect();
                self.builder.hold(index, ranges);
            }
        }
    }

    /// Gives pages the room that the program left them while it held less than at its peak. Of one that is said to hold less than that, nobody knows
    /// when: it is taken to hold `other_bytes` all the time.
    pub fn follow_memory(&mut self, head: &'a TraceHead, other_bytes: Option<u64>) {
        let spare = Spare::of(head);
        if other_bytes.is_none_or(|other| other >= spare.peak_bytes()) {
            self.spare = spare;
        }
    }

    /// Takes the records of a batch.
    ///
    /// # Errors
    /// There are more files or pages than can be numbered.
    pub fn add(&mut self, batch: &TraceBatch) -> Result<(), TooMany> {
        for record in &batch.records {
            self.seen.records += 1;
            self.pass(record);
            if record.result.is_none_or(|result| result >= 0) {
                self.take(record, batch)?;
            }
        }
        Ok(())
    }

    /// What came of them.
    pub fn finish(self) -> Collected {
        let mut seen = self.seen.clone();
        seen.code_bytes = self.mapped.code_bytes();
        seen.beside_pages = self.mapped.beside_pages();
        seen.files = self.files.len() as u64;
        seen.threads = self.threads.len() as u64;
        seen.hits = (!self.is_untold).then_some(self.hits);
        seen.span_ns = self.from_ns.map_or(0, |from| self.clock_ns.saturating_sub(from));
        seen.lost = self.lists.gaps.iter().map(|gap| gap.records).sum();
        let held_requests = self.builder.held_requests();
        Collected { references: self.builder.finish(), held_requests, seen }
    }

    /// Lets the time pass that the program would take at any limit: all but waits for pages. Records come in the order in which they
    /// ended, those of several threads overlap.
    fn pass(&mut self, record: &TraceRecord) {
        self.from_ns.get_or_insert(record.start_ns);
        let duration_ns = record.duration_ns.unwrap_or(0);
        let end_ns = record.start_ns.saturating_add(duration_ns);
        let elapsed_ns = end_ns.saturating_sub(self.clock_ns.max(self.from_ns.unwrap_or(0)));
        let waited_ns = if waits_for_pages(record) { duration_ns } else { 0 };
        self.builder.pass(elapsed_ns.saturating_sub(waited_ns));
        self.clock_ns = self.clock_ns.max(end_ns);
        if let Some(process) = record.process {
            self.builder.runs(process.0);
        }
        if let Some(pages) = self.spare.at(self.clock_ns) {
            self.builder.spare(pages);
        }
    }

    fn take(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Result<(), TooMany> {
        match record.class {
            OperationClass::Read | OperationClass::Write | OperationClass::Fault => {
                self.request(record)?;
            }
            OperationClass::Exec | OperationClass::Map => self.mapped.map(record),
            OperationClass::Device if self.is_regular(record) => self.mapped.device(record),
            OperationClass::Sync => self.sync(record),
            OperationClass::Open => self.open(record, batch),
            OperationClass::Close => self.close(record),
            OperationClass::Advice => self.advise(record),
            OperationClass::Size => self.resize(record, batch),
            OperationClass::Name => self.name(record, batch),
            _ => {}
        }
        Ok(())
    }

    fn request(&mut self, record: &TraceRecord) -> Result<(), TooMany> {
        let bytes = moved(record);
        if record.flags.has(RecordFlags::DIRECT) && record.class != OperationClass::Fault {
            self.seen.direct_bytes = self.seen.direct_bytes.saturating_add(bytes);
            if record.class == OperationClass::Write {
                self.remove(record, bytes);
            }
            return Ok(());
        }
        let (Some(FileIndex(file)), Some(offset)) = (record.file, record.offset) else {
            // A request that moved nothing has no pages.
            self.seen.unplaced += u64::from(bytes > 0 || record.class == OperationClass::Fault);
            return Ok(());
        };
        self.count(record, file);
        let range = Bytes { file, offset, len: bytes };
        match record.class {
            OperationClass::Read => {
                let pages = pages_of(&range);
                self.seen.read_pages += pages;
                self.seen.has_large_requests |= pages > 1;
                self.read(record, &range)?;
            }
            OperationClass::Write => {
                self.seen.written_pages += pages_of(&range);
                let before = self.size(file);
                self.builder.write(&range, before)?;
                self.sizes.insert(file, before.max(offset.saturating_add(bytes)));
            }
            _ => {
                let process = record.process.map_or(u32::MAX, |process| process.0);
                let is_random = self.random.contains(&(process, file));
                let page = offset / PAGE_BYTES;
                let user = self.mapped.fault(file, page).then_some(process);
                self.seen.code_faults += u64::from(user.is_some());
                self.seen.faults += 1;
                self.seen.random_faults += u64::from(is_random);
                let is_random = is_random && !self.counts_random;
                let brought = record.pages.map_or(0, |pages| pages.pages.into());
                if record.operation == Operation::MajorFault {
                    let end = self.end(file);
                    let around = self.builder.brought_around(file, page, end, brought);
                    self.fault(file, page, is_random, user)?;
                    self.builder.ahead(file, around)?;
                } else {
                    // The page was there, and told the kernel to read on.
                    self.fault(file, page, is_random, user)?;
                    self.ahead(file, page.saturating_add(1), brought)?;
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, record: &TraceRecord, range: &Bytes) -> Result<(), TooMany> {
        let file = range.file;
        let (behind, end) = (range.offset.saturating_add(range.len), self.end(file));
        let ahead = record.pages.map_or(0, |pages| pages.read_ahead.into());
        let window = record.description.and_then(|description| {
            let window = self.windows.of(self.lists.file(FileIndex(file))?, description)?;
            Some((folded(description), window))
        });
        if let Some((description, window)) = window {
            self.builder.read_through(range, description, window, end)?;
            let first = behind.div_ceil(PAGE_BYTES);
            let ahead = self.builder.brought_ahead(file, first..end, ahead);
            return self.builder.has_pages(file, ahead);
        }
        // Of one without an open file description, nobody knows whether it goes on where another ended.
        let description = record.description.or(record.tid.map(u64::from)).unwrap_or(0);
        self.builder.read(range, folded(description))?;
        self.ahead(file, behind.div_ceil(PAGE_BYTES), ahead)
    }

    /// Adds a touch of a mapped page, of code if it has a user.
    fn fault(
        &mut self,
        file: u32,
        page: u64,
        is_random: bool,
        user: Option<u32>,
    ) -> Result<(), TooMany> {
        match user {
            Some(user) => self.builder.code(file, page, user),
            None => self.builder.fault(file, page, is_random),
        }
    }

    /// Adds pages that were read beside, as far as the file goes.
    fn ahead(&mut self, file: u32, first: u64, pages: u64) -> Result<(), TooMany> {
        if pages == 0 {
            return Ok(());
        }
        let ahead = self.builder.brought_ahead(file, first..self.end(file), pages);
        self.builder.ahead(file, ahead)
    }

    /// Pages of a file, as far as its size is known.
    fn end(&self, file: u32) -> u64 {
        self.size(file).div_ceil(PAGE_BYTES)
    }

    /// Counts who asked for what, and what that waited for.
    fn count(&mut self, record: &TraceRecord, file: u32) {
        self.files.insert(file);
        if let Some(tid) = record.tid
            && self.threads.len() < MOST_THREADS
        {
            self.threads.insert(tid);
        }
        let Some(pages) = record.pages else {
            self.is_untold = true;
            return;
        };
        self.hits = self.hits.saturating_add(pages.hits.into());
        if waits_for_pages(record) {
            let read = u64::from(pages.misses) + u64::from(pages.read_ahead);
            let read = read.saturating_sub(pages.zeros.unwrap_or(0).into());
            self.seen.device_pages = self.seen.device_pages.saturating_add(read);
            let waited_ns = record.duration_ns.unwrap_or(0);
            self.seen.waited_ns = self.seen.waited_ns.saturating_add(waited_ns);
        }
    }

    fn is_regular(&self, record: &TraceRecord) -> bool {
        let file = record.file.and_then(|file| self.lists.file(file));
        file.is_some_and(|file| file.kind == FileKind::Regular)
    }

    /// Its size by now, as far as that is known.
    fn size(&self, file: u32) -> u64 {
        let known = self.sizes.get(&file).copied();
        known.or_else(|| self.lists.file(FileIndex(file))?.size_bytes).unwrap_or(0)
    }
}

/// Bytes that a call moved. Recordings of some other tools have no results: what it asked for, then.
fn moved(record: &TraceRecord) -> u64 {
    let result = record.result.map(|bytes| u64::try_from(bytes).unwrap_or(0));
    result.or(record.asked_bytes).unwrap_or(0)
}

fn pages_of(bytes: &Bytes) -> u64 {
    let end = bytes.offset.saturating_add(bytes.len).div_ceil(PAGE_BYTES);
    if bytes.len == 0 { 0 } else { end.saturating_sub(bytes.offset / PAGE_BYTES) }
}

/// Whether it waited for the device to fill the cache.
fn waits_for_pages(record: &TraceRecord) -> bool {
    let is_request = matches!(record.class, OperationClass::Read | OperationClass::Fault);
    let waited = record.flags.has(RecordFlags::WAITED) || record.operation == Operation::MajorFault;
    let is_cached = !record.flags.has(RecordFlags::DIRECT);
    let lacked = record.pages.is_some_and(|pages| pages.misses > 0 || pages.ahead_hits > 0);
    is_request && waited && is_cached && lacked
}

/// A number of 64 bits in 32: descriptions are told apart by it while both are open, which hardly ever fails.
fn folded(number: u64) -> u32 {
    (number ^ (number >> 32)) as u32
}
