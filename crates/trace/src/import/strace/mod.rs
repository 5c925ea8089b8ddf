//! The text of `strace -f -ttt -T -y`.
//!
//! Traps, each of which a test has:
//!
//! - Only `-ttt` tells the day. Times of `-t`, `-tt` and `-r` are refused, not misread.
//! - A call stands in two lines where another thread's line comes between. The first part's time is
//!   when it began.
//! - A child can have lines before the clone(2) that made it returns in its parent.
//! - Strings hold parentheses, commas and `= 5`; paths behind descriptors do too, and escape `<`
//!   and `>` alone.
//! - `read` has no offset: it is tracked by open file description, through dup(2), fork(2),
//!   lseek(2) and O_APPEND.
//! - `-y` shows the name that a file has now: after a rename another, after an unlink `(deleted)`.
//! - Of threads that strace was attached to, nothing tells which share descriptors: no position is
//!   tracked then.
//! - Strings are cut at 32 bytes, with dots behind them; sizes are taken from the arguments.
//!
//! Hits, misses and device bytes are not known. Memory: open files, mappings, threads, and a table
//! of distinct paths.

mod args;
#[cfg(test)]
mod args_tests;
mod calls;
mod line;
mod mapped;
mod maps;
mod names;
mod open_files;
mod others;
mod paths;
mod state;
mod tasks;
mod told;
mod transfer;

use std::io::BufRead;
use std::time::{Duration, SystemTime};

use hotset_facts::trace::{TraceHead, TraceSource};

use super::batch::BatchBuilder;
use super::text::{LineParser, TextImport};
use super::{ImportSummary, head_of};

pub(super) use line::seconds_ns;

use args::Outcome;
use line::Body;
use state::{Call, State};
use tasks::Pending;

/// How much slower strace makes calls that take a microsecond or less (measured with pread64(2) of
/// cached pages).
const SLOWED: &str = "times of the program alone: strace slows each call 40 to 100 times, and \
                      durations and the times between calls are those of the slowed program";

/// Reads the text of strace.
pub struct StraceParser {
    state: State,
    /// The time of the first line.
    started_ns: Option<u64>,
    has_ids: bool,
    has_durations: bool,
    /// Calls whose second half never came.
    halves: u64,
    /// Second halves without a first.
    resumed_alone: u64,
}

/// An importer of what strace wrote.
pub fn import<R: BufRead>(input: R) -> TextImport<R, StraceParser> {
    let parser = StraceParser {
        state: State::default(),
        started_ns: None,
        has_ids: false,
        has_durations: false,
        halves: 0,
        resumed_alone: 0,
    };
    TextImport::with_parser(input, parser)
}

/// Whether one of the first lines has a time and a call, a signal or an exit, with whatever option
/// for the time.
pub fn looks_like(first: &[u8]) -> bool {
    let lines = first.split(|byte| *byte == b'\n').take(20);
    lines.filter(|line| !line.is_empty()).any(|line| {
        let is_whole = matches!(line::parse(line), Ok(Some(_)));
        // The clock of -t and -tt: to be told so by the reader's refusal.
        let has_call =
            memchr::memmem::find(line, b") = ").is_some() || line.ends_with(b"<unfinished ...>");
        let mut words = line.split(|byte| *byte == b' ').take(3);
        let is_clock = |word: &[u8]| {
            word.iter().filter(|byte| **byte == b':').count() == 2
                && word.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'))
        };
        is_whole || has_call && words.any(is_clock)
    })
}

impl StraceParser {
    /// Nanoseconds since the first line.
    fn since_start(&mut self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(*self.started_ns.get_or_insert(time_ns))
    }

    fn finish(
        &mut self,
        tid: Option<u32>,
        time_ns: u64,
        name: &str,
        text: &[u8],
        out: &mut BatchBuilder,
    ) -> Result<(), String> {
        let parts = args::split(text)?;
        self.has_durations |= parts.result.duration_ns.is_some();
        let start_ns = self.since_start(time_ns);
        let call = Call { tid, start_ns, name, args: parts.args, result: parts.result };
        self.state.call(&call, out);
        Ok(())
    }

    /// A call that never returned: its thread ended in it, or the trace did.
    fn give_up(&mut self, tid: Option<u32>, out: &mut BatchBuilder) {
        let pending = self.state.tasks.task_mut(tid).and_then(|task| task.pending.take());
        let Some(pending) = pending else { return };
        self.halves += 1;
        let start_ns = self.since_start(pending.time_ns);
        let (args, _) = args::arguments(&pending.args);
        let name = pending.name.as_str();
        self.state.call(&Call { tid, start_ns, name, args, result: Outcome::default() }, out);
    }
}

impl LineParser for StraceParser {
    const EXPECTED: &'static str = "lines of strace -f -ttt -T -y, e.g. 12 1700000000.000001 \
                                    read(3</etc/fstab>, \"\", 4096) = 0";

    fn line(&mut self, line: &[u8], out: &mut BatchBuilder) -> Result<(), String> {
        let Some(line) = line::parse(line)? else { return Ok(()) };
        self.has_ids |= line.tid.is_some();
        // On a terminal, lines have no ID where only one thread is left.
        let tid = line.tid.or_else(|| self.state.tasks.only().flatten());
        self.since_start(line.time_ns);
        if !matches!(line.body, Body::Ended | Body::Superseded { .. }) {
            let resumes = matches!(line.body, Body::Resumed { .. });
            self.state.tasks.meet(tid, resumes, &mut self.state.open);
        }
        match line.body {
            Body::Call { name, rest } => self.finish(tid, line.time_ns, name, rest, out)?,
            Body::Unfinished { name, rest } => {
                self.give_up(tid, out);
                let (name, args) = (name.to_owned(), rest.to_vec());
                if let Some(task) = self.state.tasks.task_mut(tid) {
                    task.pending = Some(Pending { name, args, time_ns: line.time_ns });
                }
            }
            Body::Resumed { name, rest } => {
                let task = self.state.tasks.task_mut(tid);
                let pending = task.and_then(|task| task.pending.take_if(|half| half.name == name));
                match pending {
                    Some(half) => {
                        let text = [half.args.as_slice(), rest].join(&b' ');
                        self.finish(tid, half.time_ns, name, &text, out)?;
                    }
                    // It began before the trace did. Its arguments are not known.
                    None => self.resumed_alone += 1,
                }
            }
            Body::Ended => {
                self.give_up(tid, out);
                self.state.tasks.end(tid, &mut self.state.open);
            }
            Body::Superseded { by } => self.state.tasks.supersede(by, tid, &mut self.state.open),
            Body::Other => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut BatchBuilder) {
        for tid in self.state.tasks.all() {
            self.give_up(tid, out);
        }
    }

    fn head(&self) -> TraceHead {
        let missing = [
            (!self.has_ids, "no process and thread IDs: strace ran without -f or -o FILE"),
            (!self.has_durations, "no durations: strace ran without -T"),
            (
                !self.state.has_paths,
                "paths of files that were not opened in the trace: strace ran without -y",
            ),
            (
                self.state.tasks.has_strangers,
                "offsets of requests at the position of an open file: threads whose clone is not \
                 in the trace may share it",
            ),
            (
                self.state.submissions > 0,
                "requests of io_uring and Linux AIO: strace sees the submitting calls alone",
            ),
        ];
        let fixed = [SLOWED, "whether pages were cached, what the device read, page faults"];
        let missing = missing.into_iter().filter(|(is_missing, _)| *is_missing);
        let lacks = fixed.into_iter().chain(missing.map(|(_, lack)| lack)).map(str::to_owned);
        let halves = (self.halves > 0)
            .then(|| format!("results of {} calls that did not return in the trace", self.halves));
        let started_at = self.started_ns.map(Duration::from_nanos);
        TraceHead {
            started_at: started_at.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since)),
            ..head_of(TraceSource::Strace, lacks.chain(halves).collect())
        }
    }

    fn tell(&self, summary: &mut ImportSummary) {
        for (name, count) in &self.state.on_no_file {
            summary.leave_out(&format!("{name} on a pipe, socket, terminal or device"), *count);
        }
        summary.leave_out("calls that are not about files' data or names", self.state.other_calls);
        summary.leave_out("ends of calls that began before the trace", self.resumed_alone);
    }
}
