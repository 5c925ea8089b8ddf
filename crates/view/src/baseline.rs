//! What `bench` and `lab` say alike of a comparison with a baseline.

use std::time::SystemTime;

use hotset_analysis::baseline::{
    Change, ChangeVerdict, ComparedWith, HostDifference, MeasuredOn, NotComparable,
};
use hotset_analysis::bench::{MIN_ROUNDS, RatioEstimate};
use hotset_facts::Observed;
use hotset_facts::format::rfc3339;

use crate::escape::escape_text;
use crate::units::{percent, plural};

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Commands in states, by their runs.
    Conditions,
    /// Cells of an experiment, by its rounds.
    Cells,
}

/// `Against the baseline main`.
pub(crate) fn title(with: &ComparedWith) -> String {
    format!("Against the baseline {}", escape_text(&with.name))
}

/// `3 sessions, 2026-11-20 to 2026-11-26`.
pub(crate) fn sessions(with: &ComparedWith) -> String {
    if with.sessions == 0 {
        return "no session of this experiment".to_owned();
    }
    between(with.sessions, with.first_at, with.last_at)
}

/// The same of sessions that began at these times.
pub fn sessions_of(times: impl Iterator<Item = SystemTime> + Clone) -> String {
    let Some((first, last)) = times.clone().min().zip(times.clone().max()) else {
        return "no session".to_owned();
    };
    between(times.count(), first, last)
}

fn between(sessions: usize, first: SystemTime, last: SystemTime) -> String {
    let day = |time| rfc3339(time).split('T').next().unwrap_or_default().to_owned();
    let (first, last) = (day(first), day(last));
    let days = if first == last { first } else { format!("{first} to {last}") };
    format!("{}, {days}", plural(sessions as u64, "session"))
}

pub(crate) fn estimate(change: &Change) -> Option<RatioEstimate> {
    let (ratio, interval) = (change.ratio?, change.interval);
    Some(RatioEstimate { ratio, interval, rounds: 0, apart: false })
}

/// `slower`, `no difference detected; …`, `not comparable: …`.
pub(crate) fn verdict(change: &Change, limit: Option<f64>, kind: Kind) -> String {
    match change.verdict {
        ChangeVerdict::Slower => match limit {
            Some(limit) if change.above_limit => {
                format!("slower, above the limit of {}", percent(limit))
            }
            Some(limit) => format!("slower, but not shown to be above {}", percent(limit)),
            None => "slower".to_owned(),
        },
        ChangeVerdict::Faster => "faster".to_owned(),
        ChangeVerdict::NoDifferenceShown => match change.smallest_effect() {
            Some(effect) => format!(
                "no difference detected; slow-downs below {} are not detectable",
                percent(effect)
            ),
            None => "no difference detected; no slow-down is detectable".to_owned(),
        },
        ChangeVerdict::NotComparable => {
            format!(
                "not comparable: {}",
                change.reason.map_or_else(String::new, |it| reason(it, kind))
            )
        }
    }
}

/// Why there is no comparison, and what to do about it.
pub(crate) fn reason(reason: NotComparable, kind: Kind) -> String {
    let (samples, it) = match kind {
        Kind::Conditions => ("runs", "command in this state"),
        Kind::Cells => ("rounds", "cell"),
    };
    match reason {
        NotComparable::NotInBaseline => format!("the baseline has no such {it}"),
        NotComparable::TooFewRuns => {
            format!("a comparison requires {MIN_ROUNDS} valid {samples}")
        }
        NotComparable::TooFewRunsThen => format!(
            "no session of the baseline has the {MIN_ROUNDS} valid {samples} that a comparison requires"
        ),
        NotComparable::OtherFileSystem => {
            "its files are on another type of file system than in the baseline; --other-host compares all the same"
                .to_owned()
        }
        NotComparable::OtherWork => {
            "it reads or writes another amount than in the baseline, or files of another size".to_owned()
        }
    }
}

/// Where other programs kept the host busy in one of the sessions.
pub(crate) fn busy<'a>(changes: impl Iterator<Item = &'a Change>) -> Option<String> {
    /// Below this the interval is hardly wider.
    const WORTH_SAYING: f64 = 0.02;
    let busiest = changes.filter_map(|change| change.busy).fold(0.0, f64::max);
    let text = || {
        format!(
            "other programs used up to {} of the CPUs during a session: intervals are wider than on a quiet host",
            percent(busiest)
        )
    };
    (busiest >= WORTH_SAYING).then(text)
}

/// Where tasks waited for a CPU more or less than then, how much of a difference that may explain.
pub(crate) fn busier(change: &Change) -> Option<String> {
    /// What is less is not worth a line.
    const WORTH_SAYING: f64 = 0.01;
    change.ratio?;
    let (who, share) = match change.waiting {
        factor if factor < 1.0 => ("now", 1.0 / factor - 1.0),
        factor => ("in the baseline", factor - 1.0),
    };
    let text = || {
        format!(
            "tasks waited for a CPU more {who}, which may explain up to {}; the interval includes it",
            percent(share)
        )
    };
    (share >= WORTH_SAYING).then(text)
}

/// `kernel: 6.1.0 in the baseline, 6.12.0 now`.
pub fn host_difference(difference: &HostDifference) -> String {
    differs(difference.what.as_str(), &difference.baseline, &difference.now)
}

/// `python: 3.11.2 in the baseline, 3.12.0 now`.
pub(crate) fn differs(what: &str, baseline: &str, now: &str) -> String {
    let (what, baseline, now) = (escape_text(what), escape_text(baseline), escape_text(now));
    format!("{what}: {baseline} in the baseline, {now} now")
}

/// A note as a sentence: with a capital letter and a full stop.
pub(crate) fn sentence(note: &str) -> String {
    let mut letters = note.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// `2026-11-20T10:00:00Z: hotset 0.1.0, AMD EPYC, 2 CPUs, Linux 6.12.0`.
pub(crate) fn measured_on(started_at: SystemTime, on: MeasuredOn<'_>) -> String {
    let cpu = match &on.host.cpu_model {
        Observed::Value(model) => escape_text(model),
        Observed::Missing(_) => "CPU not known".to_owned(),
    };
    let cpus = plural(u64::from(on.environment.cpus), "CPU");
    let (kernel, version) = (escape_text(&on.environment.kernel), escape_text(on.version));
    format!("{}: hotset {version}, {cpu}, {cpus}, Linux {kernel}", rfc3339(started_at))
}
