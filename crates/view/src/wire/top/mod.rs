//! `hotset.top/1`: a recording by `hotset top --record`, of JSON lines. The first is a [`Header`], each other one an
//! interval. Counters that are 0 are left out.

mod lines;

use std::time::SystemTime;

use hotset_analysis::top::{Lines, TopFrame, Unlisted};
use hotset_facts::{
    HostMemory, LiveIo, LiveLosses, LiveRow, MemInfo, NotMeasured, Observed, Pressure,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::adapt::{List, Owned, Wire, by, remote};
use super::environment::Time;
use super::observed::{Null, from_object, to_object};
use super::process::NotMeasuredKeys;
use super::system::MemInfoDef;
use super::{Envelope, documents};
use lines::{Counts, LinesKeys, PairDef, UnlistedKeys};

/// The name of the format.
pub const SCHEMA: &str = "hotset.top/1";

/// What a recording says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The version of hotset that wrote it.
    pub hotset: String,
    /// The host's name.
    pub host: String,
    /// The interval in nanoseconds.
    pub interval_ns: u64,
    /// The scope, if it was not the whole host.
    pub scope: Option<String>,
    /// What the kernel could not tell.
    pub not_measured: Vec<NotMeasured>,
}

/// The first line, with its end.
pub fn header_line(header: &Header) -> Vec<u8> {
    let keys = HeaderKeys {
        host: header.host.clone(),
        interval_ns: header.interval_ns,
        scope: header.scope.clone(),
        not_measured: NotMeasuredKeys::of(&header.not_measured),
    };
    Envelope::of_version(SCHEMA, &header.hotset, keys).to_line()
}

/// An interval as a line, with its end. Bound it first: see [`TopFrame::bounded`].
pub fn interval_line(moment: &TopFrame) -> Vec<u8> {
    let mut line = to_object(&by::<MomentDef>(moment));
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
        let keys: HeaderKeys = first.read(SCHEMA)?;
        Ok(Header {
            hotset: first.hotset.clone().into_owned(),
            host: keys.host,
            interval_ns: keys.interval_ns,
            scope: keys.scope,
            not_measured: NotMeasuredKeys::facts(&keys.not_measured),
        })
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
    let Owned::<MomentDef>(moment) = from_object(value).map_err(not_an_interval)?;
    Ok(moment)
}

fn not_an_interval(error: impl std::fmt::Display) -> String {
    format!("not an interval of {SCHEMA}: {}", crate::escape_text(&error.to_string()))
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HeaderKeys {
    /// The host's name.
    host: String,
    /// The interval.
    interval_ns: u64,
    /// The scope; null where it was the whole host.
    scope: Option<String>,
    /// What the kernel could not tell.
    not_measured: Vec<NotMeasuredKeys>,
}

/// An interval.
#[derive(Serialize, Deserialize)]
#[serde(remote = "TopFrame")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MomentDef {
    /// When it ended.
    #[serde(with = "Time")]
    at: SystemTime,
    /// When it ended, since the session began.
    ended_after_ns: u64,
    /// How long it was.
    length_ns: u64,
    /// All that was counted.
    #[serde(with = "Counts")]
    totals: LiveIo,
    /// What was counted for nobody: a table was full, or who it belongs to had ended.
    #[serde(with = "Counts")]
    others: LiveIo,
    #[serde(flatten, with = "LinesKeys")]
    lines: [Lines; 3],
    /// What each process did to each file, by their places in the lists.
    #[serde(with = "List::<PairDef>")]
    pairs: Vec<LiveRow>,
    #[serde(with = "UnlistedKeys")]
    unlisted: [Unlisted; 3],
    /// Pages that left the cache but for truncation and unlinking.
    #[serde(with = "Null::<u64>")]
    evicted_pages: Observed<u64>,
    #[serde(with = "HostDef")]
    host: HostMemory,
    /// Losses since the session began.
    #[serde(with = "LossesDef")]
    losses: LiveLosses,
}

/// The host's own numbers, of the interval.
#[derive(Serialize, Deserialize)]
#[serde(remote = "HostMemory")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HostDef {
    #[serde(with = "Null::<MemInfoDef>")]
    memory: Observed<MemInfo>,
    /// Pages that were read again after they had been evicted.
    #[serde(with = "Null::<u64>")]
    refaulted_pages: Observed<u64>,
    /// Pages that the kernel reclaimed.
    #[serde(with = "Null::<u64>")]
    reclaimed_pages: Observed<u64>,
    /// Pages that were written back.
    #[serde(with = "Null::<u64>")]
    written_back_pages: Observed<u64>,
    #[serde(flatten, with = "PressureDef")]
    pressure: Pressure,
}

/// Time in which tasks waited (PSI).
#[derive(Serialize, Deserialize)]
#[serde(remote = "Pressure")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PressureDef {
    /// Some task waited for memory.
    #[serde(with = "Null::<u64>")]
    memory_some_ns: Observed<u64>,
    /// All tasks that could have run waited for memory.
    #[serde(with = "Null::<u64>")]
    memory_full_ns: Observed<u64>,
    /// Some task waited for I/O.
    #[serde(with = "Null::<u64>")]
    io_some_ns: Observed<u64>,
    /// All tasks that could have run waited for I/O.
    #[serde(with = "Null::<u64>")]
    io_full_ns: Observed<u64>,
    /// Some task waited for a CPU.
    #[serde(with = "Null::<u64>")]
    cpu_some_ns: Observed<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LiveLosses")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LossesDef {
    /// Pages and calls that were booked to nobody.
    unattributed: u64,
    /// Names and process events.
    events: u64,
    /// Ranges read ahead that could not be remembered.
    origins: u64,
    /// Tasks that could not be followed.
    tasks: u64,
    /// Requests of io_uring that could not be followed.
    requests: u64,
    /// Runs of the sensor's programs that the kernel skipped.
    skipped_programs: u64,
    /// Calls that could not be followed.
    calls: u64,
}

remote!(MomentDef => TopFrame);
