//! The exporter behind `hotset export`: what the sampler of `stat` and `top` counts, served to Prometheus or pushed by OTLP.
//!
//! It is handed intervals and makes snapshots of them. A thread serves the last snapshot over HTTP, one pushes it, one walks
//! watched paths; none of these can hold up whoever samples.
//!
//! It must not sample, catch signals, read arguments or print: what is to be told goes to the [`Say`] of its [`Options`].

#![forbid(unsafe_code)]

mod address;
mod client;
mod curves;
mod exporter;
mod fleet;
mod kubernetes;
mod labels;
mod negotiate;
mod notify;
mod otlp;
mod s3;
mod sampler;
mod server;
mod shared;
mod watch;
mod web_config;
mod workloads;

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

pub use address::Listen;
pub use exporter::{Exporter, Listening};
pub use fleet::{FleetOptions, LargestCached, RedactKey};
pub use notify::Notify;
pub use otlp::{Header, OtlpUrl};
pub use s3::{Destination, S3Url};
pub use sampler::SampleTime;

/// Tells the user something. Threads call it too.
pub type Say = fn(&dyn Display);

/// What is exported, and to whom.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to serve.
    pub listen: Vec<Listen>,
    /// TLS, passwords and headers, as the Prometheus exporters have them.
    pub web_config: Option<PathBuf>,
    /// The time between two intervals.
    pub interval: Duration,
    /// Which series there are.
    pub series: SeriesOptions,
    /// Where to push to as well.
    pub push: Option<PushOptions>,
    /// Where to write the tables of a fleet as well.
    pub fleet: Option<FleetOptions>,
    /// What this host is called where it is told from others; without one, as it calls itself.
    pub host_name: Option<String>,
    /// What tells the user something.
    pub say: Say,
}

/// Which series there are beside those of the host.
#[derive(Debug, Clone)]
pub struct SeriesOptions {
    /// Control groups with series of their own.
    pub cgroups: usize,
    /// Whether these control groups have curves; the intervals must have them too.
    pub curves: bool,
    /// Names of programs with series of their own.
    pub commands: usize,
    /// Whether file systems have series.
    pub mounts: bool,
    /// Files and directories with a series that says how much of them is cached.
    pub watch: Vec<PathBuf>,
    /// The time between two walks of one of them.
    pub watch_interval: Duration,
}

/// A receiver of pushes.
#[derive(Debug, Clone)]
pub struct PushOptions {
    /// Where it is.
    pub url: OtlpUrl,
    /// Sent with each push.
    pub headers: Vec<Header>,
    /// The time between two pushes.
    pub interval: Duration,
}
