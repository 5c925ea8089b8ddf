//! I/O logs of fio, versions 2 and 3 (`write_iolog`, `read_iolog`).
//!
//! Traps, each of which a test has:
//!
//! - The waits of version 2 are milliseconds since the start, not the microseconds that the manual
//!   names (fio, iolog.c: a wait ends when so many milliseconds have passed since fio began).
//! - The times of version 3 are microseconds since the start (`utime_since_now`, iolog.c); the
//!   manual names no unit.
//! - File names end at white space and at 256 characters.
//! - `sync` and `datasync` have an offset and a length that mean nothing.
//!
//! A log tells what was asked, not what came of it. Memory: a table of distinct files.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::PathBuf;

use hotset_facts::FileKind;
use hotset_facts::trace::{
    FileIndex, Operation, TraceBatch, TraceFile, TraceHead, TraceRecord, TraceSource,
};

use super::batch::BatchBuilder;
use super::summary::shown;
use super::text::{LineParser, TextImport};
use super::{ImportError, ImportSummary, Importer, head_of};

const SIGNATURE: &[u8] = b"fio version ";

/// Whether an input begins as an I/O log does.
pub fn looks_like(first: &[u8]) -> bool {
    let rest = first.strip_prefix(SIGNATURE);
    rest.is_some_and(|rest| rest.starts_with(b"2 iolog") || rest.starts_with(b"3 iolog"))
}

/// An importer of an I/O log.
pub struct FioImport<R>(TextImport<R, FioParser>);

impl<R: BufRead> FioImport<R> {
    /// Begins with the line that says the version.
    ///
    /// # Errors
    ///
    /// None yet: another version is told with the first batch.
    pub fn new(input: R) -> Result<Self, ImportError> {
        Ok(Self(TextImport::with_parser(input, FioParser::default())))
    }
}

impl<R: BufRead> Importer for FioImport<R> {
    fn next_batch(&mut self) -> Result<Option<TraceBatch>, ImportError> {
        self.0.next_batch()
    }

    fn head(&self) -> TraceHead {
        self.0.head()
    }

    fn summary(&self) -> ImportSummary {
        self.0.summary()
    }
}

/// Reads the lines of an I/O log.
#[derive(Default)]
pub struct FioParser {
    version: Option<u8>,
    /// The time of version 2, which only waits tell.
    now_ns: u64,
    files: HashMap<Vec<u8>, FileIndex>,
    /// Actions that no record stands for: `add`, `wait`, `trim`, and those of later versions.
    left_out: std::collections::BTreeMap<String, u64>,
}

impl FioParser {
    fn file(&mut self, name: &[u8], out: &mut BatchBuilder) -> FileIndex {
        if let Some(file) = self.files.get(name) {
            return *file;
        }
        let path: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(name.to_vec());
        let file = out.add_file(TraceFile {
            path: Some(PathBuf::from(path)),
            kind: FileKind::Regular,
            id: None,
            size_bytes: None,
            cached_pages: None,
        });
        self.files.insert(name.to_vec(), file);
        file
    }

    /// The words of a line behind the time, which stands in front in version 3.
    fn action(
        &mut self,
        start_ns: u64,
        words: &[&[u8]],
        out: &mut BatchBuilder,
    ) -> Result<(), String> {
        let [name, action, rest @ ..] = words else {
            return Err(format!("{} words; expected a file and an action", words.len()));
        };
        let numbers: Option<Vec<u64>> = rest.iter().map(|word| number(word)).collect();
        let numbers = numbers.ok_or("expected an offset and a length, which are numbers")?;
        let operation = match (*action, numbers.as_slice()) {
            (b"read", [_, _]) => Operation::Read,
            (b"write", [_, _]) => Operation::Write,
            (b"sync", [_, _]) => Operation::Fsync,
            (b"datasync", [_, _]) => Operation::Fdatasync,
            (b"sync_file_range", [_, _]) => Operation::SyncFileRange,
            (b"open", []) => Operation::Open,
            (b"close", []) => Operation::Close,
            (b"wait", [offset, _]) if self.version == Some(2) => {
                self.now_ns = self.now_ns.max(offset.saturating_mul(1_000_000));
                return self.leave_out("wait");
            }
            (b"add", []) => {
                self.file(name, out);
                return self.leave_out("add");
            }
            (b"trim", [_, _]) => return self.leave_out("trim"),
            (b"stat" | b"mkdir" | b"rmdir" | b"unlink", _) => {
                return self.leave_out(&String::from_utf8_lossy(action));
            }
            _ => {
                let numbers = numbers.len();
                return Err(format!(
                    "action {} with {numbers} numbers; expected read, write, sync, datasync or trim \
                     with 2, or add, open or close with none",
                    shown(action)
                ));
            }
        };
        let is_whole = matches!(operation, Operation::Fsync | Operation::Fdatasync);
        let range = if is_whole { &[] } else { numbers.as_slice() };
        let file = self.file(name, out);
        let record = TraceRecord {
            file: Some(file),
            path: Some(out.path(name)),
            offset: range.first().copied(),
            asked_bytes: range.get(1).copied(),
            ..TraceRecord::new(start_ns, operation)
        };
        out.push(record);
        Ok(())
    }

    fn leave_out(&mut self, action: &str) -> Result<(), String> {
        *self.left_out.entry(action.to_owned()).or_default() += 1;
        Ok(())
    }
}

fn number(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

impl LineParser for FioParser {
    const EXPECTED: &'static str = "\"fio version 2 iolog\" or \"fio version 3 iolog\" in line 1, \
                                    then lines of fio's write_iolog";

    fn line(&mut self, line: &[u8], out: &mut BatchBuilder) -> Result<(), String> {
        let Some(version) = self.version else {
            if !looks_like(line) {
                return Err(format!("{} is no I/O log's first line", shown(line)));
            }
            self.version = line.get(SIGNATURE.len()).map(|digit| digit - b'0');
            return Ok(());
        };
        let words: Vec<&[u8]> =
            line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            return Ok(());
        }
        if version == 2 {
            return self.action(self.now_ns, &words, out);
        }
        let Some((time, words)) = words.split_first() else { return Ok(()) };
        let time_us = number(time).ok_or_else(|| {
            format!("time {}: expected microseconds since the start", shown(time))
        })?;
        self.action(time_us.saturating_mul(1000), words, out)
    }

    fn end(&mut self, _: &mut BatchBuilder) {}

    fn head(&self) -> TraceHead {
        let lacks = [
            "results, durations, processes and threads, and whether pages were cached: an I/O log \
             tells what was asked",
            "whether requests used the position of the open file: a log has absolute offsets",
        ];
        let times =
            "times between waits: an I/O log of version 2 tells the time with each wait alone";
        let lacks = lacks.into_iter().chain((self.version == Some(2)).then_some(times));
        head_of(TraceSource::Fio, lacks.map(str::to_owned).collect())
    }

    fn tell(&self, summary: &mut ImportSummary) {
        for (action, count) in &self.left_out {
            summary.leave_out(action, *count);
        }
    }
}
