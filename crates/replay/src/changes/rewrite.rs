//! The steps of one thread, written anew, and what becomes of the waits between threads.
//!
//! A wait stands for more than its two steps: [`Wait::before`] holds back all later steps of its thread too, and
//! [`Wait::steps`] counts all earlier ones of the other. So of each old step it is kept where the new steps begin that do its
//! work, and by how many new steps it is done; a wait moves to the first new step that does work of any step it held back, and
//! counts until the last that does work of any step it counted. Every order that the old plan had holds in the new one.
//!
//! Whether the new plan can be done at all is the change's to see to: work must not move to an earlier place across a wait of
//! its thread, nor to a later place across a number of steps that another thread waits for ([`told`]).

use std::collections::{BTreeSet, HashMap};

use hotset_facts::replay::{PlanThread, ReplayPlan, Step, Wait};

/// Where the work of an old step is among the new ones.
#[derive(Debug, Clone, Copy)]
struct Work {
    /// The first new step that does some of it.
    begins: u32,
    /// How many new steps are done once it is.
    done: u32,
}

/// The new steps of one thread, which takes the old ones in their order.
#[derive(Debug)]
pub(super) struct Rewrite<'a> {
    old: &'a PlanThread,
    steps: Vec<Step>,
    work: Vec<Work>,
    /// What old steps wait for that they did not.
    waits: Vec<Wait>,
}

impl<'a> Rewrite<'a> {
    /// Of no old step yet.
    pub(super) fn new(old: &'a PlanThread) -> Self {
        Self {
            old,
            steps: Vec::with_capacity(old.steps.len()),
            work: Vec::with_capacity(old.steps.len()),
            waits: Vec::new(),
        }
    }

    /// Adds a step that does the work of no old one.
    pub(super) fn insert(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// The next old step becomes these: itself, others, or none.
    pub(super) fn becomes(&mut self, steps: &[Step]) {
        let begins = number(self.steps.len());
        self.steps.extend_from_slice(steps);
        self.work.push(Work { begins, done: number(self.steps.len()) });
    }

    /// The work of one old step is done by what another became; both were taken.
    pub(super) fn is_done_by(&mut self, place: usize, other: usize) {
        if let (Some(work), true) = (self.work.get(other).copied(), place < self.work.len())
            && let Some(own) = self.work.get_mut(place)
        {
            *own = work;
        }
    }

    /// An old step waits for old steps of another thread that it did not wait for.
    pub(super) fn waits_for(&mut self, wait: Wait) {
        self.waits.push(wait);
    }

    /// All that old steps wait for, in their order.
    fn all_waits(&self) -> Vec<Wait> {
        let mut waits: Vec<Wait> = self.old.waits.iter().chain(&self.waits).copied().collect();
        waits.sort_by_key(|wait| wait.before);
        waits
    }

    /// How many new steps are done once the first so many old ones are: of each number, from none to all.
    fn done(&self) -> Vec<u32> {
        let mut most = 0;
        let mut done = Vec::with_capacity(self.work.len() + 1);
        done.push(0);
        done.extend(self.work.iter().map(|work| {
            most = work.done.max(most);
            most
        }));
        done
    }

    /// The first new step that does work of an old step, or of one behind it: of each old step.
    fn begins(&self) -> Vec<u32> {
        let mut first = number(self.steps.len());
        let mut begins: Vec<u32> = self
            .work
            .iter()
            .rev()
            .map(|work| {
                first = work.begins.min(first);
                first
            })
            .collect();
        begins.reverse();
        begins
    }
}

/// The threads of a plan whose threads became these, in their order.
pub(super) fn finish(rewrites: Vec<Rewrite<'_>>) -> Vec<PlanThread> {
    let done: Vec<Vec<u32>> = rewrites.iter().map(Rewrite::done).collect();
    let thread = |rewrite: Rewrite<'_>| {
        let begins = rewrite.begins();
        let mut known: HashMap<u32, u32> = HashMap::new();
        let mut waits = Vec::with_capacity(rewrite.old.waits.len());
        for wait in rewrite.all_waits() {
            let before = begins.get(wait.before as usize).copied();
            let steps =
                done.get(wait.thread as usize).and_then(|done| done.get(wait.steps as usize));
            let (Some(before), Some(steps)) = (before, steps.copied()) else { continue };
            let known = known.entry(wait.thread).or_default();
            // Nothing is left to hold back, or it is held back already.
            if before as usize >= rewrite.steps.len() || steps <= *known {
                continue;
            }
            *known = steps;
            waits.push(Wait { before, thread: wait.thread, steps });
        }
        PlanThread {
            tid: rewrite.old.tid,
            process: rewrite.old.process,
            steps: rewrite.steps,
            waits,
            ring_depth: rewrite.old.ring_depth,
        }
    };
    rewrites.into_iter().map(thread).collect()
}

/// A plan like another with other threads.
pub(super) fn with_threads(plan: &ReplayPlan, threads: Vec<PlanThread>) -> ReplayPlan {
    ReplayPlan {
        paths: plan.paths.clone(),
        there: plan.there.clone(),
        files: plan.files.clone(),
        slots: plan.slots.clone(),
        transfers: plan.transfers.clone(),
        mappings: plan.mappings.clone(),
        threads,
        left_out: plan.left_out.clone(),
        recorded: plan.recorded,
    }
}

/// Of each thread, the numbers of steps that others wait for.
pub(super) fn told(plan: &ReplayPlan) -> Vec<BTreeSet<u32>> {
    let mut told = vec![BTreeSet::new(); plan.threads.len()];
    for wait in plan.threads.iter().flat_map(|thread| &thread.waits) {
        if let Some(told) = told.get_mut(wait.thread as usize) {
            told.insert(wait.steps);
        }
    }
    told
}

/// A place or a number of steps as plans have it.
pub(super) fn number(places: usize) -> u32 {
    u32::try_from(places).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use hotset_facts::replay::StepKind;

    use super::*;

    fn thread(steps: u32, waits: &[(u32, u32, u32)]) -> PlanThread {
        let wait = |(before, thread, steps): &(u32, u32, u32)| Wait {
            before: *before,
            thread: *thread,
            steps: *steps,
        };
        PlanThread {
            steps: (0..steps).map(|at| Step::new(StepKind::Stat, 0, at)).collect(),
            waits: waits.iter().map(wait).collect(),
            ..PlanThread::default()
        }
    }

    fn waits(thread: &PlanThread) -> Vec<(u32, u32, u32)> {
        thread.waits.iter().map(|wait| (wait.before, wait.thread, wait.steps)).collect()
    }

    /// Takes the steps of a thread as they are, but for those that become others.
    fn rewrite<'a>(old: &'a PlanThread, becomes: &[(usize, usize)]) -> Rewrite<'a> {
        let mut new = Rewrite::new(old);
        for (place, step) in old.steps.iter().enumerate() {
            let times = becomes.iter().find(|(at, _)| *at == place).map_or(1, |(_, times)| *times);
            new.becomes(&vec![*step; times]);
        }
        new
    }

    #[test]
    fn waits_follow_the_steps_that_they_are_about() {
        let (one, two) = (thread(4, &[]), thread(4, &[(1, 0, 2), (2, 0, 3), (3, 0, 4)]));
        // The third of the first is gone, the second became three; of the second thread, the third is gone.
        let new = finish(vec![rewrite(&one, &[(1, 3), (2, 0)]), rewrite(&two, &[(2, 0)])]);
        assert_eq!(new[0].steps.len(), 5);
        assert_eq!(
            waits(&new[1]),
            [(1, 0, 4), (2, 0, 5)],
            "the third needs no more than the second"
        );
    }

    #[test]
    fn what_is_left_out_at_the_end_waits_for_nobody() {
        let (one, two) = (thread(1, &[]), thread(2, &[(1, 0, 1)]));
        let new = finish(vec![rewrite(&one, &[]), rewrite(&two, &[(1, 0)])]);
        assert_eq!((new[1].steps.len(), waits(&new[1])), (1, Vec::new()));
        let new = finish(vec![rewrite(&one, &[(0, 0)]), rewrite(&two, &[])]);
        assert_eq!(waits(&new[1]), [], "there is nothing to wait for");
    }

    #[test]
    fn a_wait_holds_back_all_behind_it_also_what_moved_before_it() {
        let (one, two) = (thread(1, &[]), thread(3, &[(1, 0, 1)]));
        let mut moved = rewrite(&two, &[(2, 0)]);
        moved.is_done_by(2, 0);
        let new = finish(vec![rewrite(&one, &[]), moved]);
        assert_eq!(waits(&new[1]), [(0, 0, 1)]);
    }

    #[test]
    fn a_wait_counts_until_all_is_done_also_what_moved_behind_it() {
        let (one, two) = (thread(3, &[]), thread(1, &[(0, 0, 2)]));
        let mut moved = rewrite(&one, &[(0, 0)]);
        moved.is_done_by(0, 2);
        let new = finish(vec![moved, rewrite(&two, &[])]);
        assert_eq!(waits(&new[1]), [(0, 0, 2)]);
    }

    #[test]
    fn a_new_wait_stands_among_the_others() {
        let (one, two) = (thread(3, &[]), thread(3, &[(0, 0, 1), (2, 0, 3)]));
        let mut new = rewrite(&two, &[(1, 0)]);
        new.waits_for(Wait { before: 1, thread: 0, steps: 2 });
        let new = finish(vec![rewrite(&one, &[]), new]);
        assert_eq!(waits(&new[1]), [(0, 0, 1), (1, 0, 2), (1, 0, 3)]);
    }

    #[test]
    fn what_is_inserted_is_waited_for_by_nobody_and_shifts_the_rest() {
        let (one, two) = (thread(2, &[]), thread(1, &[(0, 0, 1)]));
        let mut new = Rewrite::new(&one);
        new.becomes(&one.steps[..1]);
        new.insert(one.steps[0]);
        new.becomes(&one.steps[1..]);
        let mut other = Rewrite::new(&two);
        other.insert(two.steps[0]);
        other.becomes(&two.steps);
        let new = finish(vec![new, other]);
        assert_eq!(waits(&new[1]), [(1, 0, 1)]);
    }
}
