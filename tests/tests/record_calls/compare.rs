//! Two traces of the same program, call by call: what `hotset record` saw of one execution, and strace of another.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hotset_facts::trace::{Operation, OperationClass, RecordFlags};
use hotset_tests::traced::{Trace, Traced};

/// One call of a thread, as far as it is the same in every execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) operation: &'static str,
    pub(crate) class: &'static str,
    pub(crate) path: Option<String>,
    pub(crate) new_path: Option<String>,
    pub(crate) offset: Option<u64>,
    pub(crate) asked: Option<u64>,
    pub(crate) result: Option<i64>,
    pub(crate) flags: String,
    /// Which open file: those of a thread, in the order in which it used them first.
    pub(crate) open_file: Option<usize>,
}

/// EBADF, include/uapi/asm-generic/errno-base.h.
const BAD_DESCRIPTOR: i64 = -9;

/// The calls of each thread. Threads are in the order in which they began.
pub(crate) fn by_thread(trace: &Trace) -> Vec<Vec<Call>> {
    let mut records: Vec<&Traced> = trace.records.iter().filter(|one| is_a_call(one)).collect();
    // Of a call with two files, that of the file that is read comes first.
    records.sort_by_key(|one| (one.record.start_ns, one.record.class == OperationClass::Write));
    let mut threads: Vec<(u32, Vec<Call>, BTreeMap<u64, usize>)> = Vec::new();
    for one in records {
        let tid = one.record.tid.expect("calls have a thread");
        let at = threads.iter().position(|(known, ..)| *known == tid).unwrap_or_else(|| {
            threads.push((tid, Vec::new(), BTreeMap::new()));
            threads.len() - 1
        });
        let (_, calls, open_files) = &mut threads[at];
        calls.push(call(one, open_files));
    }
    threads.into_iter().map(|(_, calls, _)| calls).collect()
}

/// What strace sees, and what both take for a call on a file.
fn is_a_call(one: &Traced) -> bool {
    use OperationClass::{Cache, Device, Fault};
    if matches!(one.record.class, Cache | Device | Fault) {
        return false;
    }
    // fstat(2) by another name looks up no path; hotset counts it no more than fstat(2) itself.
    let is_fstat = matches!(one.record.operation, Operation::Newfstatat | Operation::Statx)
        && one.record.description.is_some();
    // A descriptor that nothing is open behind has no file.
    let has_no_file = one.record.result == Some(BAD_DESCRIPTOR) && one.path.is_none();
    // What is open behind a descriptor is followed if it has data.
    let closes_directory = record_of_directory(one) && one.record.class == OperationClass::Close;
    !is_fstat && !has_no_file && !closes_directory
}

fn record_of_directory(one: &Traced) -> bool {
    one.path.as_deref().is_some_and(|path| Path::new(OsStr::from_bytes(path)).is_dir())
}

fn call(one: &Traced, open_files: &mut BTreeMap<u64, usize>) -> Call {
    let record = &one.record;
    let path = |path: &Option<Vec<u8>>| {
        path.as_ref().map(|path| String::from_utf8_lossy(path).into_owned())
    };
    let mut call = Call {
        operation: record.operation.as_str(),
        class: record.class.as_str(),
        path: path(&one.path),
        new_path: path(&one.new_path),
        offset: record.offset,
        asked: record.asked_bytes,
        result: record.result,
        // How long it took is another time's.
        flags: RecordFlags(record.flags.0 & !RecordFlags::WAITED.0).to_string(),
        open_file: record.description.filter(|_| !record_of_directory(one)).map(|id| {
            let next = open_files.len();
            *open_files.entry(id).or_insert(next)
        }),
    };
    let succeeded = record.result.is_some_and(|result| result >= 0);
    match record.operation {
        // An address, and another in each execution; the least free descriptor, whoever of the threads comes first.
        Operation::Mmap if succeeded => call.result = Some(0),
        _ if record.class == OperationClass::Open && succeeded => call.result = Some(0),
        // Of a program that began, hotset tells the file, and strace the path that was asked for.
        Operation::Execve | Operation::Execveat if succeeded => {
            let real = call.path.as_ref().and_then(|path| Path::new(path).canonicalize().ok());
            call.path = real.map(|path| path.to_string_lossy().into_owned());
        }
        // It is about a file system: hotset tells where that is mounted, and strace the file that it was found by.
        Operation::Syncfs => (call.path, call.open_file) = (None, None),
        // Where the file ends nobody tells strace.
        _ if record.class == OperationClass::Write && record.flags.has(RecordFlags::APPEND) => {
            call.offset = None;
        }
        _ => {}
    }
    call
}

/// Of a script that is run, hotset tells the interpreter's file, and strace the script.
fn is_same(seen: Option<&Call>, told: Option<&Call>) -> bool {
    let (Some(seen), Some(told)) = (seen, told) else { return false };
    let is_script = told.class == OperationClass::Exec.as_str()
        && told.result == Some(0)
        && told
            .path
            .as_ref()
            .and_then(|path| std::fs::read(path).ok())
            .is_some_and(|program| program.starts_with(b"#!"));
    let path = if is_script { seen.path.clone() } else { told.path.clone() };
    *seen == Call { path, ..told.clone() }
}

/// Of each thread, so many calls that differ are shown.
const SHOWN: usize = 8;

/// The calls that differ in each thread, the first of them; nothing where all are the same.
pub(crate) fn differences(recorded: &[Vec<Call>], traced: &[Vec<Call>]) -> Vec<String> {
    let mut found = Vec::new();
    if recorded.len() != traced.len() {
        found.push(format!("threads: {} recorded, {} traced", recorded.len(), traced.len()));
    }
    for (thread, (recorded, traced)) in recorded.iter().zip(traced).enumerate() {
        let longest = recorded.len().max(traced.len());
        let differing = (0..longest).filter(|&at| !is_same(recorded.get(at), traced.get(at)));
        for at in differing.take(SHOWN) {
            let (seen, told) = (recorded.get(at), traced.get(at));
            found
                .push(format!("thread {thread}, call {at}:\nrecorded {seen:?}\nstrace   {told:?}"));
        }
    }
    found
}
