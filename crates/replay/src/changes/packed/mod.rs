//! `packed`: many small files in one.
//!
//! What a thread does to a small file between its open and its close becomes reads of a pack: a file that holds them one behind the other,
//! in the order of their first use. Where it was read from one byte to the next, that is one read, as the program knows from its index
//! how long each part is. Each thread opens the pack once, and nobody closes it. That the program has read the index is no part of
//! the plan.

mod brackets;
mod pack;

use std::collections::{BTreeMap, HashMap, HashSet};

use hotset_facts::replay::{ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::rewrite::{self, Rewrite, number};
use super::subjects::{At, moved, without};
use super::{Change, Given, Made};
use brackets::Bracket;
use pack::Pack;

/// Opens, reads and closes become reads of one file.
pub(super) const CHANGE: Change = Change {
    name: "packed",
    argument: None,
    summary: "Read files of up to 64 KiB from one file that stays open",
    programmer: "Bundle small files into one archive, SQLite file or indexed blob, in the order in which they are read. \
                 Keep it open, and read each part with one pread at the offset that the index gives.",
    risks: Some(
        "The pack has to be built again when a file in it changes; until then, the program reads the old bytes. \
         Reading the index takes time that is not replayed.",
    ),
    syncs_less: false,
    make,
};

fn make(plan: &ReplayPlan, _: &Given<'_>) -> Made {
    let brackets = brackets::of(plan);
    let pack = Pack::of(plan, &brackets);
    if pack.files() < 2 {
        return Err("no two files of up to 64 KiB are opened, read and closed by one thread each, and by nobody changed".to_owned());
    }
    let (instead, slots) = instead(plan, &pack, &brackets);
    let threads = plan.threads.iter().enumerate().map(|(thread, list)| {
        let mut new = Rewrite::new(list);
        for (place, step) in list.steps.iter().enumerate() {
            match instead.get(&(thread, place)) {
                None => new.becomes(std::slice::from_ref(step)),
                Some(step) => new.becomes(step.as_slice()),
            }
        }
        new
    });
    let mut new = rewrite::with_threads(plan, rewrite::finish(threads.collect()));
    let dropped: HashSet<u32> = brackets.iter().map(|bracket| bracket.slot).collect();
    pack.add_to(&mut new, slots, &dropped);
    Ok((new, instead.len() as u64))
}

/// What steps become, each one or none, and how many slots the pack is read by.
fn instead(
    plan: &ReplayPlan,
    pack: &Pack,
    brackets: &[Bracket],
) -> (HashMap<At, Option<Step>>, usize) {
    let mut opens: BTreeMap<usize, usize> = BTreeMap::new();
    for bracket in brackets {
        let first = opens.entry(bracket.thread).or_insert(bracket.opened());
        *first = bracket.opened().min(*first);
    }
    let threads = opens.keys().copied();
    let slots: HashMap<usize, u32> = threads.zip((plan.slots.len()..).map(number)).collect();
    let slot = |thread: usize| slots.get(&thread).copied().unwrap_or_default();
    let mut instead = HashMap::new();
    for bracket in brackets {
        let at = |place| (bracket.thread, place);
        instead.extend(bracket.all().map(|place| (at(place), None)));
        let reads = reads(plan, pack, bracket, slot(bracket.thread));
        instead.extend(reads.map(|(place, read)| (at(place), Some(read))));
    }
    // In place of the first open of each thread.
    for (thread, place) in opens {
        let old = plan.threads.get(thread).and_then(|list| list.steps.get(place));
        let open = Step::new(StepKind::Open, slot(thread), old.map_or(0, |step| step.record));
        let path = number(plan.paths.len());
        instead.insert((thread, place), Some(Step { offset: path.into(), ..open }));
    }
    (instead, slots.len())
}

/// The reads of the pack that stand for those of a bracket, by the places of the first that each stands for. The one that found the end of
/// the file has none.
fn reads(
    plan: &ReplayPlan,
    pack: &Pack,
    bracket: &Bracket,
    slot: u32,
) -> impl Iterator<Item = (usize, Step)> {
    let mut joined: Vec<(usize, Step)> = Vec::new();
    let steps = plan.threads.get(bracket.thread).map_or(&[][..], |list| &list.steps);
    let begins = pack.offset(bracket.file);
    for (place, step) in bracket.reads.iter().filter_map(|place| Some((*place, steps.get(*place)?)))
    {
        let (offset, bytes) = (begins.saturating_add(step.offset), moved(step));
        match joined.last_mut() {
            _ if bytes == 0 => {}
            Some((_, last)) if last.offset + last.bytes == offset => {
                last.bytes += bytes;
                last.result = last.bytes.cast_signed();
            }
            _ => {
                let flags = without(step.flags, RecordFlags::POSITION);
                let read = Step::new(StepKind::ReadAt, slot, step.record);
                joined.push((
                    place,
                    Step { flags, offset, bytes, result: bytes.cast_signed(), ..read },
                ));
            }
        }
    }
    joined.into_iter()
}

#[cfg(test)]
mod tests;
