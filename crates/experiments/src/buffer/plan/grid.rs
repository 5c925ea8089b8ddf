//! Which combinations are measured.

use hotset_facts::Factor;
use hotset_lab::experiment::{name, number};
use hotset_sys::rawio::buffered::{FileKind, Phase, SyncKind, WriterKind};

use super::amounts::{Amounts, LIBRARY_BUFFERS};

/// One combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) total: u64,
    pub(super) piece: u64,
    pub(super) buffer: u64,
    pub(super) sync: SyncKind,
    pub(super) writer: WriterKind,
    pub(super) file: FileKind,
}

impl Point {
    /// The native writer, a new file and no sync.
    pub(super) fn native(total: u64, piece: u64, buffer: u64) -> Self {
        let (sync, writer, file) = (SyncKind::None, WriterKind::Native, FileKind::New);
        Self { total, piece, buffer, sync, writer, file }
    }

    /// Write calls of one file: `ceil(total / max(piece, buffer))`. That is exact for the native writer; for stdio from
    /// buffers of 128 bytes on, below which glibc writes what doesn't fit directly. `stdio_bytes` is the buffer that stdio
    /// takes where it is given none of the program's memory.
    pub(super) fn calls(self, stdio_bytes: u64) -> u64 {
        let buffer = match self.writer {
            WriterKind::StdioNull if self.buffer > 0 => stdio_bytes,
            _ => self.buffer,
        };
        self.total.div_ceil(self.piece.max(buffer))
    }

    pub(super) fn factors(self, phase: Phase) -> Vec<Factor> {
        vec![
            number("total_bytes", self.total),
            number("piece_bytes", self.piece),
            number("buffer_bytes", self.buffer),
            name("sync", self.sync.as_str()),
            name("writer", self.writer.as_str()),
            name("file", self.file.as_str()),
            name("phase", phase.as_str()),
        ]
    }
}

/// The native writer over all totals, pieces and buffers; the same over a file that is there already, with syncs, and stdio,
/// for fewer of them.
pub(super) fn points(amounts: &Amounts) -> Vec<Point> {
    if amounts.is_quick {
        return quick_points(amounts);
    }
    let (totals, pieces) = (&amounts.totals_bytes, &amounts.pieces_bytes);
    let (largest, usual) = ([amounts.largest()], [if pieces.contains(&16) { 16 } else { 1 }]);
    let mut points = product(totals, pieces, &amounts.buffers_bytes);
    for point in product(&largest, &usual, &amounts.buffers_bytes) {
        points.push(Point { file: FileKind::Existing, ..point });
    }
    // Three totals and five buffers: more would tell nothing, since the device decides.
    let some = [totals.first(), totals.get(totals.len() / 2), totals.last()];
    let mut some: Vec<u64> = some.into_iter().flatten().copied().collect();
    some.dedup();
    for point in product(&some, &usual, &[0, 256, 4096, 65_536, 1 << 20]) {
        points.extend([SyncKind::Fsync, SyncKind::Dsync].map(|sync| Point { sync, ..point }));
    }
    for &piece in pieces {
        for point in product(&largest, &[piece], &LIBRARY_BUFFERS) {
            points.push(Point { writer: WriterKind::Stdio, ..point });
        }
        for point in product(&largest, &[piece], &[256, 65_536]) {
            points.push(Point { writer: WriterKind::StdioNull, ..point });
        }
    }
    points
}

/// What the answers need: all buffers in the largest file, and of the rest the buffers that are compared.
fn quick_points(amounts: &Amounts) -> Vec<Point> {
    let (largest, pieces) = (amounts.largest(), &amounts.pieces_bytes);
    let of = |total, buffers: &[u64]| product(&[total], pieces, buffers);
    let mut points = of(largest, &amounts.buffers_bytes);
    let smallest = amounts.totals_bytes.first().copied().unwrap_or(largest);
    points.extend(of(smallest, &[4096]).into_iter().filter(|_| smallest < largest));
    let with = |change: fn(Point) -> Point, total, buffers: &[u64]| {
        of(total, buffers).into_iter().map(change).collect::<Vec<_>>()
    };
    points.extend(with(|point| Point { file: FileKind::Existing, ..point }, largest, &[0, 4096]));
    let fsync = |point| Point { sync: SyncKind::Fsync, ..point };
    points.extend(with(fsync, largest, &[0, 4096, 65_536]));
    // Each call waits for the device: a file of which a small buffer makes few.
    let middle = amounts.totals_bytes.get(amounts.totals_bytes.len() / 2).copied();
    let dsync = |point| Point { sync: SyncKind::Dsync, ..point };
    points.extend(with(dsync, middle.unwrap_or(largest), &[1024, 4096]));
    let stdio = |point| Point { writer: WriterKind::Stdio, ..point };
    points.extend(with(stdio, largest, &[4096, 65_536]));
    points.extend(with(
        |point| Point { writer: WriterKind::StdioNull, ..point },
        largest,
        &[65_536],
    ));
    points
}

/// All combinations with each of these writers.
pub(super) fn chosen_points(amounts: &Amounts, writers: &[WriterKind]) -> Vec<Point> {
    let all = product(&amounts.totals_bytes, &amounts.pieces_bytes, &amounts.buffers_bytes);
    let with = |&writer: &WriterKind| all.iter().map(move |&point| Point { writer, ..point });
    writers.iter().flat_map(with).collect()
}

/// The native writer over all of these.
pub(super) fn product(totals: &[u64], pieces: &[u64], buffers: &[u64]) -> Vec<Point> {
    let mut points = Vec::new();
    for &total in totals {
        for &piece in pieces {
            points.extend(buffers.iter().map(|&buffer| Point::native(total, piece, buffer)));
        }
    }
    points
}
