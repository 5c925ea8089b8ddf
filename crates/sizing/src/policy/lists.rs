//! Lists of pages with a head and a tail, as the kernel's: a page is in at most one of them.
//!
//! Not linked, but rings of page numbers: a page that is taken out of the middle leaves a gap, and gaps are closed when the ring
//! is full. The next pages at a tail stand beside each other in memory, so that a reclaim need not wait for each before it knows
//! the next; with links, simulations took half as long again.

/// What stands in a ring where a page was taken out.
const GAP: u32 = u32::MAX;
const FIRST_SLOTS: usize = 64;

/// A list: page numbers at the positions from `tail` to before `head`, modulo the length of the ring, which is a power of two.
#[derive(Debug, Clone)]
struct Ring {
    slots: Vec<u32>,
    head: u32,
    tail: u32,
    len: u64,
}

impl Ring {
    fn new() -> Self {
        Self { slots: vec![GAP; FIRST_SLOTS], head: 0, tail: 0, len: 0 }
    }

    fn slot(&mut self, position: u32) -> &mut u32 {
        let at = position as usize & (self.slots.len() - 1);
        &mut self.slots[at]
    }

    fn is_full(&self) -> bool {
        self.head.wrapping_sub(self.tail) as usize == self.slots.len()
    }

    /// The pages with their positions, from the tail on.
    fn pages(&self) -> impl Iterator<Item = (u32, u32)> {
        let mask = self.slots.len() - 1;
        let positions =
            (0..self.head.wrapping_sub(self.tail)).map(|step| self.tail.wrapping_add(step));
        let slots = positions.map(move |position| (self.slots[position as usize & mask], position));
        slots.filter(|(page, _)| *page != GAP)
    }
}

/// `LISTS` lists over pages below a number. While a page is in no list, its policy may keep a shadow entry here.
#[derive(Debug, Clone)]
pub(super) struct Lists<const LISTS: usize> {
    /// The position of each page in the list that it is in, or its shadow entry.
    positions: Vec<u32>,
    rings: [Ring; LISTS],
}

impl<const LISTS: usize> Lists<LISTS> {
    pub(super) fn new(pages: u32) -> Self {
        let positions = vec![0; pages as usize];
        Self { positions, rings: std::array::from_fn(|_| Ring::new()) }
    }

    #[inline]
    pub(super) fn len(&self, list: usize) -> u64 {
        self.rings[list].len
    }

    /// What is kept of a page that is in no list.
    #[inline]
    pub(super) fn shadow(&self, page: u32) -> u32 {
        self.positions[page as usize]
    }

    /// Looks at what is kept of a page, so that it is in the CPU's cache when it is asked for.
    #[inline]
    pub(super) fn look(&self, page: u32) -> u32 {
        self.positions.get(page as usize).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn set_shadow(&mut self, page: u32, shadow: u32) {
        self.positions[page as usize] = shadow;
    }

    #[inline]
    pub(super) fn push_head(&mut self, list: usize, page: u32) {
        if self.rings[list].is_full() {
            self.make_room(list);
        }
        let ring = &mut self.rings[list];
        let position = ring.head;
        *ring.slot(position) = page;
        ring.head = position.wrapping_add(1);
        ring.len += 1;
        self.positions[page as usize] = position;
    }

    #[inline]
    pub(super) fn push_tail(&mut self, list: usize, page: u32) {
        if self.rings[list].is_full() {
            self.make_room(list);
        }
        let ring = &mut self.rings[list];
        let position = ring.tail.wrapping_sub(1);
        *ring.slot(position) = page;
        ring.tail = position;
        ring.len += 1;
        self.positions[page as usize] = position;
    }

    /// Takes a page out of the list that it is in.
    #[inline]
    pub(super) fn remove(&mut self, list: usize, page: u32) {
        let position = self.positions[page as usize];
        let ring = &mut self.rings[list];
        *ring.slot(position) = GAP;
        ring.len -= 1;
    }

    /// Takes the page at the tail out of a list.
    #[inline]
    pub(super) fn pop_tail(&mut self, list: usize) -> Option<u32> {
        let ring = &mut self.rings[list];
        while ring.tail != ring.head {
            let position = ring.tail;
            ring.tail = position.wrapping_add(1);
            let page = std::mem::replace(ring.slot(position), GAP);
            if page != GAP {
                ring.len -= 1;
                return Some(page);
            }
        }
        None
    }

    /// Closes the gaps of a list, in a ring of which at most half is taken.
    #[cold]
    fn make_room(&mut self, list: usize) {
        let ring = &self.rings[list];
        let slots = (ring.len as usize * 2).next_power_of_two().max(FIRST_SLOTS);
        let mut new = Ring { slots: vec![GAP; slots], ..Ring::new() };
        for (page, _) in ring.pages() {
            let position = new.head;
            *new.slot(position) = page;
            new.head += 1;
            self.positions[page as usize] = position;
        }
        new.len = ring.len;
        self.rings[list] = new;
    }

    /// Counts every list again, and compares the pages in them with those that a policy has for cached: each of these in the
    /// list that it says, no other in any.
    pub(super) fn check(&self, list_of: impl Fn(u32) -> Option<usize>) -> Result<(), String> {
        let mut found = vec![None; self.positions.len()];
        for (list, ring) in self.rings.iter().enumerate() {
            let mut len = 0;
            for (page, position) in ring.pages() {
                if self.positions[page as usize] != position {
                    return Err(format!("list {list}: page {page} does not know its position"));
                }
                if let Some(other) = found[page as usize].replace(list) {
                    return Err(format!("page {page} is in the lists {other} and {list}"));
                }
                len += 1;
            }
            if len != ring.len {
                return Err(format!("list {list} has {len} pages, {} were counted", ring.len));
            }
        }
        let differs = |(page, found): (u32, &Option<usize>)| {
            let booked = list_of(page);
            (booked != *found)
                .then(|| format!("page {page}: booked in {booked:?}, is in {found:?}"))
        };
        (0_u32..).zip(&found).find_map(differs).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_have_the_order_of_a_queue(acts in proptest::collection::vec((0..6_u8, 0..2_usize, 0..200_u32), 0..2000)) {
            let mut lists = Lists::<2>::new(200);
            let mut models = [VecDeque::new(), VecDeque::new()];
            for (act, list, page) in acts {
                let of = models.iter().position(|model| model.contains(&page));
                match (act, of) {
                    (0 | 1 | 5, None) => {
                        lists.push_head(list, page);
                        models[list].push_front(page);
                    }
                    (2, None) => {
                        lists.push_tail(list, page);
                        models[list].push_back(page);
                    }
                    (3, _) => prop_assert_eq!(lists.pop_tail(list), models[list].pop_back()),
                    (_, Some(of)) => {
                        lists.remove(of, page);
                        models[of].retain(|&other| other != page);
                    }
                    (_, None) => {}
                }
                prop_assert_eq!(lists.len(list), models[list].len() as u64);
            }
            let list_of = |page| models.iter().position(|model| model.contains(&page));
            prop_assert_eq!(lists.check(list_of), Ok(()));
        }
    }

    #[test]
    fn wrong_books_are_found() {
        let mut lists = Lists::<2>::new(3);
        lists.push_head(0, 1);
        assert_eq!(lists.check(|page| (page == 1).then_some(0)), Ok(()));
        assert!(lists.check(|_| None).is_err() && lists.check(|_| Some(0)).is_err());
        lists.rings[0].len = 2;
        assert!(
            lists.check(|page| (page == 1).then_some(0)).is_err_and(|why| why.contains("counted"))
        );
    }
}
