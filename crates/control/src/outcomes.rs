//! Changing cache states: what `warm`, `evict` and `pin` have in common.

mod daemon;
mod evict;
mod pidfile;
mod pin;
pub(crate) mod progress;
mod warm;

use std::path::Path;

use anyhow::Result;
use hotset_facts::{
    ControlReport, ControlTotals, ControlVerb, ControlledFile, Observed, Skipped, Unreadable,
};
use hotset_view::control::{ControlOptions, control_json, control_text};

use crate::args::ControlOutput;
use crate::exit::Exit;
use crate::output;

pub(crate) use evict::evict;
pub(crate) use pin::pin;
pub(crate) use warm::warm;

/// Files that a report names at most where not all are asked for: the rest is counted.
const NAMED_FILES: usize = 1000;

/// What one thread of a walk gathers.
pub(super) struct Gathered {
    verb: ControlVerb,
    /// All files, and not only those that are not as they should be.
    all: bool,
    files: Vec<ControlledFile>,
    left_out: u64,
    unreadable: Vec<Unreadable>,
    totals: ControlTotals,
}

impl Gathered {
    pub(super) fn new(verb: ControlVerb, output: &ControlOutput) -> Self {
        Self {
            verb,
            all: output.json,
            files: Vec::new(),
            left_out: 0,
            unreadable: Vec::new(),
            totals: ControlTotals::default(),
        }
    }

    pub(super) fn file(&mut self, file: ControlledFile) {
        self.totals.add(self.verb, &file);
        let short = !file.is_reached(self.verb);
        if self.all || (short && self.files.len() < NAMED_FILES) {
            self.files.push(file);
        } else if short {
            self.left_out += 1;
        }
    }

    pub(super) fn unreadable(&mut self, path: &Path, error: &dyn std::fmt::Display) {
        let reason = error.to_string();
        self.unreadable.push(Unreadable { path: path.to_owned(), reason });
    }

    /// Puts together what all threads gathered.
    pub(super) fn report(
        gathered: Vec<Self>,
        verb: ControlVerb,
        skipped: &Skipped,
    ) -> ControlReport {
        let mut report = ControlReport {
            verb,
            files: Vec::new(),
            files_left_out: 0,
            unreadable: Vec::new(),
            not_cacheable: skipped.not_cacheable,
            totals: ControlTotals::default(),
            notes: Vec::new(),
            interrupted: false,
        };
        for one in gathered {
            report.files.extend(one.files);
            report.files_left_out += one.left_out;
            report.unreadable.extend(one.unreadable);
            report.totals.merge(&one.totals);
        }
        report.files.sort_by(|a, b| a.path.cmp(&b.path));
        report.unreadable.sort();
        report
    }
}

/// Prints the report, and says how to end.
pub(super) fn finish(report: &ControlReport, wanted: &ControlOutput) -> Exit {
    let printed = print(report, wanted);
    if let Err(error) = &printed {
        output::say(format_args!("{error:#}"));
    }
    if report.interrupted {
        return crate::interrupt::exit();
    }
    if report.is_reached() && printed.is_ok() { Exit::Success } else { Exit::Failure }
}

/// Prints the report where one is wanted.
pub(super) fn print(report: &ControlReport, wanted: &ControlOutput) -> Result<()> {
    if wanted.quiet {
        return Ok(());
    }
    let page_bytes = hotset_sys::page_size();
    if wanted.json {
        return output::print(&control_json(report));
    }
    let options = ControlOptions { all: wanted.verbose, page_bytes };
    output::print(control_text(report, &options).as_bytes())
}

/// A failure before anything was done.
pub(super) fn fail(error: &anyhow::Error) -> Exit {
    output::say(format_args!("{error:#}"));
    Exit::Failure
}

/// Bad usage that clap can't see.
pub(super) fn misused(error: &anyhow::Error) -> Exit {
    output::say(format_args!("{error:#}"));
    Exit::Usage
}

/// Why nobody can tell, for a file whose state stays unknown.
pub(super) fn unknown(
    error: &dyn std::fmt::Display,
    file: &hotset_sys::tree::Found<'_>,
) -> ControlledFile {
    let missing = Observed::Missing(hotset_facts::Reason::not_measured("it could not be changed"));
    ControlledFile {
        path: file.path.to_owned(),
        id: file.id,
        size_bytes: file.size_bytes,
        pages: hotset_sys::pages_of(file.size_bytes),
        cached_before: missing,
        cached_after: missing,
        stayed: Vec::new(),
        error: Some(error.to_string()),
    }
}
