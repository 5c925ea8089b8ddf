//! What a change does, in requests that a picture has room for: some of one thread without it, and what the same records became.
//!
//! Records tell which requests of both plans belong together: a step that stands for several carries the first of theirs. So the
//! picture begins a little before a request that the change is about, where it is about the most of those that follow.

mod lanes;
mod mark;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use hotset_facts::replay::{
    PATTERN_MARKS, PatternSide, PlanThread, ReplayPattern, ReplayPlan, Step,
};

use lanes::Lanes;
use mark::{Drawn, is_direct, is_drawn};

/// Requests of a window at most, as recorded.
const WINDOW: usize = 120;
/// Requests before the first that is changed: they show where it comes from, such as the open of a file.
const LEAD: usize = 4;
/// Steps of a thread that are looked at: a picture of the first is as good as one of the last.
const LOOKED_AT: usize = 1_000_000;

/// Requests that a change is about, before and after it; nothing where the steps of both plans are the same.
pub fn pattern(before: &ReplayPlan, after: &ReplayPlan) -> Option<ReplayPattern> {
    let threads = before.threads.iter().zip(&after.threads).enumerate();
    let windows = threads.filter_map(|(place, (old, new))| {
        let old = Steps::of(before, old);
        let window = busiest(&old, &old.changed(&Steps::of(after, new)))?;
        Some((place, window))
    });
    // The first of those with the most.
    let (place, window) = windows.reduce(|best, next| match next.1.changed > best.1.changed {
        true => next,
        false => best,
    })?;
    let (old, new) = (before.threads.get(place)?, after.threads.get(place)?);
    let old_steps = Steps::of(before, old);
    let mut records = old_steps.records(window.begins);
    let mut drawn = Steps::of(after, new).drawn(&records);
    if drawn.is_empty() {
        // What was left out had something before it that stays.
        records = old_steps.records(window.begins.saturating_sub(WINDOW / 2));
        drawn = Steps::of(after, new).drawn(&records);
    }
    let recorded = old_steps.drawn(&records);
    let lanes = Lanes::of(&recorded, &drawn);
    Some(ReplayPattern {
        tid: old.tid,
        before: side(&lanes, &recorded, old),
        after: side(&lanes, &drawn, new),
        more_lanes: lanes.more(),
        lanes: lanes.finish(),
    })
}

/// Where a picture begins, and how many of its requests the change is about.
#[derive(Debug, Clone, Copy)]
struct Window {
    begins: usize,
    changed: usize,
}

/// The first window that has as many changed requests as any, but for a few: it begins where they begin.
fn busiest(steps: &Steps<'_>, changed: &HashSet<u32>) -> Option<Window> {
    let mut sums = Vec::with_capacity(steps.list.len() + 1);
    sums.push(0);
    let mut sum = 0;
    for step in &steps.list {
        sum += usize::from(changed.contains(&step.record));
        sums.push(sum);
    }
    let at = |place: usize| sums.get(place.min(steps.list.len())).copied().unwrap_or(sum);
    let begins = || {
        let places = steps.list.iter().enumerate();
        places.filter(|(_, step)| changed.contains(&step.record)).map(|(place, _)| place)
    };
    let count = |begins: usize| at(begins + WINDOW - LEAD) - at(begins);
    let most = begins().map(count).max()?;
    let first = begins().find(|begins| count(*begins) >= most - most / 50)?;
    Some(Window { begins: first.saturating_sub(LEAD), changed: count(first) })
}

/// The steps of a thread that a picture shows.
struct Steps<'a> {
    plan: &'a ReplayPlan,
    list: Vec<&'a Step>,
}

impl<'a> Steps<'a> {
    fn of(plan: &'a ReplayPlan, thread: &'a PlanThread) -> Self {
        let list = thread.steps.iter().filter(|step| is_drawn(step)).take(LOOKED_AT).collect();
        Self { plan, list }
    }

    /// In the order of their records, those of one record in their own.
    fn by_record(&self) -> Vec<&'a Step> {
        let mut steps = self.list.clone();
        steps.sort_by_key(|step| step.record);
        steps
    }

    /// Records whose steps are others there, as far as both were looked at.
    fn changed(&self, other: &Self) -> HashSet<u32> {
        let (mine, theirs) = (self.by_record(), other.by_record());
        let group = |one: &&Step, next: &&Step| one.record == next.record;
        let is_whole = theirs.len() < LOOKED_AT;
        let known = theirs.last().filter(|_| !is_whole).map_or(u32::MAX, |step| step.record);
        let mut theirs = theirs.chunk_by(group).peekable();
        let mut changed = HashSet::new();
        for steps in mine.chunk_by(group) {
            let Some(record) = steps.first().map(|step| step.record).filter(|at| *at < known)
            else {
                break;
            };
            let is_before =
                |other: &&[&Step]| other.first().is_some_and(|step| step.record < record);
            while theirs.next_if(is_before).is_some() {}
            let is_same =
                |group: &&[&Step]| group.first().is_some_and(|step| step.record == record);
            let same = theirs.next_if(is_same).unwrap_or_default();
            if !self.are_alike(steps, other, same) {
                changed.insert(record);
            }
        }
        changed
    }

    fn are_alike(&self, steps: &[&Step], other: &Self, others: &[&Step]) -> bool {
        let pairs = || steps.iter().zip(others);
        steps.len() == others.len()
            && pairs().all(|(one, two)| {
                one == two && is_direct(self.plan, one) == is_direct(other.plan, two)
            })
    }

    /// The records of a window that begins at a place.
    fn records(&self, begins: usize) -> HashSet<u32> {
        let steps = self.list.iter().skip(begins).take(WINDOW);
        steps.map(|step| step.record).collect()
    }

    /// What became of records, in the order of the thread.
    fn drawn(&self, records: &HashSet<u32>) -> Vec<Drawn<'a>> {
        let steps = self.list.iter().filter(|step| records.contains(&step.record));
        steps.map(|step| mark::draw(self.plan, step)).collect()
    }
}

fn side(lanes: &Lanes<'_>, drawn: &[Drawn<'_>], thread: &PlanThread) -> PatternSide {
    let marks = drawn.iter().take(PATTERN_MARKS);
    let flies = drawn.iter().any(|drawn| drawn.flies);
    PatternSide {
        marks: marks.map(|drawn| lanes.place(drawn)).collect(),
        requests: drawn.len() as u64,
        in_flight: if flies { thread.ring_depth } else { 0 },
    }
}
