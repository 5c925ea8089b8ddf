//! `hotset lab`, and the hidden command that its native probes are.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::Color;
use super::size::parse_size;
use crate::plan::parse_duration;

/// Arguments of `lab`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hotset lab all --quick --html lab.html       all five in under three minutes, and a page to read\n  \
                        hotset lab access                            ways and orders of reading, cold and warm\n  \
                        hotset lab access --methods pread,mmap --block 4K --size 1G --rounds 10\n  \
                        hotset lab all --full --json lab.json        the articles' sizes; takes hours\n\n\
                        Experiments:\n  reread  does reading a file a second time get faster, and does it matter?\n  \
                        buffer  what does buffering writes buy, and how big should the buffer be?\n  \
                        access  fread, read, pread, mmap, io_uring or direct; forwards, backwards, at random?\n  \
                        load    why is loading many small files slow?\n  \
                        direct  who is not using the cache?\n\n\
                        Files are made in a fresh directory that is gone afterwards. The exit code is 0, 130 after Ctrl-C\n\
                        (what was measured until then is printed), or 1 where hotset failed."
)]
pub(crate) struct LabArgs {
    /// Which experiments: reread, buffer, access, load, direct, or all.
    #[arg(required = true, value_name = "EXPERIMENT", value_parser = ["all", "reread", "buffer", "access", "load", "direct"])]
    pub(crate) experiments: Vec<String>,
    #[command(flatten)]
    pub(crate) amount: LabAmountArgs,
    #[command(flatten)]
    pub(crate) what: LabWhatArgs,
    #[command(flatten)]
    pub(crate) output: LabOutput,
}

/// How much.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "How much")]
pub(crate) struct LabAmountArgs {
    /// All experiments together in under three minutes and 1 GiB of disk.
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// The articles' sizes.
    #[arg(long)]
    pub(crate) full: bool,
    /// Exactly N rounds; each measures every cell once. Below 6 there are no intervals.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rounds: Option<u32>,
    /// Make the files in a fresh directory below this one: the file system and the device that are measured. Without it,
    /// below the current directory, $TMPDIR or /var/tmp, the first that is on a disk.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The seed of the random order within rounds.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Don't count calls by the sensor in runs apart.
    #[arg(long)]
    pub(crate) no_bpf: bool,
}

/// What, instead of what the size says.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What, instead of what the size says")]
pub(crate) struct LabWhatArgs {
    /// reread, buffer: these sizes, separated by commas.
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = parse_size)]
    pub(crate) sizes: Vec<u64>,
    /// reread: repetitions in one process.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) count: Option<u32>,
    /// reread, direct: pause between repetitions: 10ms, 1s.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) sleep: Option<Duration>,
    /// access, direct: bytes a read, separated by commas.
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = parse_size)]
    pub(crate) block: Vec<u64>,
    /// access, direct: size of the file.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) size: Option<u64>,
    /// access: ways of reading, separated by commas; a wrong one lists them.
    #[arg(long, value_name = "METHOD", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// load: an interpreter beside those that are found; may be given more than once.
    #[arg(long, value_name = "NAME=PATH", value_parser = parse_interpreter)]
    pub(crate) interpreter: Vec<(String, PathBuf)>,
    /// load: how this library is loaded, instead of the generated files.
    #[arg(long, value_name = "NAME", requires = "runtime")]
    pub(crate) library: Option<String>,
    /// load: only this runtime: c, go, python, ruby, node, java.
    #[arg(long, value_name = "NAME")]
    pub(crate) runtime: Option<String>,
    /// direct: the program reads from this file, which is evicted and not written to.
    #[arg(short = 'd', long, value_name = "PATH")]
    pub(crate) device: Option<PathBuf>,
}

/// Where results go.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct LabOutput {
    /// Write JSON (hotset.lab/1), a line for each experiment. To standard output without FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", require_equals = false)]
    pub(crate) json: Option<PathBuf>,
    /// Write a page with charts, self-contained, for a browser.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print no tables and no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Use ASCII only.
    #[arg(long)]
    pub(crate) ascii: bool,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// Arguments of a native probe: a job and its `key=value` words; or `sweep` and a directory.
#[derive(Debug, clap::Args)]
pub(crate) struct LabProbeArgs {
    /// The job.
    pub(crate) job: String,
    /// Its words.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

fn parse_interpreter(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok((name.to_owned(), PathBuf::from(path)))
        }
        _ => Err("expected NAME=PATH, e.g. ruby-3.3=/opt/ruby/bin/ruby".to_owned()),
    }
}
