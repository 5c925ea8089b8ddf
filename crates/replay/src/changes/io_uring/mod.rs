//! `io_uring=DEPTH`: reads that don't wait for each other.
//!
//! What is in flight together are reads of one thread with nothing between them. Whether the program knew where to read before the read
//! before returned, no recording says: the programmer has to. All of them are waited for before the thread does anything else, before
//! it waits for another thread, and before another thread goes on that waits for it.

use std::collections::{BTreeSet, HashMap};

use hotset_facts::replay::{PlanThread, ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::positions;
use super::rewrite::{self, Rewrite};
use super::subjects::{self, moved, without};
use super::{Argument, Change, Given, Made};

/// Reads in a row become requests in flight.
pub(super) const CHANGE: Change = Change {
    name: "io_uring",
    argument: Some(Argument::Depth),
    summary: "Keep up to DEPTH independent reads in flight at a time",
    programmer: "Start reads before the earlier ones return, where the program knows their offsets by then: in C, with \
                 liburing; in Rust, with the io-uring or tokio-uring crate. The standard libraries of other languages \
                 have no io_uring; use threads: in Python, os.pread in a ThreadPoolExecutor; in Go, File.ReadAt in \
                 goroutines; in Java, FileChannel.read with a position in a thread pool.",
    risks: Some(
        "Reads whose offsets come from bytes read before cannot overlap. Each read in flight needs a buffer. Cached \
         reads gain little and may be slower. Threads cost more than io_uring, and only io_uring is replayed. \
         io_uring can be disabled on a host or in a container.",
    ),
    syncs_less: false,
    make,
};

/// Reads that are in flight together, by their places in a thread, and the seeks that were for them.
#[derive(Debug, Default)]
struct Run {
    reads: Vec<usize>,
    seeks: Vec<usize>,
}

fn make(plan: &ReplayPlan, given: &Given<'_>) -> Made {
    let (told, positions) = (rewrite::told(plan), positions::of_one_thread(plan));
    let mut affected = 0;
    let mut has_runs = Vec::with_capacity(plan.threads.len());
    let threads = plan.threads.iter().zip(&told).enumerate().map(|(at, (thread, told))| {
        let is_own = |slot: u32| positions.get(&slot) == Some(&at);
        let runs = runs(plan, thread, told, &is_own);
        affected += runs.iter().map(|run| run.reads.len() as u64).sum::<u64>();
        has_runs.push(!runs.is_empty());
        write_anew(thread, &runs, &is_own)
    });
    let mut threads = rewrite::finish(threads.collect());
    if affected == 0 {
        return Err(
            "no thread makes two reads with nothing between that may depend on them".to_owned()
        );
    }
    let depth = u32::try_from(given.value).unwrap_or(u32::MAX);
    for (thread, _) in threads.iter_mut().zip(has_runs).filter(|(_, has_runs)| *has_runs) {
        thread.ring_depth = thread.ring_depth.max(depth);
    }
    Ok((rewrite::with_threads(plan, threads), affected))
}

/// Whether a read can be a request of io_uring. One that got nothing is left as it is: it tells where the file ends.
fn may_fly(plan: &ReplayPlan, step: &Step, is_own: &impl Fn(u32) -> bool) -> bool {
    let knows_where = match step.kind {
        StepKind::ReadAt => true,
        StepKind::Read => is_own(step.target),
        _ => false,
    };
    let waits = !step.flags.has(RecordFlags::NOWAIT);
    knows_where && waits && moved(step) > 0 && subjects::slot(plan, step).is_some()
}

/// The runs of a thread that have two reads at least.
fn runs(
    plan: &ReplayPlan,
    thread: &PlanThread,
    told: &BTreeSet<u32>,
    is_own: &impl Fn(u32) -> bool,
) -> Vec<Run> {
    let (mut waits, mut told) = (thread.waits.iter().peekable(), told.iter().peekable());
    let (mut all, mut run): (Vec<Run>, Run) = (Vec::new(), Run::default());
    // A seek that may be for the next read.
    let mut seek: Option<(usize, u32)> = None;
    for (place, step) in thread.steps.iter().enumerate() {
        let mut ends = false;
        while waits.next_if(|wait| wait.before as usize <= place).is_some() {
            ends = true;
        }
        while told.next_if(|steps| **steps as usize <= place).is_some() {
            ends = true;
        }
        let before = seek.take().filter(|_| !ends);
        let flies = may_fly(plan, step, is_own);
        let is_for = |(_, slot): &(usize, u32)| step.kind == StepKind::Read && *slot == step.target;
        let is_seek = step.kind == StepKind::Seek && is_own(step.target);
        if ends || before.is_some_and(|seek| !is_for(&seek)) || !(flies || is_seek) {
            all.push(std::mem::take(&mut run));
        }
        if flies {
            run.seeks.extend(before.filter(is_for).map(|(at, _)| at));
            run.reads.push(place);
        } else if is_seek {
            seek = Some((place, step.target));
        }
    }
    all.push(run);
    all.retain(|run| run.reads.len() > 1);
    all
}

/// What becomes of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Stays,
    Dropped,
    Flies,
    /// It is the last of its run.
    FliesLast,
}

/// The steps of a thread with its runs in flight. A request moves no position: where one matters later, it is set.
fn write_anew<'a>(
    thread: &'a PlanThread,
    runs: &[Run],
    is_own: &impl Fn(u32) -> bool,
) -> Rewrite<'a> {
    let mut parts = vec![Part::Stays; thread.steps.len()];
    let mut set = |place: usize, part| {
        if let Some(of) = parts.get_mut(place) {
            *of = part;
        }
    };
    for run in runs {
        run.seeks.iter().for_each(|place| set(*place, Part::Dropped));
        run.reads.iter().for_each(|place| set(*place, Part::Flies));
        run.reads.last().into_iter().for_each(|place| set(*place, Part::FliesLast));
    }
    let mut new = Rewrite::new(thread);
    let mut positions: HashMap<u32, u64> = HashMap::new();
    for (step, part) in thread.steps.iter().zip(parts) {
        let flags = without(step.flags, RecordFlags::POSITION);
        let request = Step { kind: StepKind::ReadRing, flags, ..*step };
        match part {
            Part::Dropped => new.becomes(&[]),
            Part::Flies => new.becomes(&[request]),
            Part::FliesLast => {
                new.becomes(&[request, Step::new(StepKind::Drain, 0, step.record)]);
            }
            Part::Stays if is_own(step.target) && step.kind == StepKind::Seek => {
                positions.insert(step.target, step.offset);
                new.becomes(&[*step]);
            }
            Part::Stays if is_own(step.target) && subjects::uses_position(step) => {
                let position = positions.entry(step.target).or_default();
                let seek = Step::new(StepKind::Seek, step.target, step.record);
                let seek = Step { offset: step.offset, ..seek };
                let steps = [seek, *step];
                let skipped = usize::from(*position == step.offset);
                new.becomes(steps.get(skipped..).unwrap_or_default());
                *position = step.offset.saturating_add(moved(step));
            }
            Part::Stays => new.becomes(&[*step]),
        }
    }
    new
}

#[cfg(test)]
mod tests;
