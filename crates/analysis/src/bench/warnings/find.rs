//! What there is to warn of.

use std::collections::BTreeMap;

use hotset_facts::{FileSet, StopReason, WantedState};

use super::{BenchWarning, Doubted, Ends, What};
use crate::bench::order::MIN_ROUNDS;
use crate::bench::summarise::TICKS;
use crate::bench::summary::BenchSummary;
use crate::bench::warmup::Trend;

/// Fewer runs tell next to nothing.
const FEW_RUNS: usize = 3;
/// Files that a warning names.
const NAMED: usize = 3;
/// A smaller part of the pages that can't be evicted is not worth a word.
const MIN_STUCK_SHARE: f64 = 0.001;

/// All of a session's, the gravest first.
pub(crate) fn of(summary: &BenchSummary) -> Vec<BenchWarning> {
    let mut all = Vec::new();
    let floor = summary.undecidable_below;
    let session = [
        ending(&summary.session.stop),
        floor.map(|undecidable_below| What::NoiseFloor { undecidable_below }),
    ];
    all.extend(session.into_iter().flatten().map(BenchWarning::of_session));
    for index in 0..summary.conditions.len() {
        let mut own = Vec::new();
        too_few(summary, index, &mut own);
        invalid_runs(summary, index, &mut own);
        own.extend(trend(summary, index));
        all.extend(own.into_iter().map(|what| BenchWarning::of_condition(index, what)));
    }
    for index in 0..summary.session.commands.len() {
        let own = files(summary, index);
        all.extend(own.into_iter().map(|what| BenchWarning::of_command(index, what)));
    }
    all
}

fn ending(stop: &StopReason) -> Option<What> {
    let how = match stop {
        StopReason::Interrupted => "interrupted",
        StopReason::Failed { .. } => "a command failed",
        StopReason::Error { .. } => "something around the commands failed",
        StopReason::PreciseEnough
        | StopReason::TooShort
        | StopReason::RunsDone
        | StopReason::MaxTime => return None,
    };
    Some(What::Unfinished { how })
}

fn too_few(summary: &BenchSummary, index: usize, all: &mut Vec<What>) {
    let Some(numbers) = summary.conditions.get(index) else { return };
    if numbers.too_short {
        all.push(What::TooShort {
            median_ns: Ends::of(summary.any_median_ns(index).unwrap_or(0.0)),
            spawn_noise_ns: summary.told_apart_ns / TICKS,
            told_apart_ns: summary.told_apart_ns,
        });
    }
    let rounds = numbers.valid.map_or(0, |times| times.runs);
    let ran = numbers.valid_runs + numbers.invalid_runs;
    if rounds == 0 && ran > 0 {
        all.push(What::NoValidRun { ran });
    } else if rounds < FEW_RUNS {
        all.push(What::FewRuns(Ends::of(rounds)));
    } else if rounds < MIN_ROUNDS {
        all.push(What::NoInterval(Ends::of(rounds)));
    }
    if numbers.failed_runs > 0 {
        all.push(What::FailedRuns { runs: numbers.failed_runs });
    }
}

/// One for each kind of doubt, with how many runs have it.
fn invalid_runs(summary: &BenchSummary, index: usize, all: &mut Vec<What>) {
    let mut kinds: BTreeMap<&'static str, Doubted> = BTreeMap::new();
    let (mut of, mut repeated) = (0, 0);
    let own = summary.runs_of(index).filter(|(run, _)| !summary.is_warmup(run));
    for (_, judged) in own {
        of += 1;
        let reasons = judged.doubts.iter().filter(|doubt| doubt.invalidates()).count();
        repeated += usize::from(reasons == 0 && !judged.counted);
        for doubt in &judged.doubts {
            let none = Doubted { runs: 0, of: 0, for_others_too: 0, example: *doubt };
            let kind = kinds.entry(doubt.as_str()).or_insert(none);
            kind.runs += 1;
            kind.for_others_too += usize::from(doubt.invalidates() && reasons > 1);
        }
    }
    // A failure that ended the session is told with how it ended.
    if kinds.contains_key("failed") {
        all.retain(|what| !matches!(what, What::FailedRuns { .. }));
    }
    all.extend(kinds.into_values().map(|kind| What::Doubted(Doubted { of, ..kind })));
    if repeated > 0 {
        all.push(What::Repeated { runs: repeated, of });
    }
}

fn trend(summary: &BenchSummary, index: usize) -> Option<What> {
    let trend = *summary.trends.get(index).filter(|trend| **trend != Trend::Flat)?;
    let is_kept_out =
        matches!(trend, Trend::Warmup(first) if summary.warmup_rounds as usize >= first);
    Some(What::Changed { trend, is_kept_out })
}

/// Files that stay in the cache, and files that nobody could open.
fn files(summary: &BenchSummary, index: usize) -> Vec<What> {
    let session = &summary.session;
    let is_cold = |state: WantedState| state.is_cold();
    let wants_cold = session
        .conditions
        .iter()
        .any(|condition| condition.command == index && is_cold(condition.state));
    let Some(set) = session.sets.get(index) else { return Vec::new() };
    let page_size_bytes = session.environment.page_size_bytes;
    let stuck = wants_cold.then(|| stuck(set, page_size_bytes)).flatten();
    let unreadable = set.unreadable.first().map(|first| What::UnreadableFiles {
        files: set.unreadable.len(),
        first: first.path.clone(),
        reason: first.reason.clone(),
    });
    stuck.into_iter().chain(unreadable).collect()
}

fn stuck(set: &FileSet, page_size_bytes: u64) -> Option<What> {
    let mut members: Vec<_> =
        set.members.iter().filter_map(|member| Some((member, member.cannot_evict?))).collect();
    members.sort_by_key(|(_, stuck)| std::cmp::Reverse(stuck.pages));
    let pages: u64 = members.iter().map(|(_, stuck)| stuck.pages).sum();
    let page = page_size_bytes.max(1);
    let whole: u64 = set.members.iter().map(|member| member.size_bytes.div_ceil(page)).sum();
    let share = crate::numbers::share(pages, whole)?;
    if share < MIN_STUCK_SHARE {
        return None;
    }
    let named: Vec<String> = members
        .iter()
        .take(NAMED)
        .map(|(member, stuck)| format!("{} ({})", member.path.display(), stuck.reason.phrase()))
        .collect();
    let more = match members.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    Some(What::StuckPages { share, files: format!("{}{more}", named.join(", ")) })
}
