//! `hotset record`.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use clap::Parser;
use hotset_facts::ExitStatus;
use hotset_facts::units::bytes;
use hotset_lab::find_program;
use hotset_observe::{RecordLosses, RecordOptions as SensorOptions};
use hotset_watch::{NamedSites, RecordOptions, Recorded, STACK_BYTES, Written, parts_of};

use crate::args::{Cli, Command, LookArgs, OutputArgs, RecordArgs};
use crate::destination::check_destination;
use crate::exit::{Exit, OrExit, Stop};
use crate::output;

/// A ring's memory: whole pages, and a power of two (bpf(2), BPF_MAP_TYPE_RINGBUF).
const LEAST_BUFFER_BYTES: u64 = 64 << 10;
const MOST_BUFFER_BYTES: u64 = 1 << 30;

/// Records a command, or what already runs.
pub(crate) fn record(args: &RecordArgs) -> Result<Exit, Stop> {
    let runs_command = !args.command.is_empty();
    let failure = if runs_command { Exit::Own } else { Exit::Failure };
    check(args, failure)?;
    let records = SensorOptions {
        pages: args.pages,
        ring_bytes: ring_bytes(args.buffer)?,
        lossless: args.lossless,
        stack_bytes: if args.sites { STACK_BYTES } else { 0 },
        ..SensorOptions::default()
    };
    let options = RecordOptions {
        trace: &args.output,
        version: env!("CARGO_PKG_VERSION"),
        records,
        max_rows: args.max_rows,
        say: |message| output::say(message),
    };
    if runs_command {
        let search = std::env::var_os("PATH");
        let program = find_program(&args.command, search.as_deref()).map_err(Stop::not_runnable)?;
        let (recorded, exit) = hotset_watch::record(&program, &options)
            .map_err(|error| super::run::stop(&program, error))?;
        let written = report(args, recorded);
        // What the command says with its code goes before what hotset says with its own.
        return Ok(if written || exit != ExitStatus::Code(0) {
            Exit::Command(exit)
        } else {
            Exit::Own
        });
    }
    let who = args.target.find()?;
    let recorded = hotset_watch::record_running(&who, args.duration, &options, |limited| {
        if let Some(limited) = limited {
            output::say(limited);
        }
        if !args.quiet && args.duration.is_none() {
            output::say("recording; Ctrl-C ends it");
        }
    })?;
    Ok(if report(args, recorded) { Exit::Success } else { Exit::Failure })
}

/// Records a command for another subcommand, without losing a record; `replace` a recording that is there. How the command ended is its
/// own matter: what it did until then is recorded.
pub(crate) fn record_quietly(
    trace: &Path,
    options: &[&str],
    replace: bool,
    command: &[OsString],
) -> Result<(), Stop> {
    let fixed = ["hotset", "record", "-q", "--lossless"].into_iter().chain(options.iter().copied());
    let force = replace.then_some("--force");
    let words = fixed.chain(force).chain(["-o"]).map(OsString::from);
    let words = words.chain([trace.into(), "--".into()]).chain(command.iter().cloned());
    let parsed = Cli::try_parse_from(words).or_exit(Exit::Usage)?;
    let Command::Record(args) = parsed.command else {
        return Err(Stop::usage("the command cannot be recorded"));
    };
    match record(&args).map_err(Stop::of_hotset)? {
        Exit::Own => Err(Stop::new(Exit::Failure, "the recording was not written")),
        _ => Ok(()),
    }
}

/// Refuses what would be lost, or would replace something, before anything starts.
fn check(args: &RecordArgs, failure: Exit) -> Result<(), Stop> {
    let trace = &args.output;
    check_destination(trace).or_exit(failure)?;
    if trace == Path::new("-") {
        return Err(Stop::usage("-o -: a trace is written in parts; expected a file name"));
    }
    if let Some(json) = &args.json {
        check_destination(json).or_exit(failure)?;
    }
    let parts = parts_of(trace).or_exit(failure)?;
    if args.force {
        for part in &parts {
            fs::remove_file(part).or_exit(failure)?;
        }
        return Ok(());
    }
    if let Some(part) = parts.first() {
        return Err(Stop::new(
            failure,
            format_args!(
                "{}: a part of an interrupted recording; `hotset trace join {}` makes a trace of it, --force removes it",
                part.display(),
                trace.display()
            ),
        ));
    }
    match fs::symlink_metadata(trace) {
        Ok(_) => Err(Stop::new(
            failure,
            format_args!(
                "{}: exists; choose another name, or pass --force to replace it",
                trace.display()
            ),
        )),
        Err(_) => Ok(()),
    }
}

fn ring_bytes(asked: u64) -> Result<u32, Stop> {
    let fits = asked.is_power_of_two() && (LEAST_BUFFER_BYTES..=MOST_BUFFER_BYTES).contains(&asked);
    u32::try_from(asked).ok().filter(|_| fits).ok_or_else(|| {
        Stop::usage(format_args!(
            "--buffer {}: expected a power of two from {} to {}",
            bytes(asked),
            bytes(LEAST_BUFFER_BYTES),
            bytes(MOST_BUFFER_BYTES)
        ))
    })
}

/// Says what was recorded, and writes the profile; whether all was written.
fn report(args: &RecordArgs, recorded: Recorded) -> bool {
    let mut all = true;
    match &recorded.written {
        Ok(written) => {
            if !args.quiet {
                say_written(args, written);
            }
            if written.unwritten > 0 {
                output::say(hotset_view::record::unwritten(written.unwritten));
                all = false;
            }
        }
        Err(error) => {
            output::say(format_args!("the trace is not complete: {error}"));
            say_parts(&args.output);
            all = false;
        }
    }
    let RecordLosses { records, malformed, pending, .. } = recorded.losses;
    for line in hotset_view::record::losses(records, malformed, pending) {
        output::say(line);
    }
    if args.json.is_some() {
        let gate = hotset_analysis::Gate::default();
        let summary =
            hotset_analysis::summarise(recorded.profile, hotset_sys::costs::table(), gate);
        let output = OutputArgs {
            json: args.json.clone(),
            html: None,
            top: 0,
            look: LookArgs::default(),
            quiet: true,
            verbose: false,
        };
        all &= output::report(&summary, &output);
    }
    all
}

fn say_written(args: &RecordArgs, written: &Written) {
    output::say(hotset_view::record::recorded(&args.output, written.records, written.bytes));
    if args.sites {
        let NamedSites { contexts, records } = written.named;
        hotset_view::record::call_sites(&contexts, records).into_iter().for_each(output::say);
    }
}

/// Parts that were finished are traces by themselves.
fn say_parts(trace: &Path) {
    let parts = parts_of(trace).unwrap_or_default();
    if !parts.is_empty() {
        output::say(format_args!(
            "its parts that were finished stay: `hotset trace join {} -o FILE` makes one trace of them",
            trace.display()
        ));
    }
}
