//! Needs of memory: the table, and the file.

use std::path::Path;

use hotset_view::size::{SizedTrace, render_size};
use hotset_view::wire::size_json;

use super::{Asked, print_summary, write_asked};
use crate::args::SizeArgs;

/// Prints the table, on standard error where JSON goes to standard output, and writes the file. What can't be written is said; false
/// then.
pub(crate) fn size(trace: &SizedTrace<'_>, args: &SizeArgs) -> bool {
    let taken = args.json.as_deref() == Some(Path::new("-"));
    let printed =
        args.quiet || print_summary(taken, args.look, |options| render_size(trace, options));
    let files: [Asked<'_>; 1] =
        [(args.json.as_deref(), &mut |out| out.write_all(&size_json(trace)))];
    write_asked("the need of memory", files) && printed
}
