//! The tracer's loop: a task stops, is looked at, and goes on.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use hotset_facts::{ExitStatus, Pid};

use super::counts::Counts;
use super::files::{Files, Named, lacks_privileges};
use super::filter::{Call, Wanted, has_happened};
use super::gap::TraceGap;
use super::lookup::{Aim, Asked};
use super::raw::{self, Born, Event, Resume, Stop};
use super::{Told, TraceError, Traced};
use crate::child::pidfd;
use crate::launch::Launch;
use crate::proc::status::process_of;

/// `PTRACE_EVENT_STOP` of <linux/ptrace.h>: a stop for job control, or the first of a new task.
const EVENT_STOP: i32 = 128;

/// Marks a stop at a system call, with `PTRACE_O_TRACESYSGOOD`.
const AT_CALL: i32 = libc::SIGTRAP | 0x80;

/// Signals whose default is to stop.
const STOPPING: [i32; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// What a task is inside of, whose end tells what came of it.
#[derive(Debug, Clone, Copy)]
enum Pending {
    Lookup(Asked),
    OpenByHandle,
    Gap(TraceGap),
}

/// What is known of a task, which is a process or one of its threads.
#[derive(Debug, Default)]
struct Task {
    pending: Option<Pending>,
    /// What it is about to execute.
    executing: Option<Named>,
    /// The place of its process.
    process: Option<usize>,
}

struct Tracer<'a> {
    born: Born,
    files: Files,
    /// Nothing where they are not wanted.
    counts: Option<Counts>,
    tasks: HashMap<libc::pid_t, Task>,
    /// Tasks whose own first stop came before their maker told of them, with their processes: they may have ended when it does.
    early: HashMap<libc::pid_t, Option<usize>>,
    began: bool,
    /// The answer was given: what goes on after it is nobody's concern.
    is_told: bool,
    /// Everything is to be killed.
    ends: &'a AtomicBool,
}

/// Runs the command and tells what it did when it ends; stays for as long as processes that it left behind run.
pub(super) fn follow(mut command: Launch, wanted: Wanted, ends: &AtomicBool, told: &Sender<Told>) {
    while let Err(error) = follow_once(&command, wanted, ends, told) {
        if matches!(&error, TraceError::Execute(refused) if command.become_script(refused)) {
            continue;
        }
        // Nobody waits for the answer any more: nothing to do about it.
        let _ = told.send(Told::Ended(Box::new(Err(error))));
        return;
    }
}

/// The error is not told yet; the command did not run then.
fn follow_once(
    command: &Launch,
    wanted: Wanted,
    ends: &AtomicBool,
    told: &Sender<Told>,
) -> Result<(), TraceError> {
    let mut tracer = Tracer::start(command, wanted, ends)?;
    let main = tracer.born.pid;
    if let Ok(pidfd) = pidfd(main.unsigned_abs()) {
        let _ = told.send(Told::Began(pidfd));
    }
    let mut last = None;
    while let Some(event) = raw::wait_any() {
        if libc::WIFSTOPPED(event.status) {
            tracer.stopped(event.task, event.status);
        } else {
            tracer.ended(&event);
            if event.task == main {
                let wall = tracer.born.started.elapsed();
                last = Some((event, wall));
                tracer.kill_if_wanted();
            }
        }
        // What was killed is gone when that is told.
        if !ends.load(Ordering::Relaxed) || tracer.tasks.is_empty() {
            tracer.tell(&mut last, told)?;
        }
    }
    tracer.tell(&mut last, told)
}

impl<'a> Tracer<'a> {
    fn start(command: &Launch, wanted: Wanted, ends: &'a AtomicBool) -> Result<Self, TraceError> {
        let born = raw::start(command, wanted)?;
        let mut counts = (wanted == Wanted::Lookups).then(Counts::default);
        let own = std::process::id();
        let first = counts.as_mut();
        let process =
            first.map(|counts| counts.processes.place(born.pid.unsigned_abs(), Some(own)));
        let main = (born.pid, Task { process, ..Task::default() });
        Ok(Self {
            born,
            files: Files::new(wanted),
            counts,
            tasks: HashMap::from([main]),
            early: HashMap::new(),
            began: false,
            is_told: false,
            ends,
        })
    }

    fn stopped(&mut self, task: libc::pid_t, status: i32) {
        if let Entry::Vacant(new) = self.tasks.entry(task) {
            new.insert(Task::default());
            let process = self.process(task);
            self.early.insert(task, process);
        }
        if self.ends.load(Ordering::Relaxed) {
            raw::kill(task);
            return self.go_on(task, 0);
        }
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            EVENT_STOP if STOPPING.contains(&signal) => {
                return raw::resume(task, Resume::StayStopped, 0);
            }
            libc::PTRACE_EVENT_SECCOMP => self.before_call(task),
            libc::PTRACE_EVENT_EXEC => self.executed(task),
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                self.made(task);
            }
            libc::PTRACE_EVENT_EXIT => {
                if let Some(process) = self.process(task)
                    && let Some(counts) = &mut self.counts
                {
                    counts.processes.ending(process);
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
        let is_inside = self.tasks.get(&task).is_some_and(|task| task.pending.is_some());
        let how = if is_inside { Resume::ToEndOfCall } else { Resume::Run };
        raw::resume(task, how, signal);
    }

    /// The place of a task's process, where processes are counted.
    fn process(&mut self, task: libc::pid_t) -> Option<usize> {
        let processes = &mut self.counts.as_mut()?.processes;
        let state = self.tasks.entry(task).or_default();
        Some(*state.process.get_or_insert_with(|| processes.of(task)))
    }

    /// A task is known from its birth on, although its own first stop comes later.
    fn made(&mut self, maker: libc::pid_t) {
        let Some(born) = raw::event_message(maker) else { return };
        let maker = self.process(maker);
        let counted = self.counts.as_mut().zip(maker);
        match self.early.remove(&born) {
            Some(known) => {
                if let (Some((counts, maker)), Some(known)) = (counted, known) {
                    counts.processes.adopted(known, born, maker);
                }
            }
            None => {
                let process = counted.map(|(counts, maker)| counts.processes.born(born, maker));
                self.tasks.insert(born, Task { process, ..Task::default() });
            }
        }
    }

    fn before_call(&mut self, task: libc::pid_t) {
        if self.is_told {
            return;
        }
        let call = match raw::stop_of(task) {
            Some(Stop::Before(call)) => call,
            Some(Stop::Untold) => return self.gap(TraceGap::Untold),
            _ => return,
        };
        let pending = match Call::of(&call) {
            Some(Call::Lookup(lookup)) => lookup.asked(task, &call.arguments).map(Pending::Lookup),
            Some(Call::OpenByHandle) => Some(Pending::OpenByHandle),
            Some(Call::Map) => {
                self.files.mapped(task, call.arguments[4] as i32);
                None
            }
            Some(Call::Gap(gap)) => Some(Pending::Gap(gap)),
            None => None,
        };
        let executing = match pending {
            Some(Pending::Lookup(Asked { aim: Aim::Execute, directory, path })) => {
                if let (false, Some(counts)) = (self.began, &mut self.counts) {
                    counts.processes.leaves_copy();
                }
                self.files.about_to_execute(task, directory, path)
            }
            _ => None,
        };
        let state = self.tasks.entry(task).or_default();
        (state.pending, state.executing) = (pending, executing);
    }

    fn after_call(&mut self, task: libc::pid_t) {
        let answer = match raw::stop_of(task) {
            Some(Stop::After(answer)) => answer,
            Some(Stop::Untold) => return self.gap(TraceGap::Untold),
            _ => return,
        };
        let state = self.tasks.entry(task).or_default();
        state.executing = None;
        let Some(pending) = state.pending.take() else { return };
        if self.is_told {
            return;
        }
        match pending {
            Pending::Lookup(asked) => {
                let process = self.process(task);
                if let (Some(counts), Some(process)) = (&mut self.counts, process) {
                    counts.looked_up(process, task, &asked, answer);
                }
                if asked.aim == Aim::Open && answer >= 0 {
                    self.opened(task, answer, process);
                }
            }
            Pending::OpenByHandle if answer >= 0 => self.opened(task, answer, None),
            Pending::OpenByHandle => {}
            Pending::Gap(gap) if has_happened(gap, answer) => self.gap(gap),
            Pending::Gap(_) => {}
        }
    }

    fn opened(&mut self, task: libc::pid_t, fd: i64, process: Option<usize>) {
        if !self.files.opened(task, fd, process) {
            self.gap(TraceGap::Closed);
        }
    }

    fn gap(&mut self, gap: TraceGap) {
        if let Some(counts) = &mut self.counts {
            counts.gaps.insert(gap);
        }
    }

    fn executed(&mut self, task: libc::pid_t) {
        // A thread that executes takes the place of the process's first one.
        let former = raw::event_message(task).unwrap_or(task);
        let named = self.tasks.remove(&former).and_then(|former| former.executing);
        self.tasks.insert(task, Task::default());
        if self.is_told {
            return;
        }
        let process = self.process(task);
        if let (Some(counts), Some(process)) = (&mut self.counts, process) {
            counts.processes.executed(process);
            if lacks_privileges(task) {
                counts.gaps.insert(TraceGap::NoPrivileges);
            }
        }
        self.files.executed(task, named, process);
        // What nobody opened has no place among files that are counted.
        if !std::mem::replace(&mut self.began, true) && self.counts.is_none() {
            self.files.inherited(task);
        }
    }

    fn ended(&mut self, event: &Event) {
        self.tasks.remove(&event.task);
        if let Some(counts) = &mut self.counts {
            counts.processes.ended(event.task, ExitStatus::from_wait_status(event.status));
        }
    }

    fn kill_if_wanted(&self) {
        if self.ends.load(Ordering::Relaxed) {
            // All are stopped, running or not waited for yet, so that their numbers are still theirs.
            self.tasks.keys().for_each(|&task| raw::kill(task));
        }
    }

    /// Tells what the command did, if it has ended and that was not told.
    fn tell(
        &mut self,
        last: &mut Option<(Event, Duration)>,
        told: &Sender<Told>,
    ) -> Result<(), TraceError> {
        let Some((event, wall)) = last.take() else { return Ok(()) };
        if let Some(failure) = self.born.failure() {
            return Err(failure);
        }
        self.is_told = true;
        let files = std::mem::replace(&mut self.files, Files::new(Wanted::Files));
        let traced = Traced {
            files: files.list,
            files_left_out: files.left_out,
            exit: ExitStatus::from_wait_status(event.status),
            still_running: self.processes(),
            was_killed: self.ends.load(Ordering::Relaxed),
            usage: event.usage.into(),
            wall,
            counts: self.counts.take().map(|mut counts| counts.take()),
        };
        let _ = told.send(Told::Ended(Box::new(Ok(traced))));
        Ok(())
    }

    /// Processes behind the tasks that are left.
    fn processes(&self) -> u32 {
        let tasks = self.tasks.keys().filter_map(|&task| Pid::try_from(task).ok());
        let left: HashSet<Pid> = tasks.filter_map(process_of).collect();
        u32::try_from(left.len()).unwrap_or(u32::MAX)
    }
}
