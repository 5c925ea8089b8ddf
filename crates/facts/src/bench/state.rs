//! Cache states: the ones that can be wanted, and how much of one was reached.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A whole percentage from 1 to 99.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Percent(u8);

impl Percent {
    /// The percentage, or `None` outside 1 to 99: 0 is [`WantedState::Cold`] and 100 is [`WantedState::Warm`].
    pub const fn new(percent: u8) -> Option<Self> {
        if percent >= 1 && percent <= 99 { Some(Self(percent)) } else { None }
    }

    /// The number, 1 to 99.
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// The cache state that a run should start in, as far as the files of its command go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "StateName", into = "StateName")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WantedState {
    /// Whatever the runs before left.
    AsIs,
    /// No page of the command's files is cached; directory entries and inodes stay.
    Cold,
    /// Everything that the kernel lets go is gone, of all files, with directory entries and inodes (`drop_caches`).
    ColdAll,
    /// Every page of the command's files is cached.
    Warm,
    /// This share of the pages of the command's files is cached, spread evenly through all of them.
    Share(Percent),
}

/// A cache state: `as-is`, `cold`, `cold-all`, `warm`, or a percentage.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StateName(
    #[cfg_attr(
        feature = "schema",
        schemars(regex(pattern = "^(as-is|cold|cold-all|warm|[1-9][0-9]?%)$"))
    )]
    String,
);

impl From<WantedState> for StateName {
    fn from(state: WantedState) -> Self {
        Self(state.to_string())
    }
}

impl TryFrom<StateName> for WantedState {
    type Error = String;

    fn try_from(StateName(name): StateName) -> Result<Self, String> {
        let wrong = || format!("\"{name}\"; expected as-is, cold, cold-all, warm or 1% to 99%");
        Self::from_name(&name).ok_or_else(wrong)
    }
}

impl WantedState {
    /// The state by the name that [`fmt::Display`] gives it; `half` is 50 %.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "as-is" => Self::AsIs,
            "cold" => Self::Cold,
            "cold-all" => Self::ColdAll,
            "warm" => Self::Warm,
            "half" => Self::Share(Percent(50)),
            _ => Self::Share(Percent::new(name.strip_suffix('%')?.parse().ok()?)?),
        })
    }

    /// True for the two cold states.
    pub fn is_cold(self) -> bool {
        matches!(self, Self::Cold | Self::ColdAll)
    }
}

impl fmt::Display for WantedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsIs => f.pad("as-is"),
            Self::Cold => f.pad("cold"),
            Self::ColdAll => f.pad("cold-all"),
            Self::Warm => f.pad("warm"),
            Self::Share(percent) => f.pad(&format!("{}%", percent.get())),
        }
    }
}

/// What the cache held of a command's files at one moment, in base pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateReached {
    /// Pages that the files span, as far as their state could be read.
    pub pages: u64,
    /// Pages among them that were cached.
    pub cached_pages: u64,
    /// Cached pages that nobody can evict now, for the reason in `cannot_evict` of their file. At most `cached_pages`.
    pub stuck_pages: u64,
    /// Files whose state could not be read; their pages are in none of the numbers above.
    pub unknown_files: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_names_that_read_back() {
        let half = WantedState::Share(Percent(50));
        for state in [
            WantedState::AsIs,
            WantedState::Cold,
            WantedState::ColdAll,
            WantedState::Warm,
            half,
            WantedState::Share(Percent(7)),
        ] {
            assert_eq!(WantedState::from_name(&state.to_string()), Some(state));
        }
        assert_eq!(WantedState::from_name("half"), Some(half));
        for wrong in ["0%", "100%", "50", "%", "hot", ""] {
            assert_eq!(WantedState::from_name(wrong), None, "{wrong}");
        }
    }
}
