//! What a session measured: all of it is read back.

use std::ffi::OsString;
use std::time::SystemTime;

use hotset_facts::{
    BenchCommand, BenchRun, BenchSession, Condition, ConditionRole, Environment, ExitStatus,
    FileSet, LearnedIo, Observed, StopReason, Timer, WantedState, Warmup,
};
use serde::{Deserialize, Serialize};

use super::run::{RunDef, State};
use super::set::{LearnedDef, SetDef};
use crate::wire::ReadError;
use crate::wire::adapt::{List, Wire as _, converted, remote};
use crate::wire::environment::{EnvironmentDef, Time};
use crate::wire::observed::Null;
use crate::wire::path::{Hex, Shell, Words, split};
use crate::wire::process::PlainExit;

#[derive(Serialize, Deserialize)]
#[serde(remote = "BenchSession")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SessionDef {
    /// Of the envelope.
    #[serde(skip)]
    version: String,
    /// When it began.
    #[serde(with = "Time")]
    started_at: SystemTime,
    #[serde(with = "EnvironmentDef")]
    environment: Environment,
    #[serde(with = "TimerDef")]
    timer: Timer,
    /// The seed of the order within rounds.
    seed: u64,
    /// Rounds that were planned before the first one.
    planned_rounds: u32,
    /// So many first rounds were said to be a warm-up; null where the series of rounds shows it.
    #[serde(with = "WarmupKey")]
    warmup: Warmup,
    #[serde(with = "StopKeys")]
    stop: StopReason,
    /// The commands.
    #[serde(with = "List::<CommandDef>")]
    commands: Vec<BenchCommand>,
    /// The files of each command, in the order of `commands`.
    #[serde(with = "List::<SetDef>", rename = "files")]
    sets: Vec<FileSet>,
    /// What the sensor saw of each command, in the order of `commands`.
    #[serde(with = "List::<Null::<LearnedDef>>")]
    learned: Vec<Observed<LearnedIo>>,
    /// The commands in cache states that a round runs.
    #[serde(with = "List::<ConditionDef>")]
    conditions: Vec<Condition>,
    /// Every run, in order of time.
    #[serde(with = "List::<RunDef>")]
    runs: Vec<BenchRun>,
}

/// Indices must lead somewhere before anybody follows them.
pub(super) fn check(session: &BenchSession) -> Result<(), ReadError> {
    let (commands, conditions) = (session.commands.len(), session.conditions.len());
    let wrong = |place: String, of: &str, number: usize| {
        Err(ReadError::at(place, format!("there are {number} {of}; expected a smaller number")))
    };
    for (key, found) in [("files", session.sets.len()), ("learned", session.learned.len())] {
        if found != commands {
            let text = format!("{found} entries for {commands} commands; expected one for each");
            return Err(ReadError::at(key, text));
        }
    }
    for (at, condition) in session.conditions.iter().enumerate() {
        if condition.command >= commands {
            return wrong(format!("conditions[{at}].command"), "commands", commands);
        }
        if matches!(condition.role, ConditionRole::NoiseFloor { twin_of } if twin_of >= conditions)
        {
            return wrong(format!("conditions[{at}].repeats"), "conditions", conditions);
        }
    }
    match session.runs.iter().position(|run| run.condition >= conditions) {
        Some(at) => wrong(format!("runs[{at}].condition"), "conditions", conditions),
        None => Ok(()),
    }
}

/// What limits how short a time can be told.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Timer")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TimerDef {
    /// The resolution of the clock that took the wall times.
    resolution_ns: u64,
    /// How much the wall time of a command that does nothing varied here: the inter-quartile range.
    #[serde(with = "Null::<u64>")]
    spawn_noise_ns: Observed<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct WarmupKey(Option<u32>);

impl From<Warmup> for WarmupKey {
    fn from(warmup: Warmup) -> Self {
        match warmup {
            Warmup::Detect => Self(None),
            Warmup::Rounds(rounds) => Self(Some(rounds)),
        }
    }
}

impl From<WarmupKey> for Warmup {
    fn from(WarmupKey(rounds): WarmupKey) -> Self {
        rounds.map_or(Self::Detect, Self::Rounds)
    }
}

/// Why the session ended.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StopKeys {
    reason: StopWord,
    /// The condition whose command failed.
    condition: Option<usize>,
    #[serde(flatten)]
    exit: PlainExit,
    /// The end of what the failed command wrote.
    output_tail: Option<String>,
    /// The same in hexadecimal, where the text is not exact.
    output_tail_hex: Option<Hex>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum StopWord {
    PreciseEnough,
    RunsDone,
    MaxTime,
    Interrupted,
    Failed,
}

impl From<StopReason> for StopKeys {
    fn from(stop: StopReason) -> Self {
        let ended = |reason| Self {
            reason,
            condition: None,
            exit: PlainExit::default(),
            output_tail: None,
            output_tail_hex: None,
        };
        match stop {
            StopReason::PreciseEnough => ended(StopWord::PreciseEnough),
            StopReason::RunsDone => ended(StopWord::RunsDone),
            StopReason::MaxTime => ended(StopWord::MaxTime),
            StopReason::Interrupted => ended(StopWord::Interrupted),
            StopReason::Failed { condition, exit, output_tail } => {
                let (text, hex) = split(&output_tail);
                Self {
                    condition: Some(condition),
                    exit: exit.into(),
                    output_tail: Some(text),
                    output_tail_hex: hex,
                    ..ended(StopWord::Failed)
                }
            }
        }
    }
}

impl TryFrom<StopKeys> for StopReason {
    type Error = &'static str;

    fn try_from(keys: StopKeys) -> Result<Self, Self::Error> {
        Ok(match keys.reason {
            StopWord::PreciseEnough => Self::PreciseEnough,
            StopWord::RunsDone => Self::RunsDone,
            StopWord::MaxTime => Self::MaxTime,
            StopWord::Interrupted => Self::Interrupted,
            StopWord::Failed => Self::Failed {
                condition: keys.condition.ok_or("expected a number in condition")?,
                exit: ExitStatus::try_from(keys.exit)?,
                output_tail: match keys.output_tail_hex {
                    Some(hex) => hex.bytes()?,
                    None => keys.output_tail.unwrap_or_default().into_bytes(),
                },
            },
        })
    }
}

/// A command that is benchmarked.
#[derive(Serialize, Deserialize)]
#[serde(remote = "BenchCommand")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CommandDef {
    /// What people call it: its given name, or its words.
    name: String,
    /// The words that are executed, the shell's own included.
    #[serde(flatten, with = "Words")]
    argv: Vec<OsString>,
    #[serde(flatten, with = "Shell")]
    shell: Option<OsString>,
    /// Names and values that were put into its words.
    parameters: Vec<(String, String)>,
}

/// A command in a cache state.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Condition")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ConditionDef {
    /// Which of the commands, from 0.
    command: usize,
    /// The state that each run starts in.
    #[serde(with = "State")]
    state: WantedState,
    /// The condition that it repeats, so that the session shows its own noise; null for one that was asked for.
    #[serde(with = "RepeatsKey", rename = "repeats")]
    role: ConditionRole,
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RepeatsKey(Option<usize>);

impl From<ConditionRole> for RepeatsKey {
    fn from(role: ConditionRole) -> Self {
        match role {
            ConditionRole::Measured => Self(None),
            ConditionRole::NoiseFloor { twin_of } => Self(Some(twin_of)),
        }
    }
}

impl From<RepeatsKey> for ConditionRole {
    fn from(RepeatsKey(twin): RepeatsKey) -> Self {
        twin.map_or(Self::Measured, |twin_of| Self::NoiseFloor { twin_of })
    }
}

remote!(CommandDef => BenchCommand, ConditionDef => Condition);
converted!(WarmupKey => Warmup, StopKeys => StopReason, RepeatsKey => ConditionRole);
