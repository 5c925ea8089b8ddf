//! Pages that are cached for others.

use std::ops::Range;

use super::ReferencesBuilder;

impl ReferencesBuilder {
    /// Says that these pages of a file, in ascending order, are cached whatever happens, and charged to somebody else: requests for them
    /// are left out from here on.
    pub fn hold(&mut self, file: u32, pages: Vec<Range<u64>>) {
        self.held.insert(file, pages);
    }

    /// How often such a page was asked for.
    pub fn held_requests(&self) -> u64 {
        self.held_requests
    }
}

/// Whether a page is in one of these ranges, which ascend.
pub(super) fn is_in(ranges: &[Range<u64>], page: u64) -> bool {
    let before = ranges.partition_point(|range| range.end <= page);
    ranges.get(before).is_some_and(|range| range.contains(&page))
}
