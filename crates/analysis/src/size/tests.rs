//! Predictions of programs whose need is known.

use hotset_facts::trace::{Reclaim, TraceHead, TraceMemory};
use hotset_facts::{Dev, FileId, PageRange};
use hotset_sizing::PolicyKind;
use hotset_sizing::evidence::KernelVersion;

use super::*;
use crate::explain::testing::{Script, US};
use crate::trace::testing::head;

const PAGE: u64 = 4096;
const MIB: u64 = 1 << 20;

pub(super) fn asked() -> SizeAsked {
    SizeAsked {
        target: 0.99,
        limits_bytes: Vec::new(),
        policy: None,
        host: None,
        device_bytes_per_s: None,
        other_bytes: None,
        threads: 2,
    }
}

pub(super) fn known() -> TraceHead {
    let memory = TraceMemory { anon_peak_bytes: 100 * MIB, looks: 3, ..TraceMemory::default() };
    let reclaim = Reclaim { multi_gen_lru: true, swap_bytes: 0 };
    let mut head = head();
    if let Some(host) = &mut head.environment {
        host.kernel = "6.12.111".to_owned();
    }
    TraceHead { memory: Some(memory), reclaim: Some(reclaim), ..head }
}

/// Reads so many pages in a loop, so often; each page takes 10 µs the first time.
pub(super) fn looped(pages: u64, times: u64) -> Script {
    let mut script = Script::new();
    script.file(pages * PAGE);
    for at in 0..pages * times {
        let offset = at % pages * PAGE;
        if at < pages {
            script.miss(8, offset, PAGE, 10 * US);
        } else {
            script.read(8, offset, PAGE, US);
        }
        script.own(US);
    }
    script
}

pub(super) fn sized(script: &Script, head: &TraceHead, asked: &SizeAsked) -> SizeSummary {
    let mut collector = Collector::new(&script.lists, asked.host.or_else(|| SizeHost::of(head)));
    collector.add(&script.batch()).expect("there is room");
    size(head, collector.finish(), asked)
}

#[test]
fn a_loop_needs_room_for_all_of_its_pages() {
    let lru = SizeAsked { policy: Some(PolicyKind::Lru), ..asked() };
    let summary = sized(&looped(10_000, 5), &known(), &lru);
    // Kernel memory for its file is reclaimed before anything is killed.
    assert_eq!(summary.killed_below_bytes, Some(100 * MIB));
    assert!(summary.must.is_some_and(|must| must.bytes() > 100 * MIB));
    assert_eq!((summary.distinct_pages, summary.too_little), (10_000, None));
    let enough = summary.enough.expect("all pages are enough");
    assert_eq!(enough.cache_bytes, 10_000 * PAGE);
    assert!((enough.hit_ratio - 0.8).abs() < 1e-9, "{enough:?}");
    // With a hundredth less room, it reads all of them again.
    let thrash = summary.thrash.expect("below that it thrashes");
    assert_eq!(thrash.hits, 0);
    assert!((9_899 * PAGE..10_000 * PAGE).contains(&thrash.cache_bytes), "{thrash:?}");
    let (request, limit) = (summary.request.expect("known"), summary.limit.expect("known"));
    assert_eq!((request.must_bytes / MIB, request.bytes / MIB), (100, 111));
    assert_eq!(limit.cache_bytes, 10_000 * PAGE);
    assert!(limit.bytes >= request.bytes + 39 * MIB && limit.bytes <= request.bytes + 41 * MIB);
    // The limit of the whole program holds the anonymous memory too.
    assert!(enough.limit_bytes.is_some_and(|bytes| bytes > 139 * MIB && bytes < 141 * MIB));
}

#[test]
fn times_follow_from_what_misses_took() {
    let summary = sized(&looped(1_000, 3), &known(), &asked());
    assert_eq!(summary.miss_ns, Some(10_000.0));
    let most = summary.limits.last().expect("limits");
    // 1,000 waits of 10 µs; else 2,000 reads and 3,000 pauses of 1 µs, the last of which nobody saw end.
    assert_eq!((most.waited_ns, most.run_ns), (Some(10_000_000), Some(14_999_000)));
    let rate = SizeAsked { device_bytes_per_s: Some(409_600_000), ..asked() };
    assert_eq!(sized(&looped(1_000, 3), &known(), &rate).miss_ns, Some(10_000.0));
}

#[test]
fn an_import_has_no_times_and_no_memory() {
    let mut script = looped(1_000, 3);
    for record in script.records() {
        (record.pages, record.flags, record.duration_ns) = (None, Default::default(), None);
    }
    let head = TraceHead { environment: None, ..head() };
    let summary = sized(&script, &head, &asked());
    assert!(summary.prediction.is_none() && summary.policy == PolicyKind::Lru);
    assert_eq!((summary.miss_ns, summary.request, summary.limit), (None, None, None));
    let most = summary.limits.last().expect("limits");
    assert_eq!((most.limit_bytes, most.run_ns, most.misses), (None, None, 1_000));
    assert!(summary.thrash.is_some_and(|limit| limit.refaults > 1_500), "{:?}", summary.thrash);
    // Told what it holds beside, there are limits.
    let told = SizeAsked { other_bytes: Some(10 * MIB), ..asked() };
    let summary = sized(&script, &head, &told);
    assert!(summary.limit.is_some_and(|limit| limit.bytes >= 14 * MIB), "{:?}", summary.limit);
}

#[test]
fn one_pass_needs_no_cache() {
    let summary = sized(&looped(1_000, 1), &known(), &asked());
    assert_eq!(summary.too_little, Some(TooLittle::OnePass));
    assert_eq!((summary.limit, summary.request.map(|one| one.cache_bytes)), (None, Some(0)));
    assert!(summary.limits.is_empty() && summary.enough.is_none());
    let few = sized(&looped(100, 50), &known(), &asked());
    assert_eq!(few.too_little, Some(TooLittle::FewPages));
    assert_eq!(few.request.map(|one| one.cache_bytes), Some(100 * PAGE));
    let none = sized(&Script::new(), &known(), &asked());
    assert_eq!(none.too_little, Some(TooLittle::NoReferences));
    assert!(none.limits.is_empty() && none.enough.is_none());
}

#[test]
fn the_policy_is_that_of_the_kernel_unless_another_is_asked_for() {
    let script = looped(1_000, 2);
    assert_eq!(sized(&script, &known(), &asked()).policy, PolicyKind::Mglru);
    let host = SizeHost { kernel: KernelVersion::new(6, 1), multi_gen_lru: false };
    let other = SizeAsked { host: Some(host), ..asked() };
    assert_eq!(sized(&script, &known(), &other).policy, PolicyKind::Classic);
    let named = SizeAsked { policy: Some(PolicyKind::Fifo), ..asked() };
    let summary = sized(&script, &known(), &named);
    assert_eq!(summary.policy, PolicyKind::Fifo);
}

#[test]
fn limits_that_are_asked_for_are_among_them() {
    let named = SizeAsked { limits_bytes: vec![101 * MIB, 50 * MIB], ..asked() };
    let summary = sized(&looped(2_000, 2), &known(), &named);
    let limits: Vec<u64> = summary.limits.iter().filter_map(|limit| limit.limit_bytes).collect();
    assert!(limits.contains(&(101 * MIB)), "{limits:?}");
    assert!(limits.is_sorted());
    // 50 MiB leave no cache but the one page that a program can't do without.
    let asked = summary
        .limits
        .iter()
        .filter(|limit| summary.asked_cache_bytes.contains(&limit.cache_bytes));
    let asked: Vec<Option<u64>> = asked.map(|limit| limit.limit_bytes).collect();
    assert_eq!((asked.len(), asked[1]), (2, Some(101 * MIB)), "{asked:?}");
}

#[test]
fn what_other_tools_take_lies_around_the_limit() {
    let lru = SizeAsked { policy: Some(PolicyKind::Lru), ..asked() };
    let summary = sized(&looped(10_000, 5), &known(), &lru);
    let (limit, enough) = (summary.limit.expect("known"), summary.enough.expect("known"));
    let (least, most) = (summary.least().expect("known"), summary.most().expect("known"));
    // Reclaim begins where the cache that is enough fits, and the margin is above it.
    let reclaim = summary.reclaim_from_bytes().expect("known");
    assert_eq!(Some(reclaim), enough.limit_bytes);
    assert!((limit.bytes - limit.margin_bytes).abs_diff(reclaim) < MIB, "{reclaim}: {limit:?}");
    // With a page more than where it thrashes, it does not; and no loop makes use of more than all of its pages.
    let thrash = summary.thrash.expect("below that it thrashes");
    assert_eq!(least.cache_bytes, thrash.cache_bytes + PAGE);
    assert_eq!((most.cache_bytes, most.bytes), (10_000 * PAGE, limit.bytes));
    // A target that is met where it still thrashes.
    let low = SizeAsked { target: 1e-9, ..lru };
    let script = looped(10_000, 5);
    let summary = sized(&script, &known(), &low);
    let limit = summary.limit.expect("known");
    assert!(summary.least().is_some_and(|least| least.bytes <= limit.bytes), "{summary:?}");
    assert!(summary.most().is_some_and(|most| most.bytes >= limit.bytes), "{summary:?}");
}

#[test]
fn where_no_limit_is_recommended_the_request_is_all() {
    for script in [looped(1_000, 1), looped(100, 50)] {
        let summary = sized(&script, &known(), &asked());
        assert!(summary.request.is_some());
        assert_eq!(summary.reclaim_from_bytes(), None);
        assert_eq!((summary.least(), summary.most()), (summary.request, summary.request));
    }
    let none = sized(&Script::new(), &known(), &asked());
    assert_eq!((none.least(), none.most()), (none.request, None));
    let unknown = sized(&looped(1_000, 5), &TraceHead { memory: None, ..known() }, &asked());
    assert_eq!((unknown.least(), unknown.most()), (None, None));
    assert_eq!(unknown.reclaim_from_bytes(), None);
}

#[test]
fn just_the_limits_that_are_named_are_predicted_and_pages_of_others_are_hits() {
    let mut script = looped(2_000, 2);
    let id = FileId { dev: Dev { major: 8, minor: 1 }, ino: 5, generation: None };
    // The file of the loop.
    let file = script.lists.files.len() - 1;
    script.lists.files[file].id = Some(id);
    let collected = |stuck: &[(FileId, Vec<PageRange>)]| {
        let mut collector = Collector::new(&script.lists, SizeHost::of(&known()));
        collector.hold(stuck);
        collector.add(&script.batch()).expect("there is room");
        collector.finish()
    };
    let limits = [200 * MIB, 101 * MIB];
    let all = size_at(&known(), &collected(&[]), &asked(), &limits);
    assert_eq!((all[0].hits, all[0].misses), (2_000, 2_000));
    assert!(all[1].hits < 2_000 && all[1].misses > 2_000, "{all:?}");
    // A quarter of its pages is there whatever the limit is.
    let held = collected(&[(id, vec![PageRange { first: 0, count: 500 }])]);
    let held = size_at(&known(), &held, &asked(), &limits);
    assert_eq!((held[0].hits, held[0].misses), (2_500, 1_500));
    assert!((held[0].hit_ratio - 0.625).abs() < 1e-9, "{held:?}");
    assert!(held[1].misses < all[1].misses, "{held:?}");
}
