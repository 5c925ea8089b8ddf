//! `hotset.trace-info/1`: what a trace holds, in numbers.

use std::time::SystemTime;

use hotset_analysis::trace::TraceSummary;
use hotset_facts::format::{KnownTime, NotMeasuredList};
use hotset_facts::trace::TraceSource;
use hotset_facts::{Command, Environment, NotMeasured};
use serde::Serialize;

use super::Envelope;
use crate::trace::Trace;

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.trace-info/1";

/// One line of JSON, schema `hotset.trace-info/1`.
pub fn trace_info_json(trace: &Trace<'_>) -> Vec<u8> {
    let head = trace.head;
    let body = Whole {
        recorded_by: &head.hotset,
        source: head.source,
        started_at: &head.started_at,
        environment: head.environment.as_ref(),
        command: head.command.as_ref(),
        file_bytes: trace.file_bytes,
        lacks: &head.lacks,
        not_measured: &head.not_measured,
        summary: trace.summary,
    };
    Envelope::new(SCHEMA, body).to_line()
}

/// What the document holds beside its envelope.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole<'a> {
    /// The version of hotset that wrote the trace.
    recorded_by: &'a str,
    /// Where its records come from.
    source: TraceSource,
    /// When the recording began; null where that is not known.
    #[serde(with = "KnownTime")]
    started_at: &'a Option<SystemTime>,
    /// The host; null where it is not known.
    environment: Option<&'a Environment>,
    /// The command that was observed; null where it is not known.
    command: Option<&'a Command>,
    /// The size of the trace's file; null where it is not known.
    file_bytes: Option<u64>,
    /// What its source could not know, or what was lost on the way: a sentence each.
    lacks: &'a [String],
    /// What its records lack, with reasons.
    #[serde(with = "NotMeasuredList")]
    not_measured: &'a Vec<NotMeasured>,
    /// It in numbers.
    #[serde(flatten)]
    summary: &'a TraceSummary,
}
