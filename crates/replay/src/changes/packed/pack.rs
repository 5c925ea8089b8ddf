//! The file that holds the others.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{
    FilePart, FileRole, NameKind, PlanFile, PlanName, PlanPath, PlanSlot, ReplayPlan,
};

use super::brackets::Bracket;
use crate::changes::rewrite::number;
use crate::changes::subjects::PAGE_BYTES;
use crate::ranges::Ranges;

/// Its name, below the directory of copies.
const NAME: &str = "/hotset-packed";

/// What stands in it, and where.
#[derive(Debug, Default)]
pub(super) struct Pack {
    parts: Vec<FilePart>,
    offsets: HashMap<u32, u64>,
    size_bytes: u64,
    /// Bytes that were cached where they came from.
    cached: Ranges,
}

impl Pack {
    /// The files of brackets, in their order, each once.
    pub(super) fn of(plan: &ReplayPlan, brackets: &[Bracket]) -> Self {
        let mut pack = Self::default();
        for bracket in brackets {
            if let Some(file) = plan.files.get(bracket.file as usize)
                && !pack.offsets.contains_key(&bracket.file)
            {
                pack.add(bracket.file, file);
            }
        }
        pack
    }

    fn add(&mut self, place: u32, file: &PlanFile) {
        let offset = self.size_bytes;
        self.offsets.insert(place, offset);
        self.parts.push(FilePart { file: place, offset });
        self.size_bytes = offset.saturating_add(file.size_bytes);
        for (begin, end) in &file.cached {
            let end = (*end).min(file.size_bytes);
            self.cached.add(offset.saturating_add(*begin), offset.saturating_add(end));
        }
    }

    /// How many files it holds.
    pub(super) fn files(&self) -> usize {
        self.parts.len()
    }

    /// Where a file begins in it.
    pub(super) fn offset(&self, file: u32) -> u64 {
        self.offsets.get(&file).copied().unwrap_or_default()
    }

    /// Whole pages of it whose bytes were all cached: what two files share may have been so in part.
    fn cached_pages(&self) -> Vec<(u64, u64)> {
        let whole = |(begin, end): (u64, u64)| {
            let is_last = end == self.size_bytes;
            let end = if is_last { end } else { end - end % PAGE_BYTES };
            (begin.next_multiple_of(PAGE_BYTES), end)
        };
        let ranges = self.cached.clone().into_vec().into_iter().map(whole);
        ranges.filter(|(begin, end)| begin < end).collect()
    }

    /// Makes it a file of a plan that has its first path, with slots to read it by. Those that are opened no more lead nowhere.
    pub(super) fn add_to(self, plan: &mut ReplayPlan, slots: usize, dropped: &HashSet<u32>) {
        let (path, file) = (number(plan.paths.len()), number(plan.files.len()));
        let is_taken = |name: &Vec<u8>| plan.paths.iter().any(|path| path.bytes == *name);
        let numbered = (2_u32..).map(|number| format!("{NAME}-{number}"));
        let mut names = std::iter::once(NAME.to_owned()).chain(numbered).map(String::into_bytes);
        let bytes = names.find(|name| !is_taken(name)).unwrap_or_default();
        plan.paths.push(PlanPath { bytes, role: FileRole::Copy });
        plan.there.push(PlanName { path, kind: NameKind::File, file: Some(file), link_bytes: 0 });
        plan.files.push(PlanFile {
            index: u32::MAX,
            path: Some(path),
            role: FileRole::Copy,
            is_changed: false,
            is_there: true,
            size_bytes: self.size_bytes,
            cached: self.cached_pages(),
            touched: vec![(0, self.size_bytes)],
            parts: self.parts,
        });
        for (slot, _) in plan.slots.iter_mut().zip(0..).filter(|(_, place)| dropped.contains(place))
        {
            slot.file = None;
        }
        let slot = PlanSlot {
            file: Some(file),
            opened_before: None,
            writes: false,
            direct: false,
            append: false,
            sync: false,
        };
        plan.slots.extend(std::iter::repeat_n(slot, slots));
    }
}
