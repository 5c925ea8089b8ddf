//! What a person should doubt about a session, with what to do about it.
//!
//! Each warning is about one condition or command when it is found. A reader is told once what is true of several:
//! `grouped` puts these together, and `text` says both.

mod find;
mod group;
#[cfg(test)]
mod tests;
mod text;

use std::path::PathBuf;

use super::doubt::Doubt;
use super::summary::{BenchSummary, Warning};
use super::warmup::Trend;

pub(crate) use find::of;
pub(crate) use group::grouped;
pub(crate) use text::{default_time, other_reasons};

/// One doubt about a session.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchWarning {
    /// What it is about.
    pub about: About,
    what: What,
}

/// What a warning is about: by place in the session's lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// The session as a whole.
    Session,
    /// These conditions.
    Conditions(Vec<usize>),
    /// These commands.
    Commands(Vec<usize>),
}

/// The smallest and the largest value of the conditions that a warning is about.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ends<T> {
    least: T,
    most: T,
}

impl<T: Copy + PartialOrd> Ends<T> {
    fn of(value: T) -> Self {
        Self { least: value, most: value }
    }

    fn with(self, other: Self) -> Self {
        Self {
            least: if other.least < self.least { other.least } else { self.least },
            most: if other.most > self.most { other.most } else { self.most },
        }
    }
}

/// What is doubtful, with its numbers.
#[derive(Debug, Clone, PartialEq)]
enum What {
    /// It ended before it was done.
    Unfinished { how: &'static str },
    /// Runs of one command differ from each other by more than chance.
    NoiseFloor { undecidable_below: f64 },
    /// The medians are so short that the start of a process blurs them.
    TooShort { median_ns: Ends<f64>, spawn_noise_ns: f64, told_apart_ns: f64 },
    /// None of so many runs is valid.
    NoValidRun { ran: usize },
    /// Fewer than an estimate takes.
    FewRuns(Ends<usize>),
    /// Fewer than an interval takes.
    NoInterval(Ends<usize>),
    /// The commands of so many runs failed.
    FailedRuns { runs: usize },
    /// So many of the runs have this doubt.
    Doubted(Doubted),
    /// So many of the runs were repeated, and their repetitions count.
    Repeated { runs: usize, of: usize },
    /// The times changed over the session.
    Changed { trend: Trend, is_kept_out: bool },
    /// Pages that no cold state can do without.
    StuckPages { share: f64, files: String },
    /// Files that nobody could look at.
    UnreadableFiles { files: usize, first: PathBuf, reason: String },
}

/// Runs with a doubt of one kind.
#[derive(Debug, Clone, PartialEq)]
struct Doubted {
    runs: usize,
    /// Of so many.
    of: usize,
    /// Those of `runs` that are excluded for another reason as well.
    for_others_too: usize,
    /// The first one's.
    example: Doubt,
}

impl BenchWarning {
    fn of_session(what: What) -> Self {
        Self { about: About::Session, what }
    }

    fn of_condition(index: usize, what: What) -> Self {
        Self { about: About::Conditions(vec![index]), what }
    }

    fn of_command(index: usize, what: What) -> Self {
        Self { about: About::Commands(vec![index]), what }
    }

    /// The word for scripts.
    pub fn kind(&self) -> &'static str {
        match &self.what {
            What::Unfinished { .. } => "unfinished",
            What::NoiseFloor { .. } => "noise-floor",
            What::TooShort { .. } => "too-short",
            What::NoValidRun { .. } => "no-valid-run",
            What::FewRuns(_) => "few-runs",
            What::NoInterval(_) => "no-interval",
            What::FailedRuns { .. } => "failed-runs",
            What::Doubted(doubted) => doubted.example.as_str(),
            What::Repeated { .. } => "repeated",
            What::Changed { trend, .. } => trend.as_str(),
            What::StuckPages { .. } => "stuck-pages",
            What::UnreadableFiles { .. } => "unreadable-files",
        }
    }

    /// What to do about it; may be empty.
    pub fn advice(&self) -> &'static str {
        match &self.what {
            What::Unfinished { .. } | What::NoValidRun { .. } | What::Repeated { .. } => "",
            What::NoiseFloor { .. } => "repeat it on a quieter host, or with more rounds",
            What::TooShort { .. } => "let the command do its work many times",
            What::FewRuns(_) | What::NoInterval(_) => "use --runs to ask for more",
            What::FailedRuns { .. } => "a failing command may do less work",
            What::Doubted(doubted) => doubted.example.advice(),
            What::Changed { trend: Trend::Warmup(_), .. } => {
                "--warmup N says how many rounds to leave out"
            }
            What::Changed { .. } => {
                "something on the host changed meanwhile, or the command leaves something behind"
            }
            What::StuckPages { .. } => "drop_caches can't evict these either",
            What::UnreadableFiles { .. } => "run as their owner, or as root",
        }
    }

    /// How many conditions or commands it is about.
    fn subjects(&self) -> usize {
        match &self.about {
            About::Session => 1,
            About::Conditions(all) | About::Commands(all) => all.len(),
        }
    }

    /// By itself, for a reader who knows conditions by their labels.
    pub(super) fn alone(&self, summary: &BenchSummary) -> Warning {
        let labels: Vec<String> = match &self.about {
            About::Session => Vec::new(),
            About::Conditions(all) => all
                .iter()
                .filter_map(|&index| Some(text::short(&summary.conditions.get(index)?.label)))
                .collect(),
            About::Commands(all) => all
                .iter()
                .filter_map(|&index| Some(text::short(&summary.session.commands.get(index)?.name)))
                .collect(),
        };
        let text = self.text(&default_time);
        let text = if labels.is_empty() { text } else { format!("{}: {text}", labels.join(", ")) };
        Warning { kind: self.kind(), text, advice: self.advice().to_owned() }
    }
}
