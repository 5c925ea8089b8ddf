//! `hotset.trace-info/1`: what a trace holds, in numbers.

use hotset_analysis::trace::TraceSummary;
use hotset_facts::NotMeasured;
use hotset_facts::format::NotMeasuredList;
use serde::Serialize;

use super::Envelope;
use super::recording::RecordingKeys;
use crate::trace::Trace;

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.trace-info/1";

/// One line of JSON, schema `hotset.trace-info/1`.
pub fn trace_info_json(trace: &Trace<'_>) -> Vec<u8> {
    let head = trace.head;
    let body = Whole {
        recording: RecordingKeys::of(head),
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
    #[serde(flatten)]
    recording: RecordingKeys<'a>,
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
