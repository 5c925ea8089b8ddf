use hotset_facts::Reason;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::live::testing::{Doing, interval, reads};

fn sum<'a>(parts: impl Iterator<Item = &'a LiveNumbers>) -> LiveIo {
    let mut sum = LiveIo::default();
    parts.for_each(|part| sum.add(&part.io));
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
        let mut parts = sum(summary.processes.iter().map(|row| &row.numbers));
        prop_assert_eq!(parts, sum(summary.files.iter().map(|row| &row.numbers)));
        prop_assert_eq!(parts, sum(summary.cgroups.iter().map(|row| &row.numbers)));
        prop_assert_eq!(parts, sum(summary.commands.iter().map(|row| &row.numbers)));
        prop_assert_eq!(parts, sum(summary.mounts.iter().map(|row| &row.numbers)));
        parts.add(&summary.others.io);
        prop_assert_eq!(parts, summary.totals.io);
        let totals = &summary.totals;
        prop_assert_eq!(totals.hits() + totals.misses(), totals.io.read_pages);
        let members: u32 = summary.cgroups.iter().map(|group| group.processes).sum();
        prop_assert_eq!(members as usize, interval.processes.len());
    }
}

#[test]
fn groups_hold_their_processes_and_files_their_users() {
    let mut interval =
        interval(vec![reads(0, 10, 4), reads(1, 5, 0), Doing { file: 1, ..reads(1, 7, 7) }]);
    interval.processes[0].comm = "same".into();
    interval.processes[1].comm = "same".into();
    let summary = summarise_interval(&interval);
    assert_eq!(summary.totals.io.read_pages, 22);
    assert_eq!((summary.processes[1].files, summary.processes[1].numbers.io.read_pages), (2, 12));
    assert_eq!((summary.files[0].processes, summary.files[0].numbers.io.read_misses), (2, 4));
    assert_eq!(summary.cgroups.len(), 2);
    assert_eq!((summary.commands.len(), summary.commands[0].processes), (1, 2));
    assert_eq!((summary.mounts.len(), summary.mounts[0].files), (1, 2));
    assert_eq!(summary.totals.seconds, 1.0);
}

#[test]
fn a_row_of_nobody_belongs_to_the_others() {
    let mut interval = interval(vec![reads(0, 10, 4)]);
    interval.rows[0].process = 77;
    let summary = summarise_interval(&interval);
    assert_eq!((summary.totals.io.read_pages, summary.others.io.read_pages), (10, 10));
    assert!(summary.files[0].numbers.io.is_idle());
}
