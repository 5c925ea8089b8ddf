//! What hotset writes as JSON, and reads back: a file a format.
//!
//! A fact is its own format (`hotset_facts::format`). Here stands what makes documents of facts: the envelope, numbers that follow
//! from them, rows that are written as they come, and reading with errors that name the place. `schema/` is generated from the same
//! declarations (see `schema_tests.rs`). What holds for all of them is in `docs/formats.md`:
//!
//! - `schema` names the format and its version, `hotset` the version of the program that wrote it.
//! - A path is text in `path`, and exact in `path_hex` where the text is not (`hotset_facts::format::Path`).
//! - A number that could not be measured is null, and `missing` says why (`observed.rs`). No key is left out.
//! - What was measured is read back as it was. What follows from it is written for other readers, and derived again by
//!   ours: a saved result and a live one take the same road to a page.
//! - A reader passes over keys that it doesn't know, so that a version can gain some.

pub(crate) mod baseline;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod control;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod explanation;

mod findings;
pub(crate) mod fleet;
pub(crate) mod lab;
pub(crate) mod lab_baseline;
pub(crate) mod observed;
pub(crate) mod profile;
#[cfg(test)]
mod profile_tests;
mod read;
mod recording;
pub(crate) mod replay;
#[cfg(test)]
mod required_tests;
pub(crate) mod residency;
pub(crate) mod save;
#[cfg(test)]
pub(crate) mod schema_tests;
pub(crate) mod size;
pub(crate) mod stat;
pub(crate) mod system;
#[cfg(test)]
pub(crate) mod testing;
pub mod top;
mod trace_info;

use std::borrow::Cow;

use serde::Serialize;

pub use baseline::{baseline_json, read_baseline};
pub use bench::{read_bench, write_bench_json};
pub use check::check_json;
pub use control::{ControlDocument, control_json, read_control};
pub use diff::{diff_json, read_diff};

pub use doctor::{doctor_json, read_doctor};
pub use explanation::{ExplanationDocument, explanation_json, read_explanation};
pub use fleet::{fleet_json, read_fleet};
pub use lab::{read_lab, write_lab_json};
pub use lab_baseline::{lab_baseline_json, read_lab_baseline};
pub(crate) use observed::to_object;
pub use profile::{ProfileDocument, read_profile, write_profile_json};
pub use read::{Document, ReadError, documents};
pub use replay::{read_replay, replay_json};
pub use residency::{
    Listing, Sums, json_directories, json_directory, json_file, json_head, json_tail, read_listing,
};
pub use save::{read_restore, read_save, restore_json, save_json};
pub use size::{SizeDocument, read_size, size_json};
pub use stat::{StatRecord, json_line, read_stat};
pub use system::{read_system, system_json};
pub use trace_info::trace_info_json;

/// The command that saves documents of this schema as baselines, in any version; none where they are no baselines.
pub fn saves_baselines(schema: &str) -> Option<&'static str> {
    let of = |known: &str| known.split('/').next() == schema.split('/').next();
    let all = [(baseline::SCHEMA, "bench"), (lab_baseline::SCHEMA, "lab")];
    all.into_iter().find(|(known, _)| of(known)).map(|(_, command)| command)
}

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The keys that every format begins with, and those of the format.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Envelope<'a, T> {
    /// The format and its version.
    schema: &'static str,
    /// The version of hotset that wrote it.
    hotset: Cow<'a, str>,
    #[serde(flatten)]
    body: T,
}

impl<'a, T: Serialize> Envelope<'a, T> {
    /// Of this program.
    pub(crate) fn new(schema: &'static str, body: T) -> Self {
        Self::of_version(schema, VERSION, body)
    }

    /// Of whatever version measured what is in it.
    pub(crate) fn of_version(schema: &'static str, hotset: &'a str, body: T) -> Self {
        Self { schema, hotset: hotset.into(), body }
    }

    /// As one line, with its end.
    pub(crate) fn to_line(&self) -> Vec<u8> {
        let mut line = to_object(self);
        line.push(b'\n');
        line
    }
}
