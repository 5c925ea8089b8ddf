//! `hotset save` and `hotset restore`.

use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Result, bail};
use hotset_control::{RestoreOptions, SaveOptions, SaveTo};
use hotset_facts::{RestoreReport, RestoreStop, SaveReport};

use crate::args::{RestoreArgs, SaveArgs};
use crate::exit::{Exit, OrExit, Stop};
use crate::{interrupt, output, progress};

/// Saves which pages are cached, and says how many.
pub(super) fn save(args: &SaveArgs) -> Result<Exit, Stop> {
    let selection = args.selection.selection().or_exit(Exit::Usage)?;
    let to = destination(&args.file)?;
    let report = hotset_control::save(SaveOptions { selection }, to, interrupt::stop_flag())
        .map_err(anyhow::Error::from)?;
    print_saved(args, &report)?;
    Ok(end(report.interrupted, report.refused.count == 0))
}

/// `-` is standard output.
fn destination(file: &Path) -> Result<SaveTo> {
    if file != Path::new("-") {
        return Ok(SaveTo::File(file.to_owned()));
    }
    let out = output::stdout_stream();
    if out.is_terminal() {
        bail!("cannot write a binary snapshot to a terminal; name a FILE or use a pipe");
    }
    Ok(SaveTo::Stream(Box::new(out)))
}

fn print_saved(args: &SaveArgs, report: &SaveReport) -> Result<()> {
    let text = if args.json {
        hotset_view::save_json(report)
    } else {
        hotset_view::save_text(report).into_bytes()
    };
    match (args.quiet && !args.json, report.file.is_none()) {
        (true, _) => Ok(()),
        (false, true) => output::print_beside(&text),
        (false, false) => output::print(&text),
    }
}

/// Restores what a snapshot holds, and says what is cached then.
pub(super) fn restore(args: &RestoreArgs) -> Result<Exit, Stop> {
    let options = RestoreOptions {
        file: args.file.clone(),
        budget_bytes: args.budget,
        order: args.order,
        root: args.root.clone(),
        ignore_mtime: args.ignore_mtime,
        dry_run: args.dry_run,
    };
    let stop = interrupt::stop_flag();
    let restored = progress::shown_while(args.quiet, |progress| {
        hotset_control::restore(&options, stop, progress)
    });
    let report = restored.map_err(anyhow::Error::from)?;
    print_restored(args, &report)?;
    Ok(end(report.stopped == Some(RestoreStop::Interrupted), report.is_complete()))
}

fn print_restored(args: &RestoreArgs, report: &RestoreReport) -> Result<()> {
    if args.json {
        output::print(&hotset_view::restore_json(report))
    } else if args.quiet {
        Ok(())
    } else {
        output::print(hotset_view::restore_text(report).as_bytes())
    }
}

fn end(interrupted: bool, complete: bool) -> Exit {
    match (interrupted, complete) {
        (true, _) => interrupt::exit(),
        (false, true) => Exit::Success,
        (false, false) => Exit::Failure,
    }
}
