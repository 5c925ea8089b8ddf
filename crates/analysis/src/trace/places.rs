//! Sums by the place in a list that records point to: bounded, also where an index points anywhere.

/// Indices beyond this are counted together: 4 bytes each are spent on those below.
const MAX_INDEX: u32 = 1 << 22;
/// No place yet.
const NONE: u32 = u32::MAX;

/// A `T` for each index that is used, up to a bound; the others share one.
#[derive(Debug)]
pub(super) struct Places<T> {
    /// Where in `rows` the row of an index is.
    at: Vec<u32>,
    rows: Vec<(u32, T)>,
    most: usize,
    others: T,
    has_others: bool,
}

impl<T: Default> Places<T> {
    /// Rows for `most` indices.
    pub(super) fn new(most: usize) -> Self {
        Self { at: Vec::new(), rows: Vec::new(), most, others: T::default(), has_others: false }
    }

    /// The row of an index.
    pub(super) fn row(&mut self, index: u32) -> &mut T {
        match self.place(index) {
            Some(place) => &mut self.rows[place].1,
            None => {
                self.has_others = true;
                &mut self.others
            }
        }
    }

    fn place(&mut self, index: u32) -> Option<usize> {
        if index >= MAX_INDEX {
            return None;
        }
        if index as usize >= self.at.len() {
            self.at.resize(index as usize + 1, NONE);
        }
        let place = &mut self.at[index as usize];
        if *place == NONE {
            if self.rows.len() >= self.most {
                return None;
            }
            *place = self.rows.len() as u32;
            self.rows.push((index, T::default()));
        }
        Some(*place as usize)
    }

    /// The rows with their indices, and what was counted for all others.
    pub(super) fn finish(self) -> (Vec<(u32, T)>, Option<T>) {
        (self.rows, self.has_others.then_some(self.others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_place_is_counted_together() {
        let mut places: Places<u64> = Places::new(2);
        for index in [5, 1, 5, 9, u32::MAX, 1] {
            *places.row(index) += 1;
        }
        assert_eq!(places.finish(), (vec![(5, 2), (1, 2)], Some(2)));
        let mut few: Places<u64> = Places::new(2);
        *few.row(3) += 1;
        assert_eq!(few.finish(), (vec![(3, 1)], None));
    }
}
