//! Arguments of `replay`.

use std::path::PathBuf;
use std::time::Duration;

use hotset_facts::replay::ReplayState;
use hotset_facts::units::{number, parse_duration};
use hotset_replay::changes::{self, Asked};

use super::LookArgs;
use super::choice::{Choice, choice};

const STATES: &[Choice<ReplayState>] = &[
    (ReplayState::Recorded, "recorded", "what was cached when it was recorded"),
    (ReplayState::Cold, "cold", "nothing cached"),
    (ReplayState::Warm, "warm", "all that is read cached"),
];

/// Arguments of `replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  sudo hotset record -o app.parquet -- python3 app.py\n  \
                        sudo hotset replay app.parquet\n  \
                        sudo hotset replay app.parquet --as buffer=64K\n  \
                        sudo hotset replay app.parquet --state cold --state warm\n\n\
                        Files that are only read are read where they are. What the recording writes, creates, renames or removes \
                        happens on copies in a new directory: no original changes, and neither do its times. Pipes, sockets, \
                        devices and programs that start are left out and counted. Every result is compared with the recording.\n\n\
                        Exit status:\n  \
                        0      replayed\n  \
                        1      hotset failed, or the recording cannot be replayed here\n  \
                        2      invalid arguments\n  \
                        128+N  ended by signal N; the rounds so far are reported")]
pub(crate) struct ReplayArgs {
    /// Trace to replay, of `record` or `trace import`
    #[arg(value_name = "TRACE", required_unless_present = "as_list")]
    pub(crate) trace: Option<PathBuf>,
    /// Replay with CHANGE, too, and compare; repeat for several changes together
    ///
    /// Both replays alternate in random order. `--as-list` describes the changes.
    #[arg(long = "as", value_name = "CHANGE", value_parser = changes::parse)]
    pub(crate) changes: Vec<Asked>,
    /// List the changes: what each does, and what a programmer would do
    #[arg(long, exclusive = true)]
    pub(crate) as_list: bool,
    /// Replay from this cache state; may be repeated [default: recorded]
    #[arg(long = "state", value_name = "STATE", value_parser = choice(STATES))]
    pub(crate) states: Vec<ReplayState>,
    #[command(flatten)]
    pub(crate) how: ReplayHowArgs,
    /// Write JSON (hotset.replay/1) to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a self-contained HTML page to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Do not print the table and progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

/// How replays are made: how often, and on which files.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Replays")]
pub(crate) struct ReplayHowArgs {
    /// Run N rounds at most; at least 6 for confidence intervals
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = number(1..=100_000_u32))]
    pub(crate) rounds: u32,
    /// Start no round after TIME; six are run, unless they take twice that
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    pub(crate) budget: Duration,
    /// Put copies in a new directory below DIR, which is removed
    ///
    /// The default is the first of the current directory, $TMPDIR and /var/tmp that is on the device of the written files, or on a
    /// disk.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Look up the recorded paths below DIR, not below /; requires root
    ///
    /// DIR is the root of a container, or a copy of another host's files. No path and no symbolic link leads out of it.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Create all files, with random bytes, in a new directory below DIR
    ///
    /// They have the recorded names and sizes, as far as they are read or written: for a recording of another host.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["dir", "root"])]
    pub(crate) scratch: Option<PathBuf>,
    /// Do not limit memory as it was limited when the trace was recorded
    #[arg(long)]
    pub(crate) no_limit: bool,
    /// Replay, as root, a recording that another user owns
    ///
    /// It opens every file that it names, for reading. --root and --scratch need no trust.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Set the seed of the random order within rounds
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}
