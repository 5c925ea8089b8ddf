//! Which files of a snapshot to restore, and in which order. Pure: the caller looks at files, and asks here what follows.

use std::cmp::Reverse;
use std::ops::Range;

use hotset_facts::PageRange;

/// What decides which files come first, and, with a budget, which come at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    /// The files that most processes used, then those of which the greatest share was cached.
    Hot,
    /// The files in the order of the snapshot.
    Saved,
}

/// What is known of a file that could be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its place among the snapshot's files, from 0.
    pub index: u32,
    /// Processes that used it.
    pub users: u64,
    /// Its pages that were saved.
    pub pages: u64,
    /// The pages that its size spans.
    pub file_pages: u64,
    /// Its ranges.
    pub ranges: u64,
}

/// The files to restore, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choice {
    chosen: Vec<Candidate>,
    /// The place in the order of each file of the snapshot.
    ranks: Vec<Option<u32>>,
    /// Pages that the budget leaves out.
    pub beyond_pages: u64,
}

/// Orders the candidates and takes as many pages as `budget_pages` allows, in that order; of the last file, those with the
/// lowest offsets.
pub fn choose(
    mut candidates: Vec<Candidate>,
    preference: Preference,
    budget_pages: Option<u64>,
) -> Choice {
    if preference == Preference::Hot {
        candidates.sort_by_key(|file| (Reverse(file.users), Reverse(share(file)), file.index));
    }
    let mut left = budget_pages.unwrap_or(u64::MAX);
    let mut choice = Choice::default();
    for mut file in candidates {
        let taken = file.pages.min(left);
        choice.beyond_pages += file.pages - taken;
        left -= taken;
        if taken > 0 {
            file.pages = taken;
            choice.take(file);
        }
    }
    choice
}

/// Cached pages in 2^32 of the file's.
fn share(file: &Candidate) -> u64 {
    let share = (u128::from(file.pages) << 32) / u128::from(file.file_pages.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

impl Choice {
    fn take(&mut self, file: Candidate) {
        let index = file.index as usize;
        if self.ranks.len() <= index {
            self.ranks.resize(index + 1, None);
        }
        self.ranks[index] = u32::try_from(self.chosen.len()).ok();
        self.chosen.push(file);
    }

    /// The place in the order of the snapshot's file `index`, and how many of its pages may be restored; nothing where it
    /// was not chosen.
    pub fn rank(&self, index: u32) -> Option<(u32, u64)> {
        let rank = (*self.ranks.get(index as usize)?)?;
        Some((rank, self.chosen[rank as usize].pages))
    }

    /// How many pages may be restored of the file at `rank`.
    pub fn pages(&self, rank: u32) -> u64 {
        self.chosen.get(rank as usize).map_or(0, |file| file.pages)
    }

    /// Parts of the order with at most `max_ranges` ranges each, or one file: what is held in memory at a time.
    pub fn windows(&self, max_ranges: u64) -> Vec<Range<u32>> {
        let mut windows = Vec::new();
        let (mut start, mut sum) = (0, 0_u64);
        for (rank, file) in (0_u32..).zip(&self.chosen) {
            if rank > start && sum + file.ranges > max_ranges {
                windows.push(start..rank);
                (start, sum) = (rank, 0);
            }
            sum += file.ranges;
        }
        if (start as usize) < self.chosen.len() {
            windows.push(start..self.chosen.len() as u32);
        }
        windows
    }
}

/// The first `pages` pages of some ranges, with the rest cut off.
pub fn cut(ranges: &mut Vec<PageRange>, pages: u64) {
    let mut left = pages;
    ranges.retain_mut(|range| {
        range.count = range.count.min(left);
        left -= range.count;
        range.count > 0
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(index: u32, users: u64, pages: u64, file_pages: u64) -> Candidate {
        Candidate { index, users, pages, file_pages, ranges: 2 }
    }

    fn files() -> Vec<Candidate> {
        vec![file(0, 0, 10, 100), file(1, 0, 10, 10), file(3, 2, 10, 1000), file(4, 0, 10, 10)]
    }

    fn order(choice: &Choice) -> Vec<u32> {
        choice.chosen.iter().map(|file| file.index).collect()
    }

    #[test]
    fn users_count_first_then_the_share_that_was_cached() {
        assert_eq!(order(&choose(files(), Preference::Hot, None)), [3, 1, 4, 0]);
        assert_eq!(order(&choose(files(), Preference::Saved, None)), [0, 1, 3, 4]);
    }

    #[test]
    fn a_budget_is_used_to_its_last_page() {
        let choice = choose(files(), Preference::Hot, Some(15));
        assert_eq!(order(&choice), [3, 1]);
        assert_eq!(choice.beyond_pages, 25);
        let ranks = [0, 1, 2, 3, 4].map(|index| choice.rank(index));
        assert_eq!(ranks, [None, Some((1, 5)), None, Some((0, 10)), None]);
        assert_eq!(
            choose(files(), Preference::Hot, Some(0)),
            Choice { beyond_pages: 40, ..Choice::default() }
        );
    }

    #[test]
    fn windows_cover_the_order_once() {
        let choice = choose(files(), Preference::Hot, None);
        assert_eq!(choice.windows(5), [0..2, 2..4]);
        assert_eq!(choice.windows(1), [0..1, 1..2, 2..3, 3..4], "a file is never torn");
        assert_eq!(choice.windows(100), vec![0..4]);
        assert!(Choice::default().windows(5).is_empty());
    }

    #[test]
    fn a_cut_keeps_the_first_pages() {
        let range = |first, count| PageRange { first, count };
        let mut ranges = vec![range(0, 4), range(10, 4), range(20, 4)];
        cut(&mut ranges, 6);
        assert_eq!(ranges, [range(0, 4), range(10, 2)]);
        cut(&mut ranges, 4);
        assert_eq!(ranges, [range(0, 4)]);
    }
}
