//! A hash table from 64-bit keys to 32-bit values that knows how full it may be.

/// What no key has for a value.
pub(crate) const NONE: u32 = u32::MAX;
/// What a key has for a value that [`Table::find_or_add`] added.
pub(crate) const NEW: u32 = u32::MAX - 1;

/// When a table grows, and by how much, in percent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    /// So much of it may be taken.
    pub(crate) full: usize,
    /// So large it is afterwards.
    pub(crate) growth: usize,
}

const PERCENT: usize = 100;
const FIRST_ENTRIES: usize = 16;

/// 12 bytes: the key is in halves so that none are lost to alignment.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: [u32; 2],
    value: u32,
}

const EMPTY: Entry = Entry { key: [0; 2], value: NONE };
/// What an entry takes.
pub(crate) const ENTRY_BYTES: usize = size_of::<Entry>();

fn halves(key: u64) -> [u32; 2] {
    [(key >> 32) as u32, key as u32]
}

/// Mixes a key so that the high bits, by which entries are chosen, depend on all others.
fn mix(key: u64) -> u64 {
    let mixed = (key ^ (key >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Values by key, with linear probing: a key stands at its home or in one of the entries behind it, with no empty one between.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    taken: usize,
    load: Load,
}

impl Table {
    pub(crate) fn new(load: Load) -> Self {
        Self { entries: vec![EMPTY; FIRST_ENTRIES], taken: 0, load }
    }

    /// With room for so many keys.
    pub(crate) fn for_keys(keys: usize, load: Load) -> Self {
        let entries = (keys * PERCENT).div_ceil(load.full) + 1;
        Self { entries: vec![EMPTY; entries.max(FIRST_ENTRIES)], taken: 0, load }
    }

    pub(crate) fn len(&self) -> usize {
        self.taken
    }

    /// Entries that there is memory for.
    pub(crate) fn capacity(&self) -> usize {
        self.entries.len()
    }

    /// Where a key stands if no other does.
    #[inline]
    pub(crate) fn home(&self, key: u64) -> usize {
        ((u128::from(mix(key)) * self.entries.len() as u128) >> 64) as usize
    }

    fn behind(&self, at: usize) -> usize {
        if at + 1 == self.entries.len() { 0 } else { at + 1 }
    }

    /// The entry of a key, or the empty one where it belongs. There is always an empty one.
    #[inline]
    fn find(&self, key: u64) -> usize {
        self.find_from(self.home(key), key)
    }

    /// The same for a key with this home.
    #[inline]
    fn find_from(&self, home: usize, key: u64) -> usize {
        let halves = halves(key);
        let mut at = home;
        loop {
            let entry = self.entries[at];
            if entry.key == halves || entry.value == NONE {
                return at;
            }
            at = self.behind(at);
        }
    }

    /// Makes room for so many new keys: none changes its place before there are as many.
    #[inline]
    pub(crate) fn reserve(&mut self, keys: usize) {
        while (self.taken + keys) * PERCENT > self.entries.len() * self.load.full {
            self.grow();
        }
    }

    /// Looks at a place, so that it is in the CPU's cache when it is asked for. What it returns means nothing.
    #[inline]
    pub(crate) fn look(&self, place: usize) -> u32 {
        self.entries[place].value
    }

    /// The place of a key with this home, which is added with the value [`NEW`] where there is none. There must be room.
    #[inline]
    pub(crate) fn find_or_add(&mut self, home: usize, key: u64) -> usize {
        let place = self.find_from(home, key);
        let entry = &mut self.entries[place];
        if entry.value == NONE {
            *entry = Entry { key: halves(key), value: NEW };
            self.taken += 1;
        }
        place
    }

    /// The value of the key at a place.
    #[inline]
    pub(crate) fn value_at(&mut self, place: usize) -> &mut u32 {
        &mut self.entries[place].value
    }

    pub(crate) fn get(&self, key: u64) -> Option<u32> {
        Some(self.entries[self.find(key)].value).filter(|&value| value != NONE)
    }

    /// The value of a key, [`NONE`] for a new one, which the caller must replace.
    #[inline]
    pub(crate) fn value(&mut self, key: u64) -> &mut u32 {
        if self.taken * PERCENT >= self.entries.len() * self.load.full {
            self.grow();
        }
        let at = self.find(key);
        let entry = &mut self.entries[at];
        if entry.value == NONE {
            entry.key = halves(key);
            self.taken += 1;
        }
        &mut entry.value
    }

    /// All keys with their values, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        let live = self.entries.iter().filter(|entry| entry.value != NONE);
        live.map(|entry| (u64::from(entry.key[0]) << 32 | u64::from(entry.key[1]), entry.value))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        self.entries.iter_mut().map(|entry| &mut entry.value).filter(|value| **value != NONE)
    }

    #[cold]
    fn grow(&mut self) {
        let entries = self.entries.len() * self.load.growth / PERCENT + 1;
        let mut new = Self { entries: vec![EMPTY; entries], taken: self.taken, load: self.load };
        for (key, value) in self.iter() {
            let at = new.find(key);
            new.entries[at] = Entry { key: halves(key), value };
        }
        *self = new;
    }

    /// Takes a key out, and moves those up that it displaced (D. Knuth, The Art of Computer Programming 3, 6.4, algorithm R).
    pub(crate) fn remove(&mut self, key: u64) -> Option<u32> {
        let mut hole = self.find(key);
        let value = Some(self.entries[hole].value).filter(|&value| value != NONE)?;
        let mut at = self.behind(hole);
        while self.entries[at].value != NONE {
            let [high, low] = self.entries[at].key;
            let home = self.home(u64::from(high) << 32 | u64::from(low));
            // The hole may be filled unless it stands before that key's home, on the way around the end of the table.
            let is_between =
                if hole <= at { hole < home && home <= at } else { hole < home || home <= at };
            if !is_between {
                self.entries[hole] = self.entries[at];
                hole = at;
            }
            at = self.behind(at);
        }
        self.entries[hole] = EMPTY;
        self.taken -= 1;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(acts in proptest::collection::vec((0_u64..60, any::<bool>(), 0_u32..9), 0..400)) {
            let mut table = Table::new(Load { full: 90, growth: 130 });
            let mut model = HashMap::new();
            for (key, is_far, value) in acts {
                let key = if is_far { key << 40 } else { key };
                if value == 0 {
                    prop_assert_eq!(table.remove(key), model.remove(&key));
                } else {
                    *table.value(key) = value;
                    model.insert(key, value);
                }
                prop_assert_eq!(table.len(), model.len());
            }
            for (&key, &value) in &model {
                prop_assert_eq!(table.get(key), Some(value));
            }
            prop_assert_eq!(table.iter().collect::<HashMap<_, _>>(), model);
        }
    }

    #[test]
    fn one_for_a_number_of_keys_does_not_grow() {
        for keys in [1, 100, 2048] {
            let mut table = Table::for_keys(keys, Load { full: 85, growth: 150 });
            let before = table.capacity();
            (0..keys as u64).for_each(|key| *table.value(key) = 1);
            assert_eq!(table.capacity(), before);
        }
    }
}
