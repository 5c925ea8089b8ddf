//! Whether a run counts: the state that it began in, what it read, and what disturbed it.
//!
//! A state just before the spawn is not proof enough: pages can be evicted while the command runs, and be back when it
//! ends. What the run itself had read from the device is the proof.

mod stored;

use hotset_facts::{BenchRun, BenchSession, Observed, StateReached, StopReason, WantedState};

use super::doubt::Doubt;
use super::order::{median, quantile, sorted};
use stored::Stored;

/// A warm state has at least this share of the pages cached; a cold one has at most the rest, beside what can't be
/// evicted.
const WARM_SHARE: f64 = 0.999;
/// A wanted share is reached within one percentage point.
const SHARE_TOLERANCE: f64 = 0.01;
/// A cold run reads at least this part of what it needs itself.
const DEVICE_SHARE: f64 = 0.95;
/// Up to so many involuntary switches cost nothing that could be measured.
const FEW_SWITCHES: u64 = 20;
/// A run may lose the CPU this many times as often as the median run of its condition: a command with more threads
/// than CPUs does it to itself.
const SWITCHES_FACTOR: f64 = 4.0;
/// The kernel counts stolen time in ticks of 10 ms, of all CPUs together.
const STEAL_SHARE: f64 = 0.01;
/// A tenth of the time is where waiting for a CPU begins to show.
const PRESSURE_SHARE: f64 = 0.10;
/// Steal and pressure may be this many times the median of the condition, for the same reason as switches.
const NOISE_FACTOR: f64 = 2.0;
/// System time per newly cached page above this many times the baseline.
const SLOW_PAGES_FACTOR: f64 = 2.0;
/// The kernel tells user time from system time by samples at timer ticks, 1 to 10 ms apart: less than a few of these above
/// what is usual is chance.
const SLOW_PAGES_EXCESS_NS: f64 = 20e6;
/// Fewer pages tell nothing about the time a page takes.
const MIN_NEW_PAGES: u64 = 256;

/// One run's verdict.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JudgedRun {
    /// The share of pages that was cached before, 0 to 1; missing where not known, or for files without pages.
    pub share_before: Option<f64>,
    /// The same right after.
    pub share_after: Option<f64>,
    /// User and system time together, in nanoseconds.
    pub cpu_ns: u64,
    /// All reasons to doubt it.
    pub doubts: Vec<Doubt>,
    /// The estimates are made from it: valid, of no warm-up, and one for each round.
    pub counted: bool,
}

impl JudgedRun {
    /// True if no doubt is so strong that the run isn't counted.
    pub fn is_valid(&self) -> bool {
        !self.doubts.iter().any(Doubt::invalidates)
    }
}

/// What is usual for one condition in this session.
#[derive(Debug, Clone, Copy)]
struct Usual {
    switches: u64,
    steal_share: f64,
    pressure_share: f64,
    ns_per_page: Option<f64>,
    /// The median of what runs read, of those that read anything; the greater one of two in the middle.
    device_bytes: u64,
}

/// Judges `runs` by the conditions and files of `session`, in their order.
pub fn judge(session: &BenchSession, runs: &[BenchRun]) -> Vec<JudgedRun> {
    let conditions = &session.conditions;
    let usual: Vec<Usual> = (0..conditions.len())
        .map(|index| Usual::of(runs.iter().filter(|run| run.condition == index)))
        .collect();
    let judge = |run: &BenchRun| match (conditions.get(run.condition), usual.get(run.condition)) {
        (Some(condition), Some(usual)) => {
            let stored = session.sets.get(condition.command).map(Stored::of).unwrap_or_default();
            let needed_bytes = stored.needed_bytes(run, usual, session.environment.page_size_bytes);
            judge_one(condition.state, run, usual, needed_bytes)
        }
        _ => JudgedRun { doubts: vec![Doubt::StateUnknown], ..JudgedRun::default() },
    };
    let mut judged: Vec<JudgedRun> = runs.iter().map(judge).collect();
    if let StopReason::Failed { condition, exit, .. } = &session.stop {
        let ended = |run: &&BenchRun| run.condition == *condition && run.exit == *exit;
        // The last one: earlier ones that ended so would have ended the session.
        if let Some(at) = runs.iter().rposition(|run| ended(&run))
            && let Some(judged) = judged.get_mut(at)
        {
            judged.doubts.push(Doubt::Failed { exit: *exit });
        }
    }
    judged
}

fn judge_one(state: WantedState, run: &BenchRun, usual: &Usual, needed_bytes: u64) -> JudgedRun {
    let mut doubts = Vec::new();
    state_doubts(state, run, &mut doubts);
    device_doubts(state, run, needed_bytes, &mut doubts);
    noise_doubts(run, usual, &mut doubts);
    if !run.inputs_changed.is_empty() {
        doubts.push(Doubt::InputsChanged { files: run.inputs_changed.len() });
    }
    JudgedRun {
        share_before: run.reached_before.as_value().and_then(share),
        share_after: run.reached_after.as_value().and_then(share),
        cpu_ns: run.user_ns.saturating_add(run.system_ns),
        doubts,
        counted: false,
    }
}

fn state_doubts(state: WantedState, run: &BenchRun, doubts: &mut Vec<Doubt>) {
    if state == WantedState::AsIs {
        return;
    }
    let Observed::Value(reached) = run.reached_before else {
        doubts.push(Doubt::StateUnknown);
        return;
    };
    if reached.unknown_files > 0 {
        doubts.push(Doubt::FilesUnknown { files: reached.unknown_files });
    }
    // Without pages every state is reached: a command that does no I/O has no other.
    let Some(share) = share(&reached) else { return };
    let evictable = reached.cached_pages.saturating_sub(reached.stuck_pages);
    let evictable_share = evictable as f64 / reached.pages as f64;
    let stuck_share = share - evictable_share;
    let is_reached = match state {
        WantedState::AsIs => true,
        WantedState::Warm => share >= WARM_SHARE,
        WantedState::Cold | WantedState::ColdAll => evictable_share <= 1.0 - WARM_SHARE + 1e-12,
        // What can't be evicted is cached also where it was not wanted.
        WantedState::Share(percent) => {
            let wanted = f64::from(percent.get()) / 100.0;
            let unwanted = (stuck_share * (1.0 - wanted)).max(stuck_share - wanted);
            let most = wanted + unwanted + SHARE_TOLERANCE + 1e-12;
            (wanted - SHARE_TOLERANCE - 1e-12..=most).contains(&share)
        }
    };
    if !is_reached {
        doubts.push(Doubt::StateNotReached { wanted: state, share });
    }
}

fn device_doubts(state: WantedState, run: &BenchRun, needed_bytes: u64, doubts: &mut Vec<Doubt>) {
    if state == WantedState::AsIs {
        return;
    }
    if state == WantedState::Warm && run.major_faults > 0 {
        doubts.push(Doubt::MajorFaults { faults: run.major_faults });
    }
    let Observed::Value(bytes) = run.device_read_bytes else {
        doubts.push(Doubt::DeviceUnknown);
        return;
    };
    if state == WantedState::Warm {
        if bytes > 0 {
            doubts.push(Doubt::DeviceRead { bytes });
        }
        return;
    }
    if (bytes as f64) < DEVICE_SHARE * needed_bytes as f64 {
        doubts.push(Doubt::DeviceReadTooLittle { bytes, needed_bytes });
    }
}

fn noise_doubts(run: &BenchRun, usual: &Usual, doubts: &mut Vec<Doubt>) {
    let limit = FEW_SWITCHES.max((SWITCHES_FACTOR * usual.switches as f64) as u64);
    if run.involuntary_switches > limit {
        doubts.push(Doubt::InvoluntarySwitches { switches: run.involuntary_switches, limit });
    }
    if let Some(share) = of_wall(run, run.steal_ns)
        && share > STEAL_SHARE.max(NOISE_FACTOR * usual.steal_share)
    {
        doubts.push(Doubt::Steal { share });
    }
    if let Some(share) = of_wall(run, run.cpu_pressure_ns)
        && share > PRESSURE_SHARE.max(NOISE_FACTOR * usual.pressure_share)
    {
        doubts.push(Doubt::CpuPressure { share });
    }
    if let (Some(ns_per_page), Some(usual_ns)) = (ns_per_page(run), usual.ns_per_page)
        && ns_per_page > SLOW_PAGES_FACTOR * usual_ns
        && run.system_ns as f64 * (1.0 - usual_ns / ns_per_page) > SLOW_PAGES_EXCESS_NS
    {
        doubts.push(Doubt::SlowPages { ns_per_page, usual_ns });
    }
}

impl Usual {
    fn of<'a>(runs: impl Iterator<Item = &'a BenchRun> + Clone) -> Self {
        let middle = |values: Vec<f64>| median(values).unwrap_or(0.0);
        // The lower quartile: in a virtual machine more than half of the first runs can pay for memory that the host
        // hadn't backed yet, and must not become the baseline.
        let per_page = sorted(runs.clone().filter_map(ns_per_page));
        let read = runs.clone().filter_map(|run| run.device_read_bytes.value());
        let mut read: Vec<u64> = read.filter(|&bytes| bytes > 0).collect();
        read.sort_unstable();
        let device_bytes = read.get(read.len() / 2).copied().unwrap_or(0);
        Self {
            switches: middle(runs.clone().map(|run| run.involuntary_switches as f64).collect())
                as u64,
            steal_share: middle(
                runs.clone().filter_map(|run| of_wall(run, run.steal_ns)).collect(),
            ),
            pressure_share: middle(
                runs.filter_map(|run| of_wall(run, run.cpu_pressure_ns)).collect(),
            ),
            ns_per_page: quantile(&per_page, 0.25),
            device_bytes,
        }
    }
}

fn of_wall(run: &BenchRun, ns: Observed<u64>) -> Option<f64> {
    let ns = ns.value()?;
    (run.wall_ns > 0).then(|| ns as f64 / run.wall_ns as f64)
}

fn share(reached: &StateReached) -> Option<f64> {
    crate::numbers::share(reached.cached_pages, reached.pages)
}

/// Pages that are cached after and weren't before: a lower bound, since others may have been evicted meanwhile.
fn new_pages(run: &BenchRun) -> Option<u64> {
    let before = run.reached_before.as_value()?.cached_pages;
    Some(run.reached_after.as_value()?.cached_pages.saturating_sub(before))
}

fn ns_per_page(run: &BenchRun) -> Option<f64> {
    let pages = new_pages(run).filter(|&pages| pages >= MIN_NEW_PAGES)?;
    Some(run.system_ns as f64 / pages as f64)
}

#[cfg(test)]
mod tests;
