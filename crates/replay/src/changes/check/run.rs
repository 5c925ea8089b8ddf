//! A plan done in the mind.

use std::collections::{BTreeSet, HashMap};

use hotset_facts::replay::{FilePart, ReplayPlan, Step, StepKind, Wait};
use hotset_facts::trace::{ProcessIndex, RecordFlags};

use super::Violation;
use super::contents::{self, Contents};
use super::writes::Parts;
use crate::changes::subjects::{self, PAGE_BYTES, moved};
use crate::ranges::Ranges;

/// Orders in which all steps can be done: in each, the first thread that need not wait goes on, by another order of threads.
pub(super) struct Orders<'a> {
    plan: &'a ReplayPlan,
    threads: Vec<Vec<usize>>,
}

impl<'a> Orders<'a> {
    pub(super) fn of(plan: &'a ReplayPlan) -> Self {
        let all: Vec<usize> = (0..plan.threads.len()).collect();
        let rotated = (0..all.len().max(1)).map(|by| {
            let mut threads = all.clone();
            threads.rotate_left(by.min(all.len()));
            threads
        });
        let mut threads: Vec<Vec<usize>> = rotated.collect();
        threads.push(all.into_iter().rev().collect());
        Self { plan, threads }
    }
}

impl Iterator for Orders<'_> {
    type Item = Result<Vec<(usize, usize)>, Violation>;

    fn next(&mut self) -> Option<Self::Item> {
        let threads = self.threads.pop()?;
        let plan = self.plan;
        let mut done = vec![0_usize; plan.threads.len()];
        // Waits are asked for in their order: once one is over, it is so for ever.
        let mut waits: Vec<&[Wait]> = plan.threads.iter().map(|thread| &thread.waits[..]).collect();
        let mut order = Vec::new();
        while let Some(at) = threads.iter().copied().find(|at| {
            while let [wait, rest @ ..] = waits[*at]
                && wait.before as usize <= done[*at]
                && done[wait.thread as usize] >= wait.steps as usize
            {
                waits[*at] = rest;
            }
            let waits = waits[*at].first().is_some_and(|wait| wait.before as usize <= done[*at]);
            done[*at] < plan.threads[*at].steps.len() && !waits
        }) {
            order.push((at, done[at]));
            done[at] += 1;
        }
        let steps_left = plan.steps() as usize - order.len();
        Some(if steps_left == 0 { Ok(order) } else { Err(Violation::Stuck { steps_left }) })
    }
}

/// Bytes of a file and the record that wrote them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    file: u32,
    begin: u64,
    end: u64,
    by: u32,
}

impl Piece {
    /// What of it is in others too, from the same writer.
    pub(super) fn also_in(&self, others: &[Self]) -> Vec<Self> {
        let like = others.iter().filter(|other| (other.file, other.by) == (self.file, self.by));
        let within = like.map(|other| {
            let (begin, end) = (self.begin.max(other.begin), self.end.min(other.end));
            Self { begin, end, ..*self }
        });
        within.filter(|piece| piece.begin < piece.end).collect()
    }
}

/// What came of a run.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// What files have in the end.
    pub(super) contents: Vec<Contents>,
    /// The writes that each sync covers, by its record.
    pub(super) syncs: HashMap<u32, BTreeSet<u32>>,
    /// The bytes that each step copied to another file, by its record.
    pub(super) copied: HashMap<u32, Vec<Piece>>,
    /// The record that had changed a name when it was looked up.
    pub(super) names: HashMap<(u32, StepKind), Option<u32>>,
    /// Records of steps that used what was not there.
    pub(super) not_open: BTreeSet<u32>,
}

/// The state of all files, slots and names.
pub(super) struct Machine<'a> {
    plan: &'a ReplayPlan,
    by_path: HashMap<u32, Vec<u32>>,
    positions: Vec<Option<u64>>,
    is_mapped: Vec<bool>,
    written: HashMap<u32, BTreeSet<u32>>,
    changed: HashMap<u32, u32>,
    got: HashMap<(Option<ProcessIndex>, u32, u32), Ranges>,
    /// Reads that each thread has in flight, and the bytes that were there when they began.
    flying: HashMap<usize, Vec<(Step, Vec<Piece>)>>,
    facts: Facts,
}

impl<'a> Machine<'a> {
    pub(super) fn new(plan: &'a ReplayPlan) -> Self {
        let bytes = plan.files.iter().map(|file| if file.is_there { file.size_bytes } else { 0 });
        let contents = bytes.map(Contents::new).collect();
        Self {
            plan,
            by_path: subjects::files_by_path(plan),
            positions: plan.slots.iter().map(|slot| slot.opened_before.map(|_| 0)).collect(),
            is_mapped: plan.mappings.iter().map(|mapping| mapping.is_made_before).collect(),
            written: HashMap::new(),
            changed: HashMap::new(),
            got: HashMap::new(),
            flying: HashMap::new(),
            facts: Facts { contents, ..Facts::default() },
        }
    }

    pub(super) fn finish(self) -> Facts {
        self.facts
    }

    /// Whether a process has read these bytes as they were written by this record.
    pub(super) fn has_got(&self, process: Option<ProcessIndex>, piece: &Piece) -> bool {
        let got = self.got.get(&(process, piece.file, piece.by));
        got.is_some_and(|got| got.missing(piece.begin, piece.end).is_empty())
    }

    /// Does a step: the bytes that its thread has got by it.
    pub(super) fn step(&mut self, thread: usize, place: usize, parts: &Parts) -> Vec<Piece> {
        let step = self.plan.threads[thread].steps[place];
        self.look_up(&step);
        self.open_and_close(&step);
        self.change(&step);
        self.copy(&step);
        self.sync(&step);
        if let Some(parts) = parts.get(&(thread, place)) {
            self.write(&step, parts);
        }
        let mut pieces = self.read(&step);
        if step.kind == StepKind::ReadRing {
            let begun = std::mem::take(&mut pieces);
            self.flying.entry(thread).or_default().push((step, begun));
        } else if step.kind == StepKind::Drain && step.bytes == 0 {
            for (read, begun) in self.flying.remove(&thread).unwrap_or_default() {
                let ended = self.read(&read);
                pieces.extend(begun.iter().flat_map(|piece| piece.also_in(&ended)));
            }
        }
        let process = self.plan.threads[thread].process;
        for piece in &pieces {
            let got = self.got.entry((process, piece.file, piece.by)).or_default();
            got.add(piece.begin, piece.end);
        }
        pieces
    }

    fn look_up(&mut self, step: &Step) {
        if let Some(path) = subjects::path(step) {
            let changed = self.changed.get(&path).copied();
            self.facts.names.insert((step.record, step.kind), changed);
        }
        for path in subjects::changed_names(step).into_iter().flatten() {
            self.changed.insert(path, step.record);
        }
    }

    fn open_and_close(&mut self, step: &Step) {
        let slot = subjects::slot(self.plan, step).map(|slot| slot as usize);
        let mapping = subjects::mapping(step).map(|mapping| mapping as usize);
        let copied = subjects::copied(self.plan, step).into_iter().flatten();
        let slots = || slot.into_iter().chain(copied.clone().map(|slot| slot as usize));
        let is_open = slots().all(|slot| self.positions[slot].is_some());
        let is_mapped = mapping.is_none_or(|mapping| self.is_mapped[mapping]);
        let is_there = match step.kind {
            StepKind::Open => true,
            StepKind::Map => is_open,
            _ => is_open && is_mapped,
        };
        if !is_there {
            self.facts.not_open.insert(step.record);
        }
        match (step.kind, slot, mapping) {
            (StepKind::Open, Some(slot), _) => self.positions[slot] = Some(0),
            (StepKind::Close, Some(slot), _) => self.positions[slot] = None,
            (StepKind::Seek, Some(slot), _) => self.positions[slot] = Some(step.offset),
            (StepKind::Map, _, Some(mapping)) => self.is_mapped[mapping] = true,
            (StepKind::Unmap, _, Some(mapping)) => self.is_mapped[mapping] = false,
            _ => {}
        }
    }

    fn change(&mut self, step: &Step) {
        let file = subjects::file(self.plan, step);
        let empties = step.flags.has(RecordFlags::TRUNCATE);
        let files: Vec<u32> = match step.kind {
            _ if subjects::changes_any_file(self.plan, step) => {
                let path = subjects::path(step).unwrap_or(u32::MAX);
                self.by_path.get(&path).cloned().unwrap_or_default()
            }
            _ => file.into_iter().collect(),
        };
        for file in files {
            let contents = &mut self.facts.contents[file as usize];
            match step.kind {
                StepKind::Open if empties => contents.set_bytes(0),
                StepKind::SetLength | StepKind::Truncate => contents.set_bytes(step.offset),
                StepKind::Allocate => {
                    let end = step.offset + step.bytes;
                    let has = |flag| step.flags.has(flag);
                    if has(RecordFlags::COLLAPSE_RANGE) || has(RecordFlags::INSERT_RANGE) {
                        // Wherever its bytes are then: behind the beginning, all are others.
                        contents.write(step.offset, contents.bytes(), step.record);
                    } else if has(RecordFlags::PUNCH_HOLE) || has(RecordFlags::ZERO_RANGE) {
                        let kept = has(RecordFlags::KEEP_SIZE);
                        let end = if kept { end.min(contents.bytes()) } else { end };
                        contents.write(step.offset, end, step.record);
                    } else if !has(RecordFlags::KEEP_SIZE) {
                        contents.set_bytes(end.max(contents.bytes()));
                    }
                }
                StepKind::Store if subjects::changes_file(self.plan, step) => {
                    contents.write(step.offset, step.offset + 1, step.record);
                }
                _ => {}
            }
        }
    }

    /// Bytes of one file become those of another, by the record of the call.
    fn copy(&mut self, step: &Step) {
        let [Some(from), Some(to)] = subjects::copied_files(self.plan, step) else { return };
        let Some(transfer) = subjects::transfer(self.plan, step) else { return };
        let read = self.facts.contents[from as usize].read(step.offset, step.offset + moved(step));
        let piece = |(begin, end, by)| Piece { file: from, begin, end, by };
        self.facts.copied.insert(step.record, read.into_iter().map(piece).collect());
        let mut begin = transfer.to_offset;
        if step.kind == StepKind::SendTo {
            let position = &mut self.positions[transfer.to as usize];
            begin = position.unwrap_or(begin);
            *position = position.map(|_| begin + moved(step));
        }
        self.facts.contents[to as usize].write(begin, begin + moved(step), step.record);
        self.written.entry(to).or_default().insert(step.record);
    }

    fn sync(&mut self, step: &Step) {
        if step.kind == StepKind::SyncAll {
            let written = self.written.values().flatten().copied().collect();
            self.facts.syncs.insert(step.record, written);
        }
        // A request is done when its thread has waited for it: what was written when it began is covered.
        if step.kind == StepKind::SyncRing
            && let Some(file) = subjects::file(self.plan, step)
        {
            let written = self.written.entry(file).or_default().clone();
            self.facts.syncs.insert(step.record, written);
        }
        if subjects::is_sync(step)
            && let Some(file) = subjects::file(self.plan, step)
        {
            let written = self.written.entry(file).or_default().clone();
            self.facts.syncs.insert(step.record, written);
        }
    }

    /// Where a read or write is, and where it leaves the position.
    fn place(&mut self, step: &Step, append_at: Option<u64>) -> u64 {
        if !subjects::uses_position(step) {
            return append_at.unwrap_or(step.offset);
        }
        let position = &mut self.positions[step.target as usize];
        let begin = append_at.or(*position).unwrap_or(step.offset);
        *position = position.map(|_| begin + moved(step));
        begin
    }

    fn write(&mut self, step: &Step, parts: &[(u64, u32)]) {
        let Some(file) = subjects::file(self.plan, step) else { return };
        let end = self.facts.contents[file as usize].bytes();
        let appends = self.plan.slots[step.target as usize].append;
        let mut at = self.place(step, appends.then_some(end));
        for (bytes, record) in parts {
            self.facts.contents[file as usize].write(at, at + bytes, *record);
            self.written.entry(file).or_default().insert(*record);
            at += bytes;
        }
    }

    fn read(&mut self, step: &Step) -> Vec<Piece> {
        let Some(file) = subjects::file(self.plan, step) else { return Vec::new() };
        let (begin, bytes) = match step.kind {
            StepKind::Read | StepKind::ReadAt | StepKind::ReadRing => {
                (self.place(step, None), moved(step))
            }
            StepKind::Load => (step.offset, PAGE_BYTES),
            _ => return Vec::new(),
        };
        let end = begin + bytes;
        let of = &self.plan.files[file as usize];
        if !of.parts.is_empty() {
            return self.read_parts(&of.parts, begin, end);
        }
        let read = self.facts.contents[file as usize].read(begin, end);
        read.into_iter().map(|(begin, end, by)| Piece { file, begin, end, by }).collect()
    }

    /// Bytes of a file that holds those of others, as these were before the first step.
    fn read_parts(&self, parts: &[FilePart], begin: u64, end: u64) -> Vec<Piece> {
        let piece = |part: &FilePart| {
            let bytes = self.plan.files[part.file as usize].size_bytes;
            let (from, to) = (begin.max(part.offset), end.min(part.offset + bytes));
            let (begin, end) = (from - part.offset, to.max(from) - part.offset);
            Piece { file: part.file, begin, end, by: contents::NOBODY }
        };
        parts.iter().map(piece).filter(|piece| piece.begin < piece.end).collect()
    }
}
