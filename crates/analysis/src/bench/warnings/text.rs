//! The words of warnings. Times are written by whoever shows them, in the unit that was asked for.

use std::fmt::Display;

use hotset_facts::units::{duration, plural};

use super::{BenchWarning, Doubted, Ends, What};
use crate::bench::order::MIN_ROUNDS;
use crate::bench::warmup::Trend;

/// A time in nanoseconds in a unit that fits it.
pub(crate) fn default_time(ns: f64) -> String {
    duration(ns.max(0.0).round() as u64)
}

impl BenchWarning {
    /// What is doubtful, without the names of the conditions or commands; `time` writes nanoseconds.
    pub fn text(&self, time: &dyn Fn(f64) -> String) -> String {
        let several = self.subjects() > 1;
        let each = if several { " each" } else { "" };
        match &self.what {
            What::Unfinished { how } => format!("{how}: these results are partial"),
            What::NoiseFloor { undecidable_below } => format!(
                "repeated runs of one command differ; this benchmark cannot resolve differences below {:.1} %",
                100.0 * undecidable_below
            ),
            What::TooShort { median_ns, spawn_noise_ns, told_apart_ns } => {
                let [noise, apart] = [*spawn_noise_ns, *told_apart_ns].map(time);
                let (median, _) = range(*median_ns, time);
                let is = if several { "are" } else { "is" };
                format!(
                    "{median} {is} short: the start of a process varied by {noise} here, and differences below five times that, \
                     {apart}, are not claimed"
                )
            }
            What::NoValidRun { ran } => {
                format!("no valid runs ({ran} excluded); showing the estimate from all runs")
            }
            What::FewRuns(runs) => {
                let (runs, are) = counted(*runs);
                format!("{runs}{each} {are} too few for an estimate")
            }
            What::NoInterval(runs) => {
                let (runs, _) = counted(*runs);
                format!("{runs}{each}; a 95 % confidence interval requires {MIN_ROUNDS}")
            }
            What::FailedRuns { runs } => format!("{} failed", plural(*runs as u64, "run")),
            What::Doubted(doubted) => doubted.text(time),
            What::Repeated { runs, of } => format!(
                "{runs} of {of} runs excluded: valid, but another run of the round is counted"
            ),
            What::Changed { trend, is_kept_out } => changed(*trend, *is_kept_out),
            What::StuckPages { share, files } => {
                format!("{:.1} % of the pages stay cached in cold runs: {files}", 100.0 * share)
            }
            What::UnreadableFiles { files, first, reason } => format!(
                "the state of {} is neither set nor verified, such as {}: {reason}",
                plural(*files as u64, "file"),
                first.display()
            ),
        }
    }
}

impl Doubted {
    fn text(&self, time: &dyn Fn(f64) -> String) -> String {
        let Self { runs, of, for_others_too, example } = self;
        let excluded = if example.invalidates() { "excluded" } else { "with a warning" };
        let others = match other_reasons(*runs, *for_others_too) {
            words if words.is_empty() => words,
            words => format!(" ({words})"),
        };
        format!("{runs} of {of} runs {excluded}{others}, e.g. {}", example.text(time))
    }
}

/// How many of those that are excluded for one reason are excluded for another as well: reasons add up to more than is excluded.
/// Empty where none is.
pub(crate) fn other_reasons(excluded: usize, for_others_too: usize) -> String {
    match for_others_too {
        0 => String::new(),
        1 if excluded == 1 => "for another reason, too".to_owned(),
        all if all == excluded => "all of them for other reasons, too".to_owned(),
        some => format!("{some} of them for other reasons, too"),
    }
}

fn changed(trend: Trend, is_kept_out: bool) -> String {
    match trend {
        Trend::Warmup(first) if is_kept_out => {
            format!("the first {first} rounds were slower and are kept out of the estimates")
        }
        Trend::Warmup(first) => format!("the first {first} rounds were slower"),
        Trend::Slowdown(first) => format!("it became slower after the first {first} rounds"),
        Trend::Flat | Trend::Unsettled => {
            "its time changed late in the session and may change again".to_owned()
        }
    }
}

/// `4 runs`, `3 to 5 runs`, and the verb that goes with them.
fn counted(runs: Ends<usize>) -> (String, &'static str) {
    let (text, is_one) = range(runs, |runs| runs.to_string());
    match is_one && runs.most == 1 {
        true => (format!("{text} run"), "is"),
        false => (format!("{text} runs"), "are"),
    }
}

/// `4`, `3 to 5`, and whether both ends read alike.
fn range<T: Copy, W: Display + PartialEq>(ends: Ends<T>, word: impl Fn(T) -> W) -> (String, bool) {
    let (least, most) = (word(ends.least), word(ends.most));
    match least == most {
        true => (least.to_string(), true),
        false => (format!("{least} to {most}"), false),
    }
}

/// A name of which the middle is left out where it is long: it stands in a sentence, and often in many.
pub(super) fn short(name: &str) -> String {
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
