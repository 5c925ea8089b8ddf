//! Cells of files that are read, and of memory.

use std::path::Path;
use std::time::Duration;

use hotset_facts::{Factor, WantedState};
use hotset_lab::Word;
use hotset_lab::experiment::{CellPlan, Expects, Part, ProbeCommand, Splits, name, number};
use hotset_sys::rawio::reread::{BufferKind, CacheUse, What};

use super::amounts::ReadFile;

/// The most that one read(2) takes, on any Linux.
const READ_BYTES: u64 = 0x7fff_f000;

/// What a file holds that is only read.
pub(super) const PATTERN: &str = "pattern";
/// The same of a file of the user's.
pub(super) const OWN: &str = "file";

/// A file that is read again and again in one process.
pub(super) struct Read<'a> {
    pub(super) path: &'a Path,
    pub(super) what: What,
    /// `pattern`, `json` or `file`.
    pub(super) contents: &'static str,
    pub(super) bytes: u64,
    pub(super) cache: CacheUse,
    pub(super) buffer: BufferKind,
    pub(super) count: u32,
    pub(super) pause: Duration,
}

impl Read<'_> {
    pub(super) fn factors(&self, parser: &str) -> Vec<Factor> {
        vec![
            name("what", self.what.as_str()),
            name("contents", self.contents),
            number("size_bytes", self.bytes),
            name("cache", if self.what.reads() { self.cache.as_str() } else { "none" }),
            name("buffer", self.buffer.as_str()),
            name("parser", parser),
        ]
    }

    fn words(&self) -> Vec<Word> {
        vec![
            ("file", self.path.into()),
            ("count", self.count.to_string().into()),
            ("what", self.what.as_str().into()),
            ("cache", self.cache.as_str().into()),
            ("buffer", self.buffer.as_str().into()),
            ("sleep_ms", self.pause.as_millis().to_string().into()),
        ]
    }

    /// The state that the first read finds. Nothing is set for what reads no file.
    pub(super) fn state(&self) -> WantedState {
        match self.cache {
            _ if !self.what.reads() => WantedState::AsIs,
            CacheUse::Warm => WantedState::Warm,
            CacheUse::Evicted | CacheUse::Kept | CacheUse::Direct => WantedState::Cold,
        }
    }

    /// What so many reads must show, the first among them or not.
    fn expects(&self, reads: u64, with_first: bool) -> Expects {
        let mapped = matches!(self.buffer, BufferKind::Mmap | BufferKind::MmapPopulate);
        let calls = if mapped { 0 } else { reads * self.bytes.div_ceil(READ_BYTES) };
        let bytes = reads * self.bytes;
        let of_cache = match self.cache {
            _ if !self.what.reads() => Expects::default(),
            CacheUse::Warm => Expects::warm(),
            CacheUse::Kept if !with_first => Expects::warm(),
            CacheUse::Evicted | CacheUse::Kept => Expects::cold(bytes),
            // Nothing is inserted into the cache.
            CacheUse::Direct => Expects { inserted_pages: None, ..Expects::cold(bytes) },
        };
        let read_calls = self.what.reads().then_some((calls, calls));
        Expects { read_calls, ..of_cache }
    }
}

/// A cell of reads with its parts: the first read, the median of the later ones, and their mean.
pub(super) fn read_cell(read: &Read<'_>) -> CellPlan {
    cell(read, "none", ProbeCommand::native("reread", read.words()))
}

/// The same with a parser of this binary.
pub(super) fn parse_cell(read: &Read<'_>, parser: &'static str) -> CellPlan {
    let mut words = read.words();
    words.push(("parser", parser.into()));
    cell(read, parser, ProbeCommand::native("reread", words))
}

/// Memory of the size of a file, without the file.
pub(super) fn memory_cell(file: &ReadFile, what: What, buffer: BufferKind, count: u32) -> CellPlan {
    let (cache, pause) = (CacheUse::Warm, Duration::ZERO);
    let ReadFile { ref path, bytes, contents } = *file;
    read_cell(&Read { path, what, contents, bytes, cache, buffer, count, pause })
}

fn cell(read: &Read<'_>, parser: &str, probe: ProbeCommand) -> CellPlan {
    let mut cell = CellPlan::new(read.factors(parser), read.state(), probe);
    if read.what.reads() {
        cell.files = vec![read.path.to_owned()];
        cell.expects.bytes = Some(read.bytes * u64::from(read.count));
        cell.expects.calls = vec![("open", u64::from(read.count))];
    }
    // The kernel's count of each timed part is shown.
    cell.count_calls = false;
    cell.expects.operations = Some(u64::from(read.count));
    let later = u64::from(read.count) - 1;
    cell.splits = Splits::Parts(vec![
        Part::first(read.expects(1, true)),
        Part::later(read.expects(1, false)),
        Part::later_mean(read.expects(later, false)),
    ]);
    cell
}
