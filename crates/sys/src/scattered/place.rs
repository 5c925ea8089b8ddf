//! Ranges cut where their file is cut on the device.

use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;

use hotset_facts::PageRange;

use crate::extents::{self, Extent};

/// Hands on each part of the ranges that lies in one piece, with its place in bytes; holes, and all of it where the file
/// system doesn't tell, have none.
pub(super) fn pieces(
    fd: BorrowedFd<'_>,
    ranges: &[PageRange],
    mut each: impl FnMut(PageRange, Option<u64>),
) {
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return };
    let page = crate::page_size();
    let mut cutter = Cutter { ranges, at: 0, from: first.first, page };
    let bytes = (last.end() - first.first).saturating_mul(page);
    // Without an answer everything is left for `rest`.
    let _ = extents::visit(fd, first.first.saturating_mul(page), bytes, |extent| {
        cutter.extent(extent, &mut each)
    });
    cutter.rest(&mut each);
}

struct Cutter<'a> {
    ranges: &'a [PageRange],
    /// The range that is being cut.
    at: usize,
    /// Its first page that was not handed on.
    from: u64,
    page: u64,
}

impl Cutter<'_> {
    fn extent(
        &mut self,
        extent: Extent,
        each: &mut impl FnMut(PageRange, Option<u64>),
    ) -> ControlFlow<()> {
        let start = extent.offset / self.page;
        // A page that two extents share goes with the first.
        let end = extent.offset.saturating_add(extent.bytes).div_ceil(self.page);
        while let Some(range) = self.ranges.get(self.at) {
            if self.from >= end {
                return ControlFlow::Continue(());
            }
            if self.from < start {
                self.hand_on(range.end().min(start), None, each);
                continue;
            }
            let offset = (self.from * self.page).saturating_sub(extent.offset);
            let physical = extent.physical.map(|physical| physical.saturating_add(offset));
            self.hand_on(range.end().min(end), physical, each);
        }
        ControlFlow::Break(())
    }

    fn rest(&mut self, each: &mut impl FnMut(PageRange, Option<u64>)) {
        while let Some(range) = self.ranges.get(self.at) {
            self.hand_on(range.end(), None, each);
        }
    }

    /// Everything up to page `end` of the current range.
    fn hand_on(
        &mut self,
        end: u64,
        physical: Option<u64>,
        each: &mut impl FnMut(PageRange, Option<u64>),
    ) {
        if end > self.from {
            each(PageRange { first: self.from, count: end - self.from }, physical);
            self.from = end;
        }
        if self.ranges.get(self.at).is_some_and(|range| self.from >= range.end()) {
            self.at += 1;
            self.from = self.ranges.get(self.at).map_or(u64::MAX, |next| next.first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u64, count: u64) -> PageRange {
        PageRange { first, count }
    }

    fn extent(offset: u64, bytes: u64, physical: u64) -> Extent {
        let physical = Some(physical);
        Extent { offset, bytes, physical, is_encoded: false, is_unwritten: false }
    }

    #[test]
    fn ranges_are_cut_at_extents_and_holes_have_no_place() {
        let ranges = [range(0, 10), range(20, 2)];
        let mut cutter = Cutter { ranges: &ranges, at: 0, from: 0, page: 4096 };
        let mut cut = Vec::new();
        let mut each = |range, physical| cut.push((range, physical));
        // Two blocks of 1 KiB before the next page's start; a hole from page 6 to 8; and the second range partly.
        let extents = [
            (0, 3 * 4096 + 2048, 1 << 20),
            (3 * 4096 + 2048, 2 * 4096, 0),
            (8 * 4096, 13 * 4096, 1 << 30),
        ];
        for (offset, bytes, physical) in extents {
            let flow = cutter.extent(extent(offset, bytes, physical), &mut each);
            assert!(flow.is_continue());
        }
        cutter.rest(&mut each);
        let second = 2048;
        let wanted = [
            (range(0, 4), Some(1 << 20)),
            (range(4, 2), Some(second)),
            (range(6, 2), None),
            (range(8, 2), Some(1 << 30)),
            (range(20, 1), Some((1 << 30) + 12 * 4096)),
            (range(21, 1), None),
        ];
        assert_eq!(cut, wanted);
    }
}
