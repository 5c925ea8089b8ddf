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
                        Exit code 1: something could not be told about, and is named; the rest is saved.")]
pub(crate) struct SaveArgs {
    /// Where to: written beside, then renamed; `-` is standard output.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Print JSON (hotset.save/1) instead of text; on standard error where the snapshot is on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but errors.
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
                        Exit code 1: not all of it is cached in the end, or files changed, vanished or can't be read. \
                        What a budget leaves out doesn't count.")]
pub(crate) struct RestoreArgs {
    /// The snapshot that `hotset save` wrote.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Restore at most so much of it, what is cached already included: 64M, 4G. The hottest files come first, except with
    /// --order path.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) budget: Option<u64>,
    /// In which order to read; with --budget, `device` takes what `hot` would.
    #[arg(long, value_parser = choice(&ORDERS), default_value = "device", value_name = "ORDER")]
    pub(crate) order: RestoreOrder,
    /// Look for the files below DIR: /srv/db becomes DIR/srv/db.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Also restore files of the same size whose modification time differs, e.g. of a copy that didn't keep it.
    #[arg(long)]
    pub(crate) ignore_mtime: bool,
    /// Check the snapshot and the files, and say what would be read.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON (hotset.restore/1) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but errors.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
