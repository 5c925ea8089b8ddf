//! `hotset.doctor/1`: what this host lets hotset see.

use hotset_facts::{Capability, Observed, Support, Verdict};
use serde::{Deserialize, Serialize};

use super::adapt::{List, Owned, Wire as _, converted, remote};
use super::intern::intern;
use super::observed::Null;
use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.doctor/1";

/// One line of JSON, schema `hotset.doctor/1`.
pub fn doctor_json(support: &Support) -> Vec<u8> {
    Envelope::new(SCHEMA, Whole { support }).to_line()
}

/// What [`doctor_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_doctor(document: &Document<'_>) -> Result<Support, ReadError> {
    document.read::<Owned<SupportDef>>(SCHEMA).map(|read| read.0)
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole<'a> {
    #[serde(flatten, with = "SupportDef")]
    support: &'a Support,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Support")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SupportDef {
    /// `uname -r`.
    kernel: String,
    /// The effective user id.
    euid: u32,
    /// All probes, in the order in which they matter.
    #[serde(with = "List::<CapabilityKeys>")]
    capabilities: Vec<Capability>,
    /// Milliseconds to load and attach the sensor here.
    #[serde(with = "Null::<u64>")]
    sensor_start_ms: Observed<u64>,
}

/// One thing that hotset would like to use.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CapabilityKeys {
    /// A stable name for scripts, e.g. `btf`.
    id: String,
    /// What it is, in a phrase.
    title: String,
    verdict: VerdictWord,
    /// What was seen: a path, a version, an error.
    detail: String,
    /// What hotset can't measure without it; empty where it is there.
    consequence: String,
    /// What a person can do about it; empty where nothing is needed or possible.
    remedy: String,
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct VerdictWord(#[serde(with = "VerdictDef")] Verdict);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Verdict", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum VerdictDef {
    Yes,
    Partly,
    No,
}

impl From<Capability> for CapabilityKeys {
    fn from(capability: Capability) -> Self {
        Self {
            id: capability.id.to_owned(),
            title: capability.title.to_owned(),
            verdict: VerdictWord(capability.verdict),
            detail: capability.detail,
            consequence: capability.consequence,
            remedy: capability.remedy,
        }
    }
}

impl From<CapabilityKeys> for Capability {
    fn from(keys: CapabilityKeys) -> Self {
        Self {
            id: intern(&keys.id),
            title: intern(&keys.title),
            verdict: keys.verdict.0,
            detail: keys.detail,
            consequence: keys.consequence,
            remedy: keys.remedy,
        }
    }
}

remote!(SupportDef => Support);
converted!(CapabilityKeys => Capability);
