//! The files that steps are about.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{FileRole, PlanFile};
use hotset_facts::trace::{FileIndex, OperationClass, RecordFlags, TraceLists, TraceRecord};

use super::residency::Residency;
use crate::ranges::Ranges;

/// A base page (docs/trace-format.md).
const PAGE_BYTES: u64 = 4096;

/// Whether a file was there before the first step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// It was, as far as is known.
    There,
    /// An open with O_CREAT was the first that happened to it. Whether that made the file, no record says; what is done to its
    /// bytes next may.
    OpenedToCreate,
    Made,
}

/// What is known of one file.
#[derive(Debug)]
struct Known {
    index: FileIndex,
    path: Option<u32>,
    is_changed: bool,
    begins: Begins,
    size_bytes: Option<u64>,
    cached_pages: Option<u64>,
    residency: Residency,
    touched: Ranges,
}

/// All of them, by their place in the plan.
#[derive(Debug, Default)]
pub(super) struct Files {
    places: HashMap<FileIndex, u32>,
    all: Vec<Known>,
}

impl Files {
    /// The place of a file of the trace.
    pub(super) fn place(&mut self, index: FileIndex, lists: &TraceLists) -> u32 {
        if let Some(place) = self.places.get(&index) {
            return *place;
        }
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.places.insert(index, place);
        self.all.push(Known {
            index,
            path: None,
            is_changed: false,
            begins: Begins::There,
            size_bytes: lists.file(index).and_then(|file| file.size_bytes),
            cached_pages: lists.file(index).and_then(|file| file.cached_pages),
            residency: Residency::default(),
            touched: Ranges::default(),
        });
        place
    }

    /// A path leads to it: the first that is told is the one that it has in a replay.
    pub(super) fn named(&mut self, place: u32, path: u32) {
        if let Some(known) = self.all.get_mut(place as usize) {
            known.path.get_or_insert(path);
        }
    }

    /// It is opened with O_CREAT, by a name that was not there as far as a call before said so.
    pub(super) fn opened_to_create(&mut self, place: u32, is_absent: bool) {
        if let Some(known) = self.all.get_mut(place as usize)
            && known.path.is_none()
        {
            known.begins = if is_absent { Begins::Made } else { Begins::OpenedToCreate };
        }
    }

    /// Whether a step makes it: what was opened to be made and was empty, was made, or might as well have been.
    pub(super) fn is_made(&self, place: u32) -> bool {
        self.all.get(place as usize).is_some_and(Known::is_made)
    }

    /// Its bytes or its size change.
    pub(super) fn changes(&mut self, place: u32) {
        if let Some(known) = self.all.get_mut(place as usize) {
            known.is_changed = true;
        }
    }

    pub(super) fn is_changed(&self, place: u32) -> bool {
        self.all.get(place as usize).is_some_and(|known| known.is_changed)
    }

    /// All that change.
    pub(super) fn changed(&self) -> HashSet<u32> {
        let is_changed = |(known, _): &(&Known, u32)| known.is_changed;
        self.all.iter().zip(0..).filter(is_changed).map(|(_, place)| place).collect()
    }

    /// Takes what a record says of its bytes.
    pub(super) fn touched(&mut self, place: u32, record: &TraceRecord) {
        let (Some(known), Some(offset)) = (self.all.get_mut(place as usize), record.offset) else {
            return;
        };
        let bytes = match record.class {
            OperationClass::Read | OperationClass::Write => {
                record.result.and_then(|result| u64::try_from(result).ok()).unwrap_or(0)
            }
            OperationClass::Fault => PAGE_BYTES,
            _ => return,
        };
        if known.begins == Begins::OpenedToCreate {
            known.begins = if makes_pages(record) { Begins::Made } else { Begins::There };
        }
        if !record.flags.has(RecordFlags::DIRECT) {
            known.residency.add(record);
        }
        known.touched.add(offset, offset.saturating_add(bytes));
    }

    /// The bytes that it has at least: its size, and what was asked for.
    pub(super) fn extent_bytes(&self, place: u32) -> u64 {
        let Some(known) = self.all.get(place as usize) else { return 0 };
        known.size_bytes.unwrap_or(0).max(known.touched.end())
    }

    /// All of them, in their order; on copies all, or those that change.
    pub(super) fn finish(self, all_on_copies: bool) -> Vec<PlanFile> {
        self.all.into_iter().map(|known| known.finish(all_on_copies)).collect()
    }
}

impl Known {
    fn is_made(&self) -> bool {
        match self.begins {
            Begins::There => false,
            Begins::OpenedToCreate => self.size_bytes.unwrap_or(0) == 0,
            Begins::Made => true,
        }
    }

    fn finish(self, on_copy: bool) -> PlanFile {
        let is_there = !self.is_made();
        let size_bytes = match is_there {
            true => self.size_bytes.unwrap_or_else(|| self.touched.end()),
            false => 0,
        };
        // What was counted when it was first seen tells of pages that no record is about: those that faults mapped around.
        let cached = match self.cached_pages {
            _ if !is_there => Vec::new(),
            Some(0) => Vec::new(),
            Some(pages) if pages >= size_bytes.div_ceil(PAGE_BYTES) => {
                vec![(0, size_bytes.next_multiple_of(PAGE_BYTES))]
            }
            _ => self.residency.cached_bytes(),
        };
        PlanFile {
            index: self.index.0,
            path: self.path,
            role: if on_copy || self.is_changed { FileRole::Copy } else { FileRole::Original },
            is_changed: self.is_changed,
            is_there,
            size_bytes,
            cached,
            touched: self.touched.into_vec(),
            parts: Vec::new(),
        }
    }
}

/// Whether a write found nothing where it wrote: neither in the cache nor to be read.
fn makes_pages(record: &TraceRecord) -> bool {
    let found = record.pages.map(|pages| pages.hits + pages.misses);
    record.class == OperationClass::Write && found == Some(0)
}
