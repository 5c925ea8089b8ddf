//! Mappings of files: what an address that is unmapped, synced or advised about belongs to.

use std::collections::BTreeMap;

use hotset_facts::trace::FileIndex;
use std::sync::Arc;

/// A part of a file that is mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) length: u64,
    /// The file's byte at its first address.
    pub(super) offset: u64,
    pub(super) file: Option<FileIndex>,
    pub(super) path: Option<Arc<[u8]>>,
}

/// The mapped files of a process, by address.
#[derive(Debug, Clone, Default)]
pub(super) struct Maps(BTreeMap<u64, Mapping>);

impl Maps {
    /// mmap(2): what was mapped there before is not any more.
    pub(super) fn map(&mut self, address: u64, mapping: Mapping) {
        self.unmap(address, mapping.length);
        self.0.insert(address, mapping);
    }

    /// munmap(2), or an anonymous mapping in its place.
    pub(super) fn unmap(&mut self, address: u64, length: u64) {
        let end = address.saturating_add(length);
        let touched = self.0.range(..end).rev();
        let touched =
            touched.take_while(|(start, mapping)| start.saturating_add(mapping.length) > address);
        let touched: Vec<u64> = touched.map(|(start, _)| *start).collect();
        for start in touched {
            let Some(mapping) = self.0.remove(&start) else { continue };
            if start < address {
                self.0.insert(start, Mapping { length: address - start, ..mapping.clone() });
            }
            let mapped_to = start.saturating_add(mapping.length);
            if mapped_to > end {
                let (length, offset) =
                    (mapped_to - end, mapping.offset.saturating_add(end - start));
                self.0.insert(end, Mapping { length, offset, ..mapping });
            }
        }
    }

    /// The mapping that holds an address, and the file's byte there.
    pub(super) fn at(&self, address: u64) -> Option<(&Mapping, u64)> {
        let (start, mapping) = self.0.range(..=address).next_back()?;
        let inside = address - start;
        (inside < mapping.length).then(|| (mapping, mapping.offset.saturating_add(inside)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_leaves_both_ends() {
        let mapping =
            |length, offset| Mapping { length, offset, file: Some(FileIndex(1)), path: None };
        let mut maps = Maps::default();
        maps.map(0x10000, mapping(0x4000, 0x1000));
        maps.unmap(0x11000, 0x1000);
        let offset = |maps: &Maps, address| maps.at(address).map(|(_, offset)| offset);
        assert_eq!(offset(&maps, 0x10fff), Some(0x1fff));
        assert_eq!(offset(&maps, 0x11000), None);
        assert_eq!(offset(&maps, 0x12000), Some(0x3000));
        assert_eq!(offset(&maps, 0x14000), None);
        maps.map(0x0, mapping(u64::MAX, 0));
        assert_eq!(offset(&maps, 0x12000), Some(0x12000));
        assert_eq!(maps.0.len(), 1);
    }
}
