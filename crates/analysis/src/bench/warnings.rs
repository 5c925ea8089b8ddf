//! What a person should doubt about a session, with what to do about it.

use std::collections::BTreeMap;

use hotset_facts::units::{duration, plural};
use hotset_facts::{FileSet, StopReason};

use super::doubt::Doubt;
use super::order::MIN_ROUNDS;
use super::summarise::TICKS;
use super::summary::{BenchSummary, Warning};
use super::warmup::Trend;

/// Fewer runs tell next to nothing.
const FEW_RUNS: usize = 3;
/// Files that a warning names.
const NAMED: usize = 3;
/// A smaller part of the pages that can't be evicted is not worth a word.
const MIN_STUCK_SHARE: f64 = 0.001;

/// All of a session's, the gravest first.
pub(crate) fn of(summary: &BenchSummary) -> Vec<Warning> {
    let mut all = Vec::new();
    ending(summary, &mut all);
    if let Some(floor) = summary.undecidable_below {
        all.push(Warning::new(
            "noise-floor",
            format!(
                "repeated runs of one command differ; this benchmark cannot resolve differences below {:.1} %",
                100.0 * floor
            ),
            "repeat it on a quieter host, or with more rounds",
        ));
    }
    for index in 0..summary.conditions.len() {
        too_few(summary, index, &mut all);
        invalid_runs(summary, index, &mut all);
        trend(summary, index, &mut all);
    }
    for index in 0..summary.session.commands.len() {
        files(summary, index, &mut all);
    }
    all
}

fn ending(summary: &BenchSummary, all: &mut Vec<Warning>) {
    let text = match &summary.session.stop {
        StopReason::Interrupted => "interrupted: these results are partial",
        StopReason::Failed { .. } => "a command failed: these results are partial",
        StopReason::Error { .. } => {
            "something around the commands failed: these results are partial"
        }
        StopReason::PreciseEnough | StopReason::RunsDone | StopReason::MaxTime => return,
    };
    all.push(Warning::new("unfinished", text.to_owned(), ""));
}

fn too_few(summary: &BenchSummary, index: usize, all: &mut Vec<Warning>) {
    let Some(numbers) = summary.conditions.get(index) else { return };
    let label = short(&numbers.label);
    if numbers.too_short {
        let median = summary.any_median_ns(index).unwrap_or(0.0);
        all.push(Warning::new(
            "too-short",
            format!(
                "{label}: {} is short: the start of a process varied by {} here, and differences below five times that, {}, are \
                 not claimed",
                duration(median.round() as u64),
                duration((summary.told_apart_ns / TICKS).round() as u64),
                duration(summary.told_apart_ns.round() as u64)
            ),
            "let the command do its work many times",
        ));
    }
    let rounds = numbers.valid.map_or(0, |times| times.runs);
    let ran = numbers.valid_runs + numbers.invalid_runs;
    if rounds == 0 && ran > 0 {
        let text =
            format!("{label}: no valid runs ({ran} excluded); showing the estimate from all runs");
        all.push(Warning::new("no-valid-run", text, ""));
    } else if rounds < FEW_RUNS {
        let are = if rounds == 1 { "is" } else { "are" };
        let runs = plural(rounds as u64, "run");
        let text = format!("{label}: {runs} {are} too few for an estimate");
        all.push(Warning::new("few-runs", text, "use --runs to ask for more"));
    } else if rounds < MIN_ROUNDS {
        let text =
            format!("{label}: {rounds} runs; a 95 % confidence interval requires {MIN_ROUNDS}");
        all.push(Warning::new("no-interval", text, "use --runs to ask for more"));
    }
    if numbers.failed_runs > 0 {
        let text = format!("{label}: {} failed", plural(numbers.failed_runs as u64, "run"));
        all.push(Warning::new("failed-runs", text, "a failing command may do less work"));
    }
}

/// One warning for each kind of doubt, with how many runs have it.
fn invalid_runs(summary: &BenchSummary, index: usize, all: &mut Vec<Warning>) {
    let Some(numbers) = summary.conditions.get(index) else { return };
    let mut kinds: BTreeMap<&'static str, (usize, Doubt)> = BTreeMap::new();
    let mut runs = 0;
    for (run, judged) in summary.runs_of(index) {
        if summary.is_warmup(run) {
            continue;
        }
        runs += 1;
        for doubt in &judged.doubts {
            kinds.entry(doubt.as_str()).or_insert((0, *doubt)).0 += 1;
        }
    }
    for (kind, (count, doubt)) in kinds {
        let counted = if doubt.invalidates() { " excluded" } else { "" };
        let text =
            format!("{}: {count} of {runs} runs{counted}, e.g. {doubt}", short(&numbers.label));
        all.push(Warning::new(kind, text, doubt.advice()));
    }
}

fn trend(summary: &BenchSummary, index: usize, all: &mut Vec<Warning>) {
    let (Some(numbers), Some(trend)) = (summary.conditions.get(index), summary.trends.get(index))
    else {
        return;
    };
    let label = short(&numbers.label);
    let (kind, text) = match trend {
        Trend::Flat => return,
        Trend::Warmup(first) if summary.warmup_rounds as usize >= *first => (
            "warm-up",
            format!(
                "{label}: the first {first} rounds were slower and are kept out of the estimates"
            ),
        ),
        Trend::Warmup(first) => {
            ("warm-up", format!("{label}: the first {first} rounds were slower"))
        }
        Trend::Slowdown(first) => {
            ("slowdown", format!("{label}: it became slower after the first {first} rounds"))
        }
        Trend::Unsettled => (
            "unsettled",
            format!("{label}: its time changed late in the session and may change again"),
        ),
    };
    let advice = match trend {
        Trend::Warmup(_) => "--warmup N says how many rounds to leave out",
        _ => "something on the host changed meanwhile, or the command leaves something behind",
    };
    all.push(Warning::new(kind, text, advice));
}

/// Files that stay in the cache, and files that nobody could open.
fn files(summary: &BenchSummary, index: usize, all: &mut Vec<Warning>) {
    let session = &summary.session;
    let is_cold = |state: hotset_facts::WantedState| state.is_cold();
    let wants_cold = session
        .conditions
        .iter()
        .any(|condition| condition.command == index && is_cold(condition.state));
    let (Some(set), Some(command)) = (session.sets.get(index), session.commands.get(index)) else {
        return;
    };
    if wants_cold {
        all.extend(stuck(set, &short(&command.name), session.environment.page_size_bytes));
    }
    if let Some(first) = set.unreadable.first() {
        let text = format!(
            "{}: the state of {} files is neither set nor verified, such as {}: {}",
            short(&command.name),
            set.unreadable.len(),
            first.path.display(),
            first.reason
        );
        all.push(Warning::new("unreadable-files", text, "run as their owner, or as root"));
    }
}

/// A name of which the middle is left out where it is long: it stands in a sentence, and often in many.
fn short(name: &str) -> String {
    const HEAD: usize = 30;
    const TAIL: usize = 20;
    let length = name.chars().count();
    if length <= HEAD + TAIL + 1 {
        return name.to_owned();
    }
    let head: String = name.chars().take(HEAD).collect();
    let tail: String = name.chars().skip(length - TAIL).collect();
    format!("{head}…{tail}")
}

fn stuck(set: &FileSet, name: &str, page_size_bytes: u64) -> Option<Warning> {
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
    let text = format!(
        "{name}: {:.1} % of the pages stay cached in cold runs: {}{more}",
        100.0 * share,
        named.join(", ")
    );
    Some(Warning::new("stuck-pages", text, "drop_caches can't evict these either"))
}
