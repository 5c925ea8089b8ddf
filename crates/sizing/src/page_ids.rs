//! Dense numbers for pages of files.

use std::collections::HashMap;
use std::ops::Range;

use crate::index_nodes::IndexNodes;
use crate::references::References;
use crate::table::{Load, NONE, Table};

/// Files have numbers below this one.
const FILES: u32 = 1 << 31;
/// With 12 bytes an entry, a page takes 16 to 24 bytes.
const LOAD: Load = Load { full: 75, growth: 150 };

/// More pages or files than can be numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more files or pages than can be numbered: at most 2^31 files and 2^31 pages")]
pub struct TooMany;

/// Numbers for pages of files, from 0 on without gaps. A page that is forgotten leaves its number to the next new one, so
/// that a program which makes and removes files needs no more numbers than it has pages at one time.
///
/// A page takes 16 to 24 bytes, and for a moment there are the old and the new table when it grows.
#[derive(Debug, Clone)]
pub(crate) struct PageIds {
    /// By file and the low half of the page index.
    ids: Table,
    /// How many numbers were given out.
    numbered: u32,
    /// Numbers of forgotten pages.
    free: Vec<u32>,
    /// What stands for the file of pages from 2^32 on, in files above 16 TiB: by file and the high half of the page index.
    beyond: HashMap<(u32, u32), u32>,
    /// Of each file, a page index above all that were numbered.
    ends: HashMap<u32, u64>,
    nodes: IndexNodes,
    /// Of each number the key of its page, where numbers are not used again.
    keys: Option<Vec<u64>>,
    /// How many pages have a number, and the most at one time.
    live: u32,
    most: u32,
}

impl Default for PageIds {
    fn default() -> Self {
        Self {
            ids: Table::new(LOAD),
            numbered: 0,
            free: Vec::new(),
            beyond: HashMap::new(),
            ends: HashMap::new(),
            nodes: IndexNodes::default(),
            keys: None,
            live: 0,
            most: 0,
        }
    }
}

fn key_of(file: u32, page: u64) -> u64 {
    u64::from(file) << 32 | page & u64::from(u32::MAX)
}

impl PageIds {
    /// From here on no number is used again, and of each it is known which page it is of. No page may have a number yet.
    pub(crate) fn keep_keys(&mut self) {
        self.keys = Some(Vec::new());
    }

    /// Of each number the key of its page: the file in the high half, the page in the low one. None where numbers are used again.
    pub(crate) fn keys(&self) -> Option<&[u64]> {
        self.keys.as_deref()
    }

    /// The most pages that had a number at one time.
    pub(crate) fn most(&self) -> u32 {
        self.most
    }

    /// The number of a page, a new one where it has none.
    pub(crate) fn number(&mut self, file: u32, page: u64) -> Result<u32, TooMany> {
        let key = self.new_key(file, page)?;
        let id = self.ids.value(key);
        if *id != NONE {
            return Ok(*id);
        }
        let (free, numbered) = (&mut self.free, &mut self.numbered);
        let new = free.pop().or_else(|| {
            let next = (*numbered < References::MAX_DISTINCT).then_some(*numbered);
            *numbered += u32::from(next.is_some());
            next
        });
        *id = new.unwrap_or(0);
        let end = self.ends.entry(file).or_default();
        *end = (*end).max(page.saturating_add(1));
        let Some(new) = new else {
            self.ids.remove(key);
            return Err(TooMany);
        };
        self.nodes.add(file, key);
        self.live += 1;
        self.most = self.most.max(self.live);
        if let Some(keys) = &mut self.keys {
            keys.push(key);
        }
        Ok(new)
    }

    /// The number of a page, if it has one.
    pub(crate) fn known(&self, file: u32, page: u64) -> Option<u32> {
        self.ids.get(self.known_key(file, page)?)
    }

    /// Whether any page of a file may have a number.
    pub(crate) fn knows(&self, file: u32) -> bool {
        self.ends.contains_key(&file)
    }

    /// Forgets the pages of a file in a range, and adds their numbers to `ids` by ascending page index.
    pub(crate) fn forget(&mut self, file: u32, pages: Range<u64>, ids: &mut Vec<u32>) {
        let Some(&end) = self.ends.get(&file) else { return };
        let to = pages.end.min(end);
        let first = ids.len();
        // Either each page of the range is looked up, or the whole table is looked at, whichever is less.
        if to.saturating_sub(pages.start) <= self.ids.capacity() as u64 {
            for page in pages.start..to {
                let key = self.known_key(file, page);
                ids.extend(key.and_then(|key| self.forget_one(file, key)));
            }
        } else {
            for key in self.keys_of(file, pages.start..to) {
                ids.extend(self.forget_one(file, key));
            }
        }
        self.live -= (ids.len() - first) as u32;
        if self.keys.is_none() {
            self.free.extend_from_slice(&ids[first..]);
        }
        if pages.end >= end && pages.start == 0 {
            self.ends.remove(&file);
        } else if pages.end >= end {
            self.ends.insert(file, end.min(pages.start));
        }
    }

    fn forget_one(&mut self, file: u32, key: u64) -> Option<u32> {
        let id = self.ids.remove(key)?;
        self.nodes.remove(file, key);
        Some(id)
    }

    /// The nodes of the page cache's index for these pages, the most at one time.
    pub(crate) fn nodes(&self) -> &IndexNodes {
        &self.nodes
    }

    /// The keys of a file's known pages in a range, by ascending page index.
    fn keys_of(&self, file: u32, pages: Range<u64>) -> Vec<u64> {
        let beyond = self.beyond.iter().filter(|((of, _), _)| *of == file);
        let highs: HashMap<u32, u32> =
            beyond.map(|((_, high), name)| (*name, *high)).chain([(file, 0)]).collect();
        let of_file = |(key, _)| {
            let high = highs.get(&((key >> 32) as u32))?;
            let page = u64::from(*high) << 32 | key & u64::from(u32::MAX);
            pages.contains(&page).then_some((page, key))
        };
        let mut found: Vec<(u64, u64)> = self.ids.iter().filter_map(of_file).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, key)| key).collect()
    }

    fn new_key(&mut self, file: u32, page: u64) -> Result<u64, TooMany> {
        let high = (page >> 32) as u32;
        if file >= FILES {
            return Err(TooMany);
        }
        if high == 0 {
            return Ok(key_of(file, page));
        }
        let next = u32::try_from(self.beyond.len()).ok().and_then(|count| FILES.checked_add(count));
        let next = next.ok_or(TooMany)?;
        Ok(key_of(*self.beyond.entry((file, high)).or_insert(next), page))
    }

    fn known_key(&self, file: u32, page: u64) -> Option<u64> {
        let high = (page >> 32) as u32;
        let file = if high == 0 { file } else { *self.beyond.get(&(file, high))? };
        Some(key_of(file, page))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::table::ENTRY_BYTES;

    #[test]
    fn numbers_are_dense_and_used_again() {
        let mut ids = PageIds::default();
        let number = |ids: &mut PageIds, file, page| ids.number(file, page).expect("there is room");
        assert_eq!(number(&mut ids, 7, 0), 0);
        assert_eq!(number(&mut ids, 7, 1 << 40), 1);
        assert_eq!(number(&mut ids, 8, 0), 2);
        assert_eq!(number(&mut ids, 7, 1 << 40), 1);
        let mut gone = Vec::new();
        ids.forget(7, 1..u64::MAX, &mut gone);
        assert_eq!(gone, [1]);
        assert_eq!((ids.known(7, 1 << 40), ids.known(7, 0)), (None, Some(0)));
        assert_eq!(number(&mut ids, 9, 5), 1);
        assert_eq!(number(&mut ids, 9, 6), 3);
        assert_eq!(ids.number(FILES, 0), Err(TooMany));
    }

    #[test]
    fn a_page_takes_at_most_24_bytes() {
        let mut ids = PageIds::default();
        for page in 0..100_000 {
            ids.number(0, page).expect("there is room");
            let bytes = (ids.ids.capacity() * ENTRY_BYTES) as u64;
            assert!(page < 100 || bytes <= 25 * (page + 1), "{bytes} bytes for {page}");
        }
    }

    #[derive(Debug, Clone)]
    enum Act {
        Number(u32, u64),
        Forget(u32, Range<u64>),
    }

    fn act() -> impl Strategy<Value = Act> {
        let page = prop_oneof![8 => 0_u64..40, 1 => (1_u64 << 32)..(1 << 32) + 3];
        let number = (0_u32..3, page).prop_map(|(file, page)| Act::Number(file, page));
        let end = prop_oneof![1 => 0_u64..50, 1 => Just(u64::MAX)];
        let range = (0_u32..3, 0_u64..40, end);
        let forget = range.prop_map(|(file, from, to)| Act::Forget(file, from..to));
        prop_oneof![12 => number, 1 => forget]
    }

    proptest! {
        #[test]
        fn it_is_a_map(acts in proptest::collection::vec(act(), 0..300)) {
            let mut ids = PageIds::default();
            let mut model: BTreeMap<(u32, u64), u32> = BTreeMap::new();
            let mut most = 0;
            for act in acts {
                match act {
                    Act::Number(file, page) => {
                        let id = ids.number(file, page).expect("there is room");
                        let is_new = !model.contains_key(&(file, page));
                        prop_assert!(!is_new || model.values().all(|&used| used != id));
                        prop_assert_eq!(*model.entry((file, page)).or_insert(id), id);
                        most = most.max(model.len());
                        prop_assert!((id as usize) < most);
                    }
                    Act::Forget(file, pages) => {
                        let mut gone = Vec::new();
                        ids.forget(file, pages.clone(), &mut gone);
                        let is_gone = |key: &(u32, u64)| key.0 == file && pages.contains(&key.1);
                        let of = model.iter().filter(|(key, _)| is_gone(key));
                        let expected: Vec<u32> = of.map(|(_, &id)| id).collect();
                        prop_assert_eq!(gone, expected);
                        model.retain(|key, _| !is_gone(key));
                    }
                }
                for (&(file, page), &id) in &model {
                    prop_assert_eq!(ids.known(file, page), Some(id));
                }
            }
        }
    }
}
