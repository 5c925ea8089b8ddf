//! Room that a program leaves for pages while it holds less than at its peak.

#![allow(clippy::expect_used, reason = "helpers of tests")]

use hotset_sizing::{
    Bytes, Costs, LimitOutcome, PAGE_BYTES, PolicyKind, ReferencesBuilder, simulate,
};

const POLICIES: [PolicyKind; 4] =
    [PolicyKind::Lru, PolicyKind::Fifo, PolicyKind::Classic, PolicyKind::Mglru];

fn read(builder: &mut ReferencesBuilder, pages: u64) {
    let bytes = Bytes { file: 1, offset: 0, len: pages * PAGE_BYTES };
    builder.read(&bytes, 0).expect("there is room");
}

/// Of 1,000 pages that are read twice, with so many of room beside the limit for each time.
fn outcome(policy: PolicyKind, spares: [u64; 2], limit: u64) -> LimitOutcome {
    let mut builder = ReferencesBuilder::new();
    for pages in spares {
        builder.spare(pages);
        read(&mut builder, 1_000);
    }
    simulate(&builder.finish(), policy, &[limit], &Costs { hit_ns: 0, miss_ns: 1 }, 1)[0]
}

#[test]
fn pages_stay_while_there_is_room() {
    for policy in POLICIES {
        assert_eq!(outcome(policy, [950, 950], 100).hits, 1_000, "{policy:?}");
        assert!(outcome(policy, [0, 0], 100).hits < 100, "{policy:?}");
        // Room that comes later holds nothing of what was evicted before.
        assert!(outcome(policy, [0, 950], 100).hits <= 100, "{policy:?}");
    }
}

#[test]
fn pages_go_when_the_program_takes_their_room() {
    for policy in POLICIES {
        let outcome = outcome(policy, [950, 0], 100);
        assert!(outcome.hits < 110 && outcome.refaults > 890, "{policy:?} {outcome:?}");
    }
}
