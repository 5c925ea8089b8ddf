//! A trace, read in two passes: for its numbers, then for its pictures.

use std::fs::{self, File};
use std::path::Path;

use anyhow::Result;
use hotset_analysis::trace::pictures::{PictureSize, Pictures, TracePictures};
use hotset_analysis::trace::{Tally, TraceSummary};
use hotset_trace::{Column, Columns, Reader};
use hotset_view::trace::Trace;

use super::trace_batches::each_batch;

/// Columns that pictures need.
const PICTURE: &[Column] = &[
    Column::StartNs,
    Column::Op,
    Column::Class,
    Column::File,
    Column::Offset,
    Column::Result,
    Column::Flags,
    Column::Pages,
    Column::Hits,
    Column::AheadHits,
    Column::Misses,
    Column::Zeros,
    Column::ReadAhead,
];

/// Columns that pictures of threads need besides: a terminal has none.
const THREADS: &[Column] = &[Column::DurationNs, Column::Tid];

/// What was read of a trace.
pub(super) struct TraceRead {
    reader: Reader<File>,
    summary: TraceSummary,
    pictures: TracePictures,
    file_bytes: Option<u64>,
}

impl TraceRead {
    /// Reads a trace: lists of at most `top` rows, and pictures of this size.
    ///
    /// # Errors
    /// The file, and what is wrong with it.
    pub(super) fn of(path: &Path, top: usize, size: &PictureSize) -> Result<Self> {
        let reader = super::trace::open(path)?;
        let file_bytes = fs::metadata(path).ok().map(|metadata| metadata.len());
        let mut tally = Tally::new(reader.head().source);
        tally.learn(reader.lists());
        each_batch(path, &reader, Columns::ALL, |batch| tally.add(batch))?;
        let summary = tally.finish(top);
        let mut pictures = Pictures::new(&summary, size);
        let threads = if size.threads > 0 { THREADS } else { &[] };
        let columns = Columns::of(&[PICTURE, threads].concat());
        each_batch(path, &reader, columns, |batch| pictures.add(batch))?;
        Ok(Self { pictures: pictures.finish(), reader, summary, file_bytes })
    }

    /// It as `view` shows it.
    pub(super) fn trace(&self) -> Trace<'_> {
        Trace {
            head: self.reader.head(),
            summary: &self.summary,
            pictures: &self.pictures,
            file_bytes: self.file_bytes,
        }
    }
}
