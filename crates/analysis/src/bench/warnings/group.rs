//! Warnings that say the same of several conditions or commands, put together.

use super::{About, BenchWarning, Doubted, What};

/// Each thing once, with all that it is true of, where the first of them stood.
pub(crate) fn grouped(all: &[BenchWarning]) -> Vec<BenchWarning> {
    let mut groups: Vec<BenchWarning> = Vec::new();
    for warning in all {
        let merged = groups.iter_mut().find_map(|group| {
            let both = group.with(warning)?;
            *group = both;
            Some(())
        });
        if merged.is_none() {
            groups.push(warning.clone());
        }
    }
    groups
}

impl BenchWarning {
    /// Both in one, if they say the same of different conditions or commands.
    fn with(&self, other: &Self) -> Option<Self> {
        let about = match (&self.about, &other.about) {
            (About::Conditions(own), About::Conditions(others)) => {
                About::Conditions([own.as_slice(), others].concat())
            }
            (About::Commands(own), About::Commands(others)) => {
                About::Commands([own.as_slice(), others].concat())
            }
            _ => return None,
        };
        Some(Self { about, what: self.what.with(&other.what)? })
    }
}

impl What {
    /// Counts of runs are added up, what lies between ends is widened, and all else has to be equal.
    fn with(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (
                Self::TooShort { median_ns, spawn_noise_ns, told_apart_ns },
                Self::TooShort { median_ns: other, .. },
            ) => Some(Self::TooShort {
                median_ns: median_ns.with(*other),
                spawn_noise_ns: *spawn_noise_ns,
                told_apart_ns: *told_apart_ns,
            }),
            (Self::NoValidRun { ran }, Self::NoValidRun { ran: other }) => {
                Some(Self::NoValidRun { ran: ran + other })
            }
            (Self::FewRuns(runs), Self::FewRuns(other)) => Some(Self::FewRuns(runs.with(*other))),
            (Self::NoInterval(runs), Self::NoInterval(other)) => {
                Some(Self::NoInterval(runs.with(*other)))
            }
            (Self::FailedRuns { runs }, Self::FailedRuns { runs: other }) => {
                Some(Self::FailedRuns { runs: runs + other })
            }
            (Self::Doubted(own), Self::Doubted(other)) => own.with(other).map(Self::Doubted),
            (Self::Repeated { runs, of }, Self::Repeated { runs: other, of: of_other }) => {
                Some(Self::Repeated { runs: runs + other, of: of + of_other })
            }
            (own, other) => (own == other).then(|| own.clone()),
        }
    }
}

impl Doubted {
    /// What one state does not reach has other causes than what another does not: advice must fit all.
    fn with(&self, other: &Self) -> Option<Self> {
        let same = (self.example.as_str(), self.example.advice())
            == (other.example.as_str(), other.example.advice());
        same.then(|| Self {
            runs: self.runs + other.runs,
            of: self.of + other.of,
            for_others_too: self.for_others_too + other.for_others_too,
            example: self.example,
        })
    }
}
