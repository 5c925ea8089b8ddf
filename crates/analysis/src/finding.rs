//! What a rule says when it has something to say.

use std::path::PathBuf;

use crate::SiteShare;
use crate::numbers::share;

hotset_facts::words! {
    /// How much a finding matters.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// Good to know.
        Info = "info",
        /// Worth an hour.
        Warning = "warning",
        /// A quarter of the run or more.
        Critical = "critical",
    }
}

/// A number of a finding's evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A count, or an amount of bytes, pages or nanoseconds.
    Count(u64),
    /// A mean, a ratio or a percentage.
    Real(f64),
}

/// One number that a finding rests on. The name ends in its unit: `_ns`, `_bytes`, `_pages`, `_percent`, `_calls`, …
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Its stable name.
    pub name: &'static str,
    /// Its value.
    pub value: Number,
}

impl Evidence {
    /// A count.
    pub fn count(name: &'static str, value: u64) -> Self {
        Self { name, value: Number::Count(value) }
    }

    /// A mean, a ratio or a percentage.
    pub fn real(name: &'static str, value: f64) -> Self {
        Self { name, value: Number::Real(value) }
    }
}

/// Wall time that a fix would save in a run like this one, between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Saving {
    /// The lower bound in nanoseconds; 0 where only "at most" can be said.
    pub low_ns: u64,
    /// The upper bound in nanoseconds.
    pub high_ns: u64,
    /// The lower bound as a share of the wall time, 0 to 1; none where the wall time is zero.
    pub low_of_wall: Option<f64>,
    /// The upper bound as a share of the wall time.
    pub high_of_wall: Option<f64>,
}

impl Saving {
    /// Both bounds in nanoseconds, beside the wall time that they are a part of. No bound exceeds the wall time.
    pub fn of_wall(low_ns: u64, high_ns: u64, wall_ns: u64) -> Self {
        let high_ns = high_ns.min(wall_ns);
        let low_ns = low_ns.min(high_ns);
        Self {
            low_ns,
            high_ns,
            low_of_wall: share(low_ns, wall_ns),
            high_of_wall: share(high_ns, wall_ns),
        }
    }

    /// How much this saving matters: critical from a sure quarter of the wall time on, a warning from a possible 5 %
    /// on (the default [`crate::Gate`]), else information.
    pub fn severity(&self) -> Severity {
        const CRITICAL_SHARE: f64 = 0.25;
        const WARNING_SHARE: f64 = 0.05;
        if self.low_of_wall.is_some_and(|share| share >= CRITICAL_SHARE) {
            Severity::Critical
        } else if self.high_of_wall.is_some_and(|share| share >= WARNING_SHARE) {
            Severity::Warning
        } else {
            Severity::Info
        }
    }
}

/// Something that costs time, with its evidence and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule's stable id.
    pub rule: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// One sentence, without a full stop.
    pub title: String,
    /// The numbers behind it; `saving_ns_low` and `saving_ns_high` come last where there is a saving.
    pub evidence: Vec<Evidence>,
    /// What to change.
    pub advice: String,
    /// The worst files (or directories), at most five, worst first.
    pub files: Vec<PathBuf>,
    /// What the change would save.
    pub saving: Saving,
    /// The code behind it, the largest part first; none where call sites were not asked for.
    pub sites: Vec<SiteShare>,
}

impl Finding {
    /// A finding that claims a saving; its severity follows from it.
    pub(crate) fn with_saving(
        rule: &'static str,
        title: String,
        advice: impl Into<String>,
        saving: Saving,
        mut evidence: Vec<Evidence>,
    ) -> Self {
        evidence.push(Evidence::count("saving_ns_low", saving.low_ns));
        evidence.push(Evidence::count("saving_ns_high", saving.high_ns));
        let severity = saving.severity();
        let (advice, files, sites) = (advice.into(), Vec::new(), Vec::new());
        Self { rule, severity, title, evidence, advice, files, saving, sites }
    }

    /// A finding that only informs.
    pub(crate) fn info(
        rule: &'static str,
        title: String,
        advice: impl Into<String>,
        evidence: Vec<Evidence>,
    ) -> Self {
        let saving = Saving::default();
        let severity = Severity::Info;
        let (advice, files, sites) = (advice.into(), Vec::new(), Vec::new());
        Self { rule, severity, title, evidence, advice, files, saving, sites }
    }

    /// The same finding with the files that it is about.
    pub(crate) fn about(mut self, files: Vec<PathBuf>) -> Self {
        self.files = files;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saving_never_exceeds_the_wall_time() {
        let saving = Saving::of_wall(7, 12, 10);
        assert_eq!((saving.low_ns, saving.high_ns), (7, 10));
        assert_eq!(saving.high_of_wall, Some(1.0));
        assert_eq!(Saving::of_wall(9, 3, 10).low_ns, 3);
    }

    #[test]
    fn severity_grows_with_the_share() {
        assert_eq!(Saving::of_wall(25, 30, 100).severity(), Severity::Critical);
        assert_eq!(Saving::of_wall(0, 90, 100).severity(), Severity::Warning);
        assert_eq!(Saving::of_wall(4, 4, 100).severity(), Severity::Info);
    }
}
