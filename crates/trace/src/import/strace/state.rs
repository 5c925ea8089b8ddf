//! What the calls until now came to: who lives, what is open, which paths name which files.

use std::collections::BTreeMap;
use std::sync::Arc;

use hotset_facts::FileKind;
use hotset_facts::trace::{FileIndex, Operation, RecordFlags, TraceRecord};

use crate::import::batch::BatchBuilder;

use super::args::{self, CURRENT, Descriptor, Outcome};
use super::names::{Names, nameless};
use super::open_files::{Description, OpenFiles, Target};
use super::tasks::Tasks;

/// A call with all that was written of it. Without a second half, its result is not known.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) tid: Option<u32>,
    /// Since the first line.
    pub(super) start_ns: u64,
    pub(super) name: &'a str,
    pub(super) args: Vec<&'a [u8]>,
    pub(super) result: Outcome<'a>,
}

impl<'a> Call<'a> {
    /// An argument, empty where it is missing.
    pub(super) fn arg(&self, at: usize) -> &'a [u8] {
        self.args.get(at).copied().unwrap_or_default()
    }

    /// Errors are the last 4,095 numbers below zero (MAX_ERRNO, include/linux/err.h); before them
    /// are addresses.
    pub(super) fn failed(&self) -> bool {
        self.result.value.is_some_and(|value| (-4095..0).contains(&value))
    }

    /// What it returned, where it came to an end and did not fail.
    pub(super) fn success(&self) -> Option<i64> {
        self.result.value.filter(|_| !self.failed())
    }
}

/// What a descriptor of a call leads to.
#[derive(Debug)]
pub(super) enum Use {
    /// A pipe, a socket, a terminal.
    NoFile,
    /// No open file: the number is wrong.
    Nothing,
    /// A file, by its description.
    File(u64),
}

/// All that is remembered from line to line.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) tasks: Tasks,
    pub(super) open: OpenFiles,
    pub(super) names: Names,
    /// Calls of files' data that were on no file, by their names.
    pub(super) on_no_file: BTreeMap<&'static str, u64>,
    /// Calls that are about something else.
    pub(super) other_calls: u64,
    /// Calls that submit requests of io_uring or Linux AIO.
    pub(super) submissions: u64,
    /// Anything ran under a path of -y.
    pub(super) has_paths: bool,
}

impl State {
    /// A record of a call, without what it was about.
    pub(super) fn record(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        out: &mut BatchBuilder,
    ) -> TraceRecord {
        let process = self.tasks.index(call.tid, out);
        TraceRecord {
            duration_ns: call.result.duration_ns,
            process,
            tid: call.tid,
            result: call.result.value,
            ..TraceRecord::new(call.start_ns, operation)
        }
    }

    pub(super) fn table(&self, tid: Option<u32>) -> u64 {
        self.tasks.task(tid).map_or(0, |task| task.table)
    }

    /// What a descriptor leads to. What -y says of it has the last word: strace may not have seen
    /// every call.
    pub(super) fn resolve(
        &mut self,
        call: &Call<'_>,
        descriptor: &Descriptor,
        out: &mut BatchBuilder,
    ) -> Use {
        let table = self.table(call.tid);
        let known = self.open.target(table, descriptor.number);
        let Some(path) = &descriptor.path else {
            // EBADF, 9: nothing is open there.
            return match known {
                Some(Target::File(id)) => Use::File(id),
                Some(Target::NoFile) => Use::NoFile,
                None if call.result.value == Some(-9) || descriptor.number < 0 => Use::Nothing,
                None => self.open_unseen(table, descriptor.number, None),
            };
        };
        self.has_paths = true;
        if !is_file(path) {
            if known != Some(Target::NoFile) {
                self.open.set(table, descriptor.number, Target::NoFile, false);
            }
            return Use::NoFile;
        }
        if let Some(Target::File(id)) = known
            && self.may_be(id, path, descriptor.is_deleted, out)
        {
            return Use::File(id);
        }
        let file = self.file_behind(path, descriptor.is_deleted, out);
        self.open_unseen(table, descriptor.number, Some(file))
    }

    /// Whether a description is of the file that has a path now. One whose file was not known is
    /// told by it.
    fn may_be(&mut self, id: u64, path: &[u8], is_deleted: bool, out: &mut BatchBuilder) -> bool {
        let Some(description) = self.open.description(id) else { return false };
        match &description.file {
            Some((_, known)) if **known == *path => true,
            Some((file, _)) => is_deleted || self.names.get(path) == Some(*file),
            None => {
                let file = self.file_behind(path, is_deleted, out);
                if let Some(description) = self.open.description_mut(id) {
                    description.file = Some(file);
                }
                true
            }
        }
    }

    fn file_behind(
        &mut self,
        path: &[u8],
        is_deleted: bool,
        out: &mut BatchBuilder,
    ) -> (FileIndex, Arc<[u8]>) {
        match is_deleted {
            true => (nameless(out, Some(path), FileKind::Regular), path.into()),
            false => self.names.file(path, FileKind::Regular, out),
        }
    }

    /// A file that was open before the first line, or whose open(2) was not traced: its position is
    /// not known.
    fn open_unseen(
        &mut self,
        table: u64,
        number: i32,
        file: Option<(FileIndex, Arc<[u8]>)>,
    ) -> Use {
        let id = self.open.add(Description::new(file, None));
        self.open.set(table, number, Target::File(id), false);
        Use::File(id)
    }

    /// Puts an open file into a record.
    pub(super) fn about(&self, id: u64, record: &mut TraceRecord, out: &mut BatchBuilder) {
        record.description = Some(id);
        let Some(description) = self.open.description(id) else { return };
        record.flags = record.flags.with(description.flags);
        if let Some((file, path)) = &description.file {
            record.file = Some(*file);
            record.path = (!path.is_empty()).then(|| out.path(path));
        }
    }

    /// A path that was asked for, absolute where the directory that it begins in is known.
    pub(super) fn absolute(&mut self, call: &Call<'_>, directory: &[u8], path: &[u8]) -> Vec<u8> {
        if path.starts_with(b"/") {
            return path.to_vec();
        }
        let base = self.directory(call, directory);
        match base {
            Some(base) if path.is_empty() => base,
            Some(base) => [base.strip_suffix(b"/").unwrap_or(&base), path].join(&b'/'),
            None => path.to_vec(),
        }
    }

    /// The path of a directory's descriptor; of the working directory where there is none.
    fn directory(&mut self, call: &Call<'_>, directory: &[u8]) -> Option<Vec<u8>> {
        let given = args::descriptor(directory);
        let is_current = given.as_ref().is_none_or(|given| given.number == CURRENT);
        if let Some(path) = given.as_ref().and_then(|given| given.path.clone()) {
            self.has_paths = true;
            if is_current && let Some(process) = self.tasks.process_mut(call.tid) {
                process.directory = Some(path.clone());
            }
            return Some(path);
        }
        if is_current {
            return self.tasks.process(call.tid)?.directory.clone();
        }
        let target = self.open.target(self.table(call.tid), given?.number)?;
        let Target::File(id) = target else { return None };
        let (_, path) = self.open.description(id)?.file.as_ref()?;
        Some(path.to_vec())
    }

    /// Counts a call of files' data that was on no file.
    pub(super) fn leave_out(&mut self, operation: Operation) {
        *self.on_no_file.entry(operation.as_str()).or_default() += 1;
    }
}

/// Whether what -y says is the path of a file. Devices in which nothing is stored are none.
pub(super) fn is_file(path: &[u8]) -> bool {
    const NO_FILES: [&[u8]; 8] = [
        b"/dev/null",
        b"/dev/zero",
        b"/dev/full",
        b"/dev/random",
        b"/dev/urandom",
        b"/dev/tty",
        b"/dev/pts/",
        b"/dev/ptmx",
    ];
    // With -yy, the kind of a device stands behind its path.
    let is_char = memchr::memmem::find(path, b"<char ").is_some();
    path.starts_with(b"/") && !is_char && !NO_FILES.iter().any(|device| path.starts_with(device))
}

/// How a file was opened, of what matters to requests.
pub(super) fn open_flags(flags: &[u8]) -> RecordFlags {
    const WORDS: [(&str, RecordFlags); 5] = [
        ("O_DIRECT", RecordFlags::DIRECT),
        ("O_APPEND", RecordFlags::APPEND),
        ("O_SYNC", RecordFlags::SYNC),
        ("O_DSYNC", RecordFlags::SYNC),
        ("O_NONBLOCK", RecordFlags::NOWAIT),
    ];
    let set = WORDS.iter().filter(|(word, _)| args::has(flags, word));
    set.fold(RecordFlags::NONE, |all, (_, flag)| all.with(*flag))
}
