//! Rows kept for sorting, packed: some 30 bytes a file and not 300, so that a million files stay far below 64 MiB.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use hotset_facts::{
    CacheCell, Dev, FileId, ListedFile, Observed, Reason, Residency, ResidencySource,
};

use super::order::{Order, SortKey};
use super::varint::{push, take, take_bytes};

/// Memory grows by so much: a vector that doubles would hold two copies at its peak.
const CHUNK_BYTES: usize = 256 * 1024;

/// A row's tag: who answered, and which parts follow.
const BY_MINCORE: u8 = 1;
const UNKNOWN: u8 = 2;
const HAS_DIRTY: u8 = 4;
const HAS_WRITEBACK: u8 = 8;
const HAS_EVICTED: u8 = 16;
const HAS_RECENTLY: u8 = 32;
const HAS_CELLS: u8 = 64;

/// Rows of one thread of a walk. A row is a tag, the size, the state, the identity, the number of the directory and the
/// name in it; the paths of directories are kept once.
#[derive(Debug, Default)]
pub struct Arena {
    chunks: Vec<Vec<u8>>,
    rows: usize,
    directories: Vec<Box<[u8]>>,
    reasons: Vec<Reason>,
    scratch: Vec<u8>,
}

/// Where a row is: 8 bytes, because there is one for each while they are sorted.
#[derive(Debug, Clone, Copy)]
struct RowRef {
    chunk: u32,
    at: u32,
}

/// Chunks of all arenas are numbered through; this many bits of that number are the arena's.
const ARENA_BITS: u32 = 8;

impl Arena {
    /// Keeps a file. Files of one directory in a row share its path.
    pub fn push(&mut self, file: &ListedFile) {
        let mut row = std::mem::take(&mut self.scratch);
        row.clear();
        self.encode(file, &mut row);
        if self.chunks.last().is_none_or(|chunk| chunk.len() + row.len() > chunk.capacity()) {
            self.chunks.push(Vec::with_capacity(CHUNK_BYTES.max(row.len())));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.extend_from_slice(&row);
            self.rows += 1;
        }
        self.scratch = row;
    }

    /// Files in it.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    fn encode(&mut self, file: &ListedFile, out: &mut Vec<u8>) {
        let at = out.len();
        out.push(0);
        push(out, file.size_bytes);
        let mut tag = match &file.state {
            Observed::Value(state) => encode_state(state, out),
            Observed::Missing(reason) => {
                push(out, self.number_of_reason(*reason));
                UNKNOWN
            }
        };
        push(out, u64::from(file.id.dev.major));
        push(out, u64::from(file.id.dev.minor));
        push(out, file.id.ino);
        if !file.cells.is_empty() {
            tag |= HAS_CELLS;
            push(out, file.cells.len() as u64);
            for cell in &file.cells {
                push(out, cell.pages);
                push(out, cell.cached);
            }
        }
        out[at] = tag;
        let path = file.path.as_os_str().as_bytes();
        let slash = path.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
        let (directory, name) = path.split_at(slash);
        push(out, self.number_of_directory(directory));
        out.extend_from_slice(name);
        // Names hold no NUL, so one ends them and no length is needed.
        out.push(0);
    }

    fn number_of_directory(&mut self, path: &[u8]) -> u64 {
        if self.directories.last().is_none_or(|last| **last != *path) {
            self.directories.push(path.into());
        }
        self.directories.len() as u64 - 1
    }

    fn number_of_reason(&mut self, reason: Reason) -> u64 {
        let known = self.reasons.iter().position(|known| *known == reason);
        let number = known.unwrap_or_else(|| {
            self.reasons.push(reason);
            self.reasons.len() - 1
        });
        number as u64
    }

    fn head<'a>(&self, row: &'a [u8]) -> Head<'a> {
        let mut rest = row;
        let tag = take_bytes(&mut rest, 1).first().copied().unwrap_or(UNKNOWN);
        let size_bytes = take(&mut rest);
        let state = if tag & UNKNOWN == 0 {
            Observed::Value(decode_state(tag, size_bytes, &mut rest))
        } else {
            let number = take(&mut rest) as usize;
            let lost = Reason::not_measured("unknown");
            Observed::Missing(self.reasons.get(number).copied().unwrap_or(lost))
        };
        Head { tag, size_bytes, state, rest }
    }

    fn file(&self, row: &[u8]) -> ListedFile {
        let Head { tag, size_bytes, state, mut rest } = self.head(row);
        let id = take_id(&mut rest);
        let cells = take_cells(tag, &mut rest);
        let (directory, name) = self.take_path(&mut rest);
        let path = PathBuf::from(OsStr::from_bytes(&[directory, name].concat()));
        ListedFile { path, id, size_bytes, state, cells }
    }

    /// The directory, with its slash, and the name.
    fn path<'a>(&'a self, row: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let Head { tag, mut rest, .. } = self.head(row);
        take_id(&mut rest);
        take_cells(tag, &mut rest);
        self.take_path(&mut rest)
    }

    fn take_path<'a>(&'a self, rest: &mut &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let directory = self.directories.get(take(rest) as usize).map_or(&[][..], |path| path);
        let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len()) as u64;
        let name = take_bytes(rest, end);
        take_bytes(rest, 1);
        (directory, name)
    }

    /// Where the rows of a chunk begin.
    fn starts(&self, chunk: &[u8]) -> Vec<u32> {
        let mut starts = Vec::new();
        let mut rest = chunk;
        while !rest.is_empty() {
            starts.push((chunk.len() - rest.len()) as u32);
            let Head { tag, rest: mut tail, .. } = self.head(rest);
            take_id(&mut tail);
            take_cells(tag, &mut tail);
            self.take_path(&mut tail);
            rest = tail;
        }
        starts
    }
}

/// What orders most rows, read without the rest.
struct Head<'a> {
    tag: u8,
    size_bytes: u64,
    state: Observed<Residency>,
    rest: &'a [u8],
}

fn encode_state(state: &Residency, out: &mut Vec<u8>) -> u8 {
    push(out, state.pages);
    push(out, state.cached_pages);
    if state.source == ResidencySource::Mincore {
        return BY_MINCORE;
    }
    let mut tag = 0;
    for (field, bit) in [
        (state.dirty_pages, HAS_DIRTY),
        (state.writeback_pages, HAS_WRITEBACK),
        (state.evicted_pages, HAS_EVICTED),
        (state.recently_evicted_pages, HAS_RECENTLY),
    ] {
        if let Some(value) = field.value().filter(|&value| value > 0) {
            tag |= bit;
            push(out, value);
        }
    }
    tag
}

fn decode_state(tag: u8, size_bytes: u64, rest: &mut &[u8]) -> Residency {
    let (pages, cached_pages) = (take(rest), take(rest));
    let answer = Residency::from_mincore(size_bytes, pages, cached_pages);
    if tag & BY_MINCORE != 0 {
        return answer;
    }
    let mut next = |bit| Observed::Value(if tag & bit == 0 { 0 } else { take(rest) });
    Residency {
        dirty_pages: next(HAS_DIRTY),
        writeback_pages: next(HAS_WRITEBACK),
        evicted_pages: next(HAS_EVICTED),
        recently_evicted_pages: next(HAS_RECENTLY),
        source: ResidencySource::Cachestat,
        ..answer
    }
}

fn take_id(rest: &mut &[u8]) -> FileId {
    let (major, minor) = (take(rest) as u32, take(rest) as u32);
    FileId::new(Dev { major, minor }, take(rest))
}

fn take_cells(tag: u8, rest: &mut &[u8]) -> Vec<CacheCell> {
    if tag & HAS_CELLS == 0 {
        return Vec::new();
    }
    let count = take(rest);
    (0..count).map(|_| CacheCell { pages: take(rest), cached: take(rest) }).collect()
}

/// The rows of several arenas in order, each unpacked when its turn comes. Rows beyond the 256th arena are left out: a
/// walk has a thread for each.
pub fn sorted(arenas: &[Arena], order: Order) -> impl Iterator<Item = ListedFile> {
    let mut rows: Vec<RowRef> = Vec::with_capacity(arenas.iter().map(Arena::len).sum());
    for (arena, number) in arenas.iter().zip(0..1_u32 << ARENA_BITS) {
        for (chunk, chunk_number) in arena.chunks.iter().zip(0_u32..) {
            let chunk_number = chunk_number << ARENA_BITS | number;
            let starts = arena.starts(chunk);
            rows.extend(starts.into_iter().map(|at| RowRef { chunk: chunk_number, at }));
        }
    }
    rows.sort_unstable_by(|a, b| compare(order, row_of(arenas, *a), row_of(arenas, *b)));
    rows.into_iter().map(|row| {
        let (arena, bytes) = row_of(arenas, row);
        arena.file(bytes)
    })
}

fn row_of(arenas: &[Arena], row: RowRef) -> (&Arena, &[u8]) {
    let arena = &arenas[(row.chunk & ((1 << ARENA_BITS) - 1)) as usize];
    (arena, &arena.chunks[(row.chunk >> ARENA_BITS) as usize][row.at as usize..])
}

fn compare(order: Order, a: (&Arena, &[u8]), b: (&Arena, &[u8])) -> Ordering {
    let by_path = || order.by_joined_path(a.0.path(a.1), b.0.path(b.1));
    if order.key == SortKey::Name {
        return by_path();
    }
    let (head_a, head_b) = (a.0.head(a.1), b.0.head(b.1));
    let by_rank = order.by_rank(
        order.rank(head_a.size_bytes, &head_a.state),
        order.rank(head_b.size_bytes, &head_b.state),
    );
    by_rank.then_with(by_path)
}

#[cfg(test)]
mod tests;
