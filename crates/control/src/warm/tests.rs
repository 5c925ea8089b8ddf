use std::os::unix::fs::symlink;
use std::sync::atomic::Ordering;

use hotset_facts::{ControlReport, NotCached};
use hotset_sys::cgroup::GroupMemory;
use hotset_tests::undisturbed;

use super::*;
use crate::testing::{GO, Heard, ScratchDir, cached_pages, evict_now, warm_now};

const MIB: u64 = 1 << 20;

fn options(scratch: &ScratchDir) -> WarmOptions {
    WarmOptions {
        selection: scratch.selection(),
        span: ByteSpan::WHOLE,
        budget_bytes: None,
        named: NamedFiles::All,
    }
}

fn page() -> u64 {
    hotset_sys::page_size()
}

fn run(options: &WarmOptions) -> ControlReport {
    warm(options, &GO, &()).report
}

#[test]
fn what_is_missing_is_fetched_and_the_rest_is_not() {
    let scratch = ScratchDir::new();
    let (cold, warm_file) = (scratch.file("cold", 3 * MIB), scratch.file("warm", MIB));
    undisturbed(&[&cold, &warm_file], || {
        evict_now(&cold);
        warm_now(&warm_file);
        let heard = Heard::default();
        let done = warm(&options(&scratch), &GO, &heard);
        let totals = done.report.totals;
        assert!(done.report.is_reached() && done.notes.is_empty(), "{done:?}");
        assert_eq!((totals.files, totals.files_reached), (2, 2));
        assert_eq!(totals.fetched_bytes, 3 * MIB);
        assert_eq!((totals.cached_before, totals.cached_after), (MIB / page(), 4 * MIB / page()));
        assert_eq!((heard.total.into_inner(), heard.done.into_inner()), (3 * MIB, 3 * MIB));
        assert_eq!(cached_pages(&cold) + cached_pages(&warm_file), 4 * MIB / page());
    });
}

#[test]
fn a_budget_is_the_reason_of_what_it_leaves_out() {
    let scratch = ScratchDir::new();
    let file = scratch.file("file", 2 * MIB);
    undisturbed(&[&file], || {
        evict_now(&file);
        let report = run(&WarmOptions { budget_bytes: Some(MIB), ..options(&scratch) });
        assert!(!report.is_reached());
        let missing = MIB / page();
        let short = &report.files[0];
        assert_eq!(
            (short.short_pages(ControlVerb::Warm), cached_pages(&file)),
            (Some(missing), missing)
        );
        assert_eq!(short.not_cached, Some(NotCached::Budget));
        // What is there already costs nothing.
        let again = run(&WarmOptions { budget_bytes: Some(MIB), ..options(&scratch) });
        assert!(again.is_reached() && again.totals.fetched_bytes == MIB);
    });
}

#[test]
fn no_budget_at_all_fetches_nothing() {
    let scratch = ScratchDir::new();
    let file = scratch.file("file", MIB);
    evict_now(&file);
    let report = run(&WarmOptions { budget_bytes: Some(0), ..options(&scratch) });
    assert_eq!((report.totals.fetched_bytes, cached_pages(&file)), (0, 0));
    assert_eq!(report.files[0].not_cached, Some(NotCached::Budget));
}

#[test]
fn only_the_span_counts() {
    let scratch = ScratchDir::new();
    let file = scratch.file("file", 4 * page());
    undisturbed(&[&file], || {
        evict_now(&file);
        let span = ByteSpan { start: page(), end: 2 * page() + 1 };
        let report = run(&WarmOptions { span, ..options(&scratch) });
        assert_eq!((report.totals.pages, report.totals.cached_after), (2, 2));
    });
    // A span beyond the end asks for nothing, and has it.
    let beyond = ByteSpan { start: 1 << 40, end: u64::MAX };
    let report = run(&WarmOptions { span: beyond, ..options(&scratch) });
    assert!(report.is_reached() && report.totals.pages == 0);
}

#[test]
fn a_stop_before_the_start_is_told_and_fetches_nothing() {
    let scratch = ScratchDir::new();
    let file = scratch.file("file", MIB);
    evict_now(&file);
    let stop = AtomicBool::new(false);
    stop.store(true, Ordering::Relaxed);
    let report = warm(&options(&scratch), &stop, &()).report;
    assert!(report.interrupted && !report.is_reached());
    assert_eq!(cached_pages(&file), 0);
}

#[test]
fn what_is_not_there_is_unreadable_and_links_are_passed_over() {
    let scratch = ScratchDir::new();
    scratch.file("empty", 0);
    symlink("/nonexistent", scratch.path().join("dangling")).expect("link");
    let mut options = options(&scratch);
    options.selection.roots.push(scratch.path().join("no such"));
    let report = run(&options);
    assert_eq!((report.totals.files, report.totals.files_reached), (1, 1), "an empty file is warm");
    assert_eq!(report.unreadable.len(), 1);
    assert!(report.unreadable[0].path.ends_with("no such") && !report.is_reached());
}

const PLAN: Plan = Plan { cached_bytes: 10, missing_bytes: 100 };

fn memory(host: u64, group: Option<u64>) -> Headroom {
    let group = group.map(|limit_bytes| GroupMemory {
        dir: "/cg/box".into(),
        limit_bytes,
        used_bytes: 0,
        file_bytes: 0,
    });
    Headroom { group, host_bytes: Some(host) }
}

#[test]
fn a_lack_of_memory_is_told_with_whose_limit_it_is() {
    let short = |host, group| notes(&PLAN, u64::MAX, &memory(host, group), (0, 0));
    assert_eq!(short(110, None), []);
    let lack =
        |room_bytes, group| ControlNote::ShortOfMemory { needed_bytes: 110, room_bytes, group };
    assert_eq!(short(109, None), [lack(109, None)]);
    assert_eq!(short(1000, Some(50)), [lack(50, Some(("/cg/box".into(), 50)))]);
    assert_eq!(short(40, Some(50)), [lack(40, None)], "the host has less than the group");
}

#[test]
fn a_budget_that_fits_is_no_lack_of_memory() {
    assert_eq!(notes(&PLAN, 40, &memory(50, None), (0, 0)), []);
    let needed = notes(&PLAN, 41, &memory(50, None), (0, 0));
    assert!(matches!(needed[..], [ControlNote::ShortOfMemory { needed_bytes: 51, .. }]));
}

#[test]
fn what_was_evicted_again_is_told_with_the_sample() {
    let lost = notes(&PLAN, 0, &memory(1000, None), (64, 3));
    assert_eq!(lost, [ControlNote::EvictedAgain { lost_pages: 3, seen_pages: 64 }]);
    assert_eq!(notes(&PLAN, 0, &memory(1000, None), (64, 0)), []);
}
