//! A command under `hotset record`, and what its trace and the profile of the same execution say.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hotset_facts::trace::{
    OperationClass, RecordFlags, RecordPages, TraceHead, TraceLists, TraceRecord,
};
use hotset_trace::{Columns, Reader, Totals};
use serde_json::Value;

use crate::programs::hotset;
use crate::run::{read_json, stderr};
use crate::scratch::{Scratch, text};

/// A record with its path.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The record.
    pub record: TraceRecord,
    /// Its path.
    pub path: Option<Vec<u8>>,
    /// Its second path.
    pub new_path: Option<Vec<u8>>,
}

impl Traced {
    /// Its pages; none where it has none.
    pub fn pages(&self) -> RecordPages {
        self.record.pages.unwrap_or_default()
    }

    /// Whether it is of this class and ended without an error.
    pub fn is_done(&self, class: OperationClass) -> bool {
        self.record.class == class && self.record.result.is_some_and(|result| result >= 0)
    }

    /// Bytes that it moved.
    pub fn moved(&self) -> u64 {
        self.record.result.and_then(|result| u64::try_from(result).ok()).unwrap_or(0)
    }

    /// Whether it went past the cache.
    pub fn is_direct(&self) -> bool {
        self.record.flags.has(RecordFlags::DIRECT)
    }
}

/// A trace that was read.
pub struct Trace {
    /// What it is of.
    pub head: TraceHead,
    /// What records point into.
    pub lists: TraceLists,
    /// How many records it has, and lacks.
    pub totals: Totals,
    /// Its records, in its order.
    pub records: Vec<Traced>,
}

impl Trace {
    /// Reads a whole trace.
    pub fn read(path: &Path) -> Self {
        let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let reader =
            Reader::new(file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut records = Vec::new();
        for batch in reader.batches(Columns::ALL) {
            let batch = batch.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let path = |index| batch.path(index).map(<[u8]>::to_vec);
            records.extend(batch.records.iter().map(|&record| Traced {
                record,
                path: record.path.and_then(path),
                new_path: record.new_path.and_then(path),
            }));
        }
        Self {
            head: reader.head().clone(),
            lists: reader.lists().clone(),
            totals: reader.totals(),
            records,
        }
    }

    /// Records of the file with this path.
    pub fn of<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Traced> {
        use std::os::unix::ffi::OsStrExt as _;
        self.records
            .iter()
            .filter(move |traced| traced.path.as_deref() == Some(path.as_os_str().as_bytes()))
    }

    /// Adds up.
    pub fn sum(&self, of: impl Fn(&Traced) -> u64) -> u64 {
        self.records.iter().map(of).sum()
    }
}

/// A command that was recorded, with the profile of the same execution.
pub struct Recorded {
    /// Where the trace is.
    pub path: PathBuf,
    /// The trace.
    pub trace: Trace,
    /// What hotset wrote with `--json`.
    pub profile: Value,
    /// Exit status and both streams of hotset.
    pub output: Output,
}

/// `hotset record -o … --json … OPTIONS -- WORDS`. Panics unless it succeeds.
pub fn record(scratch: &Scratch, options: &[&str], words: &[&str]) -> Recorded {
    let (path, profile) = (scratch.path("trace.parquet"), scratch.path("profile.json"));
    let mut command = Command::new(hotset());
    command.args(["record", "--force", "-o", text(&path), "--json", text(&profile)]);
    command.args(options).arg("--").args(words);
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}: {}", output.status, stderr(&output));
    Recorded { trace: Trace::read(&path), profile: read_json(&profile), path, output }
}
