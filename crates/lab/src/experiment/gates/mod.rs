//! Whether a sample counts. A full cache before a run and after it proves nothing of what happened in between, so what the
//! run itself read decides. A sample that doesn't count is kept with its reasons.

use hotset_facts::units::{count, duration, exact_bytes, plural};
use hotset_facts::{DoubtCode, LabDoubt, LabSample, Observed, StateReached, WantedState};

use super::expects::Expects;
use hotset_sys::rawio::{Answer, Repetition};

/// A warm state has this share of the pages, in thousandths; a cold one at most the rest, beside what can't be evicted.
const WARM_PERMILLE: u64 = 999;
/// A sample that reads nothing from a device waits for a CPU where its wall time is this much above its CPU time, in
/// percent. The clock tick by which CPU time is counted on some kernels is [`TICK_NS`].
const WAITING_PERCENT: u64 = 20;
const TICK_NS: u64 = 10_000_000;
/// CPU time per page that came in, above this many times the median of the cell.
const SLOW_PAGES_FACTOR: u64 = 2;
/// Samples that a median needs before anything is slower than it.
const MIN_FOR_MEDIAN: usize = 4;
/// Fewer pages say nothing about the time of one.
const MIN_PAGES: u64 = 256;

fn doubt(code: DoubtCode, text: String) -> LabDoubt {
    LabDoubt { code, text, invalidates: true }
}

/// Whether the state was reached.
pub(super) fn state(
    wanted: WantedState,
    reached: Observed<StateReached>,
    not_small: Option<(u64, u64)>,
) -> Option<LabDoubt> {
    if let Some((faults, least)) = not_small {
        let text = format!(
            "touching the pages took {} page faults; single-page folios take at least {}",
            count(faults),
            count(least)
        );
        return Some(doubt(DoubtCode::StateNotReached, text));
    }
    let reached = match (wanted, reached) {
        (WantedState::AsIs, _) => return None,
        (_, Observed::Value(reached)) => reached,
        (_, Observed::Missing(reason)) => {
            return Some(doubt(
                DoubtCode::StateNotReached,
                format!("residency before the sample unknown: {reason}"),
            ));
        }
    };
    let StateReached { pages, cached_pages, unknown_files, .. } = reached;
    if unknown_files > 0 {
        let text =
            format!("residency before the sample unknown for {}", plural(unknown_files, "file"));
        return Some(doubt(DoubtCode::StateNotReached, text));
    }
    let share = pages.saturating_mul(WARM_PERMILLE).div_ceil(1000);
    let wants = match wanted {
        WantedState::Warm if cached_pages < share => "all of them",
        WantedState::Cold | WantedState::ColdAll if cached_pages > pages - share => "none",
        _ => return None,
    };
    let text = format!(
        "{} of {} pages were cached right before the sample; expected {wants}",
        count(cached_pages),
        count(pages)
    );
    Some(doubt(DoubtCode::StateNotReached, text))
}

/// What the probe and the kernel say about the run. `whole` is the probe's answer where the expectations are of all of it.
pub(super) fn run(expects: &Expects, did: &Repetition, whole: Option<&Answer>) -> Vec<LabDoubt> {
    let mut doubts = Vec::new();
    if let Some(answer) = whole {
        counts(expects, answer, &mut doubts);
    }
    calls(expects, did, &mut doubts);
    device(expects, did, &mut doubts);
    if expects.max_device_bytes == Some(0) {
        doubts.extend(waited(did));
    }
    doubts
}

fn counts(expects: &Expects, answer: &Answer, doubts: &mut Vec<LabDoubt>) {
    let mut exact = |what: &str, is: u64, wants: Option<u64>| {
        if let Some(wants) = wants.filter(|&wants| wants != is) {
            doubts.push(doubt(
                DoubtCode::WrongCount,
                format!("{} {what}; expected {}", count(is), count(wants)),
            ));
        }
    };
    exact("bytes", answer.bytes, expects.bytes);
    exact("operations", answer.operations(), expects.operations);
    for &(name, wants) in &expects.calls {
        exact(name, answer.calls.get(name).copied().unwrap_or(0), Some(wants));
    }
}

fn calls(expects: &Expects, did: &Repetition, doubts: &mut Vec<LabDoubt>) {
    for (what, bounds, is) in [
        ("read", expects.read_calls, did.read_calls),
        ("write", expects.write_calls, did.write_calls),
    ] {
        let (Some((least, most)), Some(is)) = (bounds, is) else { continue };
        if !(least..=most).contains(&is) {
            let text = format!(
                "the kernel counted {} {what} calls; expected {} to {}",
                count(is),
                count(least),
                count(most)
            );
            doubts.push(doubt(DoubtCode::CallsNotConfirmed, text));
        }
    }
}

fn device(expects: &Expects, did: &Repetition, doubts: &mut Vec<LabDoubt>) {
    if let (Some(most), Some(is)) = (expects.max_device_bytes, did.device_read_bytes)
        && is > most
    {
        let [is, most] = [is, most].map(exact_bytes);
        let text = format!("{is} were read from the device; expected at most {most}");
        doubts.push(doubt(DoubtCode::DeviceReadsWhileWarm, text));
    }
    if let (Some(most), Some(is)) = (expects.max_major_faults, did.major_faults)
        && is > most
    {
        let text = format!("{}; expected at most {}", plural(is, "major fault"), count(most));
        doubts.push(doubt(DoubtCode::MajorFaultsWhileWarm, text));
    }
    if let (Some(least), Some(is)) = (expects.min_device_bytes, did.device_read_bytes)
        && is < least
    {
        let [is, least] = [is, least].map(exact_bytes);
        let text = format!("{is} were read from the device; expected at least {least}");
        doubts.push(doubt(DoubtCode::TooFewDeviceBytes, text));
    }
}

fn waited(did: &Repetition) -> Option<LabDoubt> {
    let cpu_ns = did.cpu_ns?;
    let waited_ns = did.wall_ns.saturating_sub(cpu_ns);
    let allowed_ns = (did.wall_ns / 100 * WAITING_PERCENT).max(TICK_NS);
    (waited_ns > allowed_ns).then(|| {
        let preempted = did.preempted.unwrap_or(0);
        let text = format!(
            "off the CPU for {} of {} (involuntary context switches: {})",
            duration(waited_ns),
            duration(did.wall_ns),
            count(preempted)
        );
        doubt(DoubtCode::CpuTaken, text)
    })
}

/// Marks the samples of a cell in which a page that came in took more than twice the CPU time of the median sample: a host
/// that backs its guest's memory only when it is touched does that, and books it as the guest's own time.
pub(super) fn slow_pages(samples: &mut [LabSample], inserted_pages: Option<u64>) {
    let Some(pages) = inserted_pages.filter(|&pages| pages >= MIN_PAGES) else { return };
    let mut times: Vec<u64> = samples
        .iter()
        .filter(|sample| sample.is_valid())
        .filter_map(|sample| sample.cpu_ns.value())
        .collect();
    if times.len() < MIN_FOR_MEDIAN {
        return;
    }
    times.sort_unstable();
    let median = times[times.len() / 2];
    for sample in samples {
        let Some(cpu_ns) = sample.cpu_ns.value() else { continue };
        if cpu_ns > (median * SLOW_PAGES_FACTOR).max(median + TICK_NS) && sample.is_valid() {
            let text = format!(
                "{} of CPU time to read at least {} pages into the cache; the median sample took {}",
                duration(cpu_ns),
                count(pages),
                duration(median)
            );
            sample.doubts.push(doubt(DoubtCode::SlowPages, text));
        }
    }
}

#[cfg(test)]
mod tests;
