//! What came of checks: the report, the files, and what GitHub reads.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use hotset_analysis::Summary;
use hotset_analysis::check::CheckReport;
use hotset_view::Options;
use hotset_view::check::{annotations, check_json, junit, render_check, step_summary, tap};

use super::{Asked, print, print_summary, say, write_asked, write_file};
use crate::args::CheckArgs;

/// Names the file that a step's summary is added to.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Prints the report, on standard error where something else goes to standard output, and writes the files. What can't be written is
/// said; false then.
pub(crate) fn check(report: &CheckReport, args: &CheckArgs) -> bool {
    let mut files = [&args.json, &args.junit, &args.tap].into_iter().flatten();
    let taken = args.github || files.any(|file| file == Path::new("-"));
    let mut complete = args.quiet
        || print_summary(taken, args.look, |options| {
            render_check(report, &Options { all: args.verbose, ..*options })
        });
    let files: [Asked<'_>; 3] = [
        (args.json.as_deref(), &mut |out| out.write_all(&check_json(report))),
        (args.junit.as_deref(), &mut |out| out.write_all(junit(report).as_bytes())),
        (args.tap.as_deref(), &mut |out| out.write_all(tap(report).as_bytes())),
    ];
    complete &= write_asked("the result", files);
    if args.github
        && let Err(error) = github(report)
    {
        say(format_args!("{error:#}"));
        complete = false;
    }
    complete
}

fn github(report: &CheckReport) -> Result<()> {
    print(annotations(report).as_bytes())?;
    let Some(path) = std::env::var_os(STEP_SUMMARY) else { return Ok(()) };
    let shown = || Path::new(&path).display().to_string();
    let mut file = OpenOptions::new().append(true).create(true).open(&path).with_context(shown)?;
    file.write_all(step_summary(report).as_bytes()).with_context(shown)
}

/// Writes a profile as a whole.
///
/// # Errors
/// Names the file.
pub(crate) fn profile(summary: &Summary, path: &Path) -> Result<()> {
    write_file(path, &mut |out| hotset_view::write_profile_json(summary, out))
}

/// Writes a budget as a whole.
///
/// # Errors
/// Names the file.
pub(crate) fn budget(text: &str, path: &Path) -> Result<()> {
    write_file(path, &mut |out| out.write_all(text.as_bytes()))
}
