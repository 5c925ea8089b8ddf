//! Bringing exactly these pages into the cache, and no others.
//!
//! What was measured on Linux 6.18, and is checked anew on each file system before it is relied on: a fault in a mapping with
//! MADV_HUGEPAGE and MADV_RANDOM reads one whole aligned block (2 MiB) into one large folio, whatever `read_ahead_kb` says,
//! and not a page more. Two threads of that reach the device's speed. readahead(2) and POSIX_FADV_WILLNEED are exact too,
//! and don't wait, but leave folios of one page, which are 15 times dearer to look through and to evict. read(2) and other
//! faults read ahead beyond what was asked for.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use hotset_facts::PageRange;
use rustix::fs::Advice;
use rustix::io::Errno;

use super::control::ControlError;
use super::open::name_of_fd;
use super::populate::{self, BLOCK_BYTES, Way};
use super::ranges::{byte_range, visit_ranges};
use super::residency::{ResidencyError, size_of};
use super::stacked::cachestat_if_seen;

/// What one WILLNEED may ask for: kernels cut it to the device's largest request.
const ASK_BYTES: u64 = 1 << 20;

/// The same where nobody tells how much of it was taken: no kernel's default is below.
const BLIND_ASK_BYTES: u64 = 128 << 10;

/// How long pages that were asked for are waited for while none of them arrives.
const STALLED: Duration = Duration::from_secs(2);

/// Asks for the pages of `range` that are not cached, and for no others. Whole aligned blocks of 2 MiB are there and up to date
/// on return; the rest is on its way, so that many ranges can be in flight: see [`settle`].
///
/// What lies beyond the end of the file is left out.
///
/// # Errors
/// [`ControlError::Read`] with the offset where the device fails. Where pages are only asked for, nobody says so: they
/// don't arrive, and [`settle`] counts them.
pub fn fetch(fd: impl AsFd, range: PageRange) -> Result<(), ControlError> {
    let fd = fd.as_fd();
    let path = || name_of_fd(fd);
    let stat =
        rustix::fs::fstat(fd).map_err(|errno| ControlError::system(&path(), "fstat", errno))?;
    let size = size_of(fd, &stat).map_err(|cause| ResidencyError::new(&path(), cause))?;
    let (offset, len) = byte_range(range);
    let end = offset.saturating_add(len).min(size);
    fetch_bytes(fd, offset, end, size, stat.st_dev, &path)
}

/// The bytes from `start` to `end`, whole pages (or up to the end of a file of `size` bytes).
pub(super) fn fetch_bytes(
    fd: BorrowedFd<'_>,
    start: u64,
    end: u64,
    size: u64,
    dev: u64,
    path: &dyn Fn() -> std::path::PathBuf,
) -> Result<(), ControlError> {
    if start >= end {
        return Ok(());
    }
    let body = start.next_multiple_of(BLOCK_BYTES).min(end);
    // A block may be cut short by the end of the file, but by nothing else.
    let body_end = if end == size { end } else { (end - end % BLOCK_BYTES).max(body) };
    if body == body_end || populate::way_for(fd, dev, body, size) != Way::Blocks {
        return ask(fd, start, end, &path());
    }
    // On their way while the blocks are read.
    ask(fd, start, body, &path())?;
    ask(fd, body_end, end, &path())?;
    let mut offset = body;
    while offset < body_end {
        let len = populate::WINDOW_BYTES.min(body_end - offset);
        populate::window(fd, offset, len, Way::Blocks, path)?;
        offset += len;
    }
    Ok(())
}

/// POSIX_FADV_WILLNEED, over and over: one call takes as much as one request to the device.
fn ask(fd: BorrowedFd<'_>, start: u64, end: u64, path: &Path) -> Result<(), ControlError> {
    let page = crate::page_size();
    let mut offset = start;
    let mut step = ASK_BYTES;
    while offset < end {
        let len = step.min(end - offset);
        let Some(some) = std::num::NonZeroU64::new(len) else { break };
        rustix::fs::fadvise(fd, offset, Some(some), Advice::WillNeed)
            .map_err(|errno| ControlError::system(path, "posix_fadvise", errno))?;
        offset += match cachestat_if_seen(fd, offset, len) {
            // It takes them in order. Nothing at all is memory that ran out, or a file system that ignores advice.
            Ok(taken) if taken.cached > 0 => len.min(taken.cached * page),
            Ok(_) => len,
            Err(_) => {
                step = BLIND_ASK_BYTES;
                len.min(BLIND_ASK_BYTES)
            }
        };
    }
    Ok(())
}

/// Waits until the pages of `span` that were asked for are up to date, and counts all that are. Gives up on pages that don't
/// arrive: what failed to be read is in the cache and never up to date.
///
/// # Errors
/// Where the kernel tells this user nothing that can be believed.
pub fn settle(fd: impl AsFd, span: PageRange) -> Result<u64, ResidencyError> {
    let fd = fd.as_fd();
    let (offset, len) = byte_range(span);
    let mut last = uptodate_in(fd, span)?;
    let mut moved = Instant::now();
    let mut pause = Duration::from_micros(500);
    while moved.elapsed() < STALLED {
        // In the cache, and so asked for; without cachestat(2) it can only be looked at whether more arrives.
        let asked = cachestat_if_seen(fd, offset, len).map(|answer| answer.cached);
        if asked.is_ok_and(|asked| asked <= last) || (asked.is_err() && last == span.count) {
            break;
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
        let now = uptodate_in(fd, span)?;
        if now != last {
            (last, moved) = (now, Instant::now());
        }
        if asked == Err(Errno::NOSYS) && moved.elapsed() > Duration::from_millis(100) {
            break;
        }
    }
    Ok(last)
}

/// Pages of `span` that are cached and up to date now.
pub(super) fn uptodate_in(fd: BorrowedFd<'_>, span: PageRange) -> Result<u64, ResidencyError> {
    let mut pages = 0;
    visit_ranges(fd, span, |run| {
        pages += run.count;
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use hotset_tests::undisturbed;

    use super::*;
    use crate::cache::ranges;
    use crate::test_support::ScratchFile;

    fn cold(pages: u64) -> ScratchFile {
        let file = ScratchFile::on_disk(&vec![7; (pages * crate::page_size()) as usize]);
        file.evict();
        file
    }

    fn range(first: u64, count: u64) -> PageRange {
        PageRange { first, count }
    }

    #[test]
    fn exactly_these_pages_come_and_no_others() {
        let pages = 4000;
        let file = cold(pages);
        // One page; one that crosses a block's edge; one with a whole block in it; one up to the end.
        let wanted = [range(3, 1), range(500, 30), range(900, 700), range(3900, 100)];
        let whole = range(0, pages);
        undisturbed(&[&file.path], || {
            file.evict();
            for wanted in wanted {
                fetch(&file.file, wanted).expect("fetch");
            }
            assert_eq!(settle(&file.file, whole).expect("settle"), 831);
            assert_eq!(ranges(&file.file, pages * crate::page_size()).expect("ranges"), wanted);
        });
    }

    #[test]
    fn scattered_pages_come_without_their_neighbours() {
        let file = cold(256);
        let wanted: Vec<PageRange> = (0..256).step_by(2).map(|page| range(page, 1)).collect();
        undisturbed(&[&file.path], || {
            file.evict();
            for wanted in &wanted {
                fetch(&file.file, *wanted).expect("fetch");
            }
            assert_eq!(settle(&file.file, range(0, 256)).expect("settle"), 128);
            assert_eq!(ranges(&file.file, 256 * crate::page_size()).expect("ranges"), wanted);
        });
    }

    #[test]
    fn what_lies_beyond_the_end_is_left_out() {
        let file = cold(10);
        undisturbed(&[&file.path], || {
            file.evict();
            fetch(&file.file, range(8, 1 << 40)).expect("fetch");
            fetch(&file.file, range(1 << 40, 5)).expect("fetch");
            assert_eq!(settle(&file.file, range(0, 10)).expect("settle"), 2);
        });
    }
}
