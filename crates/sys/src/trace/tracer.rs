//! The tracer's loop: a task stops, is looked at, and goes on.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::Sender;

use hotset_facts::{ExitStatus, Pid};

use super::files::{Files, Named, about_to_execute};
use super::filter::Call;
use super::raw::{self, Born, Resume, Stop};
use super::{TraceError, Traced};
use crate::launch::Launch;
use crate::proc::status::process_of;

/// `PTRACE_EVENT_STOP` of <linux/ptrace.h>: a stop for job control, or the first of a new task.
const EVENT_STOP: i32 = 128;

/// Marks a stop at a system call, with `PTRACE_O_TRACESYSGOOD`.
const AT_CALL: i32 = libc::SIGTRAP | 0x80;

/// Signals whose default is to stop.
const STOPPING: [i32; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// What is known of a task, which is a process or one of its threads.
#[derive(Debug, Default)]
struct Task {
    /// It is inside a call that opens a file.
    opening: bool,
    /// What it is about to execute.
    executing: Option<Named>,
}

struct Tracer {
    born: Born,
    files: Files,
    tasks: HashMap<libc::pid_t, Task>,
    began: bool,
}

/// Runs the command and tells what it did when it ends; stays for as long as processes that it left behind run.
pub(super) fn follow(mut command: Launch, told: &Sender<Result<Traced, TraceError>>) {
    while let Err(error) = follow_once(&command, told) {
        if matches!(&error, TraceError::Execute(refused) if command.become_script(refused)) {
            continue;
        }
        // Nobody waits for the answer any more: nothing to do about it.
        let _ = told.send(Err(error));
        return;
    }
}

/// The error is not told yet; the command did not run then.
fn follow_once(
    command: &Launch,
    told: &Sender<Result<Traced, TraceError>>,
) -> Result<(), TraceError> {
    let born = raw::start(command)?;
    let main = born.pid;
    let mut tracer = Tracer { born, files: Files::default(), tasks: HashMap::new(), began: false };
    while let Some((task, status)) = raw::wait_any() {
        if libc::WIFSTOPPED(status) {
            tracer.stopped(task, status);
            continue;
        }
        tracer.tasks.remove(&task);
        if task == main {
            let _ = told.send(Ok(tracer.outcome(status)?));
        }
    }
    Ok(())
}

impl Tracer {
    fn stopped(&mut self, task: libc::pid_t, status: i32) {
        self.tasks.entry(task).or_default();
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            EVENT_STOP if STOPPING.contains(&signal) => {
                return raw::resume(task, Resume::StayStopped, 0);
            }
            libc::PTRACE_EVENT_SECCOMP => self.before_call(task),
            libc::PTRACE_EVENT_EXEC => self.executed(task),
            // Known from its birth on, although its own first stop comes later.
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                if let Some(born) = raw::event_message(task) {
                    self.tasks.entry(born).or_default();
                }
            }
            0 if signal == AT_CALL => self.after_call(task),
            // A signal on its way to the task.
            0 => return self.go_on(task, signal),
            _ => {}
        }
        self.go_on(task, 0);
    }

    fn go_on(&self, task: libc::pid_t, signal: i32) {
        let opening = self.tasks.get(&task).is_some_and(|task| task.opening);
        let how = if opening { Resume::ToEndOfCall } else { Resume::Run };
        raw::resume(task, how, signal);
    }

    fn before_call(&mut self, task: libc::pid_t) {
        let Some(Stop::Before { number, arguments }) = raw::stop_of(task) else { return };
        let state = self.tasks.entry(task).or_default();
        match Call::of(number) {
            Some(Call::Open) => state.opening = true,
            Some(Call::Execute) => {
                state.executing = about_to_execute(task, libc::AT_FDCWD, arguments[0]);
            }
            Some(Call::ExecuteAt) => {
                // Registers are 64 bits wide and the kernel takes the low half of a descriptor.
                state.executing = about_to_execute(task, arguments[0] as i32, arguments[1]);
            }
            Some(Call::Map) => self.files.mapped(task, arguments[4] as i32),
            None => {}
        }
    }

    fn after_call(&mut self, task: libc::pid_t) {
        let Some(Stop::After(value)) = raw::stop_of(task) else { return };
        let state = self.tasks.entry(task).or_default();
        if std::mem::take(&mut state.opening) && value >= 0 {
            self.files.opened(task, value);
        }
    }

    fn executed(&mut self, task: libc::pid_t) {
        // A thread that executes takes the place of the process's first one.
        let former = raw::event_message(task).unwrap_or(task);
        let named = self.tasks.remove(&former).and_then(|former| former.executing);
        self.tasks.insert(task, Task::default());
        self.files.executed(task, named);
        if !std::mem::replace(&mut self.began, true) {
            self.files.inherited(task);
        }
    }

    fn outcome(&mut self, status: i32) -> Result<Traced, TraceError> {
        if let Some(failure) = self.born.failure() {
            return Err(failure);
        }
        let files = std::mem::take(&mut self.files);
        Ok(Traced {
            files: files.list,
            files_left_out: files.left_out,
            exit: ExitStatus::from_wait_status(status),
            still_running: self.processes(),
        })
    }

    /// Processes behind the tasks that are left.
    fn processes(&self) -> u32 {
        let tasks = self.tasks.keys().filter_map(|&task| Pid::try_from(task).ok());
        let left: HashSet<Pid> = tasks.filter_map(process_of).collect();
        u32::try_from(left.len()).unwrap_or(u32::MAX)
    }
}
