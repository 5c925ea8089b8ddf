//! What documents about a recording say of it.

use std::borrow::Cow;
use std::time::SystemTime;

use hotset_facts::format::KnownTime;
use hotset_facts::trace::{TraceHead, TraceSource};
use hotset_facts::{Command, Environment};
use serde::Serialize;

/// Keys of the recording that a document is about.
#[derive(Serialize)]
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
    environment: Option<Cow<'a, Environment>>,
    /// The command that was observed; null where it is not known.
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
}
