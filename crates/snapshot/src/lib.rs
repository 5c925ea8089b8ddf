//! The saved set: which pages of which files are cached, as bytes. `docs/snapshot-format.md` describes them.
//!
//! Writer and reader stream over `Write` and `Read`, and both need the memory of one block, however many files there are.
//! The reader trusts nothing: whatever it hands out was checked, and it ends well only at a trailer that agrees with all
//! that came before. It must not open files or read clocks, and must not trust a length that it reads.
//!
//! ```
//! use hotset_facts::{Dev, PageRange};
//! use hotset_snapshot::{FileSystem, Header, Reader, Record, SavedFile, Writer};
//!
//! let header = Header { page_size: 4096, created_s: 1_700_000_000, kernel: "6.18.0".into(), written_by: "0.1.0".into() };
//! let mut writer = Writer::new(Vec::new(), &header)?;
//! let dev = Dev { major: 254, minor: 0 };
//! let disk = writer.file_system(&FileSystem { dev, kind: "ext4".into(), mount: "/".into(), uuid: None })?;
//! let file = SavedFile { path: b"/var/db".into(), file_system: disk, ino: 12, size_bytes: 1 << 20, ..SavedFile::default() };
//! writer.file(&file)?;
//! writer.ranges(&[PageRange { first: 0, count: 4 }, PageRange { first: 8, count: 1 }])?;
//! let (bytes, totals) = writer.finish()?;
//! assert_eq!((totals.files, totals.pages), (1, 5));
//!
//! let mut reader = Reader::new(&bytes[..])?;
//! assert_eq!(reader.next_record()?, Some(Record::File(file)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod block;
mod check;
mod choose;
mod cursor;
mod decode;
mod encode;
mod error;
mod reader;
mod types;
mod writer;

pub use choose::{Candidate, Choice, Preference, choose, cut};
pub use error::{Place, SnapshotError, WriteError};
pub use reader::{Reader, Verified, verify};
pub use types::{FileSystem, Header, Mtime, Record, SavedFile, Totals};
pub use writer::Writer;

/// The version of the format that this crate writes, and the newest that it reads.
pub const FORMAT_VERSION: u16 = 1;

/// The hotset version that this crate belongs to.
pub const HOTSET_VERSION: &str = env!("CARGO_PKG_VERSION");
