//! Arguments of `save` and `restore`.

use std::path::PathBuf;

use hotset_control::RestoreOrder;

use super::choice::{Choice, choice};
use super::selection::SelectionArgs;
use hotset_facts::units::parse_size;

/// Arguments of `save`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hotset save db.hotset /srv/db\n  \
                        hotset save - /usr | ssh host 'cat >usr.hotset'\n\n\
                        Exit status:\n  \
                        0      the snapshot has all files\n  \
                        1      some files are left out; the report names them; or hotset failed\n  \
                        2      invalid arguments\n  \
                        128+N  signal N stopped it (130 after Ctrl-C)")]
pub(crate) struct SaveArgs {
    /// Write the snapshot to FILE atomically; `-` is standard output
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Print JSON (hotset.save/1) instead of text
    ///
    /// It is printed on standard error if the snapshot goes to standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// The orders in which a snapshot can be read back.
const ORDERS: [Choice<RestoreOrder>; 3] = [
    (RestoreOrder::Device, "device", "As it lies on the device: the fastest"),
    (
        RestoreOrder::Hot,
        "hot",
        "First the files that most processes used, then those of which the greatest share was cached",
    ),
    (RestoreOrder::Path, "path", "By path"),
];

/// Arguments of `restore`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hotset restore db.hotset\n  \
                        hotset restore db.hotset --budget 4G           the hottest files of it\n  \
                        hotset restore db.hotset --root /mnt/copy      of a copy of the tree\n\n\
                        Exit status:\n  \
                        0      all pages of the snapshot that fit the budget are cached\n  \
                        1      some are not, a file changed, vanished or cannot be read, or hotset failed\n  \
                        2      invalid arguments\n  \
                        128+N  signal N stopped it (130 after Ctrl-C)")]
pub(crate) struct RestoreArgs {
    /// Snapshot written by `hotset save`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Restore at most SIZE, including pages already cached: 64M, 4G
    ///
    /// The hottest files come first, except with --order path.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) budget: Option<u64>,
    /// Order of reads
    ///
    /// With --budget, `device` restores the same pages as `hot`.
    #[arg(long, value_parser = choice(&ORDERS), default_value = "device", value_name = "ORDER")]
    pub(crate) order: RestoreOrder,
    /// Look for the files below DIR: /srv/db becomes DIR/srv/db
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Restore files of the same size even if their mtime differs
    #[arg(long)]
    pub(crate) ignore_mtime: bool,
    /// Check the snapshot and the files; read nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON (hotset.restore/1) instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
