//! Why pages stay in the cache.

use hotset_facts::{FileSet, SetMember, StuckPages, StuckReason};
use hotset_sys::cache::holders;

use crate::pages::{Left, OpenFile};

/// Pages of a member that eviction need not be patient with: the reason is known and lasts.
pub(crate) fn known_to_stay(member: &SetMember) -> u64 {
    match member.cannot_evict {
        Some(StuckPages { reason: StuckReason::Unknown | StuckReason::Dirty, .. }) | None => 0,
        Some(StuckPages { pages, .. }) => pages,
    }
}

/// Remembers what stayed of each member, and looks for the reason where that is new: /proc is searched once a session, and
/// again only where more stays than before.
pub(crate) fn remember(set: &mut FileSet, left: &[Option<Left>]) {
    let mut unexplained = Vec::new();
    for (place, (member, left)) in set.members.iter_mut().zip(left).enumerate() {
        let Some(left) = left else { continue };
        match &mut member.cannot_evict {
            _ if left.pages == 0 => member.cannot_evict = None,
            Some(stuck) if stuck.reason != StuckReason::Unknown && left.pages <= stuck.pages => {
                stuck.pages = left.pages;
            }
            _ => unexplained.push((place, *left)),
        }
    }
    if unexplained.is_empty() {
        return;
    }
    let asked: Vec<_> = unexplained
        .iter()
        .map(|(place, _)| (set.members[*place].id, set.members[*place].path.clone()))
        .collect();
    let holders = holders(&asked);
    for (place, left) in unexplained {
        let member = &mut set.members[place];
        let by = holders.of(member.id);
        let in_memory = || OpenFile::open(&member.path).is_ok_and(|file| file.lives_in_memory());
        let reason = match by {
            _ if in_memory() => StuckReason::MemoryOnly,
            _ if left.dirty > 0 => StuckReason::Dirty,
            _ if by.iter().any(|holder| holder.locked) => StuckReason::Locked,
            [] => StuckReason::Unknown,
            _ => StuckReason::Mapped,
        };
        member.cannot_evict = Some(StuckPages { pages: left.pages, reason });
    }
}
