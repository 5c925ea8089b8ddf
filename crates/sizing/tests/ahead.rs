//! Pages that the kernel reads beside those that are asked for.

#![allow(clippy::expect_used, reason = "helpers of tests")]

use hotset_sizing::{
    Bytes, Costs, LimitOutcome, PAGE_BYTES, PolicyKind, ReferencesBuilder, simulate,
};

const COSTS: Costs = Costs { hit_ns: 1, miss_ns: 100 };

fn read(builder: &mut ReferencesBuilder, first: u64, pages: u64) {
    let bytes = Bytes { file: 1, offset: first * PAGE_BYTES, len: pages * PAGE_BYTES };
    builder.read(&bytes, 0).expect("there is room");
}

fn outcome(builder: ReferencesBuilder, policy: PolicyKind, limit: u64) -> LimitOutcome {
    simulate(&builder.finish(), policy, &[limit], &COSTS, 1)[0]
}

#[test]
fn what_is_read_ahead_and_asked_for_comes_from_the_device_once() {
    for policy in [PolicyKind::Lru, PolicyKind::Fifo, PolicyKind::Classic, PolicyKind::Mglru] {
        let mut builder = ReferencesBuilder::new();
        read(&mut builder, 0, 1);
        builder.ahead(1, 1..9).expect("there is room");
        read(&mut builder, 1, 4);
        read(&mut builder, 1, 4);
        let outcome = outcome(builder, policy, 1_000);
        // One page and four ahead of their requests; four are never asked for, four are found the second time.
        assert_eq!((outcome.misses, outcome.ahead, outcome.hits), (5, 4, 4), "{policy:?}");
        assert_eq!((outcome.references, outcome.refaults), (9, 0), "{policy:?}");
        assert_eq!((outcome.waited_ns, outcome.clock_ns), (9 * 100, 9 * 100 + 4), "{policy:?}");
    }
}

#[test]
fn what_is_read_ahead_in_vain_takes_room() {
    let run = |is_ahead: bool| {
        let mut builder = ReferencesBuilder::new();
        read(&mut builder, 0, 10);
        if is_ahead {
            builder.ahead(1, 10..18).expect("there is room");
        }
        read(&mut builder, 0, 10);
        outcome(builder, PolicyKind::Lru, 12)
    };
    assert_eq!((run(false).misses, run(false).hits), (10, 10));
    let with = run(true);
    assert_eq!((with.ahead, with.misses, with.refaults, with.hits), (8, 20, 10, 0));
}

#[test]
fn pages_that_are_cached_or_held_are_not_read_ahead() {
    let mut builder = ReferencesBuilder::new();
    builder.hold(1, vec![8..9, 9..10]);
    read(&mut builder, 0, 4);
    builder.ahead(1, 0..10).expect("there is room");
    assert_eq!(builder.held_requests(), 0);
    let outcome = outcome(builder, PolicyKind::Classic, 100);
    assert_eq!((outcome.misses, outcome.ahead), (4, 4));
}
