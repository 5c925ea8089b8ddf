//! How many nodes the index of the page cache has.

use std::collections::HashMap;

use crate::table::{Load, NONE, Table};

/// Pages that a node has room for (`XA_CHUNK_SIZE`, include/linux/xarray.h).
pub(crate) const NODE_PAGES: u64 = 64;
const LOAD: Load = Load { full: 75, growth: 150 };

/// Nodes of the lowest level, each of which is there as long as any of its pages was asked for: what was evicted leaves a mark behind. The only
/// one of a small file is left out, since [`crate::capacity`] counts one for each file.
#[derive(Debug, Clone)]
pub(crate) struct IndexNodes {
    /// How many pages of each were asked for, by the key of a page without its last bits.
    pages: Table,
    /// How many nodes each file has.
    files: HashMap<u32, u32>,
    now: u32,
    most: u32,
}

impl Default for IndexNodes {
    fn default() -> Self {
        Self { pages: Table::new(LOAD), files: HashMap::new(), now: 0, most: 0 }
    }
}

impl IndexNodes {
    /// A page of a file is asked for that was not before. Keys of pages of a file that stand side by side do so too.
    pub(crate) fn add(&mut self, file: u32, key: u64) {
        let pages = self.pages.value(key / NODE_PAGES);
        if *pages != NONE {
            *pages += 1;
            return;
        }
        *pages = 1;
        let nodes = self.files.entry(file).or_default();
        *nodes += 1;
        self.now += counted(*nodes) - counted(*nodes - 1);
        self.most = self.most.max(self.now);
    }

    /// Such a page is gone.
    pub(crate) fn remove(&mut self, file: u32, key: u64) {
        let pages = self.pages.value(key / NODE_PAGES);
        *pages = pages.saturating_sub(1);
        if *pages > 0 {
            return;
        }
        self.pages.remove(key / NODE_PAGES);
        let Some(nodes) = self.files.get_mut(&file) else { return };
        *nodes -= 1;
        self.now -= counted(*nodes + 1) - counted(*nodes);
        if *nodes == 0 {
            self.files.remove(&file);
        }
    }

    /// The most there were at one time.
    pub(crate) fn most(&self) -> u32 {
        self.most
    }
}

/// Of a file's nodes, those that are counted.
fn counted(nodes: u32) -> u32 {
    if nodes == 1 { 0 } else { nodes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_there_as_long_as_their_pages() {
        let mut nodes = IndexNodes::default();
        // A small file has none but the one that each file has.
        nodes.add(1, 1 << 32);
        nodes.add(1, 1 << 32 | 63);
        assert_eq!(nodes.most(), 0);
        // Of a large one, a page here and there takes as much as all.
        for page in [0, 1, 700, 70_000] {
            nodes.add(2, 2 << 32 | page);
        }
        assert_eq!(nodes.most(), 3);
        nodes.remove(2, 2 << 32);
        nodes.remove(2, 2 << 32 | 700);
        nodes.add(3, 3 << 32);
        nodes.add(3, 3 << 32 | 64);
        assert_eq!((nodes.now, nodes.most()), (4, 4));
        for page in [1, 70_000] {
            nodes.remove(2, 2 << 32 | page);
        }
        assert_eq!((nodes.now, nodes.files.len()), (2, 2));
    }
}
