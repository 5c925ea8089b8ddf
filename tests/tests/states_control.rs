//! `hotset warm`, `evict`, `save` and `restore` from each cache state on each file system: what they say they reached
//! against what the kernel keeps of the pages.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hotset_tests::filesystems::{FILE_PAGES as PAGES, FileSystem, Kind, file_bytes, with_device};
use hotset_tests::flushes::while_dirty;
use hotset_tests::gate::Held;
use hotset_tests::held::{Mapped, Mlock};
use hotset_tests::json::number;
use hotset_tests::listing::{count, hotset_says, only_row, said};
use hotset_tests::pageflags::{page_counts, resident_pages};
use hotset_tests::scratch::text;
use hotset_tests::state::scatter_verified;
use hotset_tests::{PAGE, evict_verified, undisturbed, until, warm_verified};
use serde_json::Value;

/// A verb's row of its only file, and its exit code.
fn change(verb: &str, words: &[&str], path: &Path) -> (Value, i32) {
    let mut all = vec![verb, "--json"];
    all.extend(words);
    all.push(text(path));
    let output = hotset_says(&all);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    assert_eq!(report["schema"], "hotset.control/1", "{report}");
    (only_row(&report).clone(), output.status.code().expect("an exit code"))
}

/// Pages that stayed, by the reason that the row gives.
fn stayed_as(row: &Value, reason: &str) -> u64 {
    let reasons = row["stayed"].as_array().expect("reasons");
    reasons.iter().filter(|stayed| stayed["reason"] == reason).map(|s| number(s, "/pages")).sum()
}

#[test]
fn warm_fetches_what_is_missing() {
    for fs in with_device() {
        let path = fs.file();
        let states: [fn(usize) -> bool; 3] = [|_| false, |page| page % 2 == 0, |_| true];
        for wanted in states {
            until("the file stayed as it was until it was asked for", || {
                scatter_verified(&path, wanted);
                let before = count(&resident_pages(&path));
                let (row, code) = change("warm", &[], &path);
                let truth = page_counts(&path);
                let kind = fs.kind();
                (number(&row, "/cached_before") == before && truth.cached == PAGES).then(|| {
                    assert_eq!(number(&row, "/cached_after"), PAGES, "{kind:?}: {row}");
                    assert_eq!((code, &row["reached"]), (0, &Value::Bool(true)), "{kind:?}: {row}");
                })
            });
        }
        assert_eq!(std::fs::read(&path).expect("read"), file_bytes());
    }
}

/// A part of a file comes without its neighbours, though it is the first that is read there: whatever hotset tries out to
/// learn how a file system is read best, it tries out on pages that were asked for.
#[test]
fn warm_fetches_a_range_and_nothing_beside_it() {
    const MIB: u64 = 1 << 20;
    for fs in with_device() {
        let path = fs.path("ranges");
        std::fs::write(&path, vec![7; 16 * MIB as usize]).expect("write");
        File::open(&path).and_then(|file| file.sync_all()).expect("sync");
        for (start, end) in [(12 << 10, 3 * MIB), (5 * MIB, 6 * MIB), (MIB, 9 * MIB)] {
            let range = format!("{start}-{end}");
            undisturbed(&[&path], || {
                evict_verified(&path);
                let (row, code) = change("warm", &["--range", &range], &path);
                let pages = resident_pages(&path).into_iter().enumerate();
                let there: Vec<u64> =
                    pages.filter(|(_, here)| *here).map(|(page, _)| page as u64).collect();
                let wanted: Vec<u64> = (start / PAGE..end / PAGE).collect();
                let ends = (there.first(), there.last(), there.len(), code);
                let right = (wanted.first(), wanted.last(), wanted.len(), 0);
                assert_eq!(ends, right, "{:?} {range}: {row}", fs.kind());
            });
        }
    }
}

#[test]
fn a_clean_file_is_evicted() {
    for fs in with_device() {
        let path = fs.file();
        warm_verified(&path);
        let (row, code) = change("evict", &[], &path);
        assert_eq!(count(&resident_pages(&path)), 0, "{:?}: {row}", fs.kind());
        assert_eq!((number(&row, "/cached_after"), code), (0, 0), "{:?}: {row}", fs.kind());
    }
}

/// Without --sync dirty pages stay, are named, and stay dirty: nothing was written behind the user's back.
#[test]
fn a_dirty_file_stays_until_it_is_synced() {
    // On overlayfs only mincore(2) answers, which doesn't know what is dirty, so nobody can spare it there.
    for fs in with_device().filter(|fs| fs.kind() != Kind::Overlay) {
        let kind = fs.kind();
        let (path, bytes) = (fs.path("f"), file_bytes());
        let write = |file: &File| file.write_all_at(&bytes, 0).expect("write");
        let (row, code) = while_dirty(&path, write, || {
            let (row, code) = change("evict", &[], &path);
            let truth = page_counts(&path);
            assert_eq!((truth.cached, truth.dirty), (PAGES, PAGES), "{kind:?}: {row}");
            (row, code)
        });
        assert_eq!((number(&row, "/cached_after"), code), (PAGES, 1), "{kind:?}: {row}");
        assert_eq!(stayed_as(&row, "dirty"), PAGES, "{kind:?}: {row}");
    }
}

#[test]
fn a_dirty_file_is_written_and_evicted_with_sync() {
    for fs in with_device() {
        let path = fs.dirty_file();
        let (row, code) = change("evict", &["--sync"], &path);
        assert_eq!(count(&resident_pages(&path)), 0, "{:?}: {row}", fs.kind());
        assert_eq!((number(&row, "/cached_after"), code), (0, 0), "{:?}: {row}", fs.kind());
        assert_eq!(std::fs::read(&path).expect("read"), file_bytes());
    }
}

/// What is on its way to the device can't go, and nobody is made to wait for it.
#[test]
fn a_file_under_writeback_stays() {
    for fs in with_device() {
        let kind = fs.kind();
        let path = fs.dirty_file();
        let file = File::open(&path).expect("open");
        let shut = fs.hold(Held::Writes);
        let (row, code, truth) = std::thread::scope(|scope| {
            let sync = scope.spawn(|| file.sync_data());
            shut.until_something_waits();
            until("all of it is on its way", || {
                (page_counts(&path).writeback == PAGES).then_some(())
            });
            let (row, code) = change("evict", &[], &path);
            let truth = page_counts(&path);
            shut.assert_held();
            drop(shut);
            sync.join().expect("the thread").expect("sync");
            (row, code, truth)
        });
        assert_eq!((truth.cached, truth.writeback), (PAGES, PAGES), "{kind:?}: {row}");
        assert_eq!((number(&row, "/cached_after"), code), (PAGES, 1), "{kind:?}: {row}");
        if kind != Kind::Overlay {
            assert_eq!(stayed_as(&row, "writeback"), PAGES, "{kind:?}: {row}");
        }
    }
}

#[test]
fn a_mapped_file_stays_and_its_holder_is_named() {
    for fs in with_device() {
        let path = fs.file();
        let mapped = Mapped::whole(&path);
        assert_holder_named(&fs, &path, "mapped");
        drop(mapped);
        let (row, code) = change("evict", &[], &path);
        assert_eq!((count(&resident_pages(&path)), code), (0, 0), "{:?}: {row}", fs.kind());
    }
}

#[test]
fn a_locked_file_stays_and_its_holder_is_named() {
    for fs in with_device() {
        let path = fs.file();
        let locked = Mlock::whole(&path);
        assert_holder_named(&fs, &path, "locked");
        drop(locked);
        let (row, code) = change("evict", &[], &path);
        assert_eq!((count(&resident_pages(&path)), code), (0, 0), "{:?}: {row}", fs.kind());
    }
}

fn assert_holder_named(fs: &FileSystem, path: &Path, reason: &str) {
    let (row, code) = change("evict", &[], path);
    let kind = fs.kind();
    assert_eq!(page_counts(path).cached, PAGES, "{kind:?}: {row}");
    assert_eq!((number(&row, "/cached_after"), code), (PAGES, 1), "{kind:?}: {row}");
    // A child of another test has this one's mappings until it executes its program, and may be named too.
    let us = row["stayed"]
        .as_array()
        .expect("reasons")
        .iter()
        .find(|stayed| stayed["pid"] == std::process::id() && stayed["reason"] == reason);
    let us = us.unwrap_or_else(|| panic!("{kind:?}: this process is not named: {row}"));
    assert_eq!(number(us, "/pages"), PAGES, "{kind:?}: {row}");
}

/// tmpfs has nowhere to put its pages: an eviction that claims success there lies.
#[test]
fn nothing_in_tmpfs_is_evicted() {
    let fs = FileSystem::new(Kind::Tmpfs);
    let path = fs.dirty_file();
    let (row, code) = change("evict", &["--sync"], &path);
    assert_eq!(page_counts(&path).cached, PAGES, "{row}");
    assert_eq!((number(&row, "/cached_after"), code), (PAGES, 1), "{row}");
    assert!(row["stayed"].as_array().is_some_and(|reasons| !reasons.is_empty()), "{row}");
}

/// The same pages come back, and no others.
#[test]
fn what_was_saved_is_restored_exactly() {
    for fs in with_device() {
        let kind = fs.kind();
        let path = fs.file();
        let saved = fs.path("saved");
        let wanted = |page: usize| page % 16 < 4 || page == 63;
        undisturbed(&[&path], || {
            scatter_verified(&path, wanted);
            let output = hotset_says(&["save", text(&saved), text(&path)]);
            assert!(output.status.success(), "{kind:?}: {}", said(&output));
            evict_verified(&path);
            let output = hotset_says(&["restore", text(&saved)]);
            let pages = resident_pages(&path);
            let here: Vec<usize> = (0..pages.len()).filter(|i| pages[*i]).collect();
            let expected: Vec<usize> = (0..pages.len()).filter(|i| wanted(*i)).collect();
            assert_eq!(here, expected, "{kind:?}: {}", said(&output));
            assert!(output.status.success(), "{kind:?}: {}", said(&output));
        });
    }
}
