//! Read-ahead that is simulated: what a call brings depends on what is cached.

#![allow(clippy::expect_used, reason = "helpers of tests")]

use hotset_sizing::evidence::KernelVersion;
use hotset_sizing::{
    Bytes, Costs, LimitOutcome, PAGE_BYTES, PolicyKind, ReadAheadRules, References,
    ReferencesBuilder, simulate,
};
use proptest::collection::vec;
use proptest::prelude::*;

const WINDOW: u32 = 32;
const FILE_PAGES: u64 = 1000;
const COSTS: Costs = Costs { hit_ns: 1000, miss_ns: 100_000 };

fn rules(minor: u32) -> ReadAheadRules {
    ReadAheadRules::of(KernelVersion::new(6, minor))
}

/// Reads of so many pages from a page on, through one description each.
fn reads(minor: u32, window: u32, calls: &[(u32, u64, u64)]) -> References {
    let mut builder = ReferencesBuilder::new();
    builder.simulate_read_ahead(rules(minor));
    for &(description, page, pages) in calls {
        let bytes = Bytes { file: 3, offset: page * PAGE_BYTES, len: pages * PAGE_BYTES };
        builder.read_through(&bytes, description, window, FILE_PAGES).expect("there is room");
    }
    builder.finish()
}

fn at(references: &References, limit: u64) -> LimitOutcome {
    simulate(references, PolicyKind::Lru, &[limit], &COSTS, 1)[0]
}

/// What the device reads: pages that were asked for, and others.
fn read(references: &References, limit: u64) -> (u64, u64) {
    let outcome = at(references, limit);
    (outcome.misses, outcome.ahead)
}

#[test]
fn a_sequential_read_brings_a_window_in_advance() {
    // The first four of 1,000 pages: 8 are read, and the marked fifth is not asked for.
    for minor in [1, 12] {
        assert_eq!(read(&reads(minor, WINDOW, &[(1, 0, 4)]), 5000), (4, 4), "6.{minor}");
        // The fifth makes it read 16 more.
        assert_eq!(read(&reads(minor, WINDOW, &[(1, 0, 4), (1, 4, 1)]), 5000), (5, 19));
        let whole: Vec<_> = (0..250).map(|at| (1, at * 4, 4)).collect();
        assert_eq!(read(&reads(minor, WINDOW, &whole), 5000), (1000, 0), "the file ends");
    }
}

#[test]
fn without_a_window_just_the_request_is_read() {
    assert_eq!(read(&reads(12, 0, &[(1, 0, 4)]), 5000), (4, 0));
    assert_eq!(read(&reads(12, WINDOW, &[(1, 500, 4), (1, 700, 4)]), 5000), (8, 0), "far apart");
}

#[test]
fn a_description_that_is_opened_again_begins_anew() {
    let mut builder = ReferencesBuilder::new();
    builder.simulate_read_ahead(rules(12));
    let read_one = |builder: &mut ReferencesBuilder, page| {
        let bytes = Bytes { file: 0, offset: page * PAGE_BYTES, len: PAGE_BYTES };
        builder.read_through(&bytes, 1, WINDOW, FILE_PAGES).expect("there is room");
    };
    read_one(&mut builder, 500);
    builder.close(1);
    // It would be the next one of the same description.
    read_one(&mut builder, 501);
    assert_eq!(read(&builder.finish(), 5000), (2, 0));
    assert_eq!(read(&reads(12, WINDOW, &[(1, 500, 1), (1, 501, 1)]), 5000).0, 2);
    assert!(read(&reads(12, WINDOW, &[(1, 500, 1), (1, 501, 1)]), 5000).1 > 0);
}

#[test]
fn a_request_of_which_a_page_was_evicted_reads_more_than_that_page() {
    // Page 110 leaves the cache, all others stay.
    let mut builder = ReferencesBuilder::new();
    builder.simulate_read_ahead(rules(1));
    let bytes =
        |page: u64, pages| Bytes { file: 0, offset: page * PAGE_BYTES, len: pages * PAGE_BYTES };
    let read_at = |builder: &mut ReferencesBuilder, page, pages| {
        builder.read_through(&bytes(page, pages), 1, WINDOW, FILE_PAGES).expect("there is room");
    };
    read_at(&mut builder, 100, 20);
    builder.remove(0, 110..111);
    read_at(&mut builder, 100, 20);
    let found = read(&builder.finish(), 5000);
    // 6.1 takes it for a sequential read, whose window of 32 pages reaches beyond the request.
    assert_eq!(found, (21, 22));
    let calls = [(1, 100, 20), (1, 100, 20)];
    assert_eq!(read(&reads(1, WINDOW, &calls), 5000), (20, 0), "nothing is missing");
}

#[test]
fn pages_that_are_removed_are_read_again_at_their_place() {
    let mut builder = ReferencesBuilder::new();
    builder.simulate_read_ahead(rules(12));
    let whole = Bytes { file: 0, offset: 0, len: 64 * PAGE_BYTES };
    for _ in 0..3 {
        builder.read_through(&whole, 1, WINDOW, 64).expect("there is room");
        builder.remove(0, 0..u64::MAX / PAGE_BYTES);
    }
    let references = builder.finish();
    assert_eq!((references.distinct(), references.numbers()), (64, 64));
    let outcome = at(&references, 5000);
    assert_eq!((outcome.misses, outcome.refaults, outcome.ahead), (192, 0, 0));
}

#[test]
fn what_is_read_ahead_again_is_a_refault_when_it_is_asked_for() {
    // A loop over more than there is room for, page by page: most pages come from read-ahead.
    let calls: Vec<_> = (0..3000).map(|at| (1, at % 1000, 1)).collect();
    let outcome = at(&reads(12, WINDOW, &calls), 500);
    assert_eq!(outcome.hits, 0);
    assert_eq!((outcome.misses, outcome.refaults), (3000, 2000));
}

proptest! {
    #[test]
    fn the_numbers_of_any_reads_fit_each_other(
        calls in vec((0..3_u32, 0..FILE_PAGES, 1..80_u64), 1..120),
        minor in prop_oneof![Just(1_u32), Just(12)],
        limit in 1..1200_u64,
        window in 0..100_u32,
    ) {
        let calls: Vec<_> = calls
            .into_iter()
            .map(|(description, page, pages)| (description, page, pages.min(FILE_PAGES - page)))
            .collect();
        let asked: u64 = calls.iter().map(|(_, _, pages)| pages).sum();
        let references = reads(minor, window, &calls);
        for policy in PolicyKind::ALL {
            let outcomes = simulate(&references, policy, &[limit, 5000], &COSTS, 2);
            let [limited, whole] = outcomes[..] else { panic!("two limits") };
            for outcome in [limited, whole] {
                prop_assert_eq!(outcome.references, asked);
                prop_assert_eq!(outcome.hits + outcome.misses + outcome.filled, asked);
                prop_assert!(outcome.refaults <= outcome.misses);
            }
            // With room for all, each page is read once, and none but those of the file.
            prop_assert_eq!(whole.refaults, 0);
            prop_assert_eq!(whole.misses, u64::from(references.distinct()));
            prop_assert!(whole.misses + whole.ahead <= FILE_PAGES);
            let again = simulate(&references, policy, &[limit], &COSTS, 1);
            prop_assert_eq!(again[0], limited, "{:?}", policy);
        }
    }

    #[test]
    fn without_read_ahead_it_is_as_if_it_were_not_simulated(
        calls in vec((0..3_u32, 0..FILE_PAGES, 1..20_u64), 1..120),
        limit in 1..500_u64,
    ) {
        let mut plain = ReferencesBuilder::new();
        for &(description, page, pages) in &calls {
            let bytes = Bytes { file: 3, offset: page * PAGE_BYTES, len: pages * PAGE_BYTES };
            plain.read(&bytes, description).expect("there is room");
        }
        let (plain, simulated) = (plain.finish(), reads(12, 0, &calls));
        for policy in PolicyKind::ALL {
            let of = |references| simulate(references, policy, &[limit], &COSTS, 1)[0];
            prop_assert_eq!(of(&plain), of(&simulated));
        }
    }
}
