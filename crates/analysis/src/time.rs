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
    /// The wall time that remains: computing, sleeping, network, pipes.
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
    /// Processes that were seen; with more than one, slices are sums over them and don't add up to the wall time.
    pub processes: usize,
    /// The slices that are not zero, largest first; [`SliceKind::Rest`] comes last, for a single process only.
    pub slices: Observed<Vec<Slice>>,
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
    /// Set where the rest is mostly not CPU time: it is more than twice as long.
    pub rest_waits: bool,
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
        let (rest, classes): (Vec<Slice>, Vec<Slice>) =
            slices.iter().partition(|slice| slice.kind == SliceKind::Rest);
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
            slices: time.map(|time| slices(&time, wall_ns, profile.processes.len())),
            io_ns,
            io_of_wall: of_wall(io_ns),
            busiest_process_io_ns: busiest(profile, io_ns),
            user_of_wall: of_wall(profile.command.user_ns),
            system_of_wall: of_wall(profile.command.system_ns),
            rest_waits: rest_waits(profile, io_ns),
            parallelism: parallelism(profile, io_ns),
        }
    }
}

fn slices(time: &TimeIo, wall_ns: u64, processes: usize) -> Vec<Slice> {
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
    // With several processes, or threads that overlap, what remains of the wall time is nobody's.
    if processes <= 1
        && let Some(rest) = wall_ns.checked_sub(time.total_ns())
    {
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

fn rest_waits(profile: &Profile, io_ns: Observed<u64>) -> bool {
    let command = &profile.command;
    let cpu = command.user_ns.zip_with(command.system_ns, u64::saturating_add);
    let waits = |cpu: u64, io: u64| command.wall_ns.saturating_sub(io) > cpu.saturating_mul(2);
    cpu.zip_with(io_ns, waits).value().unwrap_or(false)
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
