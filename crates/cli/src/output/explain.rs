//! Explanations: the findings, and the file.

use std::path::Path;

use hotset_view::Options;
use hotset_view::explain::{ExplainedTrace, render_explained, write_explained_html};
use hotset_view::wire::explanation_json;

use super::{Asked, print_summary, write_asked};
use crate::args::ExplainArgs;

/// Prints the findings, on standard error where a file goes to standard output, and writes the files. What can't be written is said;
/// false then.
pub(crate) fn explained(trace: &ExplainedTrace<'_>, args: &ExplainArgs) -> bool {
    let taken = [&args.json, &args.html].into_iter().flatten().any(|path| path == Path::new("-"));
    let text =
        |options: &Options| render_explained(trace, &Options { all: args.verbose, ..*options });
    let printed = args.quiet || print_summary(taken, args.look, text);
    let files: [Asked<'_>; 2] = [
        (args.json.as_deref(), &mut |out| out.write_all(&explanation_json(trace))),
        (args.html.as_deref(), &mut |out| write_explained_html(trace, out)),
    ];
    write_asked("the explanation", files) && printed
}
