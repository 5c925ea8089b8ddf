use hotset_facts::{Observed, Reason};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::live::testing::{Doing, interval, reads};

fn sum<K>(parts: &[(K, LiveIo)]) -> LiveIo {
    let mut sum = LiveIo::default();
    parts.iter().for_each(|(_, io)| sum.add(io));
    sum
}

fn doing() -> impl Strategy<Value = Doing> {
    (0_u32..6, 0_u32..5, 0_u64..50, 0_u64..50, 0_u64..9).prop_map(
        |(process, file, hits, misses, dirtied_pages)| {
            let mut doing = Doing { file, ..reads(process, hits + misses, misses) };
            doing.io.dirtied_pages = dirtied_pages;
            doing
        },
    )
}

proptest! {
    #[test]
    fn the_parts_and_the_others_are_the_total(
        doings in vec(doing(), 0..40),
        same_group in 0_u32..6,
        nobody in 0_u64..9,
    ) {
        let mut interval = interval(doings);
        interval.others = LiveIo { read_pages: nobody, ..LiveIo::default() };
        for (n, process) in interval.processes.iter_mut().enumerate() {
            if n as u32 <= same_group {
                process.comm = "same".into();
                process.cgroup = Observed::Missing(Reason::not_measured("no group"));
            }
        }
        let summary = summarise_interval(&interval);
        let mut parts = sum(&summary.cgroups);
        prop_assert_eq!(parts, sum(&summary.commands));
        prop_assert_eq!(parts, sum(&summary.mounts));
        parts.add(&summary.others);
        prop_assert_eq!(parts, summary.totals.io);
        let totals = &summary.totals;
        prop_assert_eq!(totals.hits() + totals.misses(), totals.io.read_pages);
    }
}

#[test]
fn groups_and_commands_hold_their_processes() {
    let mut interval =
        interval(vec![reads(0, 10, 4), reads(1, 5, 0), Doing { file: 1, ..reads(1, 7, 7) }]);
    interval.processes[0].comm = "same".into();
    interval.processes[1].comm = "same".into();
    let summary = summarise_interval(&interval);
    assert_eq!(summary.totals.io.read_pages, 22);
    let pages = |io: &LiveIo| (io.read_pages, io.read_misses);
    let groups: Vec<_> = summary.cgroups.iter().map(|(_, io)| pages(io)).collect();
    assert_eq!(groups, [(10, 4), (12, 7)]);
    let commands: Vec<_> =
        summary.commands.iter().map(|(comm, io)| (comm.as_ref(), pages(io))).collect();
    assert_eq!(commands, [("same", (22, 11))]);
    assert_eq!(summary.mounts.len(), 1);
    assert_eq!(summary.totals.seconds, 1.0);
}

#[test]
fn a_row_of_nobody_belongs_to_the_others() {
    let mut interval = interval(vec![reads(0, 10, 4)]);
    interval.rows[0].process = 77;
    let summary = summarise_interval(&interval);
    assert_eq!((summary.totals.io.read_pages, summary.others.read_pages), (10, 10));
    assert_eq!(sum(&summary.mounts), LiveIo::ZERO);
}
