//! Bringing a set of files into a state.

use hotset_facts::{FileSet, Percent, SetMember, WantedState};
use hotset_sys::cache::drop_everything;

use crate::pages::{Left, OpenFile, Share};
use crate::stuck;

/// How work on many files is shared among threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// Looking and evicting cost time on a CPU: two threads, from so many files on that starting one pays.
    Working,
    /// Reading costs waiting: as many as a device serves at once.
    Waiting,
}

impl Threads {
    fn files_a_thread(self, files: usize) -> usize {
        let (threads, at_least) = match self {
            Self::Working => (2, 128),
            Self::Waiting => (8, 8),
        };
        files.div_ceil(threads).max(at_least)
    }
}

/// A member and its place in the set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedMember<'a> {
    pub(crate) member: &'a SetMember,
    /// Pages of the members before it.
    pages_before: u64,
}

impl<'a> PlacedMember<'a> {
    pub(crate) fn open(&self) -> Result<OpenFile<'a>, String> {
        OpenFile::open_again(&self.member.path)
    }

    pub(crate) fn share(&self, percent: Percent) -> Share {
        Share { percent, pages_before: self.pages_before }
    }
}

/// The members with their places.
pub(crate) fn placed(set: &FileSet) -> Vec<PlacedMember<'_>> {
    let mut placed = Vec::with_capacity(set.members.len());
    let mut pages_before = 0;
    for member in &set.members {
        placed.push(PlacedMember { member, pages_before });
        pages_before += hotset_sys::pages_of(member.size_bytes);
    }
    placed
}

/// Sets the state on all members that can be opened. What can't be reached shows in the verification.
///
/// # Errors
/// Where caches can't be dropped: that takes root.
pub(crate) fn set(state: WantedState, set: &mut FileSet) -> Result<(), String> {
    let placed = placed(set);
    let left = match state {
        WantedState::AsIs => return Ok(()),
        WantedState::Warm => {
            over(&placed, Threads::Waiting, |placed| placed.open()?.warm());
            return Ok(());
        }
        WantedState::Cold | WantedState::ColdAll => over(&placed, Threads::Working, |placed| {
            placed.open()?.evict(stuck::known_to_stay(placed.member))
        }),
        WantedState::Share(percent) => over(&placed, Threads::Waiting, |placed| {
            placed.open()?.share(placed.share(percent), stuck::known_to_stay(placed.member))
        }),
    };
    drop(placed);
    let left: Vec<Option<Left>> = left.into_iter().map(Result::ok).collect();
    stuck::remember(set, &left);
    if state == WantedState::ColdAll {
        drop_everything(true).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Does `work` on every member; answers in the order of the members.
pub(crate) fn over<M: Sync, T: Send>(
    members: &[M],
    threads: Threads,
    work: impl Fn(&M) -> T + Sync,
) -> Vec<T> {
    let each = |members: &[M]| -> Vec<T> { members.iter().map(&work).collect() };
    let mut parts = members.chunks(threads.files_a_thread(members.len()));
    let first = parts.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|part| (part, std::thread::Builder::new().spawn_scoped(scope, || each(part))))
            .collect();
        let mut answers = each(first);
        for (part, other) in others {
            // Where there can't be another thread, this one does it all.
            let rest = other.ok().and_then(|thread| thread.join().ok());
            answers.extend(rest.unwrap_or_else(|| each(part)));
        }
        answers
    })
}
