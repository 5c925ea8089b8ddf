//! Exporters: batches of records as other tools read them.
//!
//! Each takes batches, the lists of the whole trace (what a batch adds to them is not looked at),
//! and something to write to. It says what was lost on the way: other formats hold less than a
//! trace.

pub mod csv;
mod error;
pub mod fio;
pub mod oracle;
pub mod perfetto;
pub mod pprof;
mod protobuf;
mod requests;

pub use error::{ExportError, Exported, Loss};

/// A format that can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportFormat {
    /// Its word for `--to`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The ending of a file's name.
    pub extension: &'static str,
}

/// All formats.
pub const FORMATS: &[ExportFormat] = &[
    ExportFormat { name: "fio", title: "I/O logs that fio replays", extension: "iolog" },
    ExportFormat { name: "perfetto", title: "timeline for ui.perfetto.dev", extension: "pftrace" },
    ExportFormat { name: "pprof", title: "profile by call site", extension: "pb.gz" },
    ExportFormat {
        name: "oracle",
        title: "page accesses for libCacheSim (oracleGeneral)",
        extension: "oracleGeneral",
    },
    ExportFormat { name: "csv", title: "comma-separated values, all columns", extension: "csv" },
];
