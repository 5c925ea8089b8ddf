//! Differences: the text, and the files.

use std::path::Path;

use hotset_analysis::diff::Difference;
use hotset_view::Options;
use hotset_view::diff::{render_difference, write_difference_html};
use hotset_view::wire::diff_json;

use super::{Asked, print_summary, write_asked};
use crate::args::DiffArgs;

/// Prints the differences, on standard error where a file goes to standard output, and writes the files. What can't be written is said;
/// false then.
pub(crate) fn difference(difference: &Difference, args: &DiffArgs) -> bool {
    let taken = [&args.json, &args.html].into_iter().flatten().any(|path| path == Path::new("-"));
    let text = |options: &Options| {
        let options = Options { top: args.top, all: args.verbose, ..*options };
        render_difference(difference, &options)
    };
    let printed = args.quiet || print_summary(taken, args.look, text);
    let files: [Asked<'_>; 2] = [
        (args.json.as_deref(), &mut |out| out.write_all(&diff_json(difference))),
        (args.html.as_deref(), &mut |out| write_difference_html(difference, out)),
    ];
    write_asked("the difference", files) && printed
}
