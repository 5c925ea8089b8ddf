//! `hotset export`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use hotset_export::{Destination, Header, Listen, OtlpUrl};
use hotset_facts::units::{number, parse_duration, parse_size};

use super::interval::parse_interval;

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  sudo hotset export                                     http://127.0.0.1:9467/metrics\n  \
                  sudo hotset export --listen :9467 --web-config web.yml  to the network, with TLS and passwords\n  \
                  sudo hotset export --watch /srv/db --mounts\n  \
                  sudo hotset export --curves                            with how much cache each cgroup needs\n  \
                  sudo hotset export --otlp http://collector:4318         for those without Prometheus\n  \
                  sudo hotset export --parquet /srv/fleet --interval 60s  tables for the analyses of a fleet\n  \
                  sudo hotset export --parquet s3://fleet/pages --redact  in a bucket, without names of files\n\n\
                  Every metric: docs/metrics.md. Units for systemd and Kubernetes, a dashboard and alert rules: deploy/.\n\n\
                  Exit status:\n  \
                  0  after SIGINT, SIGTERM or SIGHUP\n  \
                  1  hotset failed, or sampling had stopped\n  \
                  2  invalid arguments"
)]
pub(crate) struct ExportArgs {
    /// Listen on HOST:PORT, or on :PORT of all addresses; repeatable
    ///
    /// Write an IPv6 address in square brackets: `[::1]:9467`.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9467")]
    pub(crate) listen: Vec<Listen>,
    /// Read TLS, passwords and headers from this YAML file
    ///
    /// The format is that of the Prometheus exporters. The file is read again when it changes.
    #[arg(long, value_name = "FILE")]
    pub(crate) web_config: Option<PathBuf>,
    /// Seconds per sample, 0.1 to 86400
    ///
    /// Scrapes return the latest sample: their number does not change the cost.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = parse_interval, allow_hyphen_values = true)]
    pub(crate) interval: Duration,
    /// Call this host NAME in tables of a fleet and for OTLP [default: its own name]
    ///
    /// For containers, whose name is another than that of their host: in Kubernetes `--host-name=$(NODE_NAME)`, with that variable from spec.nodeName.
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    pub(crate) host_name: Option<String>,
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
    #[command(flatten)]
    pub(crate) otlp: OtlpArgs,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Use the programs for older kernels, which hotset otherwise chooses by itself.
    #[arg(long, hide = true)]
    pub(crate) compat: bool,
}

/// Which series there are.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Series")]
pub(crate) struct SeriesArgs {
    /// Export the N busiest cgroups, 0 to 1000; sum the rest as "other"
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = number(0..=1000_u16))]
    pub(crate) cgroups: u16,
    /// Export how much page cache each of these cgroups needs
    ///
    /// The estimate comes from accesses to one in 16 pages; docs/metrics.md describes it and its limits. Also exports the memory limit, memory
    /// usage and refaults of these cgroups.
    #[arg(long)]
    pub(crate) curves: bool,
    /// Sample one in PAGES pages for --curves: a power of two, 1 to 4096 [default: 16]
    ///
    /// A longer period costs less. A need below 16 sampled pages is not exported.
    #[arg(long, value_name = "PAGES", requires = "curves", value_parser = sampling_period)]
    pub(crate) curves_period: Option<u32>,
    /// Export the N busiest programs, 0 to 1000; sum the rest as "other"
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = number(0..=1000_u16))]
    pub(crate) commands: u16,
    /// Export series by file system, too
    #[arg(long)]
    pub(crate) mounts: bool,
    /// Export how much of a file or directory is cached; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) watch: Vec<PathBuf>,
    /// Seconds between two looks at each watched path, 0.1 to 86400
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_interval, allow_hyphen_values = true)]
    pub(crate) watch_interval: Duration,
}

/// Tables of a fleet.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Tables of a fleet")]
pub(crate) struct FleetArgs {
    /// Write the tables of a fleet as Parquet files below DIR or s3://BUCKET/PREFIX, which all hosts may share
    ///
    /// docs/fleet-format.md describes them, and where credentials for a bucket are found. Samples accesses as --curves does. An --interval of
    /// 60 seconds is enough for most fleets.
    #[arg(long, value_name = "DIR|URL", value_parser = OsStringValueParser::new().try_map(Destination::parse))]
    pub(crate) parquet: Option<Destination>,
    /// Finish files every so often: 1m to 24h, a whole part of a day
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = period, requires = "parquet")]
    pub(crate) parquet_every: Duration,
    /// Write rows of the N busiest files of an interval, 0 to 10000
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = number(0..=10_000_u16), requires = "parquet")]
    pub(crate) parquet_files: u16,
    /// Write hashes for the names of files and directories
    ///
    /// The key of the hashes is made for this host and kept in the spool: other hosts have other hashes for the same name.
    #[arg(long, requires = "parquet")]
    pub(crate) redact: bool,
    /// Hash by the key in FILE, 16 bytes or more: hosts that share it have the same hashes; includes --redact
    #[arg(long, value_name = "FILE", requires = "parquet")]
    pub(crate) redact_key: Option<PathBuf>,
    /// Ask Kubernetes' API server which DaemonSet, Job, Deployment, … each pod belongs to
    ///
    /// In a pod whose service account may list pods, and get replicasets and jobs (deploy/kubernetes/fleet-rbac.yaml). --host-name must be the name of
    /// the node. Without it, owners follow from the names of pods, which are alike for a DaemonSet and a Job.
    #[arg(long, requires = "parquet")]
    pub(crate) kubernetes_api: bool,
    /// Keep what is not delivered yet in DIR [default: $STATE_DIRECTORY, /var/lib/hotset of root, or the user's state directory, with /fleet behind
    /// it]
    #[arg(long, value_name = "DIR", requires = "parquet")]
    pub(crate) spool: Option<PathBuf>,
    /// Let finished files that can't be delivered take so much; the oldest are dropped beyond
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = parse_size, requires = "parquet")]
    pub(crate) spool_limit: u64,
}

/// A part of a day.
fn period(text: &str) -> Result<Duration, String> {
    const DAY: u64 = 86_400;
    let period = parse_duration(text)?;
    let seconds = period.as_secs();
    let fits =
        period.subsec_nanos() == 0 && (60..=DAY).contains(&seconds) && DAY.is_multiple_of(seconds);
    fits.then_some(period)
        .ok_or_else(|| "expected 1m to 24h, of which a day has a whole number: 10m, 1h".to_owned())
}

/// A name is one line of text.
fn host_name(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && text.len() <= 253 && !text.chars().any(char::is_control);
    match is_name {
        true => Ok(text.to_owned()),
        false => Err("expected a name of 1 to 253 bytes, without control characters".to_owned()),
    }
}

/// The exponent of a power of two.
fn sampling_period(text: &str) -> Result<u32, String> {
    let pages = text.parse().ok().filter(|pages| (1..=4096_u32).contains(pages));
    let pages = pages.filter(|pages| pages.is_power_of_two());
    pages
        .map(u32::trailing_zeros)
        .ok_or_else(|| "expected a power of two from 1 to 4096".to_owned())
}

/// Pushing.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "OpenTelemetry")]
pub(crate) struct OtlpArgs {
    /// Push to an OTLP/HTTP collector, as JSON
    ///
    /// /v1/metrics is appended if URL has no path.
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<OtlpUrl>,
    /// Add a header to each push, such as an API key; repeatable
    #[arg(long, value_name = "NAME=VALUE", requires = "otlp")]
    pub(crate) otlp_header: Vec<Header>,
    /// Seconds between pushes, 0.1 to 86400
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_interval, requires = "otlp", allow_hyphen_values = true)]
    pub(crate) otlp_interval: Duration,
}
