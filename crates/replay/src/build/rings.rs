//! Requests of io_uring and Linux AIO, of which a thread has several in flight.
//!
//! A recording says when each began and ended, and not when the program asked whether it had. A plan has the thread wait, before each of
//! its steps, until no more are in flight than were when that step began. Which of them, it can't say: the device may answer in
//! another order.

use hotset_facts::replay::{Step, StepKind};

use super::threads::{Covered, Draft};

/// What one thread has in flight while it is put in order.
#[derive(Debug, Default)]
pub(super) struct Flying {
    /// So many are at most, throughout.
    depth: usize,
    /// When those end that are in flight, by the recording.
    ends_ns: Vec<u64>,
    /// So many may be in flight when its steps are done in their order.
    most: usize,
}

impl Flying {
    /// Of a thread that will do this, in the order of the beginnings.
    pub(super) fn of(drafts: &[Draft]) -> Self {
        let mut flying = Self::default();
        let mut depth = 0;
        for draft in drafts.iter().filter(|draft| is_request(draft)) {
            flying.end_by(draft.start_ns);
            flying.ends_ns.push(draft.end_ns);
            depth = flying.ends_ns.len().max(depth);
        }
        Self { depth, ..Self::default() }
    }

    /// How many it has in flight at most; 0 where it makes no request.
    pub(super) fn depth(&self) -> u32 {
        u32::try_from(self.depth).unwrap_or(u32::MAX)
    }

    fn end_by(&mut self, time_ns: u64) {
        self.ends_ns.retain(|end_ns| *end_ns > time_ns);
    }

    /// The wait that a step needs before it, where some requests had ended when it began.
    pub(super) fn before(&mut self, draft: &Draft) -> Option<Step> {
        self.end_by(draft.start_ns);
        let left = self.ends_ns.len();
        // A request that finds the ring full waits by itself.
        let waits_itself = is_request(draft) && left + 1 >= self.depth;
        let wait = (self.most > left && !waits_itself).then(|| drain(left, draft.step.record));
        self.most = left.min(self.most);
        if is_request(draft) {
            self.ends_ns.push(draft.end_ns);
            self.most = (self.most + 1).min(self.depth);
        }
        wait
    }

    /// The wait for all of them; nothing where none is in flight.
    pub(super) fn all(&mut self, record: u32) -> Option<Step> {
        let wait = (self.most > 0).then(|| drain(0, record));
        self.ends_ns.clear();
        self.most = 0;
        wait
    }
}

/// Whether its thread went on while it was under way.
pub(super) fn is_request(draft: &Draft) -> bool {
    draft.step.kind.is_in_flight()
}

fn drain(left: usize, record: u32) -> Step {
    Step { bytes: left as u64, ..Step::new(StepKind::Drain, 0, record) }
}

/// The time in which a thread had requests under way and did nothing else that was recorded: what they add to the time of its calls.
/// Its drafts are in the order in which they began.
pub(super) fn time_ns(drafts: &[Draft]) -> u64 {
    if !drafts.iter().any(is_request) {
        return 0;
    }
    covered_ns(drafts.iter()) - covered_ns(drafts.iter().filter(|draft| !is_request(draft)))
}

/// The time in which any of these was under way.
fn covered_ns<'a>(drafts: impl Iterator<Item = &'a Draft>) -> u64 {
    let mut covered = Covered::default();
    drafts.for_each(|draft| covered.add(draft));
    covered.ns()
}

#[cfg(test)]
mod tests {
    use hotset_facts::replay::ReplayPlan;
    use hotset_facts::trace::{Operation, ProcessIndex, RecordFlags};

    use super::*;
    use crate::build::testing::Trace;

    /// A read by a ring or a call, of this thread, begun at a time, of this duration.
    fn add(trace: &mut Trace, operation: Operation, tid: u32, (start_ns, duration_ns): (u64, u64)) {
        let file = hotset_facts::trace::FileIndex(0);
        let of = ("/f", file, 1);
        let record = trace.on_file(operation, (ProcessIndex(0), tid), of, (start_ns * 10, 100));
        (record.start_ns, record.duration_ns) = (start_ns, Some(duration_ns));
    }

    fn plan(requests: &[(Operation, u32, u64, u64)]) -> ReplayPlan {
        let mut trace = Trace::default();
        trace.process(1, None);
        trace.file("/f", 90_000);
        for (operation, tid, start_ns, duration_ns) in requests {
            add(&mut trace, *operation, *tid, (*start_ns, *duration_ns));
        }
        trace.plan()
    }

    /// The steps of a thread: what is waited for, and the records of the others.
    fn steps(plan: &ReplayPlan, thread: usize) -> Vec<String> {
        let steps = plan.threads[thread].steps.iter();
        let text = |step: &Step| match step.kind {
            StepKind::Drain => format!("wait {}", step.bytes),
            kind => format!("{} #{}", kind.as_str(), step.record),
        };
        steps.map(text).collect()
    }

    const RING: Operation = Operation::UringRead;

    #[test]
    fn as_many_are_in_flight_as_were() {
        let two_at_a_time =
            plan(&[(RING, 1, 0, 50), (RING, 1, 10, 50), (RING, 1, 55, 50), (RING, 1, 70, 10)]);
        assert_eq!(two_at_a_time.threads[0].ring_depth, 2);
        let reads = |records: [u32; 4]| records.map(|record| format!("io_uring_read #{record}"));
        let [a, b, c, d] = reads([0, 1, 2, 3]);
        assert_eq!(steps(&two_at_a_time, 0), [&a, &b, &c, &d, "wait 0"], "a full ring waits");
        let one_by_one_then_three =
            plan(&[(RING, 1, 0, 5), (RING, 1, 10, 50), (RING, 1, 20, 50), (RING, 1, 30, 50)]);
        assert_eq!(one_by_one_then_three.threads[0].ring_depth, 3);
        assert_eq!(steps(&one_by_one_then_three, 0), [&a, "wait 0", &b, &c, &d, "wait 0"]);
    }

    #[test]
    fn what_had_ended_is_waited_for_before_a_call() {
        let plan = plan(&[
            (RING, 1, 0, 100),
            (RING, 1, 10, 10),
            (Operation::Pread, 1, 40, 10),
            (Operation::Pread, 1, 120, 10),
        ]);
        let wanted =
            ["io_uring_read #0", "io_uring_read #1", "wait 1", "pread #2", "wait 0", "pread #3"];
        assert_eq!(steps(&plan, 0), wanted);
        assert_eq!(plan.recorded.duration_ns, 110, "time in which anything was under way");
        assert_eq!(plan.recorded.records, 4);
    }

    #[test]
    fn who_waits_for_a_request_waits_until_it_is_done() {
        let plan = plan(&[(RING, 1, 0, 10), (RING, 1, 5, 500), (Operation::Pwrite, 2, 50, 10)]);
        assert_eq!(steps(&plan, 0), ["io_uring_read #0", "io_uring_read #1", "wait 0"]);
        let waits: Vec<_> = plan.threads[1].waits.iter().map(|wait| wait.steps).collect();
        assert_eq!(waits, [3], "the one that had ended, and with it what was in flight");
    }

    #[test]
    fn aio_is_in_flight_past_the_cache_alone() {
        let mut trace = Trace::default();
        trace.process(1, None);
        trace.file("/f", 90_000);
        add(&mut trace, Operation::AioRead, 1, (0, 10));
        add(&mut trace, Operation::AioRead, 1, (100, 10));
        trace.last().expect("a record").flags = RecordFlags::DIRECT;
        let plan = trace.plan();
        assert_eq!(steps(&plan, 0), ["pread #0", "io_uring_read #1", "wait 0"]);
    }
}
