//! `hotset trace export`.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::{Context, Error};
use hotset_facts::trace::TraceBatch;
use hotset_facts::units::count;
use hotset_sys::whole_directory::{WholeDirectory, removable};
use hotset_sys::whole_file::WholeFile;
use hotset_trace::export::perfetto::Slices;
use hotset_trace::export::{self, ExportError, Exported, fio::FioLogs};
use hotset_trace::{Columns, Reader, TraceError};

use super::{check_new, exists, open};
use crate::args::{ExportTo, TraceExportArgs};
use crate::destination::check_destination;
use crate::exit::{Exit, Stop};
use crate::{interrupt, output};

/// Why there are no more records.
enum Source {
    Trace(TraceError),
    Interrupted,
}

/// Converts a trace for another tool.
pub(super) fn export(args: &TraceExportArgs) -> Result<Exit, Stop> {
    check(args)?;
    let reader = open(&args.trace)?;
    let exported = match args.to {
        ExportTo::Fio => fio(args, &reader),
        ExportTo::Oracle => oracle(args, &reader),
        ExportTo::Perfetto | ExportTo::Pprof | ExportTo::Csv => stream(args, &reader),
    };
    match exported {
        Ok(Some(exported)) => say_exported(args, &exported),
        // Who read standard output had enough.
        Ok(None) => {}
        Err(ExportError::Write(error)) => {
            return Err(Error::from(error).context(args.output.display().to_string()).into());
        }
        Err(ExportError::Records(Source::Trace(error))) => {
            return Err(Error::from(error).context(args.trace.display().to_string()).into());
        }
        Err(ExportError::Records(Source::Interrupted)) => {
            return Err(Stop::new(
                interrupt::exit(),
                format_args!("{}: stopped before the end; nothing is kept", args.output.display()),
            ));
        }
    }
    Ok(Exit::Success)
}

/// Refuses options of another format, and what can't be written or would be replaced.
fn check(args: &TraceExportArgs) -> Result<(), Stop> {
    let to = match args.to {
        ExportTo::Fio => "fio",
        ExportTo::Perfetto => "perfetto",
        ExportTo::Pprof => "pprof",
        ExportTo::Oracle => "oracle",
        ExportTo::Csv => "csv",
    };
    if args.all && args.to != ExportTo::Perfetto {
        return Err(Stop::usage(format_args!(
            "--all: applies to --to perfetto; --to {to} always takes all records"
        )));
    }
    if args.one_log && args.to != ExportTo::Fio {
        return Err(Stop::usage(format_args!("--one-log: applies to --to fio, not to --to {to}")));
    }
    let is_stdout = args.output == Path::new("-");
    match args.to {
        ExportTo::Fio if is_stdout => {
            Err(Stop::usage("-o -: --to fio writes a directory; expected its name"))
        }
        ExportTo::Fio => Ok(check_directory(&args.output, args.force)?),
        ExportTo::Oracle if is_stdout => {
            Err(Stop::usage("-o -: --to oracle changes what it wrote before; expected a file name"))
        }
        _ => Ok(check_new(&args.output, args.force)?),
    }
}

/// Refuses a directory that can't be made, or holds what would be lost.
fn check_directory(path: &Path, force: bool) -> Result<(), Error> {
    match fs::symlink_metadata(path) {
        Err(_) => check_destination(path),
        Ok(_) if !force => Err(exists(path)),
        Ok(_) => removable(path, is_of_export)
            .map(drop)
            .with_context(|| format!("{}: can't be replaced", path.display())),
    }
}

fn is_of_export(name: &OsStr) -> bool {
    name.to_str().is_some_and(export::fio::is_of_export)
}

/// The records, until the first Ctrl-C.
fn batches(reader: &Reader<fs::File>) -> impl Iterator<Item = Result<TraceBatch, Source>> + '_ {
    let stop = interrupt::stop_flag();
    reader.batches(Columns::ALL).map(move |batch| match stop.load(Ordering::Relaxed) {
        true => Err(Source::Interrupted),
        false => batch.map_err(Source::Trace),
    })
}

type Outcome = Result<Option<Exported>, ExportError<Source>>;

fn fio(args: &TraceExportArgs, reader: &Reader<fs::File>) -> Outcome {
    let directory = WholeDirectory::create(&args.output)?;
    let logs = if args.one_log { FioLogs::One } else { FioLogs::PerThread };
    let open = |name: &str| directory.create_file(name).map(BufWriter::new);
    let exported = export::fio::export(batches(reader), reader.lists(), logs, open)?;
    directory.keep(|name| args.force && is_of_export(name))?;
    Ok(Some(exported))
}

fn oracle(args: &TraceExportArgs, reader: &Reader<fs::File>) -> Outcome {
    let mut file = WholeFile::create(&args.output)?;
    let exported = export::oracle::export(batches(reader), &mut file)?;
    file.keep()?;
    Ok(Some(exported))
}

/// What needs no more than to be written from its beginning to its end; none where nobody reads on.
fn stream(args: &TraceExportArgs, reader: &Reader<fs::File>) -> Outcome {
    let mut outcome = Ok(None);
    let written = output::whole(&args.output, &mut |out| match to(args, reader, out) {
        Ok(exported) => {
            outcome = Ok(Some(exported));
            Ok(())
        }
        Err(ExportError::Write(error)) => Err(error),
        Err(ExportError::Records(source)) => {
            outcome = Err(ExportError::Records(source));
            Err(io::Error::other("the records ended"))
        }
    });
    match outcome {
        Err(error) => Err(error),
        Ok(exported) => written.map(|()| exported).map_err(ExportError::Write),
    }
}

fn to(
    args: &TraceExportArgs,
    reader: &Reader<fs::File>,
    out: &mut dyn Write,
) -> Result<Exported, ExportError<Source>> {
    let (batches, head, lists) = (batches(reader), reader.head(), reader.lists());
    match args.to {
        ExportTo::Perfetto => {
            let slices = if args.all { Slices::All } else { Slices::Slow };
            export::perfetto::export(batches, head, lists, slices, out)
        }
        ExportTo::Pprof => export::pprof::export(batches, head, lists, out),
        _ => export::csv::export(batches, lists, out),
    }
}

fn say_exported(args: &TraceExportArgs, exported: &Exported) {
    let name = match args.output == Path::new("-") {
        true => "standard output".to_owned(),
        false => args.output.display().to_string(),
    };
    let what = match args.to {
        ExportTo::Fio => "requests",
        ExportTo::Perfetto => "slices",
        ExportTo::Pprof => "samples",
        ExportTo::Oracle => "page accesses",
        ExportTo::Csv => "rows",
    };
    let (written, records) = (count(exported.written), count(exported.records));
    output::say(format_args!("{name}: {written} {what} from {records} records"));
    for loss in &exported.losses {
        output::say(format_args!("{} records: {}", count(loss.records), loss.what));
    }
}
