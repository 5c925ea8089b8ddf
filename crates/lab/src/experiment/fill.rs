//! Bringing the files of a cell into its state, in the way that the cell says.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hotset_facts::{FileSet, FilledBy, LearnedBy, Observed, StateReached, WantedState};
use hotset_sys::rawio::order::Order;
use hotset_sys::rawio::{touch_memory, touching_faults};
use rustix::fs::Advice;

use crate::candidates::Candidate;
use crate::fileset::build;
use crate::host::HostLoad;
use crate::state::{States, verify};

/// Reads at once while a cache is filled in small pieces: as many as a device serves well.
const READERS: usize = 8;
/// Pages that a fault maps around it at most, unless the folio is larger.
const FAULT_AROUND_PAGES: u64 = 16;

/// Sets states, and knows how each file was filled last.
#[derive(Debug, Default)]
pub(super) struct Filler {
    filled: HashMap<PathBuf, FilledBy>,
}

/// What was reached, and the host right after.
#[derive(Debug, Clone)]
pub(super) struct Reached {
    pub(super) state: Observed<StateReached>,
    pub(super) host: HostLoad,
    /// Minor faults of touching the pages, and the number that they show: small folios fault once in 16 pages.
    pub(super) not_small: Option<(u64, u64)>,
    /// Why what had to run before did not.
    pub(super) not_prepared: Option<String>,
}

/// The set of a cell.
pub(super) fn set_of(files: &[PathBuf]) -> FileSet {
    let candidate = |path: &PathBuf| Candidate {
        path: path.clone(),
        read: true,
        mapped: false,
        written: false,
    };
    let candidates: Vec<Candidate> = files.iter().map(candidate).collect();
    let learned_by = if files.is_empty() { LearnedBy::Nothing } else { LearnedBy::Given };
    build(learned_by, &candidates, None)
}

impl Filler {
    /// Sets the state and verifies it last; the caller starts the probe at once.
    ///
    /// # Errors
    /// Where a file can't be read, or caches can't be dropped.
    pub(super) fn reach(
        &mut self,
        state: WantedState,
        by: FilledBy,
        set: &mut FileSet,
    ) -> Result<Reached, String> {
        let mut not_small = None;
        match (state, by) {
            (WantedState::Warm, FilledBy::SmallFolios) => not_small = self.small(set)?,
            (WantedState::Warm, _) => self.large(set)?,
            (WantedState::Cold | WantedState::ColdAll, _) => {
                let largest = set.members.iter().map(|member| member.size_bytes).sum::<u64>();
                touch_memory(usize::try_from(largest).unwrap_or(0));
                self.forget(set);
            }
            (WantedState::AsIs, _) => {}
            (WantedState::Share(_), _) => self.forget(set),
        }
        if by == FilledBy::SmallFolios && state == WantedState::Warm {
            // Setting the state once more would bring in what is missing in folios of another size.
            let host = HostLoad::now();
            return Ok(Reached { state: verify(state, set), host, not_small, not_prepared: None });
        }
        let (state, host) = States::default().reach(state, set, HostLoad::now)?;
        Ok(Reached { state, host, not_small, not_prepared: None })
    }

    /// Nothing is known any more of how these files are cached.
    pub(super) fn forget(&mut self, set: &FileSet) {
        for member in &set.members {
            self.filled.remove(&member.path);
        }
    }

    /// Evicts what may have been filled otherwise; warming brings it back in large folios.
    fn large(&mut self, set: &mut FileSet) -> Result<(), String> {
        let known =
            set.members.iter().all(|m| self.filled.get(&m.path) == Some(&FilledBy::LargeFolios));
        if !known {
            States::default().reach(WantedState::Cold, set, || ())?;
            self.remember(set, FilledBy::LargeFolios);
        }
        Ok(())
    }

    fn small(&mut self, set: &mut FileSet) -> Result<Option<(u64, u64)>, String> {
        let known =
            set.members.iter().all(|m| self.filled.get(&m.path) == Some(&FilledBy::SmallFolios));
        let full = verify(WantedState::Warm, set)
            .value()
            .is_some_and(|reached| reached.pages == reached.cached_pages);
        if known && full {
            return Ok(None);
        }
        States::default().reach(WantedState::Cold, set, || ())?;
        let mut not_small = None;
        for member in &set.members {
            let least = read_in_small_pieces(&member.path, member.size_bytes)
                .map_err(|error| format!("{}: {error}", member.path.display()))?;
            not_small = not_small.or(least);
        }
        self.remember(set, FilledBy::SmallFolios);
        Ok(not_small)
    }

    fn remember(&mut self, set: &FileSet, by: FilledBy) {
        for member in &set.members {
            self.filled.insert(member.path.clone(), by);
        }
    }
}

/// Reads every page alone, in random order, with read-ahead off: each becomes a folio of its own. Returns the faults of
/// touching them all and the least that small folios need, where there were fewer.
fn read_in_small_pieces(path: &Path, size: u64) -> std::io::Result<Option<(u64, u64)>> {
    let file = File::open(path)?;
    rustix::fs::fadvise(&file, 0, None, Advice::Random)?;
    let page = hotset_sys::page_size();
    let pages = hotset_sys::pages_of(size);
    let count = u32::try_from(pages).unwrap_or(u32::MAX);
    let order = Order::Random.blocks(count, count, size);
    let read = |numbers: &[u32]| -> std::io::Result<()> {
        let mut buffer = vec![0; page as usize];
        for &number in numbers {
            file.read_at(&mut buffer, u64::from(number) * page)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let parts = order.chunks(order.len().div_ceil(READERS).max(1));
        let readers: Vec<_> = parts.map(|part| scope.spawn(move || read(part))).collect();
        readers
            .into_iter()
            .try_for_each(|reader| reader.join().unwrap_or(Err(std::io::ErrorKind::Other.into())))
    })?;
    let least = pages / FAULT_AROUND_PAGES;
    let faults = touching_faults(&file, size)?;
    Ok((faults < least / 10 * 9).then_some((faults, least)))
}

#[cfg(test)]
mod tests {
    use hotset_tests::undisturbed;

    use super::*;
    use crate::test_support::{Scratch, quiet, resident_pages};

    #[test]
    fn both_ways_fill_the_file_and_the_small_one_faults_more() {
        let _quiet = quiet();
        let scratch = Scratch::new();
        let path = scratch.pages("file", 4096);
        let mut set = set_of(std::slice::from_ref(&path));
        undisturbed(&[&path], || {
            let mut filler = Filler::default();
            let mut faults = |by| {
                let reached = filler.reach(WantedState::Warm, by, &mut set).expect("filled");
                let state = reached.state.value().expect("known");
                assert_eq!((state.pages, state.cached_pages), (4096, 4096), "{by:?}");
                assert!(resident_pages(&path).iter().all(|&there| there));
                let file = File::open(&path).expect("open");
                (touching_faults(&file, 4096 * hotset_sys::page_size()).expect("touch"), reached)
            };
            let (small, reached) = faults(FilledBy::SmallFolios);
            assert_eq!(reached.not_small, None);
            let (large, _) = faults(FilledBy::LargeFolios);
            // Both 100 % cached; once in 16 pages at least where no folio is larger.
            assert!(small >= 4096 / 16 && large <= small, "{small} small, {large} large");
            assert_eq!(faults(FilledBy::SmallFolios).0, small);
        });
    }

    #[test]
    fn no_files_are_a_state_that_nobody_knows() {
        let mut set = set_of(&[]);
        let reached = Filler::default().reach(WantedState::AsIs, FilledBy::Nothing, &mut set);
        assert_eq!(reached.expect("fine").state.value(), None);
    }
}
