//! `hotset warm`, `evict` and `pin`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result, bail};
use hotset_control::{Controlled, EvictOptions, NamedFiles, PinOptions, Pinned, WarmOptions};
use hotset_facts::ControlReport;
use hotset_sys::cache::Dirty;
use hotset_sys::daemon;
use hotset_sys::pidfile::PidFile;
use hotset_sys::tree::Selection;
use hotset_view::control::{
    ControlOptions, control_json, control_text, follow_line, note, pin_line,
};

use crate::args::{ControlOutput, EvictArgs, PinArgs, WarmArgs};
use crate::exit::{Exit, OrExit, Stop};
use crate::{interrupt, output, progress};

/// What a hotset is told that `pin --daemon` starts.
const DAEMON_CHILD: &str = "--daemon-child";

/// Fetches what is missing of the files, and says what is cached then.
pub(super) fn warm(args: &WarmArgs) -> Result<Exit, Stop> {
    let selection = args.selection.selection().or_exit(Exit::Usage)?;
    let (span, budget_bytes, named) = (args.range, args.budget, named(&args.output));
    let options = WarmOptions { selection, span, budget_bytes, named };
    let stop = interrupt::stop_flag();
    let done = progress::shown_while(args.output.quiet, |progress| {
        hotset_control::warm(&options, stop, progress)
    });
    finish(done, &args.output)
}

/// Asks the kernel to forget the files, and says what stayed and why.
pub(super) fn evict(args: &EvictArgs) -> Result<Exit, Stop> {
    let dirty = if args.sync { Dirty::Write } else { Dirty::Leave };
    if args.everything {
        let done = hotset_control::evict_everything(dirty).map_err(anyhow::Error::from)?;
        return finish(done, &args.output);
    }
    let selection = args.selection.selection().or_exit(Exit::Usage)?;
    let options = EvictOptions { selection, span: args.range, dirty, named: named(&args.output) };
    finish(hotset_control::evict(&options, interrupt::stop_flag()), &args.output)
}

/// Holds the files until a signal arrives.
pub(super) fn pin(args: &PinArgs) -> Result<Exit, Stop> {
    let selection = pin_selection(args).or_exit(Exit::Usage)?;
    if args.daemon && !args.daemon_child {
        let started = daemon::start(&daemon_words(std::env::args_os().skip(1)))
            .context("starting hotset in the background")?;
        return Ok(match started {
            daemon::Started::Ready(0) => Exit::Success,
            daemon::Started::Ready(_) => Exit::Failure,
            daemon::Started::Ended(status) => Exit::Command(status),
        });
    }
    hold(args, selection)
}

fn pin_selection(args: &PinArgs) -> Result<Selection> {
    if args.daemon && args.selection.files_from.as_deref() == Some(Path::new("-")) {
        bail!("--daemon cannot read standard input; pass a file to --files-from");
    }
    let mut selection = args.selection.selection()?;
    // The names are looked up again and again, wherever the process may be by then.
    for root in &mut selection.roots {
        *root = std::path::absolute(&*root).with_context(|| root.display().to_string())?;
    }
    Ok(selection)
}

fn hold(args: &PinArgs, selection: Selection) -> Result<Exit, Stop> {
    if args.daemon_child {
        daemon::detach().context("setsid")?;
    }
    let pid_file =
        args.pid_file.as_deref().map(std::path::absolute).transpose().context("--pid-file")?;
    let pid_file = pid_file.as_deref().map(PidFile::create).transpose();
    let _pid_file = pid_file.map_err(anyhow::Error::from)?;
    let stop = interrupt::stop_flag();
    let (budget_bytes, named) = (args.budget, named(&args.output));
    let options = PinOptions { selection, budget_bytes, named };
    let pinned = progress::shown_while(args.output.quiet, |progress| {
        hotset_control::pin(&options, stop, progress)
    });
    let Pinned { report, mut held } = pinned.map_err(anyhow::Error::from)?;
    if report.interrupted || held.files() == 0 {
        return finish(Controlled { report, notes: Vec::new() }, &args.output);
    }
    print(&report, &args.output)?;
    if !args.output.quiet {
        let (files, bytes) = (held.files(), held.locked_bytes());
        output::say(pin_line(files, bytes, std::process::id(), args.daemon_child));
    }
    if args.daemon_child {
        daemon::ready(u8::from(!report.is_reached())).context("nobody waits for this")?;
    }
    held.follow_until(stop, &mut |path, followed| {
        if !args.output.quiet {
            output::say(follow_line(path, &followed));
        }
    });
    Ok(if report.is_reached() { Exit::Success } else { Exit::Failure })
}

/// The flag goes right behind the command's own name, where no `--` can hide it.
fn daemon_words(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = args.collect();
    let place = words.iter().position(|word| word == "pin").map_or(0, |index| index + 1);
    words.insert(place, DAEMON_CHILD.into());
    words
}

fn named(output: &ControlOutput) -> NamedFiles {
    match output {
        ControlOutput { json: true, .. } => NamedFiles::All,
        ControlOutput { verbose: true, .. } => NamedFiles::Short,
        _ => NamedFiles::Largest,
    }
}

/// Prints the report, and says how to end.
fn finish(done: Controlled, wanted: &ControlOutput) -> Result<Exit, Stop> {
    let mut report = done.report;
    report.notes = done.notes.iter().map(note).collect();
    print(&report, wanted)?;
    if report.interrupted {
        return Ok(interrupt::exit());
    }
    Ok(if report.is_reached() { Exit::Success } else { Exit::Failure })
}

/// Prints the report where one is wanted.
fn print(report: &ControlReport, wanted: &ControlOutput) -> Result<()> {
    if wanted.quiet {
        return Ok(());
    }
    let page_bytes = hotset_sys::page_size();
    if wanted.json {
        return output::print(&control_json(report, page_bytes));
    }
    let options = ControlOptions { all: wanted.verbose, page_bytes };
    output::print(control_text(report, &options).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_comes_before_anything_that_could_be_a_path() {
        let typed = ["pin", "--daemon", "--", "--odd name", "pin"].map(OsString::from);
        let wanted = ["pin", "--daemon-child", "--daemon", "--", "--odd name", "pin"];
        assert_eq!(daemon_words(typed.into_iter()), wanted.map(OsString::from));
    }
}
