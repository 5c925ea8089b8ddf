//! An order in which one thread could do all steps of a plan: near the one in which they were recorded.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use hotset_facts::replay::{ReplayPlan, Wait};

use super::subjects::At;

/// Each step once, behind those of its thread and those that it waits for; of those that could be next, the one whose record came
/// first.
pub(super) struct InOrder<'a> {
    plan: &'a ReplayPlan,
    done: Vec<usize>,
    waits: Vec<&'a [Wait]>,
    /// Threads that can go on as far as is known, by the record of their next step.
    ready: BinaryHeap<Reverse<(u32, usize)>>,
    /// By the thread that they wait for.
    waiting: HashMap<usize, Vec<usize>>,
}

impl<'a> InOrder<'a> {
    /// Of no step yet.
    pub(super) fn of(plan: &'a ReplayPlan) -> Self {
        let waits = plan.threads.iter().map(|thread| thread.waits.as_slice()).collect();
        let done = vec![0; plan.threads.len()];
        let mut order =
            Self { plan, done, waits, ready: BinaryHeap::new(), waiting: HashMap::new() };
        (0..plan.threads.len()).for_each(|thread| order.is_ready(thread));
        order
    }

    fn done(&self, thread: usize) -> usize {
        self.done.get(thread).copied().unwrap_or(usize::MAX)
    }

    /// A thread may go on, if a step of it is left.
    fn is_ready(&mut self, thread: usize) {
        let steps = self.plan.threads.get(thread).map_or(&[][..], |thread| &thread.steps);
        if let Some(step) = steps.get(self.done(thread)) {
            self.ready.push(Reverse((step.record, thread)));
        }
    }

    /// The thread that the next step of a thread waits for.
    fn waits_for(&mut self, thread: usize) -> Option<usize> {
        let place = self.done(thread);
        let mut left = self.waits.get(thread).copied().unwrap_or_default();
        let mut waits_for = None;
        while let [wait, rest @ ..] = left
            && wait.before as usize <= place
        {
            if self.done(wait.thread as usize) < wait.steps as usize {
                waits_for = Some(wait.thread as usize);
                break;
            }
            left = rest;
        }
        if let Some(waits) = self.waits.get_mut(thread) {
            *waits = left;
        }
        waits_for
    }
}

impl Iterator for InOrder<'_> {
    type Item = At;

    fn next(&mut self) -> Option<At> {
        while let Some(Reverse((_, thread))) = self.ready.pop() {
            if let Some(other) = self.waits_for(thread) {
                self.waiting.entry(other).or_default().push(thread);
                continue;
            }
            let place = self.done(thread);
            if let Some(done) = self.done.get_mut(thread) {
                *done += 1;
            }
            self.is_ready(thread);
            // Those that still have to wait say so again.
            for waiting in self.waiting.remove(&thread).unwrap_or_default() {
                self.is_ready(waiting);
            }
            return Some((thread, place));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::replay::{PlanThread, Step, StepKind};
    use proptest::prelude::*;

    use super::*;
    use crate::changes::subjects::all_steps;
    use crate::changes::testing::{plan, requests};

    #[test]
    fn the_first_record_comes_first_that_may() {
        let thread = |records: &[u32], waits: &[(u32, u32, u32)]| PlanThread {
            steps: records.iter().map(|record| Step::new(StepKind::Stat, 0, *record)).collect(),
            waits: waits
                .iter()
                .map(|(before, thread, steps)| Wait {
                    before: *before,
                    thread: *thread,
                    steps: *steps,
                })
                .collect(),
            ..PlanThread::default()
        };
        let threads = vec![thread(&[0, 5], &[]), thread(&[1, 2, 6], &[(1, 0, 2)])];
        let plan = ReplayPlan { threads, ..ReplayPlan::default() };
        let order: Vec<At> = InOrder::of(&plan).collect();
        assert_eq!(order, [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2)]);
    }

    proptest! {
        #[test]
        fn it_has_all_steps_and_keeps_all_waits(requests in requests(40)) {
            let plan = plan(&requests);
            let order: Vec<At> = InOrder::of(&plan).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, all_steps(&plan).map(|(at, _)| at).collect::<Vec<_>>());
            let mut done = vec![0; plan.threads.len()];
            for (thread, place) in order {
                prop_assert_eq!(done[thread], place);
                let waits = plan.threads[thread].waits.iter();
                for wait in waits.filter(|wait| wait.before as usize == place) {
                    prop_assert!(done[wait.thread as usize] >= wait.steps as usize);
                }
                done[thread] += 1;
            }
        }
    }
}
