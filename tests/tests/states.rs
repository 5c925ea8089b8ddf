//! Each cache state on each file system: what `hotset ls` says against what the kernel keeps of the pages.

use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};

use hotset_tests::filesystems::{FILE_PAGES as PAGES, Kind, every, file_bytes, with_device};
use hotset_tests::flushes::while_dirty;
use hotset_tests::gate::Held;
use hotset_tests::held::{Mapped, Mlock};
use hotset_tests::json::number;
use hotset_tests::listing::{
    assert_listed_truly, count, hotset_says, listing, listing_of, only_row, said,
};
use hotset_tests::pageflags::{page_counts, resident_pages};
use hotset_tests::scratch::text;
use hotset_tests::state::scatter_verified;
use hotset_tests::{PAGE, as_nobody, evict_verified, undisturbed, until, warm_verified};

#[test]
fn cold() {
    for fs in with_device() {
        let path = fs.file();
        evict_verified(&path);
        assert_eq!(assert_listed_truly(&path).cached, 0, "{:?}", fs.kind());
        assert_eq!(hotset_says(&["ls", "-q", text(&path)]).status.code(), Some(1));
    }
}

#[test]
fn warm() {
    for fs in every() {
        let path = fs.file();
        until("all is cached before and after the question", || {
            warm_verified(&path);
            let truth = assert_listed_truly(&path);
            let code = hotset_says(&["ls", "-q", text(&path)]).status.code();
            (truth.cached == PAGES && page_counts(&path).cached == PAGES).then(|| {
                assert_eq!(code, Some(0), "{:?}", fs.kind());
            })
        });
    }
}

#[test]
fn every_second_page() {
    for fs in with_device() {
        let path = fs.file();
        undisturbed(&[&path], || {
            scatter_verified(&path, |page| page % 2 == 1);
            assert_eq!(assert_listed_truly(&path).cached, PAGES / 2, "{:?}", fs.kind());
        });
        assert_eq!(hotset_says(&["ls", "-q", text(&path)]).status.code(), Some(1));
    }
}

#[test]
fn dirty() {
    for fs in every() {
        let dirty = if fs.kind().has_device() { PAGES } else { 0 };
        let (path, bytes) = (fs.path("f"), file_bytes());
        let write = |file: &File| file.write_all_at(&bytes, 0).expect("write");
        while_dirty(&path, write, || {
            let truth = assert_listed_truly(&path);
            assert_eq!((truth.cached, truth.dirty), (PAGES, dirty), "{:?}", fs.kind());
        });
    }
}

#[test]
fn under_writeback() {
    for fs in with_device() {
        let path = fs.dirty_file();
        let file = File::open(&path).expect("open");
        let shut = fs.hold(Held::Writes);
        std::thread::scope(|scope| {
            let sync = scope.spawn(|| file.sync_data());
            shut.until_something_waits();
            let truth = until("all of it is on its way", || {
                let truth = assert_listed_truly(&path);
                (truth.writeback == PAGES).then_some(truth)
            });
            assert_eq!((truth.cached, truth.dirty), (PAGES, 0), "{:?}", fs.kind());
            shut.assert_held();
            drop(shut);
            sync.join().expect("the thread").expect("sync");
        });
        let truth = assert_listed_truly(&path);
        assert_eq!((truth.dirty, truth.writeback), (0, 0), "{:?}", fs.kind());
    }
}

#[test]
fn mapped() {
    for fs in every() {
        let path = fs.file();
        let mapped = Mapped::whole(&path);
        let truth = assert_listed_truly(&path);
        assert_eq!((truth.cached, truth.mapped), (PAGES, PAGES), "{:?}", fs.kind());
        drop(mapped);
    }
}

#[test]
fn locked() {
    for fs in every() {
        let path = fs.file();
        let _locked = Mlock::whole(&path);
        // The flags of a large folio don't tell: the kernel leaves it unmarked where it doesn't see at once that all of it is
        // mapped. What it counts as locked does.
        assert!(locked_kib() >= PAGES * PAGE / 1024, "{:?}: {} KiB", fs.kind(), locked_kib());
        let truth = assert_listed_truly(&path);
        assert_eq!((truth.cached, truth.mapped), (PAGES, PAGES), "{:?}", fs.kind());
    }
}

/// What this process has locked, as the kernel counts it.
fn locked_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc/self/status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:")).expect("VmLck");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Pages that were never written have nothing cached, and count as pages of the file.
#[test]
fn sparse() {
    const BYTES: u64 = 1 << 30;
    for fs in every() {
        let path = fs.path("sparse");
        let file = File::create(&path).expect("create");
        file.set_len(BYTES).expect("set_len");
        assert_eq!(assert_listed_truly(&path).cached, 0, "{:?}", fs.kind());
        let dirty = if fs.kind().has_device() { 3 } else { 0 };
        let write = |file: &File| {
            file.set_len(BYTES).expect("set_len");
            for offset in [0, BYTES / 2, BYTES - PAGE] {
                file.write_all_at(&[1; PAGE as usize], offset).expect("write");
            }
        };
        while_dirty(&path, write, || {
            let truth = assert_listed_truly(&path);
            assert_eq!((truth.cached, truth.dirty), (3, dirty), "{:?}", fs.kind());
        });
    }
}

/// cachestat(2) counts pages from the moment that they are asked for. They are in the cache, and nobody can use them yet:
/// whoever claims that the file is warm is wrong.
#[test]
fn being_read_in() {
    for fs in with_device() {
        let path = fs.file();
        let file = File::open(&path).expect("open");
        evict_verified(&path);
        let shut = fs.hold(Held::Reads);
        std::thread::scope(|scope| {
            let read = scope.spawn(|| file.read_exact_at(&mut vec![0; (PAGES * PAGE) as usize], 0));
            shut.until_something_waits();
            let output = hotset_says(&["ls", "-q", text(&path)]);
            let (listing, _) = listing(&[&path]);
            let uptodate = count(&resident_pages(&path));
            shut.assert_held();
            drop(shut);
            read.join().expect("the thread").expect("read");
            let kind = fs.kind();
            assert_eq!(uptodate, 0, "{kind:?}");
            assert_eq!(output.status.code(), Some(1), "{kind:?}: {}", said(&output));
            let row = only_row(&listing);
            let cached = number(row, "/cached_pages");
            // mincore(2), which overlayfs needs, counts none of them.
            assert!(cached == 0 || row["source"] == "cachestat", "{kind:?}: {row}");
        });
    }
}

/// To whoever may not write to a file, mincore(2) calls every page resident, and cachestat(2) refuses.
#[test]
fn no_permission() {
    for fs in every() {
        let path = fs.file();
        if fs.kind().has_device() {
            evict_verified(&path);
        }
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("chmod");
        let nobody_says =
            |words: &[&str]| as_nobody(fs.root()).args(words).output().expect("unshare");
        let output = nobody_says(&["ls", "--json", text(&path)]);
        let (listing, _) = listing_of(&output);
        let row = only_row(&listing);
        assert_eq!(number(row, "/size_bytes"), PAGES * PAGE, "{row}");
        for name in ["cached_pages", "dirty_pages", "writeback_pages"] {
            assert!(row[name].is_null(), "{:?}: {name} is known: {row}", fs.kind());
        }
        let missing = row["missing"].as_array().expect("reasons");
        let why =
            missing.iter().find(|reason| reason["key"] == "cached_pages").expect("its reason");
        assert!(why["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{row}");
        let output = nobody_says(&["ls", "-q", text(&path)]);
        assert_eq!(output.status.code(), Some(1), "{:?}: {}", fs.kind(), said(&output));
        // A file that this user may write to is shown as it is.
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).expect("chmod");
        let (listing, code) = listing_of(&nobody_says(&["ls", "--json", text(&path)]));
        let cached = if fs.kind() == Kind::Tmpfs { PAGES } else { 0 };
        assert_eq!((number(only_row(&listing), "/cached_pages"), code), (cached, 0), "{listing}");
    }
}
