//! The file that `--record` writes: JSON lines, schema `hotset.top/1`. The first line is a [`Header`], each other one an
//! interval. Counters that are 0 are left out, and `null` is what was not measured.

mod read;
mod rows;
mod write;

pub use read::{read_header, read_interval, read_time};
pub use write::{header_line, interval_line};

use hotset_facts::NotMeasured;

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
