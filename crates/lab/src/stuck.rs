//! Why pages stay in the cache.

use hotset_facts::{FileHolder, FileSet, SetMember, StuckPages, Unevictable};
use hotset_sys::cache::holders;

use crate::pages::Left;

/// Pages of a member that eviction need not be patient with: the reason is known and lasts.
pub(crate) fn known_to_stay(member: &SetMember) -> u64 {
    match member.cannot_evict {
        Some(StuckPages {
            reason: Unevictable::Unknown | Unevictable::Dirty | Unevictable::Writeback,
            ..
        })
        | None => 0,
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
            Some(stuck) if stuck.reason != Unevictable::Unknown && left.pages <= stuck.pages => {
                stuck.pages = left.pages;
            }
            _ => unexplained.push((place, *left)),
        }
    }
    let asked: Vec<_> = unexplained
        .iter()
        .map(|(place, _)| (set.members[*place].id, set.members[*place].path.clone()))
        .collect();
    let holders = holders(&asked);
    for (place, left) in unexplained {
        let member = &mut set.members[place];
        let held = || holders.of(member.id).iter().find_map(FileHolder::keeps);
        let reason = match left.reason {
            Unevictable::Unknown => held().unwrap_or(Unevictable::Unknown),
            known => known,
        };
        member.cannot_evict = Some(StuckPages { pages: left.pages, reason });
    }
}
