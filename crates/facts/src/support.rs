//! What this host offers, as facts. What hotset does about it is decided elsewhere.

use crate::Observed;

/// What a probe found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// There and usable.
    Yes,
    /// There, but less than the whole.
    Partly,
    /// Not there, or refused.
    No,
}

/// One thing that hotset would like to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// A stable name for scripts, e.g. `btf`.
    pub id: &'static str,
    /// What it is, in a phrase.
    pub title: &'static str,
    /// Whether it is there.
    pub verdict: Verdict,
    /// What was seen: a path, a version, an error.
    pub detail: String,
    /// What hotset can't measure without it; empty where it is there.
    pub consequence: String,
    /// What a person can do about it; empty where nothing is needed or possible.
    pub remedy: String,
}

/// Everything that `hotset doctor` looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// `uname -r`.
    pub kernel: String,
    /// The effective user id.
    pub euid: u32,
    /// All probes, in the order in which they matter.
    pub capabilities: Vec<Capability>,
    /// Milliseconds to load and attach the sensor here, where that was tried.
    pub sensor_start_ms: Observed<u64>,
}
