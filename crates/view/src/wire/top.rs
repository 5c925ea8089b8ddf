//! `hotset.top/1`: a recording by `hotset top --record`, of JSON lines. The first is a [`Header`], each other one an
//! interval. Counters that are 0 are left out.

use std::time::SystemTime;

use hotset_analysis::top::TopFrame;
use hotset_facts::NotMeasured;
use hotset_facts::format::{NotMeasuredList, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::observed::{from_object, to_object};
use super::{Envelope, documents};

/// The name of the format.
pub const SCHEMA: &str = "hotset.top/1";

/// What a recording says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Header {
    /// The version of hotset that wrote it.
    #[serde(skip)]
    pub hotset: String,
    /// The host's name.
    pub host: String,
    /// The interval in nanoseconds.
    pub interval_ns: u64,
    /// Whose I/O was counted; null for the whole host.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    pub scope: Option<String>,
    /// What the kernel could not tell.
    #[serde(with = "NotMeasuredList")]
    pub not_measured: Vec<NotMeasured>,
}

/// The first line, with its end.
pub fn header_line(header: &Header) -> Vec<u8> {
    Envelope::of_version(SCHEMA, &header.hotset, header).to_line()
}

/// An interval as a line, with its end. Bound it first: see [`TopFrame::bounded`].
pub fn interval_line(frame: &TopFrame) -> Vec<u8> {
    let mut line = to_object(frame);
    line.push(b'\n');
    line
}

/// Reads the first line.
///
/// # Errors
/// What the line should have been.
pub fn read_header(line: &[u8]) -> Result<Header, String> {
    let read = || {
        let documents = documents(line)?;
        let first = documents.first().ok_or_else(|| super::ReadError::at("", "it is empty"))?;
        let hotset = first.hotset.clone().into_owned();
        Ok(Header { hotset, ..first.read(SCHEMA)? })
    };
    read().map_err(|error: super::ReadError| {
        let found = crate::escape_text(&error.to_string());
        format!(
            "{found}; right is a header with \"schema\": \"{SCHEMA}\", as `hotset top --record` writes it"
        )
    })
}

/// Reads only when an interval ended.
///
/// # Errors
/// What the line should have been.
pub fn read_time(line: &[u8]) -> Result<SystemTime, String> {
    #[derive(Deserialize)]
    struct At {
        #[serde(with = "Time")]
        at: SystemTime,
    }
    let read: Result<At, _> = serde_json::from_slice(line);
    // Reading all of it says which key is wrong.
    read.map(|read| read.at)
        .map_err(|error| read_interval(line).err().unwrap_or_else(|| not_an_interval(error)))
}

/// Reads an interval.
///
/// # Errors
/// What the line should have been.
pub fn read_interval(line: &[u8]) -> Result<TopFrame, String> {
    let value: Value = serde_json::from_slice(line).map_err(not_an_interval)?;
    from_object(value).map_err(not_an_interval)
}

fn not_an_interval(error: impl std::fmt::Display) -> String {
    format!("not an interval of {SCHEMA}: {}", crate::escape_text(&error.to_string()))
}
