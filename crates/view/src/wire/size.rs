//! `hotset.size/1`: how much memory a recorded program needs.

use hotset_analysis::size::{Must, Recommended, Seen, SizeLimit, TooLittle, VerifiedLimit};
use serde::Serialize;

use super::Envelope;
use super::recording::RecordingKeys;
use crate::size::{SizedTrace, caveats, policy_word};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.size/1";

/// One line of JSON, schema `hotset.size/1`.
pub fn size_json(trace: &SizedTrace<'_>) -> Vec<u8> {
    let (head, summary) = (trace.head, trace.summary);
    let error = summary.prediction.as_ref().and_then(|prediction| {
        let (mean_points, worst_points) = prediction.mean_error.zip(prediction.worst_error)?;
        Some(SizeError { mean_points, worst_points, runs: prediction.runs })
    });
    let version =
        |kernel: hotset_analysis::size::KernelVersion| format!("{}.{}", kernel.major, kernel.minor);
    let body = Whole {
        recording: RecordingKeys::of(head),
        seen: &summary.seen,
        distinct_pages: summary.distinct_pages,
        policy: policy_word(summary.policy),
        kernel: summary.host.map(|host| version(host.kernel)),
        error,
        caveats: caveats(trace),
        miss_ns: summary.miss_ns,
        must: summary.must,
        too_little: summary.too_little,
        limits: &summary.limits,
        enough: summary.enough,
        thrash: summary.thrash,
        request: summary.request,
        limit: summary.limit,
        verified: &summary.verified,
    };
    Envelope::new(SCHEMA, body).to_line()
}

/// How far predictions were off, in percentage points of the hit ratio.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SizeError {
    /// On average.
    mean_points: f64,
    /// At the most.
    worst_points: f64,
    /// Runs of real kernels that were compared.
    runs: u32,
}

/// What the document holds beside its envelope.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole<'a> {
    #[serde(flatten)]
    recording: RecordingKeys<'a>,
    /// What was seen of the program.
    seen: &'a Seen,
    /// Distinct pages that it asked for.
    distinct_pages: u64,
    /// The replacement policy that was simulated, as `--policy` names it.
    policy: &'a str,
    /// The kernel whose policy it is; null where another was asked for, or no kernel is known.
    kernel: Option<String>,
    /// How far its predictions were off in runs of real kernels; null where none was compared.
    error: Option<SizeError>,
    /// What could make the prediction wrong: a sentence each.
    caveats: Vec<String>,
    /// Nanoseconds that a page from the device takes; null where nothing tells.
    miss_ns: Option<f64>,
    /// What it must have beside its cache; null where nobody looked.
    must: Option<Must>,
    /// Why no limits are told; null where they are.
    too_little: Option<TooLittle>,
    /// Limits in ascending order; the last has room for all pages.
    limits: &'a [SizeLimit],
    /// The smallest limit that reaches the target; null where there is none.
    enough: Option<SizeLimit>,
    /// The largest limit at which it thrashes; null where there is none.
    thrash: Option<SizeLimit>,
    /// What to reserve; null where what it must have is not known.
    request: Option<Recommended>,
    /// What to limit it to; null where what it must have is not known.
    limit: Option<Recommended>,
    /// Runs of the command under limits, beside what was predicted for them; empty where it was not run.
    verified: &'a [VerifiedLimit],
}
