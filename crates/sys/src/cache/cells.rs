//! Where in a file the cached pages lie, as a picture of so many cells.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};

use hotset_facts::{CacheCell, PageRange};
use rustix::io::Errno;

use super::open::name_of_fd;
use super::ranges::visit_ranges;
use super::raw::cachestat;
use super::residency::{ResidencyCause, ResidencyError};
use super::stacked::hides_pages;

/// How many pages are cached in each of at most `cells` parts of the first `size_bytes` of a file, in file order. The parts
/// are whole pages, of sizes that differ by at most one page; a file of fewer pages has a cell a page, an empty one none.
///
/// By a cachestat(2) call a cell, or by mincore(2) where that doesn't tell, which takes about 10 ms a GiB of the size.
///
/// # Errors
/// [`ResidencyCause::Denied`] where the kernel tells this user nothing that can be believed.
pub fn cells(
    fd: impl AsFd,
    size_bytes: u64,
    cells: usize,
) -> Result<Vec<CacheCell>, ResidencyError> {
    let fd = fd.as_fd();
    let mut picture = Picture::empty(crate::pages_of(size_bytes), cells);
    match picture.by_cachestat(fd, size_bytes) {
        Ok(()) if picture.all.iter().all(|cell| cell.cached == 0) && hides_pages(fd) => {
            picture.by_ranges(fd)?;
        }
        Ok(()) => {}
        Err(Errno::NOSYS | Errno::PERM) => picture.by_ranges(fd)?,
        Err(errno) => {
            let cause = ResidencyCause::System { call: "cachestat", errno };
            return Err(ResidencyError::new(&name_of_fd(fd), cause));
        }
    }
    Ok(picture.all)
}

struct Picture {
    pages: u64,
    all: Vec<CacheCell>,
}

impl Picture {
    fn empty(pages: u64, cells: usize) -> Self {
        let count = (cells as u64).min(pages);
        let mut picture = Self { pages, all: vec![CacheCell::default(); count as usize] };
        for index in 0..picture.all.len() {
            picture.all[index].pages = picture.first(index + 1) - picture.first(index);
        }
        picture
    }

    /// The first page of a cell.
    fn first(&self, index: usize) -> u64 {
        let first = index as u128 * u128::from(self.pages) / self.all.len().max(1) as u128;
        // At most `pages`.
        first as u64
    }

    fn by_cachestat(&mut self, fd: BorrowedFd<'_>, size_bytes: u64) -> Result<(), Errno> {
        let page = crate::page_size();
        let mut at = 0;
        for cell in &mut self.all {
            // Some file systems keep pages of their own beyond the end (fs-verity).
            let len = cell.pages.saturating_mul(page).min(size_bytes.saturating_sub(at));
            cell.cached = cachestat(fd, at, len)?.cached;
            at = at.saturating_add(len);
        }
        Ok(())
    }

    fn by_ranges(&mut self, fd: BorrowedFd<'_>) -> Result<(), ResidencyError> {
        self.all.iter_mut().for_each(|cell| cell.cached = 0);
        let mut index = 0;
        visit_ranges(fd, PageRange { first: 0, count: self.pages }, |range| {
            let mut from = range.first;
            while from < range.end() && index < self.all.len() {
                let end = self.first(index + 1);
                if from < end {
                    let upto = end.min(range.end());
                    self.all[index].cached += upto - from;
                    from = upto;
                }
                // The next range can begin in this cell too.
                if from >= end {
                    index += 1;
                }
            }
            ControlFlow::Continue(())
        })
    }
}

#[cfg(test)]
mod tests {
    use hotset_tests::undisturbed;

    use super::*;
    use crate::test_support::ScratchFile;

    #[test]
    fn cells_span_the_file_and_hold_what_is_cached() {
        let page = crate::page_size();
        let file = ScratchFile::on_disk(&[]);
        // 11 pages; written, and so cached: pages 0, 1 and 6.
        file.file.set_len(10 * page + 1).expect("set_len");
        undisturbed(&[&file.path], || {
            for at in [0, 1, 6] {
                use std::os::unix::fs::FileExt;
                file.file.write_all_at(&[1], at * page).expect("write");
            }
            let cached = |count| {
                let all = cells(&file.file, 10 * page + 1, count).expect("cells");
                all.iter().map(|cell| (cell.pages, cell.cached)).collect::<Vec<_>>()
            };
            assert_eq!(cached(1), [(11, 3)]);
            assert_eq!(cached(3), [(3, 2), (4, 1), (4, 0)]);
            assert_eq!(cached(50).len(), 11);
            assert_eq!(cached(50)[6], (1, 1));
            assert_eq!(cells(&file.file, 0, 8).expect("cells"), []);
        });
    }

    #[test]
    fn both_sources_paint_the_same_picture() {
        let page = crate::page_size();
        let file = ScratchFile::on_disk(&[]);
        file.file.set_len(40 * page).expect("set_len");
        undisturbed(&[&file.path], || {
            for at in [0, 1, 2, 3, 9, 10, 11, 25, 39] {
                use std::os::unix::fs::FileExt;
                file.file.write_all_at(&[1], at * page).expect("write");
            }
            for count in [1, 3, 7, 16, 40] {
                let mut by_ranges = Picture::empty(40, count);
                by_ranges.by_ranges(file.file.as_fd()).expect("ranges");
                assert_eq!(by_ranges.all, cells(&file.file, 40 * page, count).expect("cells"));
                assert_eq!(by_ranges.all.iter().map(|cell| cell.cached).sum::<u64>(), 9);
            }
        });
    }
}
