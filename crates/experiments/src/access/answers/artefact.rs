//! Did mapping win the backward run only because the run before had filled the cache?

use hotset_analysis::lab::ConstLevel::{Name, Number};
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, words};
use hotset_facts::Observed;

/// What the article compared, the one in question first.
const METHODS: [&str; 3] = ["mmap", "read", "fread"];

struct Both<'a> {
    method: &'static str,
    cold: MeasuredCell<'a>,
    after: MeasuredCell<'a>,
}

pub(super) fn of(all: &Cells<'_>, read_ahead_kb: Observed<u64>) -> Option<LabAnswer> {
    let backwards = all.with(&[("order", Name("reverse"))]);
    let after = backwards.with(&[("state", Name("after-sequential"))]);
    let block = *after.numbers("block_bytes").first()?;
    let backwards = backwards.with(&[("block_bytes", Number(block))]);
    let both: Vec<Both<'_>> = METHODS
        .into_iter()
        .filter_map(|method| {
            let one = |state| backwards.one(&[("method", Name(method)), ("state", Name(state))]);
            Some(Both { method, cold: one("cold")?, after: one("after-sequential")? })
        })
        .collect();
    let (mapped, others) = both.split_first().filter(|(first, _)| first.method == "mmap")?;
    let next = others.iter().min_by(|a, b| a.cold.median.total_cmp(&b.cold.median))?;
    let ratio = mapped.cold.to(&next.cold)?;
    let (other, times) = (next.method, words::times(ratio.ratio));
    let verdict = match ratio.interval {
        Some(interval) if interval.low > 1.0 => format!(
            "No: from a cache that was verified to be cold, mmap still wins the backward run; {other} takes {times} as long."
        ),
        Some(interval) if interval.high < 1.0 => format!(
            "Yes: from a cache that was verified to be cold, mmap does not win the backward run; {other} takes {times} as long."
        ),
        Some(_) => format!(
            "From a cache that was verified to be cold, no difference between mmap and {other} is shown."
        ),
        None => format!(
            "Too few rounds to settle it; from a verified cold cache {other} took {times} as long as mmap."
        ),
    };
    let evidence = both.iter().flat_map(|pair| [pair.cold.id(), pair.after.id()]).collect();
    let question =
        "Did mmap win the backward run only because the run before had filled the cache?";
    let answer = format!("{verdict} {} {}", device(mapped, next, read_ahead_kb), left(&both));
    Some(LabAnswer::of_ratio(question, answer, &ratio, evidence))
}

/// Why: how much each reads from the device at once.
fn device(mapped: &Both<'_>, next: &Both<'_>, read_ahead_kb: Observed<u64>) -> String {
    let faults = |one: &Both<'_>| one.cold.numbers.major_faults;
    let bytes = |one: &Both<'_>| one.cold.numbers.device_read_bytes;
    match (bytes(mapped), bytes(next), faults(mapped)) {
        (Some(mapped_bytes), Some(next_bytes), Some(faults)) => format!(
            "mmap read {} from the device in {}, {} read {}; the read-ahead here, by which a fault reads around \
             itself, is {}.",
            words::bytes(mapped_bytes as u64),
            hotset_facts::units::plural(faults.round() as u64, "fault"),
            next.method,
            words::bytes(next_bytes as u64),
            match read_ahead_kb.value() {
                Some(kb) => words::bytes(kb.saturating_mul(1024)),
                None => "not known".to_owned(),
            }
        ),
        _ => "What each read from the device is not known.".to_owned(),
    }
}

/// What the suspicion is worth: the same run after a sequential one.
fn left(both: &[Both<'_>]) -> String {
    let each: Vec<String> = both
        .iter()
        .map(|pair| {
            let (cold, after) = (words::time(pair.cold.median), words::time(pair.after.median));
            let cached = match pair.after.numbers.cached_before {
                Some((least, _)) => format!(", {} cached", words::percent(least)),
                None => String::new(),
            };
            format!("{} {after} instead of {cold}{cached}", pair.method)
        })
        .collect();
    format!("After a sequential run by the same method: {}.", each.join("; "))
}
