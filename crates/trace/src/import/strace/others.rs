//! Calls that make no record, and what they change: positions, descriptors, threads, working
//! directories.

use hotset_facts::trace::RecordFlags;

use crate::import::batch::BatchBuilder;

use super::args;
use super::open_files::Target;
use super::state::{Call, State, Use, open_flags};
use super::tasks::shares;

impl State {
    /// A call that makes no record.
    pub(super) fn other_call(&mut self, call: &Call<'_>, out: &mut BatchBuilder) {
        self.other_calls += 1;
        match call.name {
            "lseek" | "_llseek" => self.seek(call, out),
            "dup" | "dup2" | "dup3" => self.duplicate(call, call.arg(2), out),
            "fcntl" | "fcntl64" => self.control(call, out),
            "close_range" => self.close_range(call),
            "clone" | "clone3" | "fork" | "vfork" => self.clone_task(call),
            "unshare" if args::has(call.arg(0), "CLONE_FILES") => self.unshare(call),
            "chdir" | "fchdir" | "getcwd" => self.change_directory(call),
            "memfd_create" => self.open_nameless(call, out),
            "pipe" | "pipe2" => self.open_pair(call, call.arg(0)),
            "socketpair" => self.open_pair(call, call.arg(3)),
            "socket" | "accept" | "accept4" | "eventfd" | "eventfd2" | "epoll_create"
            | "epoll_create1" | "timerfd_create" | "signalfd" | "signalfd4" | "inotify_init"
            | "inotify_init1" | "fanotify_init" | "pidfd_open" | "perf_event_open"
            | "userfaultfd" | "io_uring_setup" | "bpf" => self.open_no_file(call),
            "io_uring_enter" | "io_submit" => self.submissions += 1,
            _ => {}
        }
    }

    fn seek(&mut self, call: &Call<'_>, out: &mut BatchBuilder) {
        let Some(descriptor) = args::descriptor(call.arg(0)) else { return };
        let Use::File(id) = self.resolve(call, &descriptor, out) else { return };
        if let (Some(description), Some(position)) = (self.open.description_mut(id), call.success())
        {
            description.position = u64::try_from(position).ok();
        }
    }

    /// Has the descriptor that a call returned stand for the same as its first argument.
    fn duplicate(&mut self, call: &Call<'_>, flags: &[u8], out: &mut BatchBuilder) {
        let number = call.success().and_then(|number| i32::try_from(number).ok());
        let (Some(descriptor), Some(number)) = (args::descriptor(call.arg(0)), number) else {
            return;
        };
        let target = match self.resolve(call, &descriptor, out) {
            Use::File(id) => Target::File(id),
            Use::NoFile => Target::NoFile,
            Use::Nothing => return,
        };
        if number != descriptor.number {
            let closes = args::has(flags, "O_CLOEXEC") || args::has(flags, "F_DUPFD_CLOEXEC");
            self.open.set(self.table(call.tid), number, target, closes);
        }
    }

    fn control(&mut self, call: &Call<'_>, out: &mut BatchBuilder) {
        let Some(descriptor) = args::descriptor(call.arg(0)) else { return };
        match call.arg(1) {
            b"F_DUPFD" | b"F_DUPFD_CLOEXEC" => self.duplicate(call, call.arg(1), out),
            b"F_SETFD" => {
                let closes = args::has(call.arg(2), "FD_CLOEXEC");
                let table = self.table(call.tid);
                self.open.set_closes_on_exec(table, descriptor.number, closes);
            }
            // What F_SETFL can change: fcntl(2) names more, of which nothing stands in a record.
            b"F_SETFL" if call.success().is_some() => {
                let Use::File(id) = self.resolve(call, &descriptor, out) else { return };
                let Some(description) = self.open.description_mut(id) else { return };
                let changed = RecordFlags::APPEND.0 | RecordFlags::NOWAIT.0 | RecordFlags::DIRECT.0;
                let new = open_flags(call.arg(2)).0 & changed;
                description.flags = RecordFlags(description.flags.0 & !changed | new);
            }
            _ => {}
        }
    }

    fn close_range(&mut self, call: &Call<'_>) {
        let (first, last) = (args::size(call.arg(0)), args::size(call.arg(1)));
        let is_mark = args::has(call.arg(2), "CLOSE_RANGE_CLOEXEC");
        if let (Some(first), Some(_), false) = (first, call.success(), is_mark) {
            // ~0U, as strace may write the last one, is no number.
            let last = last.unwrap_or(u64::MAX);
            self.open.close_between(self.table(call.tid), first, last);
        }
    }

    fn clone_task(&mut self, call: &Call<'_>) {
        let child = call.success().and_then(|child| u32::try_from(child).ok());
        if child.is_some_and(|child| child > 0) {
            let shares = shares(&call.args.join(&b','));
            self.tasks.fork(call.tid, child, shares, &mut self.open);
        }
    }

    fn unshare(&mut self, call: &Call<'_>) {
        let shared = self.table(call.tid);
        let own = self.open.copy(shared);
        self.open.leave(shared);
        if let Some(task) = self.tasks.task_mut(call.tid) {
            task.table = own;
        }
    }

    fn change_directory(&mut self, call: &Call<'_>) {
        if call.success().is_none() {
            return;
        }
        let path = match call.name {
            "fchdir" => {
                let descriptor = args::descriptor(call.arg(0));
                let known = descriptor.as_ref().and_then(|descriptor| {
                    let target = self.open.target(self.table(call.tid), descriptor.number)?;
                    let Target::File(id) = target else { return None };
                    let (_, path) = self.open.description(id)?.file.as_ref()?;
                    Some(path.to_vec())
                });
                descriptor.and_then(|descriptor| descriptor.path).or(known)
            }
            _ => args::string(call.arg(0)).map(|path| self.absolute(call, b"", &path)),
        };
        let path = path.filter(|path| path.starts_with(b"/"));
        if let Some(process) = self.tasks.process_mut(call.tid) {
            process.directory = path;
        }
    }

    fn open_pair(&mut self, call: &Call<'_>, pair: &[u8]) {
        let pair = args::list(pair).filter(|_| call.success().is_some());
        for descriptor in pair.unwrap_or_default().into_iter().filter_map(args::descriptor) {
            self.open.set(self.table(call.tid), descriptor.number, Target::NoFile, false);
        }
    }

    fn open_no_file(&mut self, call: &Call<'_>) {
        if let Some(number) = call.success().and_then(|number| i32::try_from(number).ok()) {
            self.open.set(self.table(call.tid), number, Target::NoFile, false);
        }
    }
}
