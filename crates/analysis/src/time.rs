//! Where the time of a run went.

use hotset_facts::{Observed, Profile, TimeIo};

use crate::numbers::share;

/// What a slice of time was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceKind {
    /// Buffered reads that found every page.
    ReadsFromCache,
    /// Buffered reads that waited for a page in flight or a lock.
    ReadsThatWaited,
    /// Buffered reads that missed.
    ReadsThatMissed,
    /// Major faults on mappings.
    MajorFaults,
    /// O_DIRECT.
    Direct,
    /// Buffered writes.
    Writes,
    /// fsync and the like.
    Syncs,
    /// Path lookups.
    Lookups,
    /// Several small classes together; only [`TimeSplit::folded`] gives it.
    OtherIo,
    /// CPU time beside the I/O calls.
    Computing,
    /// The wall time that remains: sleeping, network, pipes, and, where nobody measured CPU time, computing.
    Rest,
}

/// A part of the run's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// What it was spent on.
    pub kind: SliceKind,
    /// Nanoseconds, summed over tasks.
    pub ns: u64,
    /// The same as a share of the wall time; above 1 where tasks ran in parallel, none where the wall time is zero.
    pub of_wall: Option<f64>,
}

/// Where the time went: I/O by class, the rest where it can be said, and CPU time beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSplit {
    /// The wall time in nanoseconds.
    pub wall_ns: u64,
    /// Processes that were seen; with more than one, slices are sums over them.
    pub processes: usize,
    /// The slices that are not zero: I/O, largest first, then [`SliceKind::Computing`], and [`SliceKind::Rest`], with which
    /// they add up to the wall time. There is no rest where they exceed it: tasks worked at the same time; nor for several
    /// processes whose CPU time nobody measured.
    pub slices: Observed<Vec<Slice>>,
    /// All slices but the rest, in nanoseconds; more than the wall time where tasks worked at the same time.
    pub busy_ns: Observed<u64>,
    /// All I/O classes together, in nanoseconds, summed over tasks.
    pub io_ns: Observed<u64>,
    /// `io_ns` as a share of the wall time.
    pub io_of_wall: Option<f64>,
    /// The I/O time of the process that had the most of it, in nanoseconds.
    pub busiest_process_io_ns: Observed<u64>,
    /// User CPU time as a share of the wall time.
    pub user_of_wall: Option<f64>,
    /// System CPU time as a share of the wall time. It overlaps with the I/O classes: copying is system time.
    pub system_of_wall: Option<f64>,
    /// How many tasks were busy on average, at least 1: (I/O time + user CPU time) / wall time.
    pub parallelism: f64,
}

/// A class below this share of the wall time is worth a line of its own only among the two largest.
const SMALL_SHARE: f64 = 0.005;
const ALWAYS_TOLD: usize = 2;

impl TimeSplit {
    /// The slices in at most `lines`: the small ones as one, before the rest. Nothing is left out.
    pub fn folded(&self, lines: usize) -> Observed<Vec<Slice>> {
        let Observed::Value(slices) = &self.slices else {
            return self.slices.clone();
        };
        let is_io = |slice: &&Slice| !matches!(slice.kind, SliceKind::Computing | SliceKind::Rest);
        let (classes, rest): (Vec<Slice>, Vec<Slice>) = slices.iter().partition(is_io);
        let small = |slice: &Slice| slice.of_wall.is_some_and(|share| share < SMALL_SHARE);
        let large = classes.iter().take_while(|slice| !small(slice)).count();
        let mut told = large.max(ALWAYS_TOLD).min(classes.len());
        if told < classes.len() || told + rest.len() > lines {
            told = told.min(lines.saturating_sub(rest.len() + 1));
        }
        // A single class takes no more room under its own name.
        if told + 1 == classes.len() {
            told += 1;
        }
        let folded = classes[told..].iter().map(|slice| slice.ns).fold(0, u64::saturating_add);
        let mut out = classes[..told].to_vec();
        if told < classes.len() {
            let of_wall = share(folded, self.wall_ns);
            out.push(Slice { kind: SliceKind::OtherIo, ns: folded, of_wall });
        }
        out.extend(rest);
        Observed::Value(out)
    }

    pub(crate) fn of(profile: &Profile) -> Self {
        let wall_ns = profile.command.wall_ns;
        let time = profile.totals.time;
        let io_ns = time.map(|time| time.total_ns());
        let of_wall = |ns: Observed<u64>| ns.value().and_then(|ns| share(ns, wall_ns));
        Self {
            wall_ns,
            processes: profile.processes.len(),
            slices: time.map(|time| slices(&time, profile)),
            busy_ns: time.map(|time| time.total_ns().saturating_add(computing_ns(&time, profile))),
            io_ns,
            io_of_wall: of_wall(io_ns),
            busiest_process_io_ns: busiest(profile, io_ns),
            user_of_wall: of_wall(profile.command.user_ns),
            system_of_wall: of_wall(profile.command.system_ns),
            parallelism: parallelism(profile, io_ns),
        }
    }
}

/// CPU time that is not in the I/O calls. User time is in none of them. System time is, for all of a call that neither waits
/// nor sleeps; in those that do, it is a small part, which is left with both. 0 where nobody measured it.
fn computing_ns(time: &TimeIo, profile: &Profile) -> u64 {
    let command = &profile.command;
    let user = command.user_ns.value().unwrap_or(0);
    let system = command.system_ns.value().unwrap_or(0);
    let in_calls =
        [time.hit_ns, time.write_ns, time.lookup_ns].into_iter().fold(0, u64::saturating_add);
    let cpu = user.saturating_add(system.saturating_sub(in_calls));
    // One task has no more time than what its I/O leaves.
    if profile.processes.len() > 1 || user.saturating_add(time.total_ns()) > command.wall_ns {
        return cpu;
    }
    cpu.min(command.wall_ns.saturating_sub(time.total_ns()))
}

fn slices(time: &TimeIo, profile: &Profile) -> Vec<Slice> {
    let wall_ns = profile.command.wall_ns;
    let slice = |kind, ns| Slice { kind, ns, of_wall: share(ns, wall_ns) };
    let mut slices: Vec<Slice> = [
        (SliceKind::ReadsFromCache, time.hit_ns),
        (SliceKind::ReadsThatWaited, time.wait_ns),
        (SliceKind::ReadsThatMissed, time.miss_ns),
        (SliceKind::MajorFaults, time.fault_ns.value().unwrap_or(0)),
        (SliceKind::Direct, time.direct_ns),
        (SliceKind::Writes, time.write_ns),
        (SliceKind::Syncs, time.sync_ns),
        (SliceKind::Lookups, time.lookup_ns),
    ]
    .into_iter()
    .filter(|(_, ns)| *ns > 0)
    .map(|(kind, ns)| slice(kind, ns))
    .collect();
    slices.sort_by_key(|slice| std::cmp::Reverse(slice.ns));
    let computing = computing_ns(time, profile);
    if computing > 0 {
        slices.push(slice(SliceKind::Computing, computing));
    }
    // Tasks that worked at the same time can leave nothing, and what they leave is the least that nobody worked in.
    let busy_ns = time.total_ns().saturating_add(computing);
    let told = profile.processes.len() <= 1 || profile.command.user_ns.value().is_some();
    if let Some(rest) = wall_ns.checked_sub(busy_ns).filter(|&rest| rest > 0 && told) {
        slices.push(slice(SliceKind::Rest, rest));
    }
    slices
}

/// The largest I/O time of one process; where rows lack it, the sum over all, which bounds it from above.
fn busiest(profile: &Profile, total: Observed<u64>) -> Observed<u64> {
    let mut busiest = 0;
    for process in &profile.processes {
        match process.io.time {
            Observed::Value(time) => busiest = time.total_ns().max(busiest),
            Observed::Missing(_) => return total,
        }
    }
    if profile.processes.is_empty() { total } else { Observed::Value(busiest) }
}

fn parallelism(profile: &Profile, io_ns: Observed<u64>) -> f64 {
    let busy_ns =
        io_ns.value().unwrap_or(0) as f64 + profile.command.user_ns.value().unwrap_or(0) as f64;
    let wall_ns = profile.command.wall_ns.max(1) as f64;
    (busy_ns / wall_ns).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{profile, second, with_processes};

    #[test]
    fn one_process_fills_the_wall_time() {
        let mut profile = profile();
        profile.command.wall_ns = second(4);
        let time = TimeIo { miss_ns: second(1), lookup_ns: second(2), ..TimeIo::default() };
        profile.totals.time = Observed::Value(time);
        let split = TimeSplit::of(&profile);
        let slices = split.slices.value().unwrap_or_default();
        let kinds: Vec<_> = slices.iter().map(|slice| slice.kind).collect();
        assert_eq!(kinds, [SliceKind::Lookups, SliceKind::ReadsThatMissed, SliceKind::Rest]);
        assert_eq!(slices.iter().map(|slice| slice.ns).sum::<u64>(), second(4));
        assert_eq!(split.io_of_wall, Some(0.75));
    }

    #[test]
    fn small_classes_share_a_line_and_none_is_lost() {
        let mut profile = profile();
        profile.command.wall_ns = 1_000_000;
        let time = TimeIo {
            hit_ns: 200_000,
            wait_ns: 4_000,
            miss_ns: 3_000,
            write_ns: 2_000,
            lookup_ns: 1_000,
            ..TimeIo::default()
        };
        profile.totals.time = Observed::Value(time);
        let split = TimeSplit::of(&profile);
        let folded = split.folded(5).value().unwrap_or_default();
        let kinds: Vec<_> = folded.iter().map(|slice| (slice.kind, slice.ns)).collect();
        assert_eq!(
            kinds,
            [
                (SliceKind::ReadsFromCache, 200_000),
                (SliceKind::ReadsThatWaited, 4_000),
                (SliceKind::OtherIo, 6_000),
                (SliceKind::Rest, 790_000)
            ]
        );
        for lines in 3..9 {
            let folded = split.folded(lines).value().unwrap_or_default();
            assert!(folded.len() <= lines);
            assert_eq!(folded.iter().map(|slice| slice.ns).sum::<u64>(), 1_000_000);
        }
    }

    #[test]
    fn a_pipeline_is_its_cpu_time_and_its_waiting_too() {
        // cat of a large file into sort and uniq: I/O is 1 % of what happened.
        let mut profile = with_processes(4);
        profile.command.wall_ns = second(1);
        profile.command.user_ns = Observed::Value(second(1) / 2);
        profile.command.system_ns = Observed::Value(second(1) / 10);
        let time = TimeIo { hit_ns: second(1) / 100, ..TimeIo::default() };
        profile.totals.time = Observed::Value(time);
        let told = |profile: &Profile| {
            let slices = TimeSplit::of(profile).slices.value().unwrap_or_default();
            slices.iter().map(|slice| (slice.kind, slice.ns / 1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(
            told(&profile),
            [(SliceKind::ReadsFromCache, 10), (SliceKind::Computing, 590), (SliceKind::Rest, 400)]
        );
        profile.command.user_ns = Observed::Value(second(3));
        assert_eq!(
            told(&profile),
            [(SliceKind::ReadsFromCache, 10), (SliceKind::Computing, 3_090)]
        );
        assert_eq!(TimeSplit::of(&profile).busy_ns, Observed::Value(3_100_000_000));
    }

    #[test]
    fn one_task_computes_no_longer_than_its_io_leaves() {
        let mut profile = profile();
        profile.command.wall_ns = second(1);
        profile.command.user_ns = Observed::Value(second(1) / 10);
        // The copying of pages that were read from the device.
        profile.command.system_ns = Observed::Value(second(1) / 2);
        let time = TimeIo { miss_ns: second(1) * 4 / 5, ..TimeIo::default() };
        profile.totals.time = Observed::Value(time);
        let slices = TimeSplit::of(&profile).slices.value().unwrap_or_default();
        assert_eq!(slices.iter().map(|slice| slice.ns).sum::<u64>(), second(1));
        assert_eq!(slices.len(), 2);
    }

    #[test]
    fn parallel_processes_have_no_rest() {
        let mut profile = with_processes(4);
        profile.command.wall_ns = second(1);
        for process in &mut profile.processes {
            process.io.time =
                Observed::Value(TimeIo { hit_ns: second(1) / 2, ..TimeIo::default() });
        }
        profile.totals.time = Observed::Value(TimeIo { hit_ns: second(2), ..TimeIo::default() });
        let split = TimeSplit::of(&profile);
        assert_eq!(split.slices.value().map(|slices| slices.len()), Some(1));
        assert_eq!(split.busiest_process_io_ns.value(), Some(second(1) / 2));
        assert_eq!(split.parallelism, 2.0);
    }

    #[test]
    fn threads_that_overlap_have_no_rest() {
        let mut profile = profile();
        profile.command.wall_ns = 1;
        profile.totals.time = Observed::Value(TimeIo { hit_ns: 2, ..TimeIo::default() });
        let slices = TimeSplit::of(&profile).slices.value().unwrap_or_default();
        assert_eq!(slices.len(), 1);
    }
}
