use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use hotset_facts::RestoreStop;
use hotset_sys::cgroup::Headroom;
use hotset_tests::undisturbed;

use super::*;
use crate::save::{SaveOptions, SaveTo, save};
use crate::testing::{GO, Heard, ScratchDir, cached_pages, evict_now, warm_now};

fn page() -> u64 {
    hotset_sys::page_size()
}

/// A directory of files that were cached whole, saved, and evicted.
struct Saved {
    files: ScratchDir,
    sets: ScratchDir,
    paths: Vec<PathBuf>,
}

impl Saved {
    fn new(sizes: &[(&str, u64)]) -> Self {
        let (files, sets) = (ScratchDir::new(), ScratchDir::new());
        let mut saved = Self { files, sets, paths: Vec::new() };
        saved.paths =
            sizes.iter().map(|(name, pages)| saved.files.file(name, pages * page())).collect();
        undisturbed(&saved.paths, || {
            saved.paths.iter().for_each(|path| warm_now(path));
            let options = SaveOptions { selection: saved.files.selection() };
            let report = save(options, SaveTo::File(saved.set()), &GO).expect("saved");
            assert_eq!(report.pages, sizes.iter().map(|(_, pages)| pages).sum::<u64>());
        });
        saved.evict();
        saved
    }

    /// Those that are still files.
    fn evict(&self) {
        self.paths.iter().filter(|path| path.is_file()).for_each(|path| evict_now(path));
    }

    fn when_cold(&self, mut attempt: impl FnMut()) {
        undisturbed(&self.paths, || {
            self.evict();
            attempt();
        });
    }

    fn set(&self) -> PathBuf {
        self.sets.path().join("set")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    fn options(&self) -> RestoreOptions {
        RestoreOptions { file: self.set(), ..RestoreOptions::default() }
    }

    fn cached(&self, names: &[&str]) -> Vec<u64> {
        names.iter().map(|name| cached_pages(&self.path(name))).collect()
    }
}

fn run(options: &RestoreOptions) -> RestoreReport {
    restore(options, &GO, &()).expect("restored")
}

#[test]
fn every_order_brings_all_of_it_back() {
    for order in [RestoreOrder::Device, RestoreOrder::Hot, RestoreOrder::Path] {
        let saved = Saved::new(&[("a", 3), ("b", 600)]);
        let options = RestoreOptions { order, ..saved.options() };
        saved.when_cold(|| {
            let heard = Heard::default();
            let report = restore(&options, &GO, &heard).expect("restored");
            assert!(report.is_complete(), "{report:?}");
            assert_eq!((report.unchanged_files, report.wanted_pages), (2, 603));
            assert_eq!((report.fetched_pages, report.cached_after_pages), (603, 603));
            assert_eq!(
                (heard.total.into_inner(), heard.done.into_inner()),
                (603 * page(), 603 * page())
            );
            assert_eq!(saved.cached(&["a", "b"]), [3, 600]);
            let again = run(&options);
            assert_eq!(
                (again.fetched_pages, again.cached_before_pages),
                (0, 603),
                "nothing is read twice"
            );
        });
    }
}

#[test]
fn a_budget_is_used_to_its_last_whole_page() {
    let budget_bytes = |pages: u64| Some(pages * page() + page() - 1);
    for order in [RestoreOrder::Device, RestoreOrder::Hot, RestoreOrder::Path] {
        let saved = Saved::new(&[("a", 10), ("b", 10)]);
        saved.when_cold(|| {
            let report =
                run(&RestoreOptions { order, budget_bytes: budget_bytes(13), ..saved.options() });
            assert!(report.is_complete(), "what a budget leaves out doesn't count: {report:?}");
            assert_eq!((report.wanted_pages, report.beyond_budget_pages), (13, 7));
            assert_eq!(report.unchanged_files, 2, "both, though one is cut");
            let mut cached = saved.cached(&["a", "b"]);
            cached.sort();
            assert_eq!(cached, [3, 10]);
        });
    }
}

#[test]
fn no_budget_restores_nothing_and_is_complete() {
    let saved = Saved::new(&[("a", 10)]);
    let report = run(&RestoreOptions { budget_bytes: Some(page() - 1), ..saved.options() });
    assert!(report.is_complete());
    assert_eq!((report.wanted_pages, report.beyond_budget_pages), (0, 10));
    assert_eq!(saved.cached(&["a"]), [0]);
}

#[test]
fn files_that_are_not_as_they_were_are_named_once_and_left_alone() {
    let (all, cut) = (None, Some(1 << 30));
    for budget_bytes in [all, cut] {
        let saved = Saved::new(&[("grown", 2), ("gone", 2), ("directory", 2), ("same", 2)]);
        fs::write(saved.path("grown"), vec![1; 3 * page() as usize]).expect("write");
        evict_now(&saved.path("grown"));
        fs::remove_file(saved.path("gone")).expect("remove");
        fs::remove_file(saved.path("directory")).expect("remove");
        fs::create_dir(saved.path("directory")).expect("directory");
        let options = RestoreOptions { budget_bytes, ignore_mtime: true, ..saved.options() };
        saved.when_cold(|| {
            let report = run(&options);
            assert_eq!((report.changed.count, report.vanished.count), (2, 1), "{report:?}");
            assert_eq!((report.unchanged_files, report.wanted_pages), (1, 2));
            assert_eq!(saved.cached(&["grown", "same"]), [0, 2]);
            assert!(!report.is_complete());
        });
    }
}

#[test]
fn a_touched_file_is_restored_only_if_its_time_does_not_count() {
    let saved = Saved::new(&[("a", 2)]);
    let now = std::time::SystemTime::now();
    let touch = |path: &Path| fs::File::options().write(true).open(path)?.set_modified(now);
    touch(&saved.path("a")).expect("touch");
    assert_eq!(run(&saved.options()).changed.count, 1);
    saved.when_cold(|| {
        let report = run(&RestoreOptions { ignore_mtime: true, ..saved.options() });
        assert_eq!((report.changed.count, report.cached_after_pages), (0, 2));
    });
}

#[test]
fn a_dry_run_reads_nothing_and_says_what_would_be() {
    let saved = Saved::new(&[("a", 2), ("b", 3)]);
    let report = run(&RestoreOptions { dry_run: true, ..saved.options() });
    assert_eq!((report.fetched_pages, report.cached_after_pages), (5, 0));
    assert!(report.is_complete() && saved.cached(&["a", "b"]) == [0, 0]);
}

#[test]
fn a_copy_below_another_root_gets_the_pages() {
    let saved = Saved::new(&[("a", 2)]);
    let copy = ScratchDir::new();
    let there = copy.path().join(saved.path("a").strip_prefix("/").expect("absolute"));
    fs::create_dir_all(there.parent().expect("a parent")).expect("directories");
    fs::copy(saved.path("a"), &there).expect("copy");
    fs::File::open(&there).and_then(|file| file.sync_all()).expect("sync");
    let root = Some(copy.path().to_owned());
    undisturbed(&[&there, &saved.path("a")], || {
        evict_now(&there);
        evict_now(&saved.path("a"));
        let root = root.clone();
        let report = run(&RestoreOptions { root, ignore_mtime: true, ..saved.options() });
        assert_eq!((report.cached_after_pages, cached_pages(&there)), (2, 2));
        assert_eq!(saved.cached(&["a"]), [0]);
    });
    let root = Some(saved.path("a"));
    let refused =
        restore(&RestoreOptions { root, ..saved.options() }, &GO, &()).expect_err("no directory");
    assert!(matches!(refused, ControlFailure::Root(_)), "{refused}");
}

#[test]
fn it_stops_before_it_evicts_what_it_restored() {
    for order in [RestoreOrder::Device, RestoreOrder::Hot] {
        let saved = Saved::new(&[("a", 4), ("b", 4)]);
        let headroom = || Headroom { group: None, host_bytes: Some(5 * page()) };
        let options = RestoreOptions { order, ..saved.options() };
        saved.when_cold(|| {
            let report = restore_within(&options, &GO, &(), &headroom).expect("restored");
            let room_bytes = 5 * page();
            assert_eq!(report.stopped, Some(RestoreStop::Memory { room_bytes, group: None }));
            assert!(!report.is_complete());
            let cached: u64 = saved.cached(&["a", "b"]).iter().sum();
            assert_eq!((cached, report.cached_after_pages), (4, 4), "whole files are asked for");
        });
    }
}

#[test]
fn a_stop_is_the_reason_and_nothing_is_read() {
    let saved = Saved::new(&[("a", 4)]);
    let stop = AtomicBool::new(false);
    stop.store(true, Ordering::Relaxed);
    for order in [RestoreOrder::Device, RestoreOrder::Hot] {
        let report =
            restore(&RestoreOptions { order, ..saved.options() }, &stop, &()).expect("restored");
        assert_eq!(
            (report.stopped, saved.cached(&["a"])),
            (Some(RestoreStop::Interrupted), vec![0])
        );
    }
}
