//! `hotset run`.

use hotset_facts::ExitStatus;
use hotset_lab::{Invocation, find_program};
use hotset_watch::{RunError, RunOptions, run_without_sensor};

use crate::args::RunArgs;
use crate::destination::check_reports;
use crate::exit::{Exit, Stop};
use crate::output;

/// Runs a command under observation and reports; the command's own end is the exit code.
pub(super) fn run(args: &RunArgs) -> Result<Exit, Stop> {
    check_reports(&args.output, Exit::Own)?;
    let search = std::env::var_os("PATH");
    let program = find_program(&args.command, search.as_deref()).map_err(Stop::not_runnable)?;
    let ran = if args.no_bpf {
        run_without_sensor(&program, "--no-bpf was given")
    } else {
        let options = RunOptions {
            max_rows: args.max_rows,
            files: args.files,
            compat: args.compat_sensor,
            sites: args.sites,
            verbose: args.output.verbose,
            say: |message| output::say(message),
        };
        hotset_watch::run(&program, &options)
    };
    let (profile, exit) = ran.map_err(|error| stop(&program, error))?;
    let gate = hotset_analysis::Gate::default();
    let summary = hotset_analysis::summarise(profile, hotset_sys::costs::table(), gate);
    let written = output::report(&summary, &args.output);
    if args.output.verbose
        && let Some(bytes) = hotset_sys::child::own_peak_rss_bytes()
    {
        let mib = bytes as f64 / f64::from(1 << 20);
        output::say(format_args!("hotset itself: {mib:.1} MiB at its peak"));
    }
    // What the command says with its code goes before what hotset says with its own.
    Ok(if written || exit != ExitStatus::Code(0) { Exit::Command(exit) } else { Exit::Own })
}

pub(super) fn stop(program: &Invocation, error: RunError) -> Stop {
    match error {
        RunError::Start(error) => {
            let exit = Exit::of_start(&error);
            let hint = match exit {
                Exit::NotFound => " (of it, or of the interpreter in its first line)",
                _ => "",
            };
            Stop::new(exit, format_args!("{}: {error}{hint}", program.program.display()))
        }
        RunError::Report { exit, error } => {
            output::say(format_args!("there is no report: {error}"));
            Stop::new(Exit::Command(exit), "the command itself ended as its exit code says")
        }
        other => Stop::own(other),
    }
}
