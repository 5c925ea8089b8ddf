//! `hotset size`.

mod verify;
mod watched;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use hotset_analysis::size::{
    Collected, Collector, PAGE_BYTES, SizeAsked, SizeHost, SizeSummary, other_page_bytes,
    size as predict,
};
use hotset_facts::trace::{TraceHead, TraceLists};
use hotset_facts::units::{bytes, exact_bytes};
use hotset_facts::{FileId, PageRange};
use hotset_lab::experiment::Scratch;
use hotset_trace::Columns;
use hotset_view::size::{SizedTrace, emit_size};

use super::{each_batch_until, open_trace, record_quietly};
use crate::args::{EmitTo, SizeArgs};
use crate::destination::{check_destinations, check_not_read};
use crate::exit::{Exit, OrExit, Stop};
use crate::lab::native;
use crate::{interrupt, output};

/// A recording, read once.
struct Read {
    head: TraceHead,
    lists: TraceLists,
    collected: Collected,
}

/// Predicts how much memory a recorded program needs.
pub(super) fn size(args: &SizeArgs) -> Result<Exit, Stop> {
    check(args)?;
    if args.who.is_some() {
        return watched::size(args);
    }
    let stop = interrupt::stop_flag();
    if args.verify {
        verify::announce(args);
    }
    // A recording of the command is here, unless it is kept.
    let scratch = match &args.trace {
        Some(_) => None,
        None => Some(scratch()?),
    };
    let trace = trace_of(args, scratch.as_ref());
    if args.trace.is_none() {
        verify::prepare(args)?;
        record_quietly(&trace, &[], false, &args.command)?;
    }
    let Some(mut read) = read(&trace, args, &[], stop).or_exit(Exit::Failure)? else {
        return Ok(interrupt::exit());
    };
    if args.verify && verify::stopped(&read.head).is_none() && verify::was_cached(&read.lists) {
        let Some(again) = verify::record_cold(args, &trace, &read.lists, stop)? else {
            return Ok(interrupt::exit());
        };
        read = again;
    }
    let asked = asked(args, &read.head);
    let mut summary = predict(&read.head, read.collected, &asked);
    refuse_too_small(args, &summary)?;
    let mut exit = Exit::Success;
    if args.verify {
        let sized = verify::Sized { trace: &trace, lists: &read.lists };
        let stopped = match verify::stopped(&read.head) {
            None => {
                summary.verified = verify::verify(args, &sized, &summary, &asked, stop)?;
                verify::last_stopped(&summary.verified)
            }
            stopped => {
                output::say("it was stopped while it was recorded: it is not run under limits");
                stopped
            }
        };
        if stop.load(Ordering::Relaxed) {
            exit = interrupt::exit();
        } else if let Some(stopped) = stopped {
            exit = Exit::Command(stopped);
        }
    }
    let shown = args.trace.as_ref().or(args.output.as_ref());
    let sized =
        SizedTrace { path: shown.map(PathBuf::as_path), head: &read.head, summary: &summary };
    let emitted = emitted(&sized, args).or_exit(Exit::Failure)?;
    Ok(if output::size(&sized, args, &emitted) { exit } else { Exit::Failure })
}

fn scratch() -> Result<Scratch, Stop> {
    let sweeper = native()?.into_iter().chain(["sweep".into()]).collect::<Vec<_>>();
    Scratch::make(None, &sweeper).or_exit(Exit::Failure)
}

fn trace_of(args: &SizeArgs, scratch: Option<&Scratch>) -> PathBuf {
    match (&args.trace, &args.output, scratch) {
        (Some(trace), ..) => trace.clone(),
        (None, Some(kept), _) => kept.clone(),
        (None, None, Some(scratch)) => scratch.directory().join("recording.parquet"),
        (None, None, None) => PathBuf::new(),
    }
}

fn asked(args: &SizeArgs, head: &TraceHead) -> SizeAsked {
    SizeAsked {
        target: args.target / 100.0,
        limits_bytes: args.limits.clone(),
        policy: args.policy,
        host: args.kernel.and(host(args, head)),
        device_bytes_per_s: args.device_rate,
        other_bytes: args.other,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// Reads a trace, without the pages that others hold; nothing where `stop` was set first.
fn read(
    trace: &Path,
    args: &SizeArgs,
    stuck: &[(FileId, Vec<PageRange>)],
    stop: &AtomicBool,
) -> Result<Option<Read>> {
    let reader = open_trace(trace)?;
    if let Some(other) = other_page_bytes(reader.head()) {
        bail!(
            "{}: recorded on a host with pages of {other} bytes; size predicts for pages of {PAGE_BYTES} bytes",
            trace.display()
        );
    }
    let mut collector = Collector::new(reader.lists(), host(args, reader.head()));
    collector.hold(stuck);
    collector.follow_read_ahead(reader.head(), host(args, reader.head()));
    collector.follow_memory(reader.head(), args.other);
    let mut full = Ok(());
    each_batch_until(stop, trace, &reader, Columns::ALL, |batch| {
        if full.is_ok() {
            full = collector.add(batch);
        }
    })?;
    full.with_context(|| trace.display().to_string())?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let collected = collector.finish();
    let (head, lists) = (reader.head().clone(), reader.lists().clone());
    Ok(Some(Read { head, lists, collected }))
}

fn host(args: &SizeArgs, head: &TraceHead) -> Option<SizeHost> {
    let host = args.kernel.map(|kernel| SizeHost::with_kernel(head, kernel));
    host.or_else(|| SizeHost::of(head))
}

/// Below that it would not be slow, it would be killed.
fn refuse_too_small(args: &SizeArgs, summary: &SizeSummary) -> Result<(), Stop> {
    let least = summary.killed_below_bytes.unwrap_or(0);
    match args.limits.iter().find(|&&limit| limit < least) {
        None => Ok(()),
        Some(&limit) => Err(Stop::usage(format_args!(
            "--limit {}: the program holds {} that can't be evicted, and would be killed, or swap; expected a larger limit",
            exact_bytes(limit),
            bytes(least)
        ))),
    }
}

/// Checks what can be told before anything is read.
fn check(args: &SizeArgs) -> Result<(), Stop> {
    if args.emit_container.is_some() && !args.emit.iter().any(|to| to.form.is_of_container()) {
        return Err(Stop::usage("--emit-container applies to --emit k8s and --emit vpa"));
    }
    let files = [&args.json, &args.csv, &args.html].into_iter().flatten();
    let files = files.chain(args.emit.iter().map(|to| &to.file));
    let twice = "two of --json, --csv, --html and --emit go to standard output; give one of them a file, such as --emit k8s=FILE";
    if let Some(kept) = args.output.as_ref().filter(|kept| kept.symlink_metadata().is_ok()) {
        return Err(Stop::new(
            Exit::Failure,
            format_args!("{}: exists; choose another name for the recording", kept.display()),
        ));
    }
    let recording = args.trace.as_ref().or(args.output.as_ref());
    recording.map_or(Ok(()), |recording| check_not_read(files.clone(), recording, "recording"))?;
    check_destinations(files, twice, Exit::Failure)
}

/// All that is emitted, or none of it: what is not known is said before anything is written.
fn emitted<'a>(
    sized: &SizedTrace<'_>,
    args: &'a SizeArgs,
) -> anyhow::Result<Vec<(&'a EmitTo, String)>> {
    let made = args.emit.iter().map(|to| {
        let text = emit_size(sized, to.form, args.emit_container.as_deref());
        let form = to.form.as_str();
        let text = text.map_err(|why| match sized.path {
            Some(path) => anyhow::anyhow!("{}: --emit {form}: {why}", path.display()),
            None => anyhow::anyhow!("--emit {form}: {why}"),
        })?;
        Ok((to, text))
    });
    made.collect()
}
