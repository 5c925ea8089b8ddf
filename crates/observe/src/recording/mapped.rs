//! Which file is mapped where: calls on mappings tell addresses only.

use std::collections::{BTreeMap, HashMap};

use hotset_facts::Pid;

/// Mappings that are kept, of all processes.
const MAX_MAPPINGS: usize = 262_144;

/// A part of a file in a process's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping<F> {
    end: u64,
    file: F,
    offset: u64,
}

/// All mappings of files, by process.
#[derive(Debug)]
pub(super) struct Mapped<F> {
    by_process: HashMap<Pid, BTreeMap<u64, Mapping<F>>>,
    count: usize,
}

impl<F> Default for Mapped<F> {
    fn default() -> Self {
        Self { by_process: HashMap::new(), count: 0 }
    }
}

impl<F: Copy> Mapped<F> {
    /// A file was mapped.
    pub(super) fn add(&mut self, pid: Pid, address: u64, bytes: u64, file: F, offset: u64) {
        self.remove(pid, address, bytes);
        if self.count >= MAX_MAPPINGS {
            return;
        }
        let end = address.saturating_add(bytes);
        self.by_process.entry(pid).or_default().insert(address, Mapping { end, file, offset });
        self.count += 1;
    }

    /// The file at an address, and where in it that is.
    pub(super) fn at(&self, pid: Pid, address: u64) -> Option<(F, u64)> {
        let (start, mapping) = self.by_process.get(&pid)?.range(..=address).next_back()?;
        (address < mapping.end).then(|| (mapping.file, mapping.offset + (address - start)))
    }

    /// A part of memory was unmapped, or something else was mapped there.
    pub(super) fn remove(&mut self, pid: Pid, address: u64, bytes: u64) {
        let Some(mappings) = self.by_process.get_mut(&pid) else { return };
        let end = address.saturating_add(bytes);
        let touched: Vec<u64> = mappings
            .range(..end)
            .rev()
            .take_while(|(_, mapping)| mapping.end > address)
            .map(|(start, _)| *start)
            .collect();
        for start in touched {
            let Some(mapping) = mappings.remove(&start) else { continue };
            self.count -= 1;
            if start < address {
                mappings.insert(start, Mapping { end: address, ..mapping });
                self.count += 1;
            }
            if mapping.end > end {
                let offset = mapping.offset + (end - start);
                mappings.insert(end, Mapping { offset, ..mapping });
                self.count += 1;
            }
        }
    }

    /// A process runs another program: nothing is mapped as before.
    pub(super) fn clear(&mut self, pid: Pid) {
        if let Some(gone) = self.by_process.remove(&pid) {
            self.count -= gone.len();
        }
    }

    /// A process was made: what its parent mapped is mapped there too.
    pub(super) fn inherit(&mut self, parent: Pid, child: Pid) {
        let Some(mappings) = self.by_process.get(&parent) else { return };
        if self.count + mappings.len() > MAX_MAPPINGS || self.by_process.contains_key(&child) {
            return;
        }
        let mappings = mappings.clone();
        self.count += mappings.len();
        self.by_process.insert(child, mappings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unmapped_in_the_middle_leaves_both_ends() {
        let mut mapped = Mapped::default();
        mapped.add(1, 0x1000, 0x4000, 'a', 0x8000);
        mapped.remove(1, 0x2000, 0x1000);
        assert_eq!(mapped.at(1, 0x1fff), Some(('a', 0x8fff)));
        assert_eq!(mapped.at(1, 0x2000), None);
        assert_eq!(mapped.at(1, 0x3000), Some(('a', 0xa000)));
        assert_eq!((mapped.at(1, 0x5000), mapped.at(2, 0x1000)), (None, None));
        mapped.add(1, 0x1000, 0x8000, 'b', 0);
        assert_eq!((mapped.at(1, 0x3000), mapped.count), (Some(('b', 0x2000)), 1));
    }

    #[test]
    fn a_child_has_what_its_parent_mapped_until_it_runs_another_program() {
        let mut mapped = Mapped::default();
        mapped.add(1, 0x1000, 0x1000, 'a', 0);
        mapped.inherit(1, 2);
        mapped.clear(1);
        assert_eq!((mapped.at(1, 0x1000), mapped.at(2, 0x1000)), (None, Some(('a', 0))));
        mapped.clear(2);
        assert_eq!(mapped.count, 0);
    }
}
