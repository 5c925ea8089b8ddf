//! Needs of memory: the table, and the files.

use std::path::Path;

use hotset_view::size::{SizedTrace, render_size, size_csv, write_size_html};
use hotset_view::wire::size_json;

use super::{Asked, print_summary, write_asked};
use crate::args::{EmitTo, SizeArgs};

/// Prints the table, on standard error where a file goes to standard output, and writes the files, with the forms that are `emitted`.
/// What can't be written is said; false then.
pub(crate) fn size(trace: &SizedTrace<'_>, args: &SizeArgs, emitted: &[(&EmitTo, String)]) -> bool {
    let files = [&args.json, &args.csv, &args.html].into_iter().flatten();
    let mut files = files.chain(emitted.iter().map(|(to, _)| &to.file));
    let taken = files.any(|file| file == Path::new("-"));
    let printed =
        args.quiet || print_summary(taken, args.look, |options| render_size(trace, options));
    let files: [Asked<'_>; 3] = [
        (args.json.as_deref(), &mut |out| out.write_all(&size_json(trace))),
        (args.csv.as_deref(), &mut |out| out.write_all(&size_csv(trace.summary))),
        (args.html.as_deref(), &mut |out| write_size_html(trace, out)),
    ];
    let mut complete = write_asked("the need of memory", files) && printed;
    for (to, text) in emitted {
        let file: Asked<'_> = (Some(&to.file), &mut |out| out.write_all(text.as_bytes()));
        complete &= write_asked("the recommendation", [file]);
    }
    complete
}
