//! Code stays cached while it is in use.

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

fn run(builder: &mut ReferencesBuilder, user: u32) {
    for page in 0..100 {
        builder.runs(user);
        builder.code(2, page, user).expect("there is room");
    }
}

fn outcome(builder: ReferencesBuilder, policy: PolicyKind, limit: u64) -> LimitOutcome {
    simulate(&builder.finish(), policy, &[limit], &Costs { hit_ns: 0, miss_ns: 1 }, 1)[0]
}

#[test]
fn code_in_use_stays_whatever_is_read() {
    for policy in POLICIES {
        let mut builder = ReferencesBuilder::new();
        run(&mut builder, 7);
        read(&mut builder, 1_000);
        builder.runs(7);
        run(&mut builder, 7);
        read(&mut builder, 120);
        let outcome = outcome(builder, policy, 200);
        // Of what is read, no more than the room beside the code is still there.
        assert_eq!(outcome.hits, 100, "{policy:?}");
    }
}

#[test]
fn code_of_a_program_that_has_ended_goes_like_any_page() {
    for policy in POLICIES {
        let mut builder = ReferencesBuilder::new();
        run(&mut builder, 7);
        read(&mut builder, 1_000);
        run(&mut builder, 8);
        let gone = outcome(builder, policy, 200);
        assert!(gone.hits < 10 && gone.refaults > 90, "{policy:?} {gone:?}");
        let mut builder = ReferencesBuilder::new();
        run(&mut builder, 7);
        read(&mut builder, 20);
        run(&mut builder, 8);
        assert_eq!(outcome(builder, policy, 200).hits, 100, "{policy:?}");
    }
}

#[test]
fn code_without_room_is_read_again_and_again() {
    for policy in POLICIES {
        let mut builder = ReferencesBuilder::new();
        for _ in 0..5 {
            run(&mut builder, 7);
        }
        let outcome = outcome(builder, policy, 50);
        assert!(outcome.refaults > 100, "{policy:?} {outcome:?}");
    }
}

#[test]
fn code_that_is_removed_is_not_held_any_more() {
    for policy in POLICIES {
        let mut builder = ReferencesBuilder::new();
        run(&mut builder, 7);
        builder.remove(2, 0..100);
        read(&mut builder, 190);
        read(&mut builder, 190);
        builder.runs(7);
        assert_eq!(outcome(builder, policy, 200).hits, 190, "{policy:?}");
    }
}
