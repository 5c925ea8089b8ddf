//! `read-ahead=SIZE`: the program asks for what follows, so that the device reads it meanwhile.
//!
//! The kernel has no read-ahead size for one open file: POSIX_FADV_SEQUENTIAL doubles that of the device, and no more. So this is what a
//! program can do: while it reads one window of SIZE bytes, it has asked for the one behind it.

use std::collections::HashMap;

use hotset_facts::replay::{PlanThread, ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::rewrite::{self, Rewrite};
use super::subjects::{self, is_read, moved};
use super::{Argument, Change, Given, Made};

/// A window is asked for before the reads come to it.
pub(super) const CHANGE: Change = Change {
    name: "read-ahead",
    argument: Some(Argument::Size),
    summary: "Request SIZE bytes ahead of each sequential reader",
    programmer: "While reading one window of SIZE bytes, request the next: in C, readahead or \
                 posix_fadvise(POSIX_FADV_WILLNEED); in Python, os.posix_fadvise; in Rust, rustix::fs::fadvise. Use calls \
                 of up to 128 KiB: the kernel shortens larger ones to what the device takes.",
    risks: Some(
        "A reader that stops early has requested up to two windows in vain. Many readers at a time need SIZE bytes of \
         page cache each.",
    ),
    syncs_less: false,
    make,
};

/// readahead(2) reads no more than the read-ahead of the device, or one request of it where that is larger
/// (`force_page_cache_ra`, mm/readahead.c). This is the kernel's own default of the first.
const CALL_BYTES: u64 = 128 << 10;

/// Reads of one slot, each where the one before ended.
#[derive(Debug, Clone, Copy)]
struct Run {
    next: u64,
    reads: u32,
    /// What was asked for ends here.
    asked: u64,
}

fn make(plan: &ReplayPlan, given: &Given<'_>) -> Made {
    let size_bytes = given.value.max(1);
    let mut inserted = 0;
    let threads = plan.threads.iter().map(|thread| {
        let (run_of, mut runs) = runs(plan, thread);
        let mut new = Rewrite::new(thread);
        for (step, run) in thread.steps.iter().zip(run_of) {
            let run = run.and_then(|at| runs.get_mut(at)).filter(|run| run.reads > 1);
            let mut steps = run.map_or_else(Vec::new, |run| ahead(plan, step, run, size_bytes));
            inserted += steps.len() as u64;
            steps.push(*step);
            new.becomes(&steps);
        }
        new
    });
    let threads = rewrite::finish(threads.collect());
    if inserted == 0 {
        return Err("no open file is read sequentially through the page cache".to_owned());
    }
    Ok((rewrite::with_threads(plan, threads), inserted))
}

/// Of each step of a thread, the run that it is a read of; and all runs.
fn runs(plan: &ReplayPlan, thread: &PlanThread) -> (Vec<Option<usize>>, Vec<Run>) {
    let mut runs: Vec<Run> = Vec::new();
    let mut last: HashMap<u32, usize> = HashMap::new();
    let run_of = thread.steps.iter().map(|step| {
        if !is_sequential(plan, step) {
            return None;
        }
        let known = last.get(&step.target).copied();
        let next = step.offset.saturating_add(moved(step));
        if let Some(at) = known
            && let Some(run) = runs.get_mut(at).filter(|run| run.next == step.offset)
        {
            (run.next, run.reads) = (next, run.reads + 1);
            return known;
        }
        last.insert(step.target, runs.len());
        runs.push(Run { next, reads: 1, asked: step.offset });
        Some(runs.len() - 1)
    });
    (run_of.collect(), runs)
}

/// Whether a step may be one of a run: a read through the page cache that got something, at a place that is known.
fn is_sequential(plan: &ReplayPlan, step: &Step) -> bool {
    let slot = plan.slots.get(step.target as usize).filter(|_| is_read(step));
    let is_cached = slot.is_some_and(|slot| !slot.direct && slot.file.is_some());
    let knows_where = !subjects::uses_position(step) || step.flags.has(RecordFlags::POSITION);
    is_cached && knows_where && moved(step) > 0
}

/// What has to be asked for before a read: up to the end of the window behind the one that it ends in, and of the file.
fn ahead(plan: &ReplayPlan, step: &Step, run: &mut Run, size_bytes: u64) -> Vec<Step> {
    let file = subjects::file(plan, step).and_then(|file| plan.files.get(file as usize));
    let touched = file.and_then(|file| file.touched.last()).map_or(0, |range| range.1);
    let file_bytes = file.map_or(0, |file| file.size_bytes).max(touched);
    let window = step.offset.saturating_add(moved(step)).div_ceil(size_bytes);
    let until = window.saturating_add(1).saturating_mul(size_bytes).min(file_bytes);
    let mut steps = Vec::new();
    while run.asked < until {
        let (offset, bytes) = (run.asked, CALL_BYTES.min(until - run.asked));
        let ahead = Step::new(StepKind::ReadAhead, step.target, step.record);
        steps.push(Step { offset, bytes, ..ahead });
        run.asked += bytes;
    }
    steps
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{Operation, RecordFlags};

    use crate::build::testing::Trace;
    use crate::changes::plan_text::{after, why_not};

    /// A file of 400,000 bytes that is read like this.
    fn trace(reads: &[(u64, u64)]) -> Trace {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        let file = trace.file("/f", 400_000);
        for range in reads {
            let record = trace.on_file(Operation::Read, one, ("/f", file, 1), *range);
            record.flags = RecordFlags::POSITION;
        }
        trace
    }

    #[test]
    fn one_window_is_asked_for_ahead() {
        let plan =
            trace(&[(0, 30_000), (30_000, 30_000), (60_000, 30_000), (90_000, 1_000)]).plan();
        let wanted = "thread 0
  readahead 0 @0+131072=0 #0
  read 0 @0+30000=30000 #0 position
  read 0 @30000+30000=30000 #1 position
  readahead 0 @131072+65536=0 #2
  read 0 @60000+30000=30000 #2 position
  read 0 @90000+1000=1000 #3 position
";
        assert_eq!(after(&plan, "read-ahead=64K"), wanted);
    }

    #[test]
    fn a_large_window_is_asked_for_in_calls_that_the_kernel_takes_and_no_further_than_the_file() {
        let plan = trace(&[(100_000, 10), (100_010, 10)]).plan();
        let wanted = "thread 0
  seek 0 @100000+0=0 #0
  readahead 0 @100000+131072=0 #0
  readahead 0 @231072+131072=0 #0
  readahead 0 @362144+37856=0 #0
  read 0 @100000+10=10 #0 position
  read 0 @100010+10=10 #1 position
";
        assert_eq!(after(&plan, "read-ahead=1M"), wanted);
    }

    #[test]
    fn what_jumps_or_goes_past_the_cache_is_left() {
        let why = why_not(&trace(&[(0, 100), (5_000, 100), (200, 100)]).plan(), "read-ahead=64K");
        assert!(why.ends_with("no open file is read sequentially through the page cache"), "{why}");
        let mut trace = trace(&[(0, 4096), (4096, 4096)]);
        trace.last().expect("a record").flags = RecordFlags::DIRECT.with(RecordFlags::POSITION);
        assert!(why_not(&trace.plan(), "read-ahead=64K").contains("through the page cache"));
    }

    #[test]
    fn each_run_has_its_windows() {
        let reads = [(0, 100), (100, 100), (300_000, 100), (300_100, 100)];
        let text = after(&trace(&reads).plan(), "read-ahead=4K");
        assert!(
            text.contains("readahead 0 @0+8192=0") && text.contains("readahead 0 @300000+7"),
            "{text}"
        );
    }
}
