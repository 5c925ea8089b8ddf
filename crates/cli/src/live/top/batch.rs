//! Samples as text.

use std::ops::ControlFlow;

use anyhow::{Context, Result};
use hotset_analysis::top::TopFrame;
use hotset_sys::child::Signals;
use hotset_view::tui::{BatchOptions, batch_text};
use hotset_watch::Scoped;
use hotset_watch::interval::{EndReason, Live, Schedule, Waiting, watch};

use super::names::HostNames;
use super::order_or_usual;
use super::record::Recorder;
use crate::args::TopArgs;
use crate::exit::Exit;
use crate::output;

/// Lines of a sample, unless another number is asked for.
const LINES: usize = 20;

pub(super) fn options(
    args: &TopArgs,
    not_measured: Vec<hotset_facts::NotMeasured>,
) -> BatchOptions {
    BatchOptions {
        kind: args.view,
        order: order_or_usual(args),
        filter: args.filter.clone(),
        top: args.top.map_or(LINES, |top| top as usize),
        not_measured,
    }
}

/// Prints what happens, a sample an interval.
pub(super) fn live(args: &TopArgs) -> Result<Exit> {
    let signals = Signals::hold().context("signals can't be held back")?;
    let scoped = Scoped::new(&args.target.find()?)?;
    let mut source = Live::of(&scoped, true, super::curves(args))?;
    let gaps = source.not_measured();
    let mut recorder = Recorder::start(args, &gaps)?;
    for gap in &gaps {
        output::say(format_args!("not measured: {gap}"));
    }
    let options = options(args, gaps);
    let mut names = HostNames::new();
    let output = output::stdout_fd();
    let mut waiter =
        Waiting::new(&signals).until_end_of(scoped.pidfd.as_ref()).until_unread(output);
    let count = args.batch.filter(|&count| count > 0);
    let schedule = Schedule { interval: args.interval, count };
    let ended = watch(&mut source, &mut waiter, schedule, &mut |interval, _| {
        names.learn(&interval);
        let frame = TopFrame::of(interval, &mut names);
        if let Some(recorder) = &mut recorder {
            recorder.add(&frame)?;
        }
        output::print(batch_text(&frame, &options).as_bytes())?;
        Ok(ControlFlow::Continue(()))
    })?;
    if let (EndReason::Gone, Some(pid)) = (ended.why, scoped.pid) {
        output::say(format_args!("process {pid} has ended"));
    }
    Ok(Exit::Success)
}
