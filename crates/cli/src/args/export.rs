//! `hotset export`.

use std::path::PathBuf;
use std::time::Duration;

use hotset_export::{Header, Listen, OtlpUrl};

use super::interval::parse_interval;
use super::number::number;

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  sudo hotset export                                     http://127.0.0.1:9467/metrics\n  \
                  sudo hotset export --listen :9467 --web-config web.yml  to the network, with TLS and passwords\n  \
                  sudo hotset export --watch /srv/db --mounts\n  \
                  sudo hotset export --otlp http://collector:4318         for those without Prometheus\n\n\
                  Every metric: docs/metrics.md. Units for systemd and Kubernetes, a dashboard and alert rules: deploy/."
)]
pub(crate) struct ExportArgs {
    /// Where to serve: HOST:PORT (an IPv6 address stands in square brackets), or :PORT for every address. May be given several times.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9467")]
    pub(crate) listen: Vec<Listen>,
    /// TLS, passwords and headers: a YAML file as the Prometheus exporters have it. Read again when it changes.
    #[arg(long, value_name = "FILE")]
    pub(crate) web_config: Option<PathBuf>,
    /// Seconds between samples, 0.1 to 86400. A sample costs the same however often it is scraped.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = parse_interval, allow_hyphen_values = true)]
    pub(crate) interval: Duration,
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
    #[command(flatten)]
    pub(crate) otlp: OtlpArgs,
    /// Use the programs for older kernels, which hotset otherwise chooses by itself.
    #[arg(long, hide = true)]
    pub(crate) compat: bool,
}

/// Which series there are.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Series")]
pub(crate) struct SeriesArgs {
    /// Control groups with series of their own, 0 to 1000; the rest is "other".
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = number(0..=1000_u16))]
    pub(crate) cgroups: u16,
    /// Names of programs with series of their own, 0 to 1000; the rest is "other".
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = number(0..=1000_u16))]
    pub(crate) commands: u16,
    /// Also by file system.
    #[arg(long)]
    pub(crate) mounts: bool,
    /// Also how much of a file or directory is cached, as one series. May be given several times.
    #[arg(long, value_name = "PATH")]
    pub(crate) watch: Vec<PathBuf>,
    /// Seconds between two walks of a watched path, 0.1 to 86400.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_interval, allow_hyphen_values = true)]
    pub(crate) watch_interval: Duration,
}

/// Pushing.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "OpenTelemetry")]
pub(crate) struct OtlpArgs {
    /// Push to a collector by OTLP/HTTP as JSON; /v1/metrics is added where URL has no path.
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<OtlpUrl>,
    /// A header for each push, such as an API key. May be given several times.
    #[arg(long, value_name = "NAME=VALUE", requires = "otlp")]
    pub(crate) otlp_header: Vec<Header>,
    /// Seconds between pushes, 0.1 to 86400.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_interval, requires = "otlp", allow_hyphen_values = true)]
    pub(crate) otlp_interval: Duration,
}
