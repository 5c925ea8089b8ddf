//! The tables of experiments, and their files.

use std::path::Path;

use hotset_view::lab::{LabResult, Named, render_lab, write_lab_html, write_lab_json};

use super::{Asked, print_summary, write_asked};
use crate::args::LabOutput;

/// Prints the tables of one experiment: on standard output, or on standard error where a file goes there. What can't be written
/// is said; false then.
pub(crate) fn lab_table(result: &LabResult, args: &LabOutput) -> bool {
    let taken = [&args.json, &args.html].into_iter().flatten().any(|path| path == Path::new("-"));
    args.quiet || print_summary(taken, args.look, |options| render_lab(result, options))
}

/// Writes the files of all experiments. What can't be written is said; false then.
pub(crate) fn lab_files(results: &[LabResult], args: &LabOutput) -> bool {
    if results.is_empty() {
        return true;
    }
    let named: Vec<Named<'_>> = results.iter().map(|result| Named { name: "", result }).collect();
    let files: [Asked<'_>; 2] = [
        (args.json.as_deref(), &mut |out| write_lab_json(results, out)),
        (args.html.as_deref(), &mut |out| write_lab_html(&named, out)),
    ];
    write_asked("a result", files)
}
