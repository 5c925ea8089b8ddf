//! What this host offers, as facts. What hotset does about it is decided elsewhere.

use serde::{Deserialize, Serialize};

use crate::Observed;
use crate::format::Text;

crate::words! {
    /// What a probe found.
    pub enum Verdict {
        /// There and usable.
        Yes = "yes",
        /// There, but less than the whole.
        Partly = "partly",
        /// Not there, or refused.
        No = "no",
    }
}

/// One thing that hotset would like to use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capability {
    /// A stable name for scripts, e.g. `btf`.
    #[serde(deserialize_with = "crate::format::text::read")]
    pub id: Text,
    /// What it is, in a phrase.
    #[serde(deserialize_with = "crate::format::text::read")]
    pub title: Text,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
