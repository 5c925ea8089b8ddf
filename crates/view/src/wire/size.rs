//! `hotset.size/1`: how much memory a recorded program needs.

use std::borrow::Cow;
use std::path::PathBuf;

use hotset_analysis::size::{
    Must, PolicyKind, Prediction, Recommended, Sampled, Seen, SizeHost, SizeLimit, SizeSummary,
    TooLittle, VerifiedLimit, version,
};
use hotset_facts::format::{Path, required};
use hotset_facts::trace::TraceHead;
use serde::{Deserialize, Serialize};

use super::recording::RecordingKeys;
use super::{Document, Envelope, ReadError};
use crate::size::{SizedTrace, caveats, policy_word};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.size/1";

/// One line of JSON, schema `hotset.size/1`.
pub fn size_json(trace: &SizedTrace<'_>) -> Vec<u8> {
    let summary = trace.summary;
    let error = summary.prediction.as_ref().and_then(|prediction| {
        let (mean_points, worst_points) = prediction.mean_error.zip(prediction.worst_error)?;
        Some(SizeError { mean_points, worst_points, runs: prediction.runs })
    });
    let body = Whole {
        path: trace.path.map(std::path::Path::to_owned),
        recording: RecordingKeys::of(trace.head),
        seen: summary.sampled.is_none().then_some(Cow::Borrowed(&summary.seen)),
        distinct_pages: summary.distinct_pages,
        policy: policy_word(summary.policy).into(),
        kernel: summary.host.map(|host| format!("{}.{}", host.kernel.major, host.kernel.minor)),
        error,
        caveats: caveats(trace),
        miss_ns: summary.miss_ns,
        must: summary.must,
        sampled: summary.sampled,
        too_little: summary.too_little,
        limits: summary.limits.as_slice().into(),
        enough: summary.enough,
        thrash: summary.thrash,
        request: summary.request,
        limit: summary.limit,
        verified: summary.verified.as_slice().into(),
    };
    Envelope::new(SCHEMA, body).to_line()
}

/// A saved need of memory.
#[derive(Debug, Clone)]
pub struct SizeDocument {
    path: Option<PathBuf>,
    head: TraceHead,
    summary: SizeSummary,
    /// As they were written: only the recording and the version that predicted could tell them anew.
    pub caveats: Vec<String>,
}

impl SizeDocument {
    /// As a live one is shown, but for its caveats.
    pub fn trace(&self) -> SizedTrace<'_> {
        SizedTrace { path: self.path.as_deref(), head: &self.head, summary: &self.summary }
    }
}

/// What [`size_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_size(document: &Document<'_>) -> Result<SizeDocument, ReadError> {
    let whole: Whole<'_> = document.read(SCHEMA)?;
    let policy = whole.policy()?;
    let host = whole.host(policy)?;
    let seen = whole.seen.map(Cow::into_owned);
    let seen = seen.or_else(|| whole.sampled.map(|sampled| sampled.seen()));
    let summary = SizeSummary {
        seen: seen.unwrap_or_default(),
        distinct_pages: whole.distinct_pages,
        host,
        prediction: (host.is_some() || whole.error.is_some())
            .then(|| prediction(policy, whole.error)),
        policy,
        miss_ns: whole.miss_ns,
        must: whole.must,
        killed_below_bytes: None,
        sampled: whole.sampled,
        too_little: whole.too_little,
        limits: whole.limits.into_owned(),
        enough: whole.enough,
        thrash: whole.thrash,
        request: whole.request,
        limit: whole.limit,
        asked_cache_bytes: Vec::new(),
        verified: whole.verified.into_owned(),
    };
    let Whole { path, recording, caveats, .. } = whole;
    Ok(SizeDocument { path, head: recording.into_head(), summary, caveats })
}

/// With the error that was told, and without its caveats: they are sentences of the document.
fn prediction(policy: PolicyKind, error: Option<SizeError>) -> Prediction {
    Prediction {
        policy,
        mean_error: error.as_ref().map(|error| error.mean_points),
        worst_error: error.as_ref().map(|error| error.worst_points),
        runs: error.map_or(0, |error| error.runs),
        caveats: Vec::new(),
    }
}

/// How far predictions were off, in percentage points of the hit ratio.
#[derive(Serialize, Deserialize)]
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
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transform = hotset_facts::format::about("path", "The recording; null where it was not kept.")))]
pub(crate) struct Whole<'a> {
    /// The recording; null where it was not kept.
    #[serde(flatten, with = "Path::<Option<String>>")]
    path: Option<PathBuf>,
    #[serde(flatten)]
    recording: RecordingKeys<'a>,
    /// What the recording has of the program; null of one that was watched.
    #[serde(deserialize_with = "required")]
    seen: Option<Cow<'a, Seen>>,
    /// Distinct pages that it asked for.
    distinct_pages: u64,
    /// The replacement policy that was simulated, as `--policy` names it.
    policy: Cow<'a, str>,
    /// The kernel whose policy it is; null where another was asked for, or no kernel is known.
    #[serde(deserialize_with = "required")]
    kernel: Option<String>,
    /// How far its predictions were off in runs of real kernels; null where none was compared.
    #[serde(deserialize_with = "required")]
    error: Option<SizeError>,
    /// What could make the prediction wrong: a sentence each.
    caveats: Vec<String>,
    /// Nanoseconds that a page from the device takes; null where nothing tells.
    #[serde(deserialize_with = "required")]
    miss_ns: Option<f64>,
    /// What it must have beside its cache; null where nobody looked.
    #[serde(deserialize_with = "required")]
    must: Option<Must>,
    /// What was sampled of a program that was watched; null of a recording.
    #[serde(deserialize_with = "required")]
    sampled: Option<Sampled>,
    /// Why no limits are told; null where they are.
    #[serde(deserialize_with = "required")]
    too_little: Option<TooLittle>,
    /// Limits in ascending order; the last has room for all pages.
    limits: Cow<'a, [SizeLimit]>,
    /// The smallest limit that reaches the target; null where there is none.
    #[serde(deserialize_with = "required")]
    enough: Option<SizeLimit>,
    /// The largest limit at which it thrashes; null where there is none.
    #[serde(deserialize_with = "required")]
    thrash: Option<SizeLimit>,
    /// What to reserve; null where what it must have is not known.
    #[serde(deserialize_with = "required")]
    request: Option<Recommended>,
    /// What to limit it to; null where what it must have is not known.
    #[serde(deserialize_with = "required")]
    limit: Option<Recommended>,
    /// Runs of the command under limits, beside what was predicted for them; empty where it was not run.
    verified: Cow<'a, [VerifiedLimit]>,
}

impl Whole<'_> {
    fn policy(&self) -> Result<PolicyKind, ReadError> {
        let mut known = PolicyKind::ALL.into_iter();
        known.find(|&policy| policy_word(policy) == self.policy).ok_or_else(|| {
            let words = PolicyKind::ALL.map(policy_word).join(", ");
            ReadError::at("policy", format!("\"{}\"; expected one of {words}", self.policy))
        })
    }

    /// Where a kernel is named, the policy is its own, which tells whether it has the multi-gen LRU.
    fn host(&self, policy: PolicyKind) -> Result<Option<SizeHost>, ReadError> {
        let multi_gen_lru = policy == PolicyKind::Mglru;
        let host = |text: &String| match version(text) {
            Some(kernel) => Ok(SizeHost { kernel, multi_gen_lru }),
            None => {
                let text = format!("\"{text}\"; expected a version of Linux, such as \"6.12\"");
                Err(ReadError::at("kernel", text))
            }
        };
        self.kernel.as_ref().map(host).transpose()
    }
}
