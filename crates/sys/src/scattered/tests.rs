use hotset_tests::undisturbed;

use super::*;
use crate::cache::{open_quietly, ranges};
use crate::test_support::ScratchFile;

fn range(first: u64, count: u64) -> PageRange {
    PageRange { first, count }
}

fn cold(pages: u64) -> ScratchFile {
    let file = ScratchFile::on_disk(&vec![7; (pages * crate::page_size()) as usize]);
    file.evict();
    file
}

fn cached(file: &ScratchFile, pages: u64) -> Vec<PageRange> {
    ranges(&file.file, pages * crate::page_size()).expect("ranges")
}

fn add(set: &mut Scattered, file: &ScratchFile, pages: u64, wanted: &[PageRange]) -> Added {
    let (fd, stat) = open_quietly(&file.path).expect("open");
    set.add(&file.path, &fd, crate::file_id(&stat), pages * crate::page_size(), wanted)
}

#[test]
fn exactly_the_ranges_of_all_files_come() {
    let files = [cold(64), cold(5000)];
    let few = [range(0, 1), range(2, 1), range(63, 1)];
    let many: Vec<PageRange> =
        (0..8).map(|n| range(n * 600, 300)).chain([range(4990, 10)]).collect();
    undisturbed(&[&files[0].path, &files[1].path], || {
        files.iter().for_each(ScratchFile::evict);
        let mut set = Scattered::default();
        assert_eq!(
            add(&mut set, &files[0], 64, &few),
            Added { wanted: 3, cached: Observed::Value(0) }
        );
        add(&mut set, &files[1], 5000, &many);
        assert_eq!(set.missing_pages(), 2413);
        set.order_by_device();
        let read = set.read(3, &());
        assert!(read.failures.is_empty() && !read.stopped, "{read:?}");
        assert_eq!(read.fetched_pages, 2413);
        assert_eq!(set.verify(2), Reached { cached: 2413, unknown: 0 });
        assert_eq!(cached(&files[0], 64), few);
        assert_eq!(cached(&files[1], 5000), many);
        let mut again = Scattered::default();
        let added = add(&mut again, &files[1], 5000, &many);
        assert_eq!(added.cached, Observed::Value(2410));
        assert_eq!(again.missing_pages(), 0, "what is cached is not read");
    });
}

#[test]
fn the_supervisor_ends_it_and_verifying_says_what_is_there() {
    struct Half(std::sync::atomic::AtomicU64);
    impl crate::cache::Supervisor for Half {
        fn grant(&self, bytes: u64) -> u64 {
            use std::sync::atomic::Ordering::Relaxed;
            if self.0.fetch_add(1, Relaxed) < 4 { bytes } else { 0 }
        }
    }
    let file = cold(64);
    let wanted: Vec<PageRange> = (0..8).map(|n| range(n * 8, 1)).collect();
    undisturbed(&[&file.path], || {
        file.evict();
        let mut set = Scattered::default();
        add(&mut set, &file, 64, &wanted);
        set.order_as_added();
        let read = set.read(1, &Half(0.into()));
        assert!(read.stopped);
        assert_eq!(read.fetched_pages, 4);
        assert_eq!(set.verify(2).cached, 4);
        assert_eq!(cached(&file, 64), wanted[..4]);
    });
}

#[test]
fn a_file_that_was_replaced_is_named_and_not_read() {
    let file = cold(16);
    let mut set = Scattered::default();
    add(&mut set, &file, 16, &[range(0, 1), range(4, 1)]);
    set.order_by_path();
    let kept = file.path.with_extension("old");
    std::fs::rename(&file.path, &kept).expect("rename");
    std::fs::write(&file.path, vec![1; 16 * crate::page_size() as usize]).expect("write");
    let read = set.read(2, &());
    std::fs::remove_file(&kept).expect("remove");
    assert_eq!(read.failures.len(), 1, "{read:?}");
    assert_eq!(read.failures[0].path, file.path);
    assert_eq!((read.fetched_pages, set.verify(2).cached), (0, 0));
}

#[test]
fn pieces_are_joined_in_their_file_and_cut_at_parts() {
    let part = PART_BYTES / crate::page_size();
    let piece = |file, first, count| Piece { file, range: range(first, count), physical: None };
    let out = shared_out(&[
        piece(0, 1, 3),
        piece(0, 4, 2 * part),
        piece(1, 2 * part, 1),
        piece(0, 9 * part, 1),
    ]);
    let wanted = [
        piece(0, 1, part - 1),
        piece(0, part, part),
        piece(0, 2 * part, 4),
        piece(1, 2 * part, 1),
        piece(0, 9 * part, 1),
    ];
    assert_eq!(out, wanted);
}
