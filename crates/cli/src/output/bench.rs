//! The summary of a benchmark and its exports.

use std::io::{self, Write};
use std::path::Path;

use hotset_analysis::bench::BenchSummary;
use hotset_facts::FileSet;
use hotset_view::bench::{
    bench_csv, bench_markdown, render_bench, render_files, write_bench_html, write_bench_json,
};

use super::{print, print_beside, say, summary_options, write_file};
use crate::args::BenchOutput;

/// Writes the exports and prints the summary: on standard output, or on standard error where an export goes there.
///
/// What can't be written is said, and the rest still comes; false then.
pub(crate) fn bench(summary: &BenchSummary, args: &BenchOutput) -> bool {
    let json = if args.json { Some(Path::new("-")) } else { args.export_json.as_deref() };
    let mut write_json = |out: &mut dyn Write| write_bench_json(summary, out);
    let mut write_csv = |out: &mut dyn Write| out.write_all(bench_csv(summary).as_bytes());
    let mut write_markdown =
        |out: &mut dyn Write| out.write_all(bench_markdown(summary).as_bytes());
    let mut write_html = |out: &mut dyn Write| write_bench_html(summary, out);
    type Writes<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;
    let exports: [(Option<&Path>, Writes<'_>); 4] = [
        (json, &mut write_json),
        (args.export_csv.as_deref(), &mut write_csv),
        (args.export_markdown.as_deref(), &mut write_markdown),
        (args.html.as_deref(), &mut write_html),
    ];
    let mut complete = true;
    let mut stdout_is_taken = false;
    for (path, write) in exports {
        let Some(path) = path else { continue };
        stdout_is_taken |= path == Path::new("-");
        if let Err(error) = write_file(path, write) {
            say(format_args!("an export was not written: {error:#}"));
            complete = false;
        }
    }
    if args.quiet {
        return complete;
    }
    let text = render_bench(summary, &summary_options(stdout_is_taken, args.color, args.ascii));
    let shown =
        if stdout_is_taken { print_beside(text.as_bytes()) } else { print(text.as_bytes()) };
    complete && shown.is_ok()
}

/// Prints the files of each command.
pub(crate) fn bench_files(names: &[&str], sets: &[FileSet], args: &BenchOutput) -> bool {
    print(render_files(names, sets, &summary_options(false, args.color, args.ascii)).as_bytes())
        .is_ok()
}
