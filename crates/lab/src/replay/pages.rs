//! The pages of the files of a replay: set to what they are to be, and looked at.

use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use hotset_facts::PageRange;
use hotset_facts::replay::{FileRole, ReplayPages, ReplayPlan, ReplayState};

use crate::pages::OpenFile;
use crate::set::{Threads, over};

/// How often a state is set before the replay goes on with what was reached.
const TRIES: u32 = 3;

/// A file whose pages are set.
pub(super) struct StatedFile {
    /// From the root, or below the directory of copies.
    path: PathBuf,
    role: FileRole,
    /// By state: ranges of bytes that are to be cached.
    recorded: Vec<(u64, u64)>,
    touched: Vec<(u64, u64)>,
}

/// All of a plan that are there before its first step.
pub(super) fn files(plan: &ReplayPlan) -> Vec<StatedFile> {
    let there = plan.files.iter().filter(|file| file.is_there);
    there
        .filter_map(|file| {
            let path = plan.paths.get(file.path? as usize)?;
            let own = PathBuf::from(std::ffi::OsString::from_vec(path.bytes.clone()));
            let path = match file.role {
                FileRole::Original => own,
                FileRole::Copy => super::copies::inside(&own),
            };
            let (recorded, touched) = (file.cached.clone(), file.touched.clone());
            Some(StatedFile { path, role: file.role, recorded, touched })
        })
        .collect()
}

/// Sets the state, and says what was reached.
pub(super) fn reach(
    state: ReplayState,
    files: &[StatedFile],
    copies: BorrowedFd<'_>,
) -> ReplayPages {
    let mut tried = 1;
    loop {
        let stuck = over(files, Threads::Waiting, |file| file.set(state, copies).unwrap_or(0));
        let stuck: u64 = stuck.into_iter().sum();
        let mut reached = ReplayPages::default();
        for seen in over(files, Threads::Working, |file| file.look(state, copies)) {
            match seen {
                Ok(seen) => {
                    reached.wanted += seen.wanted;
                    reached.cached += seen.cached;
                    reached.beside += seen.beside;
                }
                Err(_) => reached.unknown_files += 1,
            }
        }
        reached.stuck = stuck.min(reached.beside);
        if reached.are_reached() || tried >= TRIES {
            return reached;
        }
        tried += 1;
    }
}

impl StatedFile {
    /// Whole pages of the file that are to be cached.
    fn wanted(&self, state: ReplayState, pages: u64) -> Vec<PageRange> {
        let page_bytes = hotset_sys::page_size();
        let ranges = match state {
            ReplayState::Recorded => &self.recorded[..],
            ReplayState::Cold => &[],
            ReplayState::Warm => &self.touched[..],
        };
        let mut wanted: Vec<PageRange> = Vec::with_capacity(ranges.len());
        for (begin, end) in ranges {
            let first = begin / page_bytes;
            let end = end.div_ceil(page_bytes).min(pages);
            match wanted.last_mut() {
                // Ranges of bytes that share a page, or touch.
                Some(last) if first <= last.end() => {
                    last.count = end.max(last.end()) - last.first;
                }
                _ if first < end => wanted.push(PageRange { first, count: end - first }),
                _ => {}
            }
        }
        wanted
    }

    /// Fetches what is wanted, and evicts all before where other pages are to be cold: the pages that stayed.
    fn set(&self, state: ReplayState, copies: BorrowedFd<'_>) -> Result<u64, String> {
        let file = self.open(copies)?;
        let wanted = self.wanted(state, file.pages());
        let (missing, beside) = file.compared(&wanted)?;
        if missing == 0 && beside == 0 {
            return Ok(0);
        }
        let evicts = beside > 0 && state != ReplayState::Warm;
        let stuck = if evicts { file.evict(0)?.pages } else { 0 };
        file.fetch(&wanted)?;
        Ok(stuck)
    }

    fn open(&self, copies: BorrowedFd<'_>) -> Result<OpenFile<'_>, String> {
        match self.role {
            FileRole::Original => OpenFile::open_again(&self.path),
            FileRole::Copy => OpenFile::open_in(copies, &self.path),
        }
    }

    fn look(&self, state: ReplayState, copies: BorrowedFd<'_>) -> Result<ReplayPages, String> {
        let file = self.open(copies)?;
        let ranges = self.wanted(state, file.pages());
        let (missing, beside) = file.compared(&ranges)?;
        let beside = if state == ReplayState::Warm { 0 } else { beside };
        let wanted: u64 = ranges.iter().map(|range| range.count).sum();
        Ok(ReplayPages { wanted, cached: wanted - missing, beside, ..ReplayPages::default() })
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::path::Path;

    use hotset_tests::undisturbed;

    use super::*;
    use crate::test_support::{Scratch, quiet, resident_pages};

    fn resident(path: &Path) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (page, _) in (0..).zip(resident_pages(path)).filter(|(_, resident)| *resident) {
            match runs.last_mut() {
                Some(last) if last.1 == page => last.1 += 1,
                _ => runs.push((page, page + 1)),
            }
        }
        runs
    }

    #[test]
    fn each_state_is_what_mincore_says_to_another_program() {
        let _quiet = quiet();
        let scratch = Scratch::new();
        let path = scratch.pages("file", 500);
        let page = hotset_sys::page_size();
        let file = StatedFile {
            path: path.clone(),
            role: FileRole::Original,
            // Bytes of pages 10 to 19 and of page 300, which two ranges share.
            recorded: vec![
                (10 * page, 20 * page),
                (300 * page, 300 * page + 5),
                (300 * page + 7, 301 * page),
            ],
            touched: vec![(0, 3 * page), (480 * page, 9_000 * page)],
        };
        let files = [file];
        let here = std::fs::File::open(scratch.path("")).expect("open");
        let wanted = [
            (ReplayState::Recorded, vec![(10, 20), (300, 301)]),
            (ReplayState::Cold, vec![]),
            (ReplayState::Warm, vec![(0, 3), (480, 500)]),
        ];
        for (state, runs) in wanted {
            undisturbed(&[&path], || {
                let pages: u64 = runs.iter().map(|(from, to)| to - from).sum();
                let reached = reach(state, &files, here.as_fd());
                assert_eq!(resident(&path), runs, "{state:?}");
                let all = ReplayPages { wanted: pages, cached: pages, ..ReplayPages::default() };
                assert_eq!(reached, all, "{state:?}");
            });
        }
        std::fs::remove_file(&path).expect("remove");
        assert_eq!(reach(ReplayState::Cold, &files, here.as_fd()).unknown_files, 1);
    }
}
