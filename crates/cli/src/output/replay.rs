//! Replays: the table, and the file.

use std::path::Path;

use hotset_analysis::replay::ReplaySummary;
use hotset_view::replay::{render_replay, write_replay_html};
use hotset_view::wire::replay_json;

use super::{Asked, print_summary, write_asked};
use crate::args::ReplayArgs;

/// Prints the table, on standard error where JSON goes to standard output, and writes the file. What can't be written is said; false
/// then.
pub(crate) fn replay(summary: &ReplaySummary, args: &ReplayArgs) -> bool {
    let taken = [&args.json, &args.html].into_iter().flatten().any(|path| path == Path::new("-"));
    let printed =
        args.quiet || print_summary(taken, args.look, |options| render_replay(summary, options));
    let files: [Asked<'_>; 2] = [
        (args.json.as_deref(), &mut |out| out.write_all(&replay_json(summary))),
        (args.html.as_deref(), &mut |out| write_replay_html(summary, out)),
    ];
    write_asked("replays", files) && printed
}
