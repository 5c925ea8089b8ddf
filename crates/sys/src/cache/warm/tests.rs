use std::sync::atomic::AtomicU64;

use hotset_tests::undisturbed;

use super::*;
use crate::cache::ranges;
use crate::test_support::ScratchFile;

const MIB: u64 = 1 << 20;

/// Allows so many bytes, and counts what was fetched.
struct Allowance {
    left: AtomicU64,
    done: AtomicU64,
}

impl Allowance {
    fn of(bytes: u64) -> Self {
        Self { left: AtomicU64::new(bytes), done: AtomicU64::new(0) }
    }
}

impl Supervisor for Allowance {
    fn grant(&self, bytes: u64) -> u64 {
        let take = |left: u64| Some(left.saturating_sub(bytes));
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
        left.unwrap_or(0).min(bytes)
    }

    fn done(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::SeqCst);
    }
}

fn cold(bytes: u64) -> ScratchFile {
    let file = ScratchFile::on_disk(&vec![7; bytes as usize]);
    file.evict();
    file
}

fn count(file: &ScratchFile, bytes: u64) -> u64 {
    ranges(&file.file, bytes).expect("ranges").iter().map(|run| run.count).sum()
}

#[test]
fn a_cold_file_of_any_size_is_resident_and_keeps_its_position() {
    use std::io::Seek;
    for bytes in [1, 4096, 300_000, 2 * MIB, 41 * MIB + 5] {
        let mut file = cold(bytes);
        file.file.seek(std::io::SeekFrom::Start(5)).expect("seek");
        undisturbed(&[&file.path], || {
            file.evict();
            let reached = warm_fd(&file.file).expect("warm");
            assert_eq!(reached.cached_before, Observed::Value(0));
            assert_eq!(reached.cached_after, Observed::Value(reached.pages));
            assert_eq!(reached.pages, crate::pages_of(bytes));
            assert_eq!(count(&file, bytes), reached.pages);
        });
        assert_eq!(file.file.stream_position().expect("position"), 5);
    }
}

#[test]
fn only_what_is_missing_is_fetched() {
    let bytes = 12 * MIB;
    let file = cold(bytes);
    let half = ByteSpan { start: 0, end: 5 * MIB };
    let page = crate::page_size();
    undisturbed(&[&file.path], || {
        file.evict();
        warm_span(&file.file, &file.path, half, &()).expect("warm");
        assert_eq!(count(&file, bytes), 5 * MIB / page);
        let rest = Allowance::of(u64::MAX);
        let warmed = warm_span(&file.file, &file.path, ByteSpan::WHOLE, &rest).expect("warm");
        assert_eq!(warmed.change.cached_before, Observed::Value(5 * MIB / page));
        assert_eq!(warmed.fetched_bytes, 7 * MIB);
        assert_eq!(rest.done.into_inner(), 7 * MIB);
        assert_eq!(warmed.change.cached_after, Observed::Value(bytes / page));
    });
}

#[test]
fn a_range_is_fetched_and_its_neighbours_are_not() {
    let file = cold(8 * MIB);
    let page = crate::page_size();
    let span = ByteSpan { start: 3 * page + 1, end: 3 * MIB };
    let wanted = PageRange { first: 3, count: 3 * MIB / page - 3 };
    undisturbed(&[&file.path], || {
        file.evict();
        let warmed = warm_span(&file.file, &file.path, span, &()).expect("warm");
        assert_eq!(warmed.change.pages, wanted.count);
        assert_eq!(warmed.change.cached_after, Observed::Value(wanted.count));
        assert_eq!(ranges(&file.file, 8 * MIB).expect("ranges"), [wanted]);
    });
}

#[test]
fn no_more_than_was_granted_is_fetched() {
    let file = cold(16 * MIB);
    let page = crate::page_size();
    let some = 5 * MIB + 3 * page;
    undisturbed(&[&file.path], || {
        file.evict();
        let warmed =
            warm_span(&file.file, &file.path, ByteSpan::WHOLE, &Allowance::of(some)).expect("warm");
        assert!(warmed.stopped && warmed.error.is_none(), "{warmed:?}");
        assert_eq!(warmed.fetched_bytes, some);
        assert_eq!(count(&file, 16 * MIB), some / page);
        let none =
            warm_span(&file.file, &file.path, ByteSpan::WHOLE, &Allowance::of(0)).expect("warm");
        assert_eq!((none.stopped, none.fetched_bytes), (true, 0));
    });
}

#[test]
fn a_file_that_is_growing_or_has_shrunk_is_its_new_size() {
    use std::os::unix::fs::FileExt;
    struct Resize<'a>(&'a std::fs::File, u64);
    impl Supervisor for Resize<'_> {
        fn grant(&self, bytes: u64) -> u64 {
            self.0.set_len(self.1).expect("set_len");
            bytes
        }
    }
    for (from, to) in [(3 * MIB, 9 * MIB + 1), (9 * MIB, MIB + 1), (9 * MIB, 0)] {
        let file = cold(from);
        let resize = Resize(&file.file, to);
        undisturbed(&[&file.path], || {
            file.file.set_len(0).expect("set_len");
            file.file.write_all_at(&vec![7; from as usize], 0).expect("write");
            file.evict();
            let warmed = warm_span(&file.file, &file.path, ByteSpan::WHOLE, &resize).expect("warm");
            assert!(warmed.error.is_none(), "{:?}", warmed.error);
            assert_eq!(warmed.size_bytes, to);
            assert_eq!(warmed.change.cached_after, Observed::Value(crate::pages_of(to)));
        });
    }
}

#[test]
fn every_other_way_leaves_the_file_resident_too() {
    let bytes = 5 * MIB + 9;
    for way in [Way::Sequential, Way::Read, Way::Blocks] {
        let file = cold(bytes);
        let path = || file.path.clone();
        let pages = PageRange { first: 0, count: crate::pages_of(bytes) };
        undisturbed(&[&file.path], || {
            file.evict();
            for offset in (0..bytes).step_by(WINDOW_BYTES as usize) {
                let len = WINDOW_BYTES.min(bytes - offset);
                populate::window(file.file.as_fd(), offset, len, way, &path).expect("window");
            }
            assert_eq!(settle(&file.file, pages).expect("settle"), pages.count, "{way:?}");
        });
    }
}

#[test]
fn a_directory_is_refused() {
    let dir = std::fs::File::open("/").expect("open");
    assert!(matches!(warm_fd(&dir), Err(ControlError::File(_))));
}
