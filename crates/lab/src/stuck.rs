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

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::test_support::{Scratch, set_of};

    /// A process that maps a file and has touched all of it.
    struct Mapping(Child);

    impl Mapping {
        fn of(path: &Path) -> Self {
            let program = "import mmap, sys\n\
                file = open(sys.argv[1], 'rb')\n\
                view = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n\
                sum(view[::mmap.PAGESIZE])\n\
                print('ready', flush=True)\n\
                sys.stdin.read()";
            let mut command = Command::new("python3");
            command.args(["-c", program]).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("python3");
            let mut ready = [0; 6];
            let printed = child.stdout.as_mut().expect("its output");
            printed.read_exact(&mut ready).expect("ready");
            Self(child)
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// What is remembered of the one member after an eviction that left this.
    fn after(set: &mut FileSet, pages: u64, reason: Unevictable) -> Option<(u64, Unevictable)> {
        remember(set, &[Some(Left { pages, reason })]);
        set.members[0].cannot_evict.map(|stuck| (stuck.pages, stuck.reason))
    }

    #[test]
    fn who_maps_a_file_is_named_where_the_kernels_reason_passes() {
        let scratch = Scratch::new();
        let path = scratch.pages("data", 4);
        let _mapping = Mapping::of(&path);
        for (reason, wanted) in [
            (Unevictable::Unknown, Unevictable::Mapped),
            (Unevictable::Writeback, Unevictable::Mapped),
            (Unevictable::Dirty, Unevictable::Dirty),
            (Unevictable::MemoryOnly, Unevictable::MemoryOnly),
        ] {
            let mut set = set_of(std::slice::from_ref(&path));
            assert_eq!(after(&mut set, 4, reason), Some((4, wanted)));
            let patient = wanted == Unevictable::Dirty;
            assert_eq!(known_to_stay(&set.members[0]), if patient { 0 } else { 4 }, "{wanted:?}");
        }
    }

    #[test]
    fn a_reason_that_lasts_is_asked_for_again_only_where_more_stays() {
        let scratch = Scratch::new();
        let path = scratch.pages("data", 4);
        let (mut set, mapping) = (set_of(std::slice::from_ref(&path)), Mapping::of(&path));
        assert_eq!(after(&mut set, 3, Unevictable::Unknown), Some((3, Unevictable::Mapped)));
        drop(mapping);
        assert_eq!(after(&mut set, 2, Unevictable::Unknown), Some((2, Unevictable::Mapped)));
        remember(&mut set, &[None]);
        assert_eq!(known_to_stay(&set.members[0]), 2, "nothing is known of that eviction");
        assert_eq!(after(&mut set, 3, Unevictable::Writeback), Some((3, Unevictable::Writeback)));
        assert_eq!(after(&mut set, 2, Unevictable::Unknown), Some((2, Unevictable::Unknown)));
        assert_eq!(known_to_stay(&set.members[0]), 0, "what passes deserves patience");
        assert_eq!(after(&mut set, 0, Unevictable::Unknown), None);
    }
}
