//! Why pages stay in the cache.

use hotset_facts::{FileHolder, FileSet, SetMember, StuckPages, Unevictable};
use hotset_sys::cache::holders;

use crate::pages::Left;

/// Whether the reason is known and lasts from one eviction to the next.
fn lasts(reason: Unevictable) -> bool {
    matches!(reason, Unevictable::Mapped | Unevictable::Locked | Unevictable::MemoryOnly)
}

/// Whether the reason is none, or holds for some pages at that moment only: who maps the file may keep the others.
fn passes(reason: Unevictable) -> bool {
    matches!(reason, Unevictable::Unknown | Unevictable::Writeback)
}

/// Pages of a member that eviction need not be patient with.
pub(crate) fn known_to_stay(member: &SetMember) -> u64 {
    member.cannot_evict.filter(|stuck| lasts(stuck.reason)).map_or(0, |stuck| stuck.pages)
}

/// Remembers what stayed of each member, and looks for the reason where that is new: /proc is searched once a session, and
/// again only where more stays than before.
pub(crate) fn remember(set: &mut FileSet, left: &[Option<Left>]) {
    let mut unexplained = Vec::new();
    for (place, (member, left)) in set.members.iter_mut().zip(left).enumerate() {
        let Some(left) = left else { continue };
        match &mut member.cannot_evict {
            _ if left.pages == 0 => member.cannot_evict = None,
            Some(stuck) if lasts(stuck.reason) && left.pages <= stuck.pages => {
                stuck.pages = left.pages;
            }
            _ => unexplained.push((place, *left)),
        }
    }
    let asked: Vec<_> = unexplained
        .iter()
        .filter(|(_, left)| passes(left.reason))
        .map(|(place, _)| (set.members[*place].id, set.members[*place].path.clone()))
        .collect();
    let holders = holders(&asked);
    for (place, left) in unexplained {
        let member = &mut set.members[place];
        let held = || holders.of(member.id).iter().find_map(FileHolder::keeps);
        let held = passes(left.reason).then(held).flatten();
        let reason = held.unwrap_or(left.reason);
        member.cannot_evict = Some(StuckPages { pages: left.pages, reason });
    }
}
