//! What is cached of a set of files, page by page.

use hotset_facts::{FileId, FileSet, PageRange};

use crate::set::{Threads, over, placed};

/// The cached pages of each file of the set that has some, and how many files can't be looked at.
pub fn cached_ranges(set: &FileSet) -> (Vec<(FileId, Vec<PageRange>)>, u64) {
    let placed = placed(set);
    let (mut cached, mut unknown_files) = (Vec::new(), 0);
    let looks = over(&placed, Threads::Working, |placed| placed.open()?.uptodate_ranges());
    for (place, ranges) in placed.iter().zip(looks) {
        match ranges {
            Ok(ranges) if ranges.is_empty() => {}
            Ok(ranges) => cached.push((place.member.id, ranges)),
            Err(_) => unknown_files += 1,
        }
    }
    (cached, unknown_files)
}

#[cfg(test)]
mod tests {
    use hotset_facts::WantedState;
    use hotset_tests::undisturbed;

    use super::*;
    use crate::test_support::{Scratch, quiet, set_of};

    #[test]
    fn cached_pages_are_told_by_file() {
        let _quiet = quiet();
        let scratch = Scratch::new();
        let (full, none) = (scratch.pages("full", 8), scratch.pages("none", 4));
        let gone = scratch.pages("gone", 1);
        undisturbed(&[&full, &none], || {
            let mut set = set_of(&[full.clone(), none.clone(), gone.clone()]);
            std::fs::remove_file(&gone).expect("remove");
            crate::set::set(WantedState::Cold, &mut set).expect("cold");
            std::fs::read(&full).expect("read");
            let expected = vec![(set.members[0].id, vec![PageRange { first: 0, count: 8 }])];
            assert_eq!(cached_ranges(&set), (expected, 1));
            std::fs::write(&gone, "again").expect("for the next try");
        });
    }
}
