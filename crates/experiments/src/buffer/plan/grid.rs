//! Which combinations are measured.

use hotset_facts::Factor;
use hotset_lab::experiment::{name, number};
use hotset_sys::rawio::buffered::{FileKind, Phase, SyncKind, WriterKind};

use super::amounts::Amounts;

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
    let mut points = Vec::new();
    for &total in &amounts.totals_bytes {
        for &piece in &amounts.pieces_bytes {
            for &buffer in &amounts.buffers_bytes {
                points.push(native(total, piece, buffer));
            }
        }
    }
    let total = amounts.largest();
    let piece = if amounts.pieces_bytes.contains(&16) { 16 } else { 1 };
    points.extend(
        amounts
            .buffers_bytes
            .iter()
            .map(|&buffer| Point { file: FileKind::Existing, ..native(total, piece, buffer) }),
    );
    points.extend(synced(amounts, piece));
    for &piece in &amounts.pieces_bytes {
        for buffer in amounts.library_buffers() {
            points.push(Point { writer: WriterKind::Stdio, ..native(total, piece, buffer) });
        }
        for buffer in [256, 65_536] {
            points.push(Point { writer: WriterKind::StdioNull, ..native(total, piece, buffer) });
        }
    }
    points
}

fn native(total: u64, piece: u64, buffer: u64) -> Point {
    Point {
        total,
        piece,
        buffer,
        sync: SyncKind::None,
        writer: WriterKind::Native,
        file: FileKind::New,
    }
}

/// Three totals and five buffers: more would tell nothing, since the device decides.
fn synced(amounts: &Amounts, piece: u64) -> Vec<Point> {
    let totals = &amounts.totals_bytes;
    let mut some = vec![totals.first(), totals.get(totals.len() / 2), totals.last()];
    some.dedup();
    let mut points = Vec::new();
    for &total in some.into_iter().flatten() {
        for buffer in [0, 256, 4096, 65_536, 1 << 20] {
            for sync in [SyncKind::Fsync, SyncKind::Dsync] {
                points.push(Point { sync, ..native(total, piece, buffer) });
            }
        }
    }
    points
}
