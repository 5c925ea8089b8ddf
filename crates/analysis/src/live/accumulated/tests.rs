use std::hash::Hash;

use hotset_facts::LiveIo;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::live::summarise_interval;
use crate::live::testing::{interval, reads};

const LIMITS: SeriesLimits = SeriesLimits { commands: 3, cgroups: 2, mounts: 1 };

fn snapshot<K: Hash + Eq + Clone>(set: &SeriesSet<K>) -> Vec<LiveIo> {
    let series = set.series().iter().map(|series| series.io);
    std::iter::once(*set.other()).chain(series).collect()
}

fn not_less(after: &[LiveIo], before: &[LiveIo]) -> bool {
    let grown = |(b, a): (&LiveIo, &LiveIo)| a.zip_with(b, u64::max) == *a;
    after.len() >= before.len() && before.iter().zip(after).all(grown)
}

proptest! {
    #[test]
    fn nothing_goes_backwards_and_every_set_adds_up(
        intervals in vec(vec((0_u32..9, 0_u64..5, 0_u64..5), 0..12), 1..12),
        nobody in 0_u64..5,
    ) {
        let mut all = Accumulated::new(LIMITS);
        for doings in intervals {
            let reads = doings.into_iter().map(|(n, hits, misses)| reads(n, hits + misses, misses));
            let mut interval = interval(reads.collect());
            interval.others = LiveIo { read_pages: nobody, read_misses: nobody, ..LiveIo::default() };
            let before = (snapshot(&all.commands), snapshot(&all.cgroups), snapshot(&all.mounts));
            all.add(&interval, &summarise_interval(&interval));
            prop_assert!(not_less(&snapshot(&all.commands), &before.0));
            prop_assert!(not_less(&snapshot(&all.cgroups), &before.1));
            prop_assert!(not_less(&snapshot(&all.mounts), &before.2));
            prop_assert_eq!(all.commands.total(), all.totals.io);
            prop_assert_eq!(all.cgroups.total(), all.totals.io);
            prop_assert_eq!(all.mounts.total(), all.totals.io);
            prop_assert!(all.commands.series().len() <= LIMITS.commands);
            prop_assert!(all.cgroups.series().len() <= LIMITS.cgroups);
        }
    }
}

#[test]
fn who_comes_first_gets_a_series_and_the_idle_get_none() {
    let mut all = Accumulated::new(LIMITS);
    let first = interval(vec![reads(0, 0, 0), reads(1, 5, 1), reads(2, 5, 1), reads(3, 5, 1)]);
    all.add(&first, &summarise_interval(&first));
    let names: Vec<&str> = all.commands.series().iter().map(|series| &*series.key).collect();
    // Process 0 made calls without a page, and none here: its row is all zero.
    assert_eq!(names, ["worker-1", "worker-2", "worker-3"]);
    assert_eq!((all.cgroups.series().len(), all.cgroups.refused()), (2, 1));
    assert_eq!(all.cgroups.other().read_pages, 5);
}

#[test]
fn a_flood_of_commands_stays_bounded() {
    let mut all = Accumulated::new(LIMITS);
    for n in 0..2_000 {
        let mut interval = interval(vec![reads(0, 1, 0)]);
        interval.processes[0].comm = format!("short-{n}").into();
        all.add(&interval, &summarise_interval(&interval));
    }
    assert_eq!(all.commands.series().len(), LIMITS.commands);
    assert_eq!((all.commands.total().read_pages, all.commands.refused()), (2_000, 1_997));
}

#[test]
fn a_gap_is_counted_and_a_sum_stays() {
    let missing = Observed::Missing(Reason::unsupported("no PSI"));
    let mut counted = Counted::default();
    assert!(counted.sum.reason().is_some());
    counted.add(missing);
    assert_eq!((counted.sum, counted.gaps), (missing, 0));
    counted.add(Observed::Value(4));
    counted.add(missing);
    counted.add(Observed::Value(3));
    assert_eq!((counted.sum.value(), counted.gaps), (Some(7), 1));
}
