//! `hotset stat`.

use std::ops::ControlFlow;

use anyhow::{Context, Result};
use hotset_analysis::live::{GrownLoss, LossWatch, StatLine, StatScope, StatTotals};
use hotset_facts::{Interval, NotMeasured, Pid};
use hotset_sys::child::Signals;
use hotset_sys::host::GroupCacheReader;
use hotset_view::live::stat as view;
use hotset_watch::Scoped;
use hotset_watch::interval::{EndReason, Ended, Live, Schedule, Waiting, watch};
use rustix::process::Signal;

use crate::args::StatArgs;
use crate::exit::{Exit, Stop};
use crate::output::{self, StatLines, StatOutput};

/// Prints a line an interval.
pub(crate) fn stat(args: &StatArgs) -> Result<Exit, Stop> {
    run(args)?;
    Ok(Exit::Success)
}

fn run(args: &StatArgs) -> Result<()> {
    let signals = Signals::hold().context("signals can't be held back")?;
    let scoped = Scoped::new(&args.target.find()?)?;
    let mut source = Live::of(&scoped, false, None)?;
    let gaps = source.not_measured();
    let mut lines = Lines::new(StatOutput::new(args), scoped.pid, &gaps);
    lines.group = scoped.group.as_ref().map(|group| GroupCacheReader::new(group.dir()));
    if !lines.begin() {
        return lines.out.finish();
    }
    let output = output::stdout_fd();
    let mut waiter =
        Waiting::new(&signals).until_end_of(scoped.pidfd.as_ref()).until_unread(output);
    let schedule = Schedule { interval: args.interval, count: args.count };
    let ended = watch(&mut source, &mut waiter, schedule, &mut |interval, late| {
        Ok(if lines.show(&interval, late, true) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    lines.end(&ended);
    lines.out.finish()
}

/// The lines as they come, with what is said beside them.
struct Lines<'a, O> {
    out: O,
    pid: Option<Pid>,
    group: Option<GroupCacheReader>,
    gaps: &'a [NotMeasured],
    /// What was said of columns without a number; a reason that comes up later is said then.
    said: Vec<String>,
    losses: LossWatch,
    late: Late,
    totals: StatTotals,
}

/// Lines that were due and are part of a later one. On a host without a CPU to spare that can be every other line.
#[derive(Debug, Default)]
struct Late {
    total: u64,
    told: u64,
    most: u64,
}

impl Late {
    /// How many there were so far, where that is worth a word: more at once than ever, or twice as many as last told.
    fn worth_saying(&mut self, late: u64) -> Option<u64> {
        self.total = self.total.saturating_add(late);
        if late == 0 || (late <= self.most && self.total < self.told.saturating_mul(2)) {
            return None;
        }
        self.most = self.most.max(late);
        self.told = self.total;
        Some(self.total)
    }
}

impl<'a, O: StatLines> Lines<'a, O> {
    fn new(out: O, pid: Option<Pid>, gaps: &'a [NotMeasured]) -> Self {
        Self {
            out,
            pid,
            group: None,
            gaps,
            said: Vec::new(),
            losses: LossWatch::default(),
            late: Late::default(),
            totals: StatTotals::default(),
        }
    }

    /// What comes before the first line; false where nobody reads it.
    fn begin(&mut self) -> bool {
        for gap in self.gaps {
            output::say(view::gap_words(gap));
        }
        self.out.begin()
    }

    /// Prints an interval; false where nobody reads it any more.
    fn show(&mut self, interval: &Interval, late: u64, whole: bool) -> bool {
        let (line, lost) = self.take(interval, whole);
        for words in view::missing_words(&line) {
            if !self.said.contains(&words) {
                output::say(&words);
                self.said.push(words);
            }
        }
        if let Some(so_far) = self.late.worth_saying(late) {
            output::say(view::late_words(late, so_far, line.numbers.seconds));
        }
        self.out.row(&view::Row { at: interval.at, line: &line, lost: &lost, late })
    }

    /// Adds an interval to the totals, and says what got lost in it.
    fn take(&mut self, interval: &Interval, whole: bool) -> (StatLine, Vec<GrownLoss>) {
        let scope = match (&mut self.group, self.pid) {
            (Some(group), _) => StatScope::Group(group.now().cached_bytes),
            (None, Some(_)) => StatScope::Processes,
            (None, None) => StatScope::Host,
        };
        let line = StatLine::of(interval, scope, self.gaps, hotset_sys::page_size());
        let lost = self.losses.grown(&interval.losses);
        lost.iter().for_each(|loss| output::say(view::loss_words(loss)));
        self.totals.add(&line, whole, lost.iter().any(|loss| loss.counts));
        (line, lost)
    }

    /// What comes after the last line.
    fn end(&mut self, ended: &Ended) {
        match (ended.why, &ended.rest) {
            (EndReason::Gone, rest) => {
                if let Some(rest) = rest {
                    self.show(rest, 0, false);
                }
                if let Some(pid) = self.pid {
                    output::say(format_args!("process {pid} has ended"));
                }
            }
            // A part of an interval is no line: scripts take lines for intervals.
            (EndReason::Signal(signal), rest) => {
                if let Some(rest) = rest {
                    self.take(rest, false);
                }
                if signal == Signal::INT.as_raw() {
                    self.out.interrupted();
                }
                output::say(view::summary_words(&self.totals));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
