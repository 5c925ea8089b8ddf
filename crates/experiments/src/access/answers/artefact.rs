//! Does mapping win the backward run only because the previous run filled the cache?

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
    let (other, speed) = (next.method, words::speed(&ratio));
    let verdict = match ratio.interval {
        Some(interval) if interval.low > 1.0 => format!(
            "No: from a verified cold cache, mmap still wins the backward run; it is {speed} than {other}, the next."
        ),
        Some(interval) if interval.high < 1.0 => format!(
            "Yes: from a verified cold cache, mmap does not win the backward run; it is {speed} as {other}."
        ),
        Some(_) => format!(
            "From a verified cold cache, no difference between mmap and {other} was detected."
        ),
        None => format!(
            "Too few rounds to tell; from a verified cold cache, mmap was {} as fast as {other}.",
            words::times(ratio.ratio)
        ),
    };
    let evidence = both.iter().flat_map(|pair| [pair.cold.id(), pair.after.id()]).collect();
    let question = "Does mmap win the backward run only because the previous run filled the cache?";
    let answer = format!("{verdict} {} {}", device(mapped, next, read_ahead_kb), left(&both));
    Some(LabAnswer::of_ratio(question, answer, &ratio, evidence))
}

/// Why: how much each reads from the device at once.
fn device(mapped: &Both<'_>, next: &Both<'_>, read_ahead_kb: Observed<u64>) -> String {
    let faults = |one: &Both<'_>| one.cold.numbers.major_faults;
    let bytes = |one: &Both<'_>| one.cold.numbers.device_read_bytes;
    match (bytes(mapped), bytes(next), faults(mapped)) {
        (Some(mapped_bytes), Some(next_bytes), Some(faults)) => format!(
            "Read from the device: {} by mmap in {}, {} by {}. A page fault reads a block of the size of the device's \
             read-ahead around itself, {}.",
            words::bytes(mapped_bytes as u64),
            hotset_facts::units::plural(faults.round() as u64, "fault"),
            words::bytes(next_bytes as u64),
            next.method,
            match read_ahead_kb.value() {
                Some(kb) => format!("{} here", words::bytes(kb.saturating_mul(1024))),
                None => "which is unknown here".to_owned(),
            }
        ),
        _ => "How much each read from the device was not measured.".to_owned(),
    }
}

/// What the suspicion is worth: the same run after a sequential one.
fn left(both: &[Both<'_>]) -> String {
    let each: Vec<String> = both
        .iter()
        .map(|pair| {
            let (cold, after) = (words::time(pair.cold.median), words::time(pair.after.median));
            let cached = match pair.after.numbers.cached_before {
                Some((least, _)) => format!(" ({} cached)", words::percent(least)),
                None => String::new(),
            };
            format!("{} takes {after} instead of {cold}{cached}", pair.method)
        })
        .collect();
    format!("After a sequential run by the same method: {}.", each.join("; "))
}
