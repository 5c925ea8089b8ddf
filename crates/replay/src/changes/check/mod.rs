//! What every change must keep.
//!
//! Both plans are done in the mind: the bytes of files are ranges with the record that wrote them, and threads go on in several
//! orders that their waits allow. [`check`] compares what the program gets in both.
//!
//! - All steps of the new plan can be done, and find open and mapped what they use.
//! - Each byte that a read had, its process has got from the same writer before its thread does anything that came behind that read.
//!   Those of a request of io_uring are there when its thread has waited for all that it had in flight, and only if nobody wrote
//!   them meanwhile: when the kernel reads them is not known.
//!   A file that a change made holds bytes of others as they were before the first step.
//! - A call that copies from one file to another finds the same bytes in the first.
//! - Everything is written, in its order in each thread, and in the end all files have the same bytes.
//! - Names change as before, and who looks one up finds it as before.
//! - A sync covers at least the writes that it covered, and none is missing unless the change says so.

mod contents;
mod deadlines;
mod run;
mod writes;

use std::collections::BTreeSet;

use hotset_facts::replay::{ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::plan_text::plan_text;
use super::{Asked, subjects};
use run::{Facts, Machine, Orders, Piece};

/// What a change may do that others must not.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Permits {
    /// Leave syncs out, as long as in the end as much is durable.
    pub(crate) fewer_syncs: bool,
}

/// What a change did not keep. Steps of the old plan are named by their record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A wait is out of order, or for steps that are not there.
    Wait { thread: usize, before: u32 },
    /// Threads wait for each other for ever.
    Stuck { steps_left: usize },
    /// A step changes a name or a size that did not, or in another order, or is missing.
    Changes { thread: usize },
    /// What a step wrote is not written, or a step writes what none did.
    Written { record: u32 },
    /// A step uses what is not open, or not mapped.
    NotOpen { record: u32 },
    /// Some bytes of a read are not there in time, or from another writer.
    Read { record: u32 },
    /// A name is looked up before or after it changed, which was not so.
    Name { record: u32 },
    /// A sync is missing.
    NoSync { record: u32 },
    /// A sync covers fewer writes.
    Sync { record: u32 },
    /// In the end, fewer writes are durable.
    Durable { record: u32 },
    /// A file has other bytes in the end.
    Contents { file: usize },
}

/// Stops a test at the change that did not keep what it must.
pub(super) fn guard(asked: &Asked, before: &ReplayPlan, after: &ReplayPlan) {
    let permits = Permits { fewer_syncs: asked.change().syncs_less };
    if let Err(violation) = check(before, after, permits) {
        let [before, after] = [before, after].map(plan_text);
        panic!("{asked}: {violation:?}\nbefore:\n{before}after:\n{after}");
    }
}

/// Compares a plan with what a change made of it.
pub(crate) fn check(
    before: &ReplayPlan,
    after: &ReplayPlan,
    permits: Permits,
) -> Result<(), Violation> {
    check_waits(after)?;
    check_changes(before, after)?;
    let parts = writes::parts(before, after)?;
    let as_they_are = writes::as_they_are(before);
    let deadlines = deadlines::of(before, after);
    let (wanted, expected) = wanted(before, &as_they_are)?;
    let gone = gone(before);
    for order in Orders::of(after) {
        let mut machine = Machine::new(after);
        let mut left: Vec<_> = wanted.iter().map(|reads| reads.iter().peekable()).collect();
        for (thread, place) in order? {
            while let Some((read, pieces)) =
                left[thread].next_if(|(read, _)| deadlines[thread][*read] <= place)
            {
                check_read(&machine, before, (thread, *read), pieces)?;
            }
            machine.step(thread, place, &parts);
        }
        for (thread, reads) in left.into_iter().enumerate() {
            for (read, pieces) in reads {
                check_read(&machine, before, (thread, *read), pieces)?;
            }
        }
        check_facts(&expected, &machine.finish(), permits, &gone)?;
    }
    Ok(())
}

/// The bytes that each thread got by its steps, and what came of all of them.
type Wanted = Vec<Vec<(usize, Vec<Piece>)>>;

/// Does the old plan. Of bytes that somebody writes while they are in flight, those count that are the same in all orders.
fn wanted(before: &ReplayPlan, parts: &writes::Parts) -> Result<(Wanted, Facts), Violation> {
    let mut wanted: Wanted = vec![Vec::new(); before.threads.len()];
    let mut expected = None;
    for order in Orders::of(before) {
        let mut machine = Machine::new(before);
        for (thread, place) in order? {
            let read = machine.step(thread, place, parts);
            let is_drain = before.threads[thread].steps[place].kind == StepKind::Drain;
            match wanted[thread].get_mut(place) {
                None => wanted[thread].push((place, read)),
                Some((_, known)) if is_drain => {
                    *known = known.iter().flat_map(|piece| piece.also_in(&read)).collect();
                }
                Some(_) => {}
            }
        }
        expected.get_or_insert(machine.finish());
    }
    Ok((wanted, expected.unwrap_or_default()))
}

fn check_read(
    machine: &Machine<'_>,
    before: &ReplayPlan,
    (thread, place): (usize, usize),
    pieces: &[Piece],
) -> Result<(), Violation> {
    let list = &before.threads[thread];
    let has_all = pieces.iter().all(|piece| machine.has_got(list.process, piece));
    let record = list.steps[place].record;
    if has_all { Ok(()) } else { Err(Violation::Read { record }) }
}

fn check_waits(plan: &ReplayPlan) -> Result<(), Violation> {
    for (thread, list) in plan.threads.iter().enumerate() {
        let mut last = 0;
        for wait in &list.waits {
            let others =
                plan.threads.get(wait.thread as usize).map_or(0, |other| other.steps.len());
            let is_good = wait.before >= last
                && (wait.before as usize) < list.steps.len()
                && wait.steps as usize <= others
                && wait.thread as usize != thread;
            if !is_good {
                return Err(Violation::Wait { thread, before: wait.before });
            }
            last = wait.before;
        }
    }
    Ok(())
}

/// Steps about files that are removed: whether they are durable makes no difference in the end.
fn gone(plan: &ReplayPlan) -> BTreeSet<u32> {
    let removed = subjects::removed(plan);
    let of_removed = |step: &Step| {
        let [_, copied_to] = subjects::copied_files(plan, step);
        subjects::file(plan, step).or(copied_to).is_some_and(|file| removed.contains(&file))
    };
    let steps = subjects::all_steps(plan).filter(|(_, step)| of_removed(step));
    steps.map(|(_, step)| step.record).collect()
}

/// What is neither a write nor a read, and changes what others find.
fn is_change(step: &Step) -> bool {
    let makes = step.flags.has(RecordFlags::CREATE) || step.flags.has(RecordFlags::TRUNCATE);
    match step.kind {
        StepKind::Open => makes,
        StepKind::SetLength | StepKind::Allocate | StepKind::Truncate => true,
        StepKind::Store | StepKind::CopyRange | StepKind::SendTo => true,
        _ => subjects::changed_names(step) != [None; 2],
    }
}

fn check_changes(before: &ReplayPlan, after: &ReplayPlan) -> Result<(), Violation> {
    for (thread, (old, new)) in before.threads.iter().zip(&after.threads).enumerate() {
        let changes = |steps: &[Step]| -> Vec<(u32, StepKind)> {
            let all = steps.iter().filter(|step| is_change(step));
            all.map(|step| (step.record, step.kind)).collect()
        };
        if changes(&old.steps) != changes(&new.steps) {
            return Err(Violation::Changes { thread });
        }
    }
    let is_same = before.threads.len() == after.threads.len();
    if is_same { Ok(()) } else { Err(Violation::Changes { thread: before.threads.len() }) }
}

fn check_facts(
    old: &Facts,
    new: &Facts,
    permits: Permits,
    gone: &BTreeSet<u32>,
) -> Result<(), Violation> {
    if let Some(record) = new.not_open.difference(&old.not_open).next() {
        return Err(Violation::NotOpen { record: *record });
    }
    for ((record, kind), version) in &new.names {
        if old.names.get(&(*record, *kind)).is_some_and(|known| known != version) {
            return Err(Violation::Name { record: *record });
        }
    }
    for (record, covered) in &old.syncs {
        match new.syncs.get(record) {
            None if permits.fewer_syncs => {}
            None => return Err(Violation::NoSync { record: *record }),
            Some(now) if !covered.is_subset(now) => {
                return Err(Violation::Sync { record: *record });
            }
            Some(_) => {}
        }
    }
    let durable =
        |facts: &Facts| -> BTreeSet<u32> { facts.syncs.values().flatten().copied().collect() };
    let (old_durable, new_durable) = (durable(old), durable(new));
    let mut lost = old_durable.difference(&new_durable).filter(|record| !gone.contains(record));
    if let Some(record) = lost.next() {
        return Err(Violation::Durable { record: *record });
    }
    if let Some((record, _)) = old.copied.iter().find(|(at, from)| new.copied.get(at) != Some(from))
    {
        return Err(Violation::Read { record: *record });
    }
    match old.contents.iter().zip(&new.contents).position(|(old, new)| old != new) {
        Some(file) => Err(Violation::Contents { file }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
