//! Pictures of a trace: where in the costliest files requests were, and what each thread did, over time.
//!
//! They take a second pass over the records: which files and threads are worth one, how long the trace is and how far a file
//! is used is only known after the first.

mod grid;
mod lanes;

use hotset_facts::trace::TraceBatch;

use super::kind::{RequestKind, waited};
use super::summary::{TraceFileNumbers, TraceSummary};
use grid::Grid;
pub use grid::{FilePicture, GridCell, GridLayer};
use lanes::Lanes;
pub use lanes::{LaneCell, ThreadPicture};

/// A base page, in bytes.
const PAGE: u64 = 4096;

/// Of the time of all requests: files with less have no picture, unless they are the costliest.
const LEAST_SHARE: f64 = 0.02;

/// How large the pictures are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSize {
    /// Files that have one, the costliest first.
    pub files: usize,
    /// Threads that have a line, those that waited longest first.
    pub threads: usize,
    /// Steps of time at most.
    pub columns: usize,
    /// Steps of a file's offsets at most.
    pub rows: usize,
    /// Cells of a file's picture at most: beyond, it is drawn in half as many columns or rows.
    pub cells: usize,
}

impl PictureSize {
    /// For a page: as fine as a screen, and a few hundred kilobytes of text for each file at most.
    pub const PAGE: Self = Self { files: 8, threads: 32, columns: 1024, rows: 256, cells: 40_000 };

    /// The costliest file alone, for a terminal.
    pub const fn terminal(columns: usize, rows: usize) -> Self {
        Self { files: 1, threads: 0, columns, rows, cells: usize::MAX }
    }
}

/// Whether a file has places, or times, to tell apart: not so a file of a page or two that was read once.
fn is_worth_one(file: &TraceFileNumbers) -> bool {
    const FEW_BYTES: u64 = 4 * PAGE;
    const FEW_RECORDS: u64 = 50;
    file.extent_bytes > FEW_BYTES || (file.extent_bytes > 0 && file.counts.records > FEW_RECORDS)
}

/// Steps of a whole, each as large as the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Steps {
    from: u64,
    step: u64,
    count: usize,
}

impl Steps {
    /// At most `most` steps from `from` to `to`.
    fn of_time(from: u64, to: u64, most: usize) -> Self {
        let length = to.saturating_sub(from).max(1);
        let step = length.div_ceil(most.max(1) as u64).max(1);
        Self { from, step, count: length.div_ceil(step) as usize }
    }

    /// At most `most` steps of a file that is used up to `end`: pages, or as many of them as give a power of two, whose
    /// multiples are short to read.
    fn of_offsets(end: u64, most: usize) -> Self {
        let length = end.max(1);
        let step = length.div_ceil(most.max(1) as u64).max(PAGE);
        let step = step.checked_next_power_of_two().unwrap_or(u64::MAX);
        Self { from: 0, step, count: length.div_ceil(step) as usize }
    }

    /// The step that holds a point; points beyond the ends are in the first or the last.
    fn at(&self, point: u64) -> usize {
        let at = point.saturating_sub(self.from) / self.step;
        (at as usize).min(self.count.saturating_sub(1))
    }
}

/// What the second pass comes to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TracePictures {
    /// Of files, the costliest first. Files have none that took less than 2 % of the time of all requests, unless no other is
    /// as costly, or of which a picture would show a handful of requests in a page or two.
    pub files: Vec<FilePicture>,
    /// Of threads, those that waited longest first.
    pub threads: Vec<ThreadPicture>,
}

/// Draws them, batch by batch.
///
/// Memory is bounded by the size: 8 bytes for each cell of a file and kind of request that it has (at most 8 kinds), 24 for
/// each column of a thread.
#[derive(Debug)]
pub struct Pictures {
    grids: Vec<Grid>,
    lanes: Lanes,
}

impl Pictures {
    /// Of the files and threads that the first pass found costliest.
    pub fn new(summary: &TraceSummary, size: &PictureSize) -> Self {
        let (from, to) = (summary.from_ns.unwrap_or(0), summary.to_ns.unwrap_or(0));
        let time = Steps::of_time(from, to, size.columns);
        let files = summary.files.iter().filter(|file| is_worth_one(file));
        let files = files.enumerate().take_while(|(at, file)| {
            *at == 0 || summary.time_share(&file.counts).is_none_or(|share| share >= LEAST_SHARE)
        });
        let files = files.take(size.files).map(|(_, file)| Grid::new(file, time, size));
        let grids = files.collect();
        let threads = summary.threads.iter().take(size.threads);
        Self { grids, lanes: Lanes::new(threads, time) }
    }

    /// Draws the records of a batch.
    pub fn add(&mut self, batch: &TraceBatch) {
        for record in &batch.records {
            let kind = RequestKind::of(record);
            if let Some(file) = record.file {
                // A handful: no table is faster.
                let grid = self.grids.iter_mut().find(|grid| grid.index() == file.0);
                grid.into_iter().for_each(|grid| grid.draw(record, kind));
            }
            self.lanes.draw(record, kind, waited(record, kind));
        }
    }

    /// The pictures.
    pub fn finish(self) -> TracePictures {
        TracePictures {
            files: self.grids.into_iter().map(Grid::finish).collect(),
            threads: self.lanes.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn steps_hold_every_point(from in 0..1u64 << 62, length in 0..1u64 << 62, most in 1usize..2000) {
            let time = Steps::of_time(from, from + length, most);
            let offsets = Steps::of_offsets(length, most);
            prop_assert!(offsets.step >= PAGE && offsets.step.is_power_of_two());
            for (steps, from) in [(time, from), (offsets, 0)] {
                prop_assert!(steps.count >= 1 && steps.count <= most);
                prop_assert!(steps.step.saturating_mul(steps.count as u64) >= length);
                prop_assert_eq!((steps.at(from), steps.at(0), steps.at(u64::MAX)), (0, 0, steps.count - 1));
            }
        }
    }
}
