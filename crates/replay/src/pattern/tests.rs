//! What each kind of change shows.

use std::collections::BTreeMap;

use hotset_facts::replay::{
    PATTERN_MARKS, PatternKind, PatternSide, PlanThread, ReplayPattern, ReplayPlan, Step, StepKind,
};
use hotset_facts::trace::{Operation, RecordFlags};

use crate::build::testing::Trace;
use crate::changes::{apply, parse};
use crate::pattern;

/// What a change of a trace shows.
fn shown(trace: &Trace, change: &str) -> ReplayPattern {
    let plan = trace.plan();
    let changed = apply(&plan, &[parse(change).expect("a change")]).expect("something to change");
    pattern(&plan, &changed.plan).expect("a difference")
}

/// How many there are of each kind, by its word.
fn kinds(side: &PatternSide) -> Vec<(&'static str, usize)> {
    let mut kinds: BTreeMap<PatternKind, usize> = BTreeMap::new();
    for mark in &side.marks {
        *kinds.entry(mark.kind).or_default() += 1;
    }
    kinds.into_iter().map(|(kind, times)| (kind.as_str(), times)).collect()
}

fn names(pattern: &ReplayPattern) -> Vec<String> {
    let path = |lane: &hotset_facts::replay::PatternLane| {
        let path = lane.path.as_ref().map_or("?".into(), |path| path.display().to_string());
        if lane.is_new { format!("{path} (new)") } else { path }
    };
    pattern.lanes.iter().map(path).collect()
}

/// A file that is opened and read in small pieces.
fn small_reads(reads: u64) -> Trace {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 7);
    let of = ("/data", trace.file("/data", 100 * reads), 1);
    trace.on_file(Operation::Openat, one, of, (0, 0)).result = Some(3);
    for at in 0..reads {
        trace.on_file(Operation::Read, one, of, (at * 100, 100)).flags = RecordFlags::POSITION;
    }
    trace
}

#[test]
fn many_small_reads_become_one() {
    let pattern = shown(&small_reads(500), "buffer=64K");
    assert_eq!((pattern.tid, names(&pattern)), (7, vec!["/data".to_owned()]));
    assert_eq!(kinds(&pattern.before), [("read", 119), ("open", 1)]);
    assert_eq!(
        kinds(&pattern.after),
        [("read", 1), ("open", 1)],
        "the open is where it comes from"
    );
    let (small, large) = (pattern.before.marks[1], pattern.after.marks[1]);
    assert_eq!((small.offset, small.bytes, small.lane), (Some(0), Some(100), Some(0)));
    assert_eq!((large.offset, large.bytes, large.record), (Some(0), Some(50_000), small.record));
}

#[test]
fn most_syncs_vanish() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let of = ("/log", trace.file("/log", 0), 1);
    for at in 0..200 {
        trace.on_file(Operation::Pwrite, one, of, (at * 10, 10));
        trace.on_file(Operation::Fsync, one, of, (0, 0)).result = Some(0);
    }
    let pattern = shown(&trace, "sync-every=20");
    assert_eq!(kinds(&pattern.before), [("write", 60), ("sync", 60)]);
    assert_eq!(kinds(&pattern.after), [("write", 60), ("sync", 3)]);
    let sync = pattern.before.marks[1];
    assert_eq!((sync.step, sync.offset, sync.bytes), (StepKind::Sync, None, None));
}

#[test]
fn failed_lookups_vanish_and_those_without_a_lane_are_counted() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    for module in 0..10 {
        for dir in 0..40 {
            trace.on_path(Operation::Stat, one, &format!("/{dir}/module{module}"), -2);
        }
        trace.on_path(Operation::Stat, one, &format!("/last/module{module}"), 0);
    }
    let pattern = shown(&trace, "known-paths");
    assert_eq!(kinds(&pattern.before), [("lookup", 2), ("failed lookup", 118)]);
    assert_eq!(kinds(&pattern.after), [("lookup", 2)]);
    assert_eq!((pattern.lanes.len(), pattern.more_lanes), (12, 108));
    assert_eq!(pattern.before.marks[0].lane, Some(0));
    assert_eq!(pattern.before.marks[20].lane, None);
    assert!(pattern.after.marks.iter().all(|mark| mark.lane.is_some()), "what is found has one");
}

/// Files that are each opened, read and closed.
fn small_files(files: u64) -> Trace {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    for at in 0..files {
        let path = format!("/small/{at}");
        let of = (path.as_str(), trace.file(&path, 1_000), at + 1);
        trace.on_file(Operation::Openat, one, of, (0, 0)).result = Some(3);
        trace.on_file(Operation::Pread, one, of, (0, 1_000));
        trace.on_file(Operation::Close, one, of, (0, 0)).result = Some(0);
    }
    trace
}

#[test]
fn many_files_become_one_that_has_a_lane_of_its_own() {
    let pattern = shown(&small_files(100), "packed");
    assert_eq!(kinds(&pattern.before), [("read", 40), ("open", 40), ("close", 40)]);
    assert_eq!(kinds(&pattern.after), [("read", 40), ("open", 1)]);
    assert_eq!(
        (names(&pattern).pop().as_deref(), pattern.more_lanes),
        (Some("/hotset-packed (new)"), 29)
    );
    let pack = Some(pattern.lanes.len() as u32 - 1);
    assert!(pattern.after.marks.iter().all(|mark| mark.lane == pack), "{:?}", pattern.after);
    assert_eq!(pattern.after.marks[2].offset, Some(1_000), "one file behind the other");
}

#[test]
fn direct_reads_are_the_same_reads_through_the_cache() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let of = ("/direct", trace.file("/direct", 1 << 20), 1);
    for at in 0..50 {
        let read = trace.on_file(Operation::Pread, one, of, (at * 4096, 4096));
        read.flags = RecordFlags::DIRECT;
    }
    let pattern = shown(&trace, "cached");
    let direct = |side: &PatternSide| side.marks.iter().filter(|mark| mark.direct).count();
    assert_eq!((direct(&pattern.before), direct(&pattern.after)), (50, 0));
    let same = |mark: &hotset_facts::replay::PatternMark| (mark.kind, mark.offset, mark.bytes);
    let before: Vec<_> = pattern.before.marks.iter().map(same).collect();
    assert_eq!(before, pattern.after.marks.iter().map(same).collect::<Vec<_>>());
}

#[test]
fn what_is_read_once_keeps_the_first_read_in_the_picture() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let of = ("/config", trace.file("/config", 4096), 1);
    for _ in 0..500 {
        trace.on_file(Operation::Pread, one, of, (0, 4096));
    }
    let pattern = shown(&trace, "once");
    assert_eq!(
        (kinds(&pattern.before), kinds(&pattern.after)),
        (vec![("read", 120)], vec![("read", 1)])
    );
}

#[test]
fn reads_in_flight_say_how_many_are() {
    let mut trace = Trace::default();
    let one = (trace.process(1, None), 1);
    let of = ("/data", trace.file("/data", 1 << 20), 1);
    for at in 0..20 {
        trace.on_file(Operation::Pread, one, of, (at * 8192, 4096));
    }
    let pattern = shown(&trace, "io_uring=8");
    assert_eq!((pattern.before.in_flight, pattern.after.in_flight), (0, 8));
    assert_eq!(kinds(&pattern.after), [("read", 20)], "waiting is no request");
}

#[test]
fn a_side_has_no_more_marks_than_a_picture_has_room_for() {
    let pattern = shown(&small_files(100), "prefetch");
    assert_eq!(pattern.after.marks.len(), PATTERN_MARKS);
    assert_eq!(
        pattern.after.requests, 420,
        "an open, a hint and a close for each file, and the window"
    );
}

#[test]
fn a_plan_that_stays_has_no_picture() {
    let plan = small_reads(10).plan();
    assert_eq!(pattern(&plan, &plan), None);
}

#[test]
fn what_was_not_looked_at_is_no_difference() {
    let step = |record| Step::new(StepKind::Stat, 0, record);
    let of = |steps: Vec<Step>| ReplayPlan {
        threads: vec![PlanThread { steps, ..PlanThread::default() }],
        ..ReplayPlan::default()
    };
    let all = || (0..super::LOOKED_AT as u32 + 500).map(step);
    // The change puts so much before the first step that the other list ends earlier.
    let hint = Step::new(StepKind::Advise, 0, 0);
    let changed = of(std::iter::repeat_n(hint, 300).chain(all()).collect());
    let pattern = pattern(&of(all().collect()), &changed).expect("a difference");
    assert_eq!(pattern.before.marks[0].record, 0);
    assert_eq!(pattern.after.requests, 420);
}
