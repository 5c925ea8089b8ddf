//! Calls that name files: open, look up, rename, run.

use std::sync::Arc;

use hotset_facts::FileKind;
use hotset_facts::trace::{FileIndex, Operation, OperationClass, RecordFlags, TraceProcess};

use crate::import::batch::BatchBuilder;

use super::args;
use super::names::{bytes, nameless};
use super::open_files::{Description, Target};
use super::state::{Call, State, open_flags};
use super::told::told;

/// Bytes of a program's short name (TASK_COMM_LEN - 1, include/linux/sched.h).
const COMM: usize = 15;

impl State {
    /// A path of a call, behind the descriptor of the directory that it begins in. None where
    /// strace could not read it.
    fn path_of(
        &mut self,
        call: &Call<'_>,
        (directory, path): (Option<usize>, usize),
    ) -> Option<Vec<u8>> {
        let path = args::string(call.arg(path))?;
        let directory = directory.map(|at| call.arg(at)).unwrap_or_default();
        Some(self.absolute(call, directory, &path))
    }

    pub(super) fn open(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        place: (Option<usize>, usize),
        flags: Option<usize>,
        out: &mut BatchBuilder,
    ) {
        let mut record = self.record(call, operation, out);
        let flags = flags.map(|at| call.arg(at)).map_or(b"O_CREAT|O_TRUNC".as_slice(), |flags| {
            // openat2(2) has them in a structure.
            args::field(flags, "flags").unwrap_or(flags)
        });
        let asked = self.path_of(call, place);
        record.path = asked.as_deref().map(|path| out.path(path));
        let how = open_flags(flags);
        let words = [
            ("O_CREAT", RecordFlags::CREATE),
            ("O_TRUNC", RecordFlags::TRUNCATE),
            ("O_NOFOLLOW", RecordFlags::NOFOLLOW),
            ("O_TMPFILE", RecordFlags::TMPFILE),
        ];
        let set = words.into_iter().filter(|(word, _)| args::has(flags, word));
        record.flags = set.fold(how, |all, (_, flag)| all.with(flag));
        if let Some(number) = call.success() {
            let kind = match args::has(flags, "O_DIRECTORY") {
                true => FileKind::Directory,
                false => FileKind::Regular,
            };
            let target = self.opened(call, asked.as_deref(), kind, out);
            if let Target::File(id) = target
                && let Some(description) = self.open.description_mut(id)
            {
                description.flags = how;
                record.description = Some(id);
                record.file = description.file.as_ref().map(|(file, _)| *file);
            }
            let table = self.table(call.tid);
            if let Ok(number) = i32::try_from(number) {
                self.open.set(table, number, target, args::has(flags, "O_CLOEXEC"));
            }
        }
        out.push(record);
    }

    /// What a successful open(2) leads to. What -y says of it is without links and dots; the path
    /// that was asked for is not.
    fn opened(
        &mut self,
        call: &Call<'_>,
        asked: Option<&[u8]>,
        kind: FileKind,
        out: &mut BatchBuilder,
    ) -> Target {
        let real = call.result.path.map(args::unescape);
        self.has_paths |= real.is_some();
        if real.as_deref().is_some_and(|path| !super::state::is_file(path)) {
            return Target::NoFile;
        }
        let file: Option<(FileIndex, Arc<[u8]>)> =
            real.as_deref().or(asked).map(|path| self.names.file(path, kind, out));
        Target::File(self.open.add(Description::new(file, Some(0))))
    }

    /// Calls with one path or two that open nothing.
    pub(super) fn on_path(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        place: (Option<usize>, usize),
        second: Option<(Option<usize>, usize)>,
        out: &mut BatchBuilder,
    ) {
        let mut record = self.record(call, operation, out);
        record.flags = told(operation, call);
        let is_symlink = matches!(operation, Operation::Symlink | Operation::Symlinkat);
        // What a symbolic link holds is not looked up, and may be relative to where the link is.
        let path = match is_symlink {
            true => args::string(call.arg(place.1)),
            false => self.path_of(call, place),
        };
        let new_path = second.and_then(|second| self.path_of(call, second));
        record.path = path.as_deref().map(|path| out.path(path));
        record.new_path = new_path.as_deref().map(|path| out.path(path));
        if call.success().is_some() && !is_symlink {
            record.file = path.as_deref().and_then(|path| self.names.get(path));
            self.change_names(call, operation, path.as_deref(), new_path.as_deref());
        }
        if operation.class() == OperationClass::Lookup {
            // Of fstat(2), as C libraries call newfstatat(2) for it, the path is empty, and the
            // descriptor says the file.
            let opened = args::descriptor(call.arg(0)).filter(|_| call.arg(1) == b"\"\"");
            if let Some(descriptor) = opened
                && descriptor.number >= 0
            {
                match self.resolve(call, &descriptor, out) {
                    super::state::Use::File(id) => self.about(id, &mut record, out),
                    super::state::Use::NoFile => return self.leave_out(operation),
                    super::state::Use::Nothing => {}
                }
                record.flags = RecordFlags::NONE;
            }
        }
        out.push(record);
    }

    fn change_names(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        path: Option<&[u8]>,
        new_path: Option<&[u8]>,
    ) {
        use Operation as Op;
        match (operation, path, new_path) {
            (Op::Rename | Op::Renameat | Op::Renameat2, Some(old), Some(new))
                if !args::has(call.arg(4), "RENAME_EXCHANGE") =>
            {
                self.names.rename(old, new);
            }
            (Op::Link | Op::Linkat, Some(old), Some(new)) => self.names.link(old, new),
            (Op::Unlink | Op::Unlinkat | Op::Rmdir, Some(path), _) => self.names.unlink(path),
            _ => {}
        }
    }

    pub(super) fn truncate(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        out: &mut BatchBuilder,
    ) {
        let mut record = self.record(call, operation, out);
        // The new size stands where requests have their offset.
        record.offset = args::size(call.arg(1));
        let path = self.path_of(call, (None, 0));
        record.path = path.as_deref().map(|path| out.path(path));
        record.file = path.as_deref().and_then(|path| self.names.get(path));
        out.push(record);
    }

    /// A program is run: the process is another entry of the trace from then on.
    pub(super) fn exec(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        place: (Option<usize>, usize),
        out: &mut BatchBuilder,
    ) {
        let path = self.path_of(call, place);
        // Who calls is the program before, if a record named it already.
        let before = self.tasks.process(call.tid).and_then(|process| process.index);
        if call.success().is_some() {
            self.become_program(call, path.as_deref(), place.1 + 1, out);
        }
        let mut record = self.record(call, operation, out);
        record.process = before.or(record.process);
        record.path = path.as_deref().map(|path| out.path(path));
        if call.success().is_some() {
            record.file = path.as_deref().and_then(|path| self.names.get(path));
        }
        out.push(record);
    }

    fn become_program(
        &mut self,
        call: &Call<'_>,
        path: Option<&[u8]>,
        words: usize,
        out: &mut BatchBuilder,
    ) {
        let table = self.open.exec(self.table(call.tid));
        if let Some(task) = self.tasks.task_mut(call.tid) {
            task.table = table;
        }
        let name = path.and_then(|path| path.rsplit(|byte| *byte == b'/').next());
        let comm = name.map(|name| name.get(..COMM).unwrap_or(name));
        let comm = comm.map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default();
        let words = args::list(call.arg(words)).unwrap_or_default();
        let word = |text: &&[u8]| {
            let cut = text.strip_suffix(b"...").unwrap_or(text);
            args::string(cut).map(|word| bytes(&word))
        };
        let argv = words.iter().filter_map(word).collect();
        let Some(process) = self.tasks.process_mut(call.tid) else { return };
        process.comm = comm;
        process.maps = super::maps::Maps::default();
        let (pid, ppid, comm) = (process.pid, process.ppid, process.comm.clone());
        process.index = pid.map(|pid| out.add_process(TraceProcess { pid, ppid, comm, argv }));
    }

    /// A file of memfd_create(2): it has a name in no directory.
    pub(super) fn open_nameless(&mut self, call: &Call<'_>, out: &mut BatchBuilder) {
        let Some(number) = call.success().and_then(|number| i32::try_from(number).ok()) else {
            return;
        };
        let file = (nameless(out, None, FileKind::Regular), Arc::from(b"".as_slice()));
        let id = self.open.add(Description::new(Some(file), Some(0)));
        let closes = args::has(call.arg(1), "MFD_CLOEXEC");
        self.open.set(self.table(call.tid), number, Target::File(id), closes);
    }
}
