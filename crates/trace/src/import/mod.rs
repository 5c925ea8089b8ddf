//! Importers: what other tools recorded, as batches of records.
//!
//! Each is a sniffer, a reader, and the traps of its format. A line that can't be read is refused,
//! counted, and the first few are kept with their numbers and reasons; an input without any line
//! that can be read is an error. A line that is cut at the end of the input is told, and is no
//! failure.

mod batch;
pub mod blkparse;
pub mod csv;
mod error;
pub mod fio;
mod lines;
pub mod oracle;
pub mod strace;
mod summary;
mod text;

use std::io::BufRead;

use hotset_facts::trace::{TraceBatch, TraceHead, TraceSource};

pub use error::ImportError;
pub use summary::{ImportSummary, LeftOut, RefusedLine};

/// What every importer does.
pub trait Importer {
    /// The next records; none at the end of the input. What is new in the lists of the trace stands
    /// in the batch.
    ///
    /// # Errors
    ///
    /// The input can't be read, or holds nothing of the format.
    fn next_batch(&mut self) -> Result<Option<TraceBatch>, ImportError>;

    /// What the trace is of. Its start is known from the first batch on, what it lacks is whole
    /// after the last.
    fn head(&self) -> TraceHead;

    /// What was read, refused and left out until now.
    fn summary(&self) -> ImportSummary;
}

/// Formats that can be imported.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ImportFormat {
    /// Its word for `--from`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// How a trace calls the source of its records.
    pub source: TraceSource,
    /// Whether the first bytes of an input look like it. A few KiB are enough.
    pub looks_like: fn(&[u8]) -> bool,
}

/// All formats, in the order in which they are asked: those with a signature first, and last those
/// that much else resembles.
pub const FORMATS: &[ImportFormat] = &[
    ImportFormat {
        name: "fio",
        title: "I/O log of fio, version 2 or 3",
        source: TraceSource::Fio,
        looks_like: fio::looks_like,
    },
    ImportFormat {
        name: "csv",
        title: "comma-separated values with the columns of a trace",
        source: TraceSource::Csv,
        looks_like: csv::looks_like,
    },
    ImportFormat {
        name: "strace",
        title: "text of strace -f -ttt -T -y",
        source: TraceSource::Strace,
        looks_like: strace::looks_like,
    },
    ImportFormat {
        name: "blkparse",
        title: "text of blkparse",
        source: TraceSource::Blkparse,
        looks_like: blkparse::looks_like,
    },
    ImportFormat {
        name: "oracle",
        title: "oracleGeneral of libCacheSim",
        source: TraceSource::Oracle,
        looks_like: oracle::looks_like,
    },
];

/// The format that the first bytes of an input look like.
pub fn sniff(first: &[u8]) -> Option<&'static ImportFormat> {
    FORMATS.iter().find(|format| (format.looks_like)(first))
}

/// An importer of a format with its usual options.
///
/// # Errors
///
/// The first line can't be read, or is not the format's.
pub fn open<'a, R: BufRead + 'a>(
    format: &ImportFormat,
    input: R,
) -> Result<Box<dyn Importer + 'a>, ImportError> {
    Ok(match format.source {
        TraceSource::Fio => Box::new(fio::FioImport::new(input)?),
        TraceSource::Csv => Box::new(csv::CsvImport::new(input)?),
        // What hotset recorded is no foreign format: none of the list has it.
        TraceSource::Strace | TraceSource::Recorded => Box::new(strace::import(input)),
        TraceSource::Blkparse => Box::new(blkparse::import(input)),
        TraceSource::Oracle => Box::new(oracle::OracleImport::new(input)),
    })
}

/// A head that says no more than where the records come from, and what they lack.
fn head_of(source: TraceSource, lacks: Vec<String>) -> TraceHead {
    TraceHead {
        hotset: env!("CARGO_PKG_VERSION").to_owned(),
        source,
        started_at: None,
        environment: None,
        command: None,
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: Vec::new(),
        lacks,
    }
}
