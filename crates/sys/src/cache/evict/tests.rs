use hotset_tests::undisturbed;

use super::*;
use crate::cache::cachestat;
use crate::test_support::ScratchFile;

fn page() -> u64 {
    crate::page_size()
}

fn synced(pages: u64) -> ScratchFile {
    let file = ScratchFile::on_disk(&vec![7; (pages * page()) as usize]);
    file.file.sync_all().expect("fsync");
    file
}

fn leave(file: &ScratchFile) -> Evicted {
    evict_span(&file.file, &file.path, ByteSpan::WHOLE, Dirty::Leave).expect("evict")
}

#[test]
fn a_directory_is_refused() {
    let dir = std::fs::File::open("/").expect("open");
    assert!(matches!(evict_fd(&dir), Err(ControlError::File(_))));
}

#[test]
fn dirty_pages_stay_dirty_until_they_are_to_be_written() {
    let file = synced(64);
    undisturbed(&[&file.path], || {
        evict(&file.path).expect("evict");
        crate::cache::warm(&file.path).expect("warm");
        // In folios of one page, so that a dirty page is not a dirty folio of many.
        evict(&file.path).expect("evict");
        for index in 0..64 {
            crate::cache::fetch(&file.file, PageRange { first: index, count: 1 }).expect("fetch");
        }
        crate::cache::settle(&file.file, PageRange { first: 0, count: 64 }).expect("settle");
        for index in [0, 17, 63] {
            rustix::io::pwrite(&file.file, &[1], index * page()).expect("pwrite");
        }
        let left = leave(&file);
        assert_eq!(left.change.cached_before, Observed::Value(64));
        assert_eq!(left.change.cached_after, Observed::Value(3));
        let dirty =
            Stayed { reason: hotset_facts::Unevictable::Dirty, pages: Some(3), holder: None };
        assert_eq!(left.stayed, [dirty]);
        let state = cachestat(&file.file, 0, 64 * page()).expect("cachestat");
        assert_eq!((state.dirty, state.writeback), (3, 0), "nothing was written");
        assert_eq!(evict(&file.path).expect("evict").cached_after, Observed::Value(0));
    });
}

#[test]
fn a_part_goes_and_the_rest_stays() {
    let file = synced(0);
    let pages = 4 * (2 << 20) / page();
    file.file.set_len(pages * page()).expect("set_len");
    let quarter = pages / 4;
    let span = ByteSpan { start: quarter * page(), end: 2 * quarter * page() };
    undisturbed(&[&file.path], || {
        crate::cache::warm(&file.path).expect("warm");
        let evicted = evict_span(&file.file, &file.path, span, Dirty::Leave).expect("evict");
        assert_eq!(evicted.change.pages, quarter);
        assert_eq!(evicted.change.cached_before, Observed::Value(quarter));
        assert_eq!(evicted.change.cached_after, Observed::Value(0));
        let state = cachestat(&file.file, 0, pages * page()).expect("cachestat");
        assert_eq!(state.cached, 3 * quarter);
    });
}

#[test]
fn a_mapped_page_stays_and_is_reported() {
    let file = synced(16);
    // SAFETY: a view of a file that nobody truncates, unmapped below.
    let map = unsafe {
        rustix::mm::mmap(
            std::ptr::null_mut(),
            page() as usize,
            rustix::mm::ProtFlags::READ,
            rustix::mm::MapFlags::SHARED | rustix::mm::MapFlags::POPULATE,
            &file.file,
            0,
        )
    }
    .expect("mmap");
    let held = evict(&file.path).expect("evict");
    // SAFETY: the mapping made above.
    unsafe { rustix::mm::munmap(map, page() as usize) }.expect("munmap");
    let free = evict(&file.path).expect("evict");
    assert_eq!(held.pages, 16);
    // The whole folio behind the mapped page stays, so more than that page can.
    assert!(held.cached_after.value().is_some_and(|pages| pages >= 1), "{held:?}");
    assert_eq!(free.cached_after, Observed::Value(0));
}

#[test]
fn an_empty_file_is_evicted_already() {
    let file = synced(0);
    assert_eq!(leave(&file).change.cached_after, Observed::Value(0));
}
