//! Sequences that were counted by hand, and exact numbers of a longer one.

#![allow(clippy::expect_used, reason = "helpers of tests")]

use Touch::{Fault, RandomFault, Read, ReadSamePage, WritePart, WriteWhole};
use hotset_facts::random::Random;
use hotset_sizing::policy::{Classic, Fifo, Found, ListSizes, Lru, Mglru, Policy, Touch};
use hotset_sizing::{
    Bytes, Costs, PAGE_BYTES, PolicyKind, References, ReferencesBuilder, simulate,
};

/// What came of these uses: a letter each, `h`it, `m`iss, `r`efault or `w`ritten.
fn play(policy: &mut impl Policy, uses: impl IntoIterator<Item = (u32, Touch)>) -> String {
    let letters = uses.into_iter().map(|(page, touch)| match policy.touch(page, touch).found {
        Found::Hit => 'h',
        Found::Miss => 'm',
        Found::Refault => 'r',
        Found::Written => 'w',
    });
    let letters = letters.collect();
    policy.check().expect("the books are right");
    letters
}

fn reads(pages: impl IntoIterator<Item = u32>) -> impl Iterator<Item = (u32, Touch)> {
    pages.into_iter().map(|page| (page, Read))
}

#[test]
fn least_recently_used() {
    // Room for two. 2 evicts 1, because 0 was used since; 1 evicts 2.
    assert_eq!(play(&mut Lru::new(9, 2), reads([0, 1, 0, 2, 0, 1, 2])), "mmhmhrr");
    // A loop over one more than there is room for never hits.
    assert_eq!(play(&mut Lru::new(9, 2), reads([0, 1, 2, 0, 1, 2])), "mmmrrr");
}

#[test]
fn first_in_first_out() {
    // The same: 2 evicts 0 although it was just used, 0 evicts 1, and 1 evicts 2.
    assert_eq!(play(&mut Fifo::new(9, 2), reads([0, 1, 0, 2, 0, 1, 2])), "mmhmrrr");
}

#[test]
fn the_second_read_activates() {
    let filled = || reads((0..1).chain(0..40));
    // Page 0 is read twice and active, 1 to 39 are inactive: 40 pages, and the next read reclaims. By priorities it scans 1, 2, 4,
    // 8 and 12 of the inactive pages, after which 32 are not reached yet, and the last 12: 1 to 39 are evicted. The list of
    // active pages is not the longer one, so that page 0 is not deactivated.
    let mut classic = Classic::new(99, 40, ListSizes::Fresh);
    assert_eq!(play(&mut classic, filled()), format!("mh{}", "m".repeat(39)));
    assert_eq!(play(&mut classic, reads([40])), "m");
    assert_eq!(classic.cached(), 2);
    assert_eq!(play(&mut classic, reads([0, 39])), "hr");
    // Read on in the same page, it is not active, and goes with the others.
    let mut classic = Classic::new(99, 40, ListSizes::Fresh);
    let uses = [(0, Read), (0, ReadSamePage)].into_iter().chain(reads(1..41));
    assert_eq!(play(&mut classic, uses), format!("mh{}", "m".repeat(40)));
    assert_eq!(play(&mut classic, reads([40, 0])), "hr");
}

#[test]
fn writes_do_not_activate() {
    // Page 0 is written as a whole, twice, and is not active: it goes with the others, and is written to the device.
    let mut classic = Classic::new(99, 40, ListSizes::Fresh);
    let uses = [(0, WriteWhole), (0, WriteWhole)].into_iter().chain(reads(1..40));
    assert_eq!(play(&mut classic, uses), format!("wh{}", "m".repeat(39)));
    assert_eq!(classic.touch(40, Read).written, 1);
    // Of a page that is written when it comes back, no refault is counted.
    assert_eq!(play(&mut classic, [(0, WritePart), (1, WriteWhole), (2, Read)]), "mwr");
    assert!(classic.sync(0) && !classic.sync(0) && classic.sync(1) && !classic.sync(2));
}

#[test]
fn mapped_pages_go_round_once_more() {
    // Of 100 pages, 0 to 9 are mapped and used once. By priorities, the reclaim for page 100 scans 1, 3 and 6 pages, which are
    // just these and go to the head again, then 12 and 22, which are evicted: 10 to 43.
    let fill = |touch| (0..10).map(move |page| (page, touch)).chain(reads(10..101));
    let mut classic = Classic::new(199, 100, ListSizes::Fresh);
    assert_eq!(play(&mut classic, fill(Fault)), "m".repeat(101));
    assert_eq!(play(&mut classic, reads([0, 9, 43, 44])), "hhrh");
    // With MADV_RANDOM they are evicted in their order: 1, 3, 6, 11 and 19 pages.
    let mut classic = Classic::new(199, 100, ListSizes::Fresh);
    assert_eq!(play(&mut classic, fill(RandomFault)), "m".repeat(101));
    assert_eq!(play(&mut classic, reads([0, 39, 40])), "rrh");
}

#[test]
fn what_comes_back_soon_is_activated() {
    // As above: page 0 is active, and 1 to 39 were evicted. Page 39 comes back after one eviction, which is no more than the
    // active list is long: it is activated. Then the cache is filled with pages that are read once. The next reclaim may
    // deactivate, because a page was activated as it came back: priority 1 scans one of the two active pages, the older one, 0,
    // which priority 0 evicts with all inactive ones. Page 39 is deactivated after that.
    let play_all = |sizes| {
        let mut classic = Classic::new(199, 40, sizes);
        play(&mut classic, reads((0..1).chain(0..41)));
        assert_eq!(play(&mut classic, reads([39])), "r");
        assert_eq!(play(&mut classic, reads(50..87)), "m".repeat(37));
        assert_eq!((classic.cached(), play(&mut classic, reads([99])).as_str()), (40, "m"));
        play(&mut classic, reads([0, 39]))
    };
    assert_eq!(play_all(ListSizes::Fresh), "rh");
    // By sizes from before anything was cached, no distance is short enough, and there is no reason to deactivate.
    assert_eq!(play_all(ListSizes::Refreshed { first_ns: u64::MAX }), "hr");
}

#[test]
fn generations_protect_what_is_read_often() {
    // 100 pages come into the second generation; page 0 is read 5 times, page 1 twice. The next read finds the oldest
    // generation empty, passes over it, and evicts 64 pages from the tail of the next: not page 0, which is in the highest tier
    // and moves on, but page 1, because nothing has come back yet that would protect its tier.
    let uses = reads([0, 0, 0, 0, 0, 1, 1].into_iter().chain(2..100));
    let mut mglru = Mglru::new(199, 100);
    assert_eq!(play(&mut mglru, uses), format!("mhhhhmh{}", "m".repeat(98)));
    assert_eq!(play(&mut mglru, reads([100])), "m");
    assert_eq!(mglru.cached(), 37);
    assert_eq!(play(&mut mglru, reads([0, 65, 64, 1])), "hhrr");
}

#[test]
fn generations_take_mapped_pages_for_young() {
    // Page 0 is mapped and comes into the youngest generation: the others go first. With MADV_RANDOM it goes like them.
    for (touch, expected) in [(Fault, "h"), (RandomFault, "r")] {
        let mut mglru = Mglru::new(199, 100);
        play(&mut mglru, [(0, touch)].into_iter().chain(reads(1..101)));
        assert_eq!(play(&mut mglru, reads([0])), expected, "{touch:?}");
    }
}

#[test]
fn removed_pages_are_as_new() {
    fn check(mut policy: impl Policy) {
        assert_eq!(play(&mut policy, reads(0..3)), "mmm");
        policy.remove(2);
        policy.remove(2);
        assert_eq!(policy.cached(), 2);
        play(&mut policy, reads(10..99));
        policy.remove(0);
        assert_eq!(play(&mut policy, reads([0, 1])), "mr");
        policy.remove(1000);
        assert!(!policy.sync(1000));
        assert_eq!(play(&mut policy, reads([1000])), "m");
    }
    check(Lru::new(100, 5));
    check(Fifo::new(100, 5));
    check(Classic::new(100, 5, ListSizes::Fresh));
    check(Mglru::new(100, 5));
}

/// Reads of 2,000 pages, mostly of few of them, with scans, overwrites, maps and a file that is removed.
fn mixed() -> References {
    let mut random = Random::new(7);
    let mut builder = ReferencesBuilder::new();
    let page = |page: u64| Bytes { file: 1, offset: page * PAGE_BYTES, len: PAGE_BYTES };
    for step in 0..40_000_u64 {
        // The least of three draws is small more often.
        let often = (0..3).map(|_| random.below(2000)).min().unwrap_or(0);
        let added = match step % 20 {
            0..=11 => builder.read(&page(often), 1),
            12..=15 => builder.read(&page(step / 5 % 2000), 2),
            16 => builder.write(&page(often), 2000 * PAGE_BYTES),
            17 => builder.write(&Bytes { len: 100, ..page(often) }, 2000 * PAGE_BYTES),
            18 => builder.fault(1, often, false),
            _ => builder.fault(2, step / 20 % 300, true),
        };
        added.expect("there is room");
        builder.pass(200_000);
        if step % 10_000 == 9_999 {
            builder.remove(2, 0..u64::MAX);
            builder.sync(1);
        }
    }
    builder.finish()
}

#[test]
fn exact_numbers_of_a_longer_sequence() {
    let references = mixed();
    assert_eq!(references.distinct(), 2169);
    let costs = Costs { hit_ns: 1000, miss_ns: 100_000 };
    let limits = [1, 50, 100, 200, 500, 1000, 1500, 2500];
    // Misses at these limits; at 500 pages also filled pages, refaults and pages written.
    let expected = [
        (
            PolicyKind::Lru,
            [33988, 32813, 31614, 29212, 22546, 13457, 7610, 2974],
            [1220, 18419, 3685],
        ),
        (
            PolicyKind::Fifo,
            [33988, 32809, 31619, 29309, 23207, 15262, 8966, 2974],
            [1246, 19038, 3759],
        ),
        (
            PolicyKind::Classic,
            [33988, 33213, 32014, 29482, 22530, 13108, 7296, 2974],
            [1228, 18405, 3759],
        ),
        (
            PolicyKind::ClassicOldSizes { phases: 3 },
            [33988, 33060, 31696, 29133, 21768, 12340, 7098, 2974],
            [1167, 17716, 3674],
        ),
        (
            PolicyKind::Mglru,
            [33988, 33320, 32251, 29748, 22723, 12903, 7179, 2974],
            [1205, 18577, 3650],
        ),
    ];
    for (policy, misses, others) in expected {
        let outcomes = simulate(&references, policy, &limits, &costs, 1);
        let found: Vec<u64> = outcomes.iter().map(|outcome| outcome.misses).collect();
        assert_eq!(found, misses, "{policy:?}");
        let at_500 = outcomes[4];
        assert_eq!([at_500.filled, at_500.refaults, at_500.written_pages], others, "{policy:?}");
    }
    let old = simulate(&references, expected[3].0, &[500], &costs, 1)[0];
    assert_eq!(old.misses_by_phase, (21662, 21905));
}
