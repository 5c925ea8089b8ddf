//! That no line, no cut and no sum of several intervals changes what was counted.

use std::sync::Arc;

use hotset_facts::{Interval, LiveIo, LiveRow, Observed};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::live::summarise_interval;
use crate::live::testing::{Doing, interval, reads};

fn doing() -> impl Strategy<Value = Doing> {
    (0_u32..9, 0_u32..7, 0_u64..50, 0_u64..50, 0_u64..9).prop_map(
        |(process, file, hits, misses, dirtied_pages)| {
            let mut doing = Doing { file, ..reads(process, hits + misses, misses) };
            doing.io.dirtied_pages = dirtied_pages;
            doing
        },
    )
}

/// An interval with several processes in one group, and something that belongs to nobody.
fn any_interval() -> impl Strategy<Value = Interval> {
    (vec(doing(), 0..60), 0_u32..9, 0_u64..9).prop_map(|(doings, same_group, nobody)| {
        let mut interval = interval(doings);
        interval.others = LiveIo { read_pages: nobody, ..LiveIo::default() };
        for process in interval.processes.iter_mut().filter(|process| process.id <= same_group) {
            process.cgroup = Observed::Value(Arc::from("/same"));
        }
        interval
    })
}

fn frame(interval: &Interval) -> TopFrame {
    TopFrame::of(interval.clone(), &mut NoNames)
}

/// Everything that the lines of a kind say, with what has no line.
fn sum(frame: &TopFrame, kind: Kind) -> LiveIo {
    let mut sum = frame.unlisted(kind).io;
    frame.of_kind(kind).iter().for_each(|line| sum.add(&line.io));
    sum
}

fn ids(lines: &Lines) -> Vec<ItemKey> {
    lines.iter().map(|line| line.item.key()).collect()
}

proptest! {
    #[test]
    fn a_frame_says_what_the_summary_says(interval in any_interval()) {
        let (frame, summary) = (frame(&interval), summarise_interval(&interval));
        prop_assert_eq!(frame.totals, summary.totals.io);
        prop_assert_eq!(frame.others, summary.others);
        let sums = |count: usize, of: fn(&LiveRow) -> u32| {
            let mut sums = vec![LiveIo::ZERO; count];
            interval.rows.iter().for_each(|row| sums[of(row) as usize].add(&row.io.unpack()));
            sums
        };
        let lines = |kind| frame.of_kind(kind).iter().map(|line| line.io).collect::<Vec<_>>();
        let processes = sums(interval.processes.len(), |row| row.process);
        prop_assert_eq!(lines(Kind::Processes), processes);
        prop_assert_eq!(lines(Kind::Files), sums(interval.files.len(), |row| row.file));
        let groups: Vec<LiveIo> = summary.cgroups.iter().map(|(_, io)| *io).collect();
        prop_assert_eq!(lines(Kind::Groups), groups);
        let counts: Vec<Value> =
            frame.of_kind(Kind::Groups).iter().map(|line| Column::Count.of(&line)).collect();
        let members = |path: Option<&Arc<str>>| {
            interval.processes.iter().filter(|process| process.cgroup.as_value() == path).count()
        };
        let members = summary.cgroups.iter().map(|(path, _)| members(path.as_ref()) as u64);
        prop_assert_eq!(counts, members.map(Value::Number).collect::<Vec<_>>());
    }

    #[test]
    fn a_cut_sums_up_what_it_leaves_out(interval in any_interval(), lines in 0_usize..9) {
        let whole = frame(&interval);
        let cut = whole.bounded(lines);
        prop_assert_eq!(cut.totals, whole.totals);
        for kind in Kind::ALL {
            prop_assert_eq!(sum(&cut, kind), sum(&whole, kind));
            prop_assert!(cut.of_kind(kind).len() <= lines);
            let items = cut.of_kind(kind).len() as u64 + cut.unlisted(kind).items;
            prop_assert_eq!(items, whole.of_kind(kind).len() as u64);
        }
        for pair in &cut.pairs {
            let process = cut.of_kind(Kind::Processes).get(pair.process as usize);
            prop_assert!(process.is_some_and(|line| line.io.read_pages >= pair.io.unpack().read_pages));
            prop_assert!((pair.file as usize) < cut.of_kind(Kind::Files).len());
        }
    }

    #[test]
    fn sums_since_the_start_lose_nothing(
        intervals in vec(any_interval(), 1..6),
        bound in 2_usize..9,
    ) {
        let mut since = SinceStart::with_bound(bound);
        let mut totals = LiveIo::default();
        for (interval, pages) in intervals.iter().zip(1..) {
            let mut frame = frame(interval);
            frame.evicted_pages = Observed::Value(pages);
            frame.host.refaulted_pages = Observed::Value(10 * pages);
            totals.add(&frame.totals);
            since.add(&frame);
        }
        let all = since.frame().expect("there was an interval");
        let pages = (1..=intervals.len() as u64).sum::<u64>();
        prop_assert_eq!(all.evicted_pages.value(), Some(pages));
        prop_assert_eq!(all.host.refaulted_pages.value(), Some(10 * pages));
        prop_assert_eq!(all.totals, totals);
        prop_assert_eq!(all.length_ns, 1_000_000_000 * intervals.len() as u64);
        for kind in Kind::ALL {
            let mut listed = sum(all, kind);
            listed.add(&all.others);
            prop_assert_eq!(listed, totals, "{:?}", kind);
            prop_assert!(all.of_kind(kind).len() <= bound);
        }
    }

    #[test]
    fn what_an_item_has_below_it_is_what_it_did(interval in any_interval(), lines in 1_usize..9) {
        let cut = frame(&interval).bounded(lines);
        for (kind, wanted) in [
            (Kind::Processes, Kind::Files),
            (Kind::Files, Kind::Processes),
            (Kind::Groups, Kind::Processes),
            (Kind::Groups, Kind::Files),
        ] {
            for line in cut.of_kind(kind).iter() {
                let found = detail(&cut, &line.item.key(), wanted).expect("it has a line");
                let mut below = found.unlisted.io;
                found.lines.iter().for_each(|line| below.add(&line.io));
                prop_assert_eq!(below, line.io, "{:?} of {:?}", wanted, kind);
            }
        }
    }

    #[test]
    fn the_first_lines_are_those_of_the_whole_order(
        interval in any_interval(),
        wanted in 0_usize..9,
        descending: bool,
    ) {
        let frame = frame(&interval);
        let lines = frame.of_kind(Kind::Processes);
        let kept: Vec<u32> = (0..lines.len() as u32).collect();
        let order = Order { by: Column::Misses, descending };
        let whole = Ordering::of(lines, kept.clone(), order, kept.len());
        let part = Ordering::of(lines, kept.clone(), order, wanted);
        prop_assert_eq!(&part.indices[..part.sorted], &whole.indices[..part.sorted]);
        for (place, &index) in whole.indices.iter().enumerate() {
            let key = lines.get(index as usize).expect("a line").item.key();
            prop_assert_eq!(place_of(lines, &kept, order, &key), Some(place));
        }
        let mut tree: Vec<u32> =
            tree(lines, kept.clone(), order).iter().map(|row| row.index).collect();
        tree.sort_unstable();
        prop_assert_eq!(tree, kept, "each line once");
    }
}

#[test]
fn a_line_that_is_only_kept_on_the_screen_is_not_counted_again() {
    let mut frame = frame(&interval(vec![reads(0, 10, 4), reads(1, 5, 5)]));
    let mut since = SinceStart::default();
    since.add(&frame);
    let Lines::Processes(processes) = &mut frame.lines[0] else { panic!("processes") };
    processes[0].state = LineState::Gone;
    processes[1].state = LineState::Ended;
    since.add(&frame);
    let all = since.frame().expect("sums");
    let pages: Vec<u64> =
        all.of_kind(Kind::Processes).iter().map(|line| line.io.read_pages).collect();
    assert_eq!(pages, [10, 10], "the one that is gone did nothing more");
}

#[test]
fn a_curve_tells_idle_from_not_remembered() {
    let mut trail = FrameHistory::default();
    let key = |frame: &TopFrame, at: usize| ids(frame.of_kind(Kind::Processes))[at].clone();
    let few = frame(&interval(vec![reads(0, 10, 4), reads(1, 5, 5)]));
    let second = key(&few, 1);
    trail.push(&few);
    trail.push(&frame(&interval(vec![reads(0, 10, 4)])));
    let crowd = (0..300).map(|n| reads(n, if n == 1 { 1 } else { 100 }, 0)).collect();
    trail.push(&frame(&interval(crowd)));
    let pages: Vec<Option<u64>> = trail.of(&second).map(|io| io.map(|io| io.read_pages)).collect();
    assert_eq!(pages, [Some(5), Some(0), None]);
    for _ in 0..2 * TRAIL_LENGTH {
        trail.push(&few);
    }
    assert_eq!(trail.points().len(), TRAIL_LENGTH);
}
