//! I/O logs of fio, version 3 (fio 3.31 and later), which `read_iolog` replays.
//!
//! An export is several files, which `open` makes: one log for each thread or one for all,
//! `replay.fio` (a job for each log), and `files.tsv` (the short name of each file, the size that a
//! replay needs, the path). To replay, make the files by their short names in a directory, and run
//! fio in it. Not with its option `directory`: names would not match any more (fio, iolog.c
//! compares them with the log's as they are).
//!
//! fio gives each log to a job, which sends one request after another. So one log of many threads
//! is replayed as if they had waited for each other; a log for each thread keeps them apart, and
//! their times are from the same beginning.
//!
//! Lost: failed requests, lookups, renames, mappings, advice, and how files were opened. Sizes are
//! what requests moved. Memory: tables of distinct files and threads.

mod log;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use hotset_facts::trace::{
    FileIndex, Operation, OperationClass, RecordFlags, TraceBatch, TraceLists, TraceRecord,
};

use super::requests::request;
use super::{ExportError, Exported};

use log::{Action, Log, name};

/// How requests are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FioLogs {
    /// A log for each thread, `thread-TID.iolog`.
    #[default]
    PerThread,
    /// One log, `trace.iolog`.
    One,
}

/// The file that fio is run with.
const JOBS: &str = "replay.fio";

/// The table of files.
const TABLE: &str = "files.tsv";

/// Whether an export makes a file of this name.
pub fn is_of_export(name: &str) -> bool {
    let stem = name.strip_suffix(".iolog");
    name == JOBS
        || name == TABLE
        || stem.is_some_and(|stem| stem == "trace" || stem.starts_with("thread-"))
}

/// Logs beyond which threads share the last one: each is an open file of the exporter, and a
/// process of fio.
const LOGS: usize = 256;

/// Writes logs, a job file and a table of files, each to what `open` makes of its name.
///
/// # Errors
///
/// The batches or an output fail.
pub fn export<E, W: Write>(
    batches: impl IntoIterator<Item = Result<TraceBatch, E>>,
    lists: &TraceLists,
    logs: FioLogs,
    open: impl FnMut(&str) -> io::Result<W>,
) -> Result<Exported, ExportError<E>> {
    let mut replay = Replay { open, logs, by_name: BTreeMap::new(), sizes: HashMap::new() };
    let mut exported = Exported::default();
    for batch in batches {
        for record in &batch.map_err(ExportError::Records)?.records {
            exported.records += 1;
            match asked(record) {
                Ok((action, file, range)) => {
                    replay.add(record, action, file, range, &mut exported)?;
                }
                Err(lost) => exported.lose(lost),
            }
        }
    }
    replay.finish(lists)?;
    Ok(exported.finish())
}

/// The line that a record becomes; the error says why there is none.
fn asked(record: &TraceRecord) -> Result<(Action, FileIndex, (u64, u64)), &'static str> {
    let sync = |action| {
        if record.result.is_some_and(|result| result < 0) {
            return Err("requests that failed are left out");
        }
        let file = record.file.ok_or("requests of unknown files are left out")?;
        Ok((action, file, (0, 0)))
    };
    let action = match (record.class, record.operation) {
        (OperationClass::Read, _) => Action::Read,
        (OperationClass::Write, _) => Action::Write,
        (_, Operation::Fsync | Operation::UringSync | Operation::AioSync) => {
            return sync(Action::Sync);
        }
        (_, Operation::Fdatasync) => return sync(Action::Datasync),
        (OperationClass::Sync, _) => {
            return Err("syncs other than fsync and fdatasync have no line in a log");
        }
        (OperationClass::Fault, _) => {
            return Err("reads and writes of mapped files have no line in a log");
        }
        (OperationClass::Open | OperationClass::Close, _) => {
            return Err("opens and closes are made anew, as the replay needs them");
        }
        _ => {
            return Err(
                "lookups, renames, advice, mappings and changes of size have no line in a log",
            );
        }
    };
    let asked = request(record)?;
    Ok((action, asked.file, (asked.offset, asked.bytes)))
}

/// Logs while they are written.
struct Replay<W, O> {
    open: O,
    logs: FioLogs,
    by_name: BTreeMap<String, Log<W>>,
    /// Bytes that each file must have.
    sizes: HashMap<FileIndex, u64>,
}

impl<W: Write, O: FnMut(&str) -> io::Result<W>> Replay<W, O> {
    fn add(
        &mut self,
        record: &TraceRecord,
        action: Action,
        file: FileIndex,
        range: (u64, u64),
        exported: &mut Exported,
    ) -> io::Result<()> {
        let stem = match (self.logs, record.tid) {
            (FioLogs::One, _) => "trace".to_owned(),
            (FioLogs::PerThread, Some(tid)) => format!("thread-{tid}"),
            (FioLogs::PerThread, None) => "thread-unknown".to_owned(),
        };
        let is_full = self.by_name.len() >= LOGS - 1 && !self.by_name.contains_key(&stem);
        let stem = if is_full { "thread-others".to_owned() } else { stem };
        if is_full {
            exported
                .lose("threads beyond the 255th share one log, and are replayed one after another");
        }
        let log = match self.by_name.entry(stem) {
            std::collections::btree_map::Entry::Occupied(log) => log.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                let out = (self.open)(&format!("{}.iolog", place.key()))?;
                place.insert(Log::new(out)?)
            }
        };
        log.request(record.start_ns, action, file, range)?;
        exported.written += 1;
        let flags = RecordFlags::DIRECT.0 | RecordFlags::SYNC.0 | RecordFlags::APPEND.0;
        if record.flags.0 & flags != 0 {
            exported.lose(
                "written without their flags: O_DIRECT, O_SYNC and O_APPEND are options of a job",
            );
        }
        let size = self.sizes.entry(file).or_default();
        *size = (*size).max(range.0 + range.1);
        Ok(())
    }

    fn finish(mut self, lists: &TraceLists) -> io::Result<()> {
        let mut jobs = (self.open)(JOBS)?;
        jobs.write_all(
            b"; Run fio in this directory, beside the files that files.tsv names.\n\
              ; replay_no_stall=1 replays as fast as possible.\n\
              [global]\nioengine=psync\n",
        )?;
        for stem in self.by_name.keys() {
            write!(jobs, "\n[{stem}]\nread_iolog={stem}.iolog\n")?;
        }
        jobs.flush()?;
        for log in std::mem::take(&mut self.by_name).into_values() {
            log.finish()?;
        }
        let mut table = (self.open)(TABLE)?;
        table.write_all(b"name\tbytes\tpath\n")?;
        let mut files: Vec<_> = self.sizes.iter().collect();
        files.sort_unstable();
        for (file, needed) in files {
            let known = lists.files.get(file.0 as usize);
            let size = known.and_then(|file| file.size_bytes).unwrap_or(0).max(*needed);
            let path = known.and_then(|file| file.path.as_deref());
            let path = path.map(|path| path.as_os_str().as_bytes()).unwrap_or_default();
            writeln!(table, "{}\t{size}\t{}", name(*file), path.escape_ascii())?;
        }
        table.flush()
    }
}
