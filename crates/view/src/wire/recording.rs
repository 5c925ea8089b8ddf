//! What documents about a recording say of it.

use std::borrow::Cow;
use std::time::SystemTime;

use hotset_facts::format::{KnownTime, required};
use hotset_facts::trace::{TraceHead, TraceSource};
use hotset_facts::{Command, Environment};
use serde::{Deserialize, Serialize};

/// Keys of the recording that a document is about.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct RecordingKeys<'a> {
    /// The version of hotset that wrote the trace.
    recorded_by: Cow<'a, str>,
    /// Where its records come from.
    source: TraceSource,
    /// When the recording began; null where that is not known.
    #[serde(with = "KnownTime")]
    started_at: Option<SystemTime>,
    /// The host; null where it is not known.
    #[serde(deserialize_with = "required")]
    environment: Option<Cow<'a, Environment>>,
    /// The command that was observed; null where it is not known.
    #[serde(deserialize_with = "required")]
    command: Option<Cow<'a, Command>>,
}

impl<'a> RecordingKeys<'a> {
    pub(super) fn of(head: &'a TraceHead) -> Self {
        Self {
            recorded_by: Cow::Borrowed(&head.hotset),
            source: head.source,
            started_at: head.started_at,
            environment: head.environment.as_ref().map(Cow::Borrowed),
            command: head.command.as_ref().map(Cow::Borrowed),
        }
    }

    /// A head that says this, and nothing else.
    pub(super) fn into_head(self) -> TraceHead {
        TraceHead {
            hotset: self.recorded_by.into_owned(),
            source: self.source,
            started_at: self.started_at,
            environment: self.environment.map(Cow::into_owned),
            command: self.command.map(Cow::into_owned),
            cost: None,
            memory: None,
            memory_steps: Vec::new(),
            reclaim: None,
            not_measured: Vec::new(),
            lacks: Vec::new(),
        }
    }
}
