//! Cache states: set, verified, and set again where they were not reached.

use hotset_facts::{FileSet, LearnedBy, Observed, Reason, StateReached, WantedState};

use crate::set::{Threads, over, placed, set};

/// How often a state is set for one run before the run goes on with what was reached.
const TRIES: u32 = 3;

/// A share counts as reached with this part of the pages wrong, in percent: pages at the ends of folios that stay whole.
const WRONG_PERCENT: u64 = 1;

/// Up to so many files, each page is asked for by mincore(2), which knows those that are still being read in. With more
/// that would take longer than the state may last; setting a state has waited for every page just before.
const PAGE_BY_PAGE_FILES: usize = 1_000;

/// Sets states.
#[derive(Debug, Clone, Copy)]
pub struct States {
    tries: u32,
}

impl Default for States {
    fn default() -> Self {
        Self { tries: TRIES }
    }
}

impl States {
    /// Sets the state, does `meanwhile`, and verifies last, so that nothing is between that and what the caller does next. Again
    /// where it was not reached, three times at most.
    ///
    /// # Errors
    /// Where caches can't be dropped: that takes root.
    pub fn reach<T>(
        self,
        state: WantedState,
        files: &mut FileSet,
        mut meanwhile: impl FnMut() -> T,
    ) -> Result<(Observed<StateReached>, T), String> {
        let mut tried = 1;
        loop {
            set(state, files)?;
            let other = meanwhile();
            let (reached, is_reached) = look(state, files);
            if is_reached || tried >= self.tries {
                return Ok((reached, other));
            }
            tried += 1;
        }
    }
}

/// What is cached of the files now.
pub fn verify(state: WantedState, files: &FileSet) -> Observed<StateReached> {
    look(state, files).0
}

/// What one member adds.
struct MemberPages {
    pages: u64,
    cached: u64,
    stuck: u64,
    wrong: u64,
}

fn look(state: WantedState, files: &FileSet) -> (Observed<StateReached>, bool) {
    if files.learned_by == LearnedBy::Nothing {
        let reason = Reason::not_measured("nobody told which files the command uses");
        return (Observed::Missing(reason), true);
    }
    let mut reached = StateReached::default();
    let mut wrong = 0;
    let placed = placed(files);
    let page_by_page = files.members.len() <= PAGE_BY_PAGE_FILES;
    for seen in over(&placed, Threads::Working, |placed| -> Result<MemberPages, String> {
        let (file, member) = (placed.open()?, placed.member);
        let cached = match state {
            // A page that is being read in is not cold any more, and not warm yet.
            WantedState::Warm | WantedState::Share(_) if page_by_page => file.uptodate()?,
            _ => file.cached()?,
        };
        let wrong = match state {
            WantedState::Share(percent) if page_by_page => {
                file.wrong_pages(placed.share(percent))?
            }
            WantedState::Share(percent) => {
                cached.abs_diff(placed.share(percent).wanted_in(0, file.pages()))
            }
            WantedState::Warm => file.pages().saturating_sub(cached),
            WantedState::Cold | WantedState::ColdAll => cached,
            WantedState::AsIs => 0,
        };
        let stuck = member.cannot_evict.map_or(0, |stuck| stuck.pages).min(cached);
        Ok(MemberPages { pages: file.pages(), cached, stuck, wrong })
    }) {
        match seen {
            Ok(seen) => {
                reached.pages += seen.pages;
                reached.cached_pages += seen.cached;
                reached.stuck_pages += seen.stuck;
                wrong += seen.wrong;
            }
            Err(_) => reached.unknown_files += 1,
        }
    }
    let allowed = match state {
        WantedState::Share(_) => reached.stuck_pages + reached.pages * WRONG_PERCENT / 100,
        WantedState::Cold | WantedState::ColdAll => reached.stuck_pages,
        WantedState::Warm | WantedState::AsIs => 0,
    };
    (Observed::Value(reached), wrong <= allowed)
}

#[cfg(test)]
mod tests;
