//! The format of a trace, `hotset.trace/1`: a Parquet file with a row for each request. docs/trace-format.md describes it.
//!
//! [`Writer`] takes the records of a recording or an importer, [`Reader`] hands them to whoever exports, replays or explains them;
//! both by `TraceBatch`, with the memory of one row group. [`Parts`] are what a recording leaves while it runs, [`join()`] makes
//! one file of them; [`import`] makes batches of what other tools wrote, [`export`] makes of batches what they read. What is written has checksums: what was damaged is told and not read. The crate must not open files or read
//! clocks, and must not trust a length or number that it reads.
//!
//! ```
//! use hotset_facts::trace::{Operation, PathIndex, TraceBatch, TraceHead, TraceRecord, TraceSource};
//! use hotset_trace::{Bytes, Columns, Reader, Writer};
//!
//! let head = TraceHead {
//!     hotset: "0.1.0".to_owned(),
//!     source: TraceSource::Strace,
//!     started_at: None,
//!     environment: None,
//!     command: None,
//!     cost: None,
//!     memory: None,
//!     memory_steps: Vec::new(),
//!     reclaim: None,
//!     not_measured: Vec::new(),
//!     lacks: vec!["strace tells nothing of the page cache".to_owned()],
//! };
//! let mut record = TraceRecord::new(1_000, Operation::Openat);
//! record.path = Some(PathIndex(0));
//! record.result = Some(-2);
//! let batch = TraceBatch { records: vec![record], paths: vec![b"/etc/app.conf".to_vec()], ..TraceBatch::default() };
//!
//! let mut writer = Writer::new(Vec::new(), &head, None)?;
//! writer.write(&batch)?;
//! let finished = writer.finish(0, true)?;
//!
//! let reader = Reader::new(Bytes::from(finished.out))?;
//! assert_eq!(reader.head(), &head);
//! for read in reader.batches(Columns::ALL) {
//!     assert_eq!(read?, batch);
//! }
//! # Ok::<(), hotset_trace::TraceError>(())
//! ```

#![forbid(unsafe_code)]

mod batches;
mod cells;
mod chunk;
mod columns;
mod decode;
mod encode;
mod errno;
mod error;
pub mod export;
mod fill;
mod footer;
mod head;
pub mod import;
mod join;
mod meta;
mod output;
mod pages;
mod reader;
mod rule;
mod texts;
mod writer;

pub use batches::Batches;
pub use bytes::Bytes;
pub use columns::{Column, Columns};
pub use decode::catches_panics;
pub use error::TraceError;
pub use footer::is_parquet;
pub use join::{Joined, Parts, join};
pub use meta::{Part, SCHEMA, Totals};
pub use parquet::file::reader::{ChunkReader, Length};
pub use reader::Reader;
pub use rule::{PageNumbers, page_numbers, takes_time};
pub use writer::{Finished, Known, Reserve, Unwritten, Writer};
