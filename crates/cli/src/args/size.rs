//! Arguments of `size`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueHint;
use hotset_analysis::size::{KernelVersion, PolicyKind, version};
use hotset_facts::units::{parse_duration, parse_size};

use super::choice::{Choice, choice};
use super::size_emit::{EmitTo, container, emit_to};
use super::{LookArgs, TargetArgs};

const POLICIES: &[Choice<PolicyKind>] = &[
    (PolicyKind::Lru, "lru", "least recently used"),
    (PolicyKind::Fifo, "fifo", "first in, first out"),
    (PolicyKind::Classic, "lists", "active and inactive lists, as before Linux 6.12"),
    (PolicyKind::OLD_SIZES, "lists-6.12", "the same with sizes up to 2 s old, as since Linux 6.12"),
    (PolicyKind::Mglru, "mglru", "multi-gen LRU, as of Linux 6.12"),
];

/// Arguments of `size`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  sudo hotset record -o app.parquet -- python3 app.py\n  \
                        hotset size app.parquet\n  \
                        hotset size app.parquet --limit 256M --limit 512M --target 95\n  \
                        hotset size app.parquet --kernel 6.1\n  \
                        sudo hotset size --verify -- python3 app.py\n  \
                        sudo hotset size --unit nginx -d 10m\n  \
                        hotset size app.parquet --emit systemd > memory.conf\n\n\
                        The requests of the recording are simulated at many limits by the replacement policy of the kernel that it was made \
                        on. What each limit is worth follows from what the program waited for when it was recorded (docs/sizing.md).\n\n\
                        --verify runs the command several times: once to record it, once more if its files were cached, and once under each \
                        limit, from cold files, in a control group of its own. What it changes, it changes each time; --prepare sets that back.\n\n\
                        --pid, --name, --cgroup, --unit and --container watch what already runs. Of its pages, a part is sampled, which tells \
                        what least recently used would do, and is less exact than a recording.\n\n\
                        Exit status:\n  \
                        0      predicted\n  \
                        1      hotset failed\n  \
                        2      invalid arguments\n  \
                        126    the command cannot be executed\n  \
                        127    the command was not found\n  \
                        128+N  ended by signal N")]
pub(crate) struct SizeArgs {
    /// Trace to size, of `record` or `trace import`
    #[arg(value_name = "TRACE", required_unless_present_any = ["command", "one"], conflicts_with = "one")]
    pub(crate) trace: Option<PathBuf>,
    /// Run the command under memory limits too, and print what was predicted beside what was measured
    ///
    /// Without --limit: under the recommended limit, the largest at which it thrashes, and two between them. Before each run, its files
    /// are evicted from the page cache. How often it will run is said first.
    #[arg(long, requires = "command", conflicts_with_all = ["trace", "one"])]
    pub(crate) verify: bool,
    /// Run COMMAND in a shell before each run
    #[arg(short, long, value_name = "COMMAND", requires = "verify", conflicts_with_all = ["trace", "one"])]
    pub(crate) prepare: Option<String>,
    /// Keep the recording of the command as FILE
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["trace", "one"])]
    pub(crate) output: Option<PathBuf>,
    /// Also show this memory limit, such as 512M; may be repeated
    #[arg(long = "limit", value_name = "SIZE", value_parser = some_size)]
    pub(crate) limits: Vec<u64>,
    /// Recommend the smallest limit that gives PERCENT of the hits of unlimited memory
    #[arg(long, value_name = "PERCENT", default_value_t = 99.0, value_parser = percent)]
    pub(crate) target: f64,
    /// Predict for another kernel, such as 6.1; the multi-gen LRU is on if it was in the recording
    #[arg(long, value_name = "VERSION", value_parser = kernel, conflicts_with_all = ["policy", "one"])]
    pub(crate) kernel: Option<KernelVersion>,
    /// Predict by another replacement policy than the kernel's
    #[arg(long, value_name = "POLICY", value_parser = choice(POLICIES), conflicts_with = "one")]
    pub(crate) policy: Option<PolicyKind>,
    /// The device reads SIZE per second at the requests of this program [default: as recorded]
    #[arg(long, value_name = "SIZE", value_parser = some_size)]
    pub(crate) device_rate: Option<u64>,
    /// The program needs SIZE beside its file cache [default: as recorded]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) other: Option<u64>,
    /// Write JSON (hotset.size/1) to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page with charts to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the limits as CSV to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write what is recommended as FORM to FILE [default: to standard output]; may be repeated
    ///
    /// k8s: a patch for `kubectl patch --patch-file`, with a container's request and limit. systemd: a drop-in of a service, with MemoryHigh=
    /// and MemoryMax=. vpa: a VerticalPodAutoscaler with a recommendation as its status. Comments tell the reason of each number. hotset
    /// applies nothing itself.
    #[arg(long, value_name = "FORM[=FILE]", value_parser = emit_to())]
    pub(crate) emit: Vec<EmitTo>,
    /// Name of the container that `--emit k8s` and `--emit vpa` are for
    #[arg(long, value_name = "NAME", value_parser = container, requires = "emit")]
    pub(crate) emit_container: Option<String>,
    /// Do not print the table
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    #[command(flatten)]
    pub(crate) who: TargetArgs,
    /// Watch for TIME, e.g. 10s, 10m [default: until Ctrl-C]
    ///
    /// Units are ms, s, m and h; a number without a unit is in seconds.
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration, requires = "one")]
    pub(crate) duration: Option<std::time::Duration>,
    /// Command to record and size, with its arguments, after `--`
    #[arg(last = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments, conflicts_with_all = ["trace", "one"])]
    pub(crate) command: Vec<OsString>,
}

fn kernel(text: &str) -> Result<KernelVersion, String> {
    version(text).ok_or_else(|| "expected a version of Linux, such as 6.12".to_owned())
}

/// A size that is not 0: nothing runs under a limit of none, and no device reads none in a second.
fn some_size(text: &str) -> Result<u64, String> {
    let size = parse_size(text)?;
    (size > 0).then_some(size).ok_or_else(|| "expected a size above 0, such as 512M".to_owned())
}

fn percent(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.trim_end_matches('%').parse();
    let number = number.ok().filter(|number| *number > 0.0 && *number <= 100.0);
    number.ok_or_else(|| "expected a number above 0 and up to 100, such as 99".to_owned())
}
