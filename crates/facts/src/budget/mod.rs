//! `hotset.toml`: what commands may do with files, as a person wrote it down.

mod limit;
mod limits;

use std::collections::BTreeMap;
use std::time::Duration;

pub use limit::{Amount, Bound, Limit, exact, rounded};
pub use limits::Limits;

use serde::{Deserialize, Deserializer};

use crate::WantedState;
use crate::units::parse_duration;

/// A budget file: checks, in the order in which they are run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Budget {
    /// The checks, in the order in which they are run.
    #[serde(default, rename = "check")]
    pub checks: Vec<Check>,
}

/// A command, and what it may do.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// What people call it, unique in the file.
    pub name: String,
    /// The command's words. A single text is split into words as a shell would, and run without one.
    pub command: Words,
    /// Variables that are set for it, besides those of hotset's own environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Where it runs, relative to the budget file; where that file is, if nothing is said.
    #[serde(default)]
    pub directory: Option<String>,
    /// The cache state that each run starts in.
    #[serde(default = "as_is")]
    pub state: WantedState,
    /// Files and directories that the state is set on, relative to the directory; those that the command uses, if nothing is said.
    #[serde(default)]
    pub files: Vec<String>,
    /// A command that is run before each run, and before the state is set.
    #[serde(default)]
    pub prepare: Option<Words>,
    /// Where it writes to: "null" is /dev/null, which some programs (grep, tar) notice and do less for, "inherit" is where hotset writes
    /// to; any other is a file, relative to the directory, and emptied before each run. Nowhere, if nothing is said.
    #[serde(default)]
    pub output: Option<String>,
    /// How long a run may take, such as "30s"; a longer one is ended, and fails. Ten minutes, if nothing is said.
    #[serde(default, deserialize_with = "timeout")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub timeout: Option<Duration>,
    /// How often a failed check is run again before it fails; --retries, if nothing is said.
    #[serde(default)]
    pub retries: Option<u32>,
    /// The exit code that the command must end with.
    #[serde(default)]
    pub exit_code: u8,
    /// A profile of an earlier run, relative to the budget file: for limits "above the baseline", and to show what changed.
    #[serde(default)]
    pub baseline: Option<String>,
    /// Findings that may not appear, by rule (docs/rules.md).
    #[serde(default)]
    pub forbid: Vec<String>,
    /// Limits on what all its processes did to all files.
    #[serde(default)]
    pub limits: Limits,
    /// Limits on what was done to some files.
    #[serde(default)]
    pub file: Vec<FileLimits>,
    /// Limits on what some processes did.
    #[serde(default)]
    pub process: Vec<ProcessLimits>,
}

fn as_is() -> WantedState {
    WantedState::AsIs
}

/// Limits on files together.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileLimits {
    /// Which files: a pattern of paths with `*`, `?`, `**` and `{a,b}`, from the root, or from the check's directory.
    pub pattern: String,
    /// Which of these not, by patterns too.
    #[serde(default)]
    pub except: Vec<String>,
    /// What all of them together may come to.
    pub limits: Limits,
}

/// Limits on processes together.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessLimits {
    /// Which processes: their kernel's short name, as `ps -o comm` shows it.
    pub name: String,
    /// What all of them together may come to.
    pub limits: Limits,
}

/// Words of a command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Words {
    /// To be split as a shell would.
    Line(String),
    /// As they are.
    List(Vec<String>),
}

fn timeout<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    let compact: String = text.split_whitespace().collect();
    let read = parse_duration(&compact).map_err(|why| format!("\"{text}\": {why}"));
    read.map(Some).map_err(serde::de::Error::custom)
}
