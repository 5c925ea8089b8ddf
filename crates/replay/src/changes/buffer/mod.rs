//! `buffer=SIZE`: a buffer in the program between it and its reads and writes.
//!
//! What is joined are neighbours: calls of one thread on one description, each at the byte where the one before ended. Reads
//! are done where the first of them was, as a buffer is filled, and writes where the last was, as it is flushed. A neighbour is
//! none that could have seen or made other bytes there: where the thread does anything else to the file, or to a name of it,
//! its buffers of that file end. Between threads they end where the order might become another: that of reads before a step
//! that waits, that of writes at a step that another thread waits for.
//!
//! A buffer asks for SIZE bytes at once, also of what the program does not use after all. A joined call asks for what its calls asked
//! for together, because what the file would have answered beyond that no recording says.

use std::collections::HashMap;

use hotset_facts::replay::{PlanThread, ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;
use hotset_facts::units::exact_bytes;

use super::rewrite::{self, Rewrite};
use super::subjects::{self, file, is_read, is_write, moved};
use super::{Argument, Change, Given, Made};

/// Small neighbouring calls become one.
pub(super) const CHANGE: Change = Change {
    name: "buffer",
    argument: Some(Argument::Size),
    summary: "Join small sequential reads and writes up to SIZE",
    programmer: "Read and write through a buffer of SIZE bytes: in C, call setvbuf with your own memory; in Python, \
                 pass buffering= to open; in Rust, use BufReader::with_capacity and BufWriter::with_capacity; in Go, \
                 bufio.NewReaderSize; in Java, BufferedInputStream and BufferedOutputStream with a size.",
    risks: Some(
        "A crash of the program loses what is in the buffer. A write to a file opened with O_SYNC or O_DSYNC is \
         durable only once the buffer is flushed.",
    ),
    syncs_less: false,
    make,
};

/// Calls that become one, by their places in a thread.
#[derive(Debug)]
struct Group {
    slot: u32,
    kind: StepKind,
    places: Vec<usize>,
    /// The byte behind the last.
    end: u64,
    /// Bytes that all of them asked for.
    asked: u64,
    /// No call may follow: the last came to less than it asked for, which the end of a file does.
    is_complete: bool,
}

impl Group {
    /// Where the one call is that they become.
    fn is_at(&self) -> Option<usize> {
        let at = if is_read_kind(self.kind) { self.places.first() } else { self.places.last() };
        at.copied()
    }

    /// The one call.
    fn joined(&self, thread: &PlanThread) -> Option<Step> {
        let first = thread.steps.get(*self.places.first()?)?;
        let result = self.end.saturating_sub(first.offset).cast_signed();
        Some(Step { bytes: self.asked, result, ..*first })
    }
}

/// The groups of one thread that may still grow, and those that may not.
#[derive(Debug, Default)]
struct Groups {
    /// By the file; of each there are few.
    open: HashMap<u32, Vec<Group>>,
    closed: Vec<Group>,
}

impl Groups {
    /// Ends the groups of a file of which this is said.
    fn end_of(&mut self, file: u32, ends: impl Fn(&Group) -> bool) {
        if let Some(open) = self.open.get_mut(&file) {
            self.closed.extend(open.extract_if(.., |group| ends(group)));
        }
    }

    /// Ends the groups of all files of which this is said.
    fn end(&mut self, ends: impl Fn(&Group) -> bool) {
        self.open.retain(|_, open| {
            self.closed.extend(open.extract_if(.., |group| ends(group)));
            !open.is_empty()
        });
    }

    /// Puts a call behind those that it follows, or makes it the first of a new group.
    fn add(&mut self, file: u32, place: usize, step: &Step, most_bytes: u64) {
        let open = self.open.entry(file).or_default();
        let end = step.offset.saturating_add(moved(step));
        let is_complete = moved(step) < step.bytes;
        let follows = |group: &&mut Group| {
            (group.slot, group.kind, group.end) == (step.target, step.kind, step.offset)
                && !group.is_complete
                && group.asked.saturating_add(step.bytes) <= most_bytes
        };
        if let Some(group) = open.iter_mut().find(follows) {
            group.places.push(place);
            (group.end, group.asked, group.is_complete) =
                (end, group.asked + step.bytes, is_complete);
            return;
        }
        self.end_of(file, |group| group.slot == step.target);
        let (slot, kind, asked) = (step.target, step.kind, step.bytes);
        let group = Group { slot, kind, places: vec![place], end, asked, is_complete };
        self.open.entry(file).or_default().push(group);
    }
}

fn make(plan: &ReplayPlan, given: &Given<'_>) -> Made {
    let (told, by_path) = (rewrite::told(plan), subjects::files_by_path(plan));
    let mut joined = 0;
    let threads = plan.threads.iter().zip(&told).map(|(thread, told)| {
        let mut groups = Groups::default();
        let (mut waits, mut told) = (thread.waits.iter().peekable(), told.iter().peekable());
        for (place, step) in thread.steps.iter().enumerate() {
            while waits.next_if(|wait| wait.before as usize <= place).is_some() {
                groups.end(|group| is_read_kind(group.kind));
            }
            while told.next_if(|steps| **steps as usize <= place).is_some() {
                groups.end(|group| !is_read_kind(group.kind));
            }
            match file(plan, step) {
                Some(file) if may_join(plan, step, given.value) => {
                    groups.end_of(file, |group| {
                        group.slot != step.target && (is_write(step) || !is_read_kind(group.kind))
                    });
                    groups.add(file, place, step, given.value);
                }
                _ => end_before(plan, step, &by_path, &mut groups),
            }
        }
        groups.end(|_| true);
        groups.closed.retain(|group| group.places.len() > 1);
        joined += groups.closed.iter().map(|group| group.places.len() as u64).sum::<u64>();
        write_anew(thread, &groups.closed)
    });
    let threads = threads.collect();
    if joined == 0 {
        let size = exact_bytes(given.value);
        return Err(format!("no two sequential reads or writes of one open file fit into {size}"));
    }
    Ok((rewrite::with_threads(plan, rewrite::finish(threads)), joined))
}

fn is_read_kind(kind: StepKind) -> bool {
    matches!(kind, StepKind::Read | StepKind::ReadAt)
}

/// Whether a call may become part of another. One at the end of the file that gets nothing is still made by who has a buffer.
fn may_join(plan: &ReplayPlan, step: &Step, most_bytes: u64) -> bool {
    let Some(slot) = plan.slots.get(step.target as usize) else { return false };
    if is_write(step) && step.flags.has(RecordFlags::SYNC) && !slot.sync {
        // It was told for itself alone that it is to be on the device.
        return false;
    }
    let is_whole = if is_read(step) {
        step.result > 0
    } else {
        is_write(step) && step.result > 0 && moved(step) == step.bytes
    };
    let knows_where = !subjects::uses_position(step) || step.flags.has(RecordFlags::POSITION);
    let is_plain = !step.flags.has(RecordFlags::DIRECT) && !step.flags.has(RecordFlags::NOWAIT);
    is_whole && knows_where && is_plain && !slot.direct && step.bytes <= most_bytes
}

/// Ends the groups whose bytes or place in the file another step might see or change.
fn end_before(
    plan: &ReplayPlan,
    step: &Step,
    by_path: &HashMap<u32, Vec<u32>>,
    groups: &mut Groups,
) {
    if subjects::changes_any_file(plan, step) {
        return groups.end(|_| true);
    }
    match step.kind {
        StepKind::CopyRange | StepKind::SendTo => {
            let files = subjects::copied_files(plan, step).into_iter().flatten();
            return files.for_each(|file| groups.end_of(file, |_| true));
        }
        // What is to be synced has to be written by then.
        StepKind::SyncAll => return groups.end(|group| !is_read_kind(group.kind)),
        StepKind::Rename | StepKind::Unlink | StepKind::Link => {
            return groups.end(|group| !is_read_kind(group.kind));
        }
        _ => {}
    }
    let slot = subjects::slot(plan, step);
    let changes = subjects::changes_file(plan, step);
    if let Some(file) = file(plan, step) {
        groups
            .end_of(file, |group| Some(group.slot) == slot || changes || !is_read_kind(group.kind));
    }
    // Who asks for a file by its name sees how long it is.
    let named = subjects::path(step).and_then(|path| by_path.get(&path));
    for file in named.into_iter().flatten() {
        groups.end_of(*file, |group| changes || !is_read_kind(group.kind));
    }
}

/// What the steps of a thread become.
fn write_anew<'a>(thread: &'a PlanThread, groups: &[Group]) -> Rewrite<'a> {
    let mut group_of: Vec<Option<u32>> = vec![None; thread.steps.len()];
    for (at, group) in (0..).zip(groups) {
        for place in &group.places {
            if let Some(of) = group_of.get_mut(*place) {
                *of = Some(at);
            }
        }
    }
    let mut new = Rewrite::new(thread);
    for ((place, step), group) in thread.steps.iter().enumerate().zip(group_of) {
        let group = group.and_then(|at| groups.get(at as usize));
        match group {
            None => new.becomes(&[*step]),
            Some(group) if group.is_at() == Some(place) => {
                new.becomes(group.joined(thread).as_slice());
            }
            Some(_) => new.becomes(&[]),
        }
    }
    for group in groups {
        for (place, at) in group.places.iter().filter_map(|place| Some((*place, group.is_at()?))) {
            new.is_done_by(place, at);
        }
    }
    new
}

#[cfg(test)]
mod tests;
