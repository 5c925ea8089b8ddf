//! What the cache would do at other limits.

mod bits;
mod play;
mod reading;
mod room;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::policy::{Classic, Fifo, ListSizes, Lru, Mglru};
use crate::references::References;
use play::run;

/// Which policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyKind {
    /// Least recently used.
    Lru,
    /// First in, first out.
    Fifo,
    /// The kernel's two lists, as before 6.12: [`ListSizes::Fresh`].
    Classic,
    /// The kernel's two lists with sizes up to 2 seconds old, as from 6.12 on: [`ListSizes::Refreshed`]. When they are brought up
    /// to date is not known of a run, so that it is simulated several times, with as many moments of the 2 seconds, equally
    /// far from each other; 0 is taken for 1.
    ClassicOldSizes {
        /// How many moments.
        phases: u8,
    },
    /// The kernel's multi-gen LRU.
    Mglru,
}

impl PolicyKind {
    /// The lists with sizes up to 2 seconds old, simulated at five moments, as for the errors in [`crate::evidence`].
    pub const OLD_SIZES: Self = Self::ClassicOldSizes { phases: 5 };
    /// One of each kind.
    pub const ALL: [Self; 5] = [Self::Lru, Self::Fifo, Self::Classic, Self::OLD_SIZES, Self::Mglru];

    /// How often each limit is simulated.
    fn phases(self) -> u8 {
        if let Self::ClassicOldSizes { phases } = self { phases.max(1) } else { 1 }
    }
}

/// How long references take, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// Of a page that is cached or is not read.
    pub hit_ns: u32,
    /// Of a page that is read from the device; where a request reads several, a page's share of it.
    pub miss_ns: u32,
}

/// What happened at a limit. With several phases, each number is the mean of them, rounded down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitOutcome {
    /// The limit, in pages of files.
    pub limit_pages: u64,
    /// Pages that were asked for. All are hits, misses or filled.
    pub references: u64,
    /// Pages that were cached.
    pub hits: u64,
    /// Pages that were read from the device for a request, or ahead of it.
    pub misses: u64,
    /// Pages that were read from the device beside, and not asked for before they were evicted.
    pub ahead: u64,
    /// Pages that were not cached and not read either, because all of them were written.
    pub filled: u64,
    /// Misses of pages that had been evicted; the others are first references.
    pub refaults: u64,
    /// Pages that were written to the device, because they were evicted or synced. Those that are dirty at the end are not
    /// among them.
    pub written_pages: u64,
    /// How long all took.
    pub clock_ns: u64,
    /// How much of it was waiting for the device.
    pub waited_ns: u64,
    /// The misses of the best and of the worst phase; both are `misses` for policies without phases.
    pub misses_by_phase: (u64, u64),
}

/// Simulates the references at each limit, in as many threads at a time, and returns the outcomes in the order of the limits. A
/// limit of 0 pages is taken for 1.
///
/// Memory for each thread: about 5 bytes for each page of the files, and 8 to 16 for each that is cached.
pub fn simulate(
    references: &References,
    policy: PolicyKind,
    limits_pages: &[u64],
    costs: &Costs,
    threads: usize,
) -> Vec<LimitOutcome> {
    let phases = policy.phases();
    let runs: Vec<(u64, u8)> = limits_pages
        .iter()
        .flat_map(|&limit| (0..phases).map(move |phase| (limit, phase)))
        .collect();
    let next = AtomicUsize::new(0);
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        runs.get(index).map(|&(limit, phase)| (index, limit, phase))
    };
    let work = || {
        let run = |(index, limit, phase)| (index, run_one(references, policy, limit, phase, costs));
        std::iter::from_fn(take).map(run).collect()
    };
    let mut outcomes: Vec<(usize, LimitOutcome)> =
        in_threads(threads.clamp(1, runs.len().max(1)), &work);
    outcomes.sort_unstable_by_key(|(index, _)| *index);
    let outcomes: Vec<LimitOutcome> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
    outcomes.chunks(usize::from(phases)).map(mean).collect()
}

/// What all threads return that do this work, of which this one is one.
#[expect(
    clippy::disallowed_methods,
    reason = "limits are independent, and simulating them is all that takes time"
)]
fn in_threads<T: Send>(threads: usize, work: &(impl Fn() -> Vec<T> + Sync)) -> Vec<T> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(more) => all.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

fn run_one(
    references: &References,
    policy: PolicyKind,
    limit: u64,
    phase: u8,
    costs: &Costs,
) -> LimitOutcome {
    let pages = references.numbers();
    match policy {
        PolicyKind::Lru => run(references, Lru::new(pages, limit), limit, costs),
        PolicyKind::Fifo => run(references, Fifo::new(pages, limit), limit, costs),
        PolicyKind::Classic => {
            run(references, Classic::new(pages, limit, ListSizes::Fresh), limit, costs)
        }
        PolicyKind::ClassicOldSizes { .. } => {
            let first_ns = ListSizes::REFRESH_NS * u64::from(phase) / u64::from(policy.phases());
            let sizes = ListSizes::Refreshed { first_ns };
            run(references, Classic::new(pages, limit, sizes), limit, costs)
        }
        PolicyKind::Mglru => run(references, Mglru::new(pages, limit), limit, costs),
    }
}

impl LimitOutcome {
    fn new(limit_pages: u64) -> Self {
        Self {
            limit_pages,
            references: 0,
            hits: 0,
            misses: 0,
            ahead: 0,
            filled: 0,
            refaults: 0,
            written_pages: 0,
            clock_ns: 0,
            waited_ns: 0,
            misses_by_phase: (0, 0),
        }
    }

    /// Hits of all references, from 0 to 1; none where there are no references.
    pub fn hit_ratio(&self) -> Option<f64> {
        (self.references > 0).then(|| self.hits as f64 / self.references as f64)
    }
}

/// The mean of the phases of one limit.
fn mean(phases: &[LimitOutcome]) -> LimitOutcome {
    let mean = |of: fn(&LimitOutcome) -> u64| {
        let sum: u128 = phases.iter().map(|phase| u128::from(of(phase))).sum();
        (sum / phases.len().max(1) as u128) as u64
    };
    let misses = || phases.iter().map(|phase| phase.misses);
    LimitOutcome {
        limit_pages: mean(|phase| phase.limit_pages),
        references: mean(|phase| phase.references),
        hits: mean(|phase| phase.references)
            - mean(|phase| phase.misses)
            - mean(|phase| phase.filled),
        misses: mean(|phase| phase.misses),
        ahead: mean(|phase| phase.ahead),
        filled: mean(|phase| phase.filled),
        refaults: mean(|phase| phase.refaults),
        written_pages: mean(|phase| phase.written_pages),
        clock_ns: mean(|phase| phase.clock_ns),
        waited_ns: mean(|phase| phase.waited_ns),
        misses_by_phase: (misses().min().unwrap_or(0), misses().max().unwrap_or(0)),
    }
}
