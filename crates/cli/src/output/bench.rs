//! The summary of a benchmark and its exports.

use std::path::Path;

use hotset_analysis::bench::BenchSummary;
use hotset_facts::FileSet;
use hotset_view::bench::{
    bench_csv, bench_markdown, render_bench, render_files, write_bench_html, write_bench_json,
};

use super::{Asked, print_summary, write_asked};
use crate::args::BenchOutput;

/// Writes the exports and prints the summary: on standard output, or on standard error where an export goes there.
///
/// What can't be written is said, and the rest still comes; false then.
pub(crate) fn bench(summary: &BenchSummary, args: &BenchOutput) -> bool {
    let look = args.bench_look();
    let json = if args.json { Some(Path::new("-")) } else { args.export_json.as_deref() };
    let exports: [Asked<'_>; 4] = [
        (json, &mut |out| write_bench_json(summary, out)),
        (args.export_csv.as_deref(), &mut |out| out.write_all(bench_csv(summary).as_bytes())),
        (args.export_markdown.as_deref(), &mut |out| {
            out.write_all(bench_markdown(summary, look).as_bytes())
        }),
        (args.html.as_deref(), &mut |out| write_bench_html(summary, out)),
    ];
    let taken = exports.iter().any(|(path, _)| *path == Some(Path::new("-")));
    let complete = write_asked("an export", exports);
    let text = |options: &_| render_bench(summary, options, look);
    let shown = args.quiet || print_summary(taken, args.look, text);
    complete && shown
}

/// Prints the files of each command. What can't be written is said; false then.
pub(crate) fn bench_files(names: &[&str], sets: &[FileSet], args: &BenchOutput) -> bool {
    print_summary(false, args.look, |options| render_files(names, sets, options))
}
