//! The tables of experiments, and their files.

use std::io::{self, Write};
use std::path::Path;

use hotset_view::lab::{LabResult, Named, render_lab, write_lab_html, write_lab_json};

use super::{print, print_beside, say, summary_options, write_file};
use crate::args::LabOutput;

/// Prints the tables of one experiment: on standard output, or on standard error where a file goes there.
pub(crate) fn lab_table(result: &LabResult, args: &LabOutput) {
    if args.quiet {
        return;
    }
    let taken = [&args.json, &args.html].into_iter().flatten().any(|path| path == Path::new("-"));
    let text = render_lab(result, &summary_options(taken, args.color, args.ascii));
    // A reader that went away has what it wanted.
    let _ = if taken { print_beside(text.as_bytes()) } else { print(text.as_bytes()) };
}

/// Writes the files of all experiments. What can't be written is said; false then.
pub(crate) fn lab_files(results: &[LabResult], args: &LabOutput) -> bool {
    if results.is_empty() {
        return true;
    }
    let named: Vec<Named<'_>> = results.iter().map(|result| Named { name: "", result }).collect();
    let mut write_json = |out: &mut dyn Write| write_lab_json(results, out);
    let mut write_html = |out: &mut dyn Write| write_lab_html(&named, out);
    type Writes<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;
    let files: [(Option<&Path>, Writes<'_>); 2] =
        [(args.json.as_deref(), &mut write_json), (args.html.as_deref(), &mut write_html)];
    let mut complete = true;
    for (path, write) in files {
        let Some(path) = path else { continue };
        if let Err(error) = write_file(path, write) {
            say(format_args!("a result was not written: {error:#}"));
            complete = false;
        }
    }
    complete
}
