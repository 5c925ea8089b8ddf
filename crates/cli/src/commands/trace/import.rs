//! `hotset trace import`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, bail};
use hotset_facts::units::count;
use hotset_sys::whole_file::WholeFile;
use hotset_trace::import::csv::{CsvColumn, CsvImport, CsvOptions, TimeUnit};
use hotset_trace::import::{self, ImportFormat, ImportSummary, Importer};
use hotset_trace::{Finished, Writer};

use super::check_new_trace;
use crate::args::{ColumnArgs, ImportFrom, TraceImportArgs};
use crate::exit::Stop;
use crate::output;

/// What is looked at to recognize a format: importers need a few KiB.
const FIRST_BYTES: usize = 64 << 10;

/// Makes a trace of another tool's recording.
pub(super) fn import(args: &TraceImportArgs) -> Result<(), Stop> {
    let columns = columns(args)?;
    check_new_trace(&args.output, args.force)?;
    let mut importer = open(args, columns)?;
    let Finished { out, totals, bytes, .. } = convert(args, importer.as_mut())?;
    out.keep().with_context(|| args.output.display().to_string())?;
    output::say(hotset_view::record::recorded(&args.output, totals.records, bytes));
    if totals.records == 0 {
        let file = args.recording.display();
        output::say(format_args!("the trace is empty: {file} holds no request to a file"));
    }
    say_imported(&args.recording, &importer.summary());
    for lack in importer.head().lacks {
        output::say(lack);
    }
    Ok(())
}

/// Opens the recording.
fn open(args: &TraceImportArgs, columns: Option<CsvOptions>) -> Result<Box<dyn Importer>> {
    let named = || args.recording.display().to_string();
    let file = File::open(&args.recording).with_context(named)?;
    if file.metadata().with_context(named)?.is_dir() {
        bail!("{}: is a directory, expected a recording", args.recording.display());
    }
    let mut input = BufReader::with_capacity(FIRST_BYTES, file);
    if let Some(columns) = columns {
        return Ok(Box::new(CsvImport::with_options(input, columns).with_context(named)?));
    }
    let format = match args.from {
        Some(from) => of(from)?,
        None => recognize(input.fill_buf().with_context(named)?).with_context(named)?,
    };
    import::open(format, input).with_context(named)
}

/// Writes the trace.
fn convert(args: &TraceImportArgs, importer: &mut dyn Importer) -> Result<Finished<WholeFile>> {
    let read = || args.recording.display().to_string();
    let written = || args.output.display().to_string();
    // Before there is an output: most of what is refused is refused for its first lines.
    let mut batch = importer.next_batch().with_context(read)?;
    let file = WholeFile::create(&args.output).with_context(written)?;
    let mut writer = Writer::new(file, &importer.head(), None).with_context(written)?;
    while let Some(records) = batch {
        writer.write(&records).with_context(written)?;
        batch = importer.next_batch().with_context(read)?;
    }
    writer.set_head(&importer.head()).with_context(written)?;
    writer.finish(0, true).with_context(written)
}

fn word(from: ImportFrom) -> &'static str {
    match from {
        ImportFrom::Strace => "strace",
        ImportFrom::Fio => "fio",
        ImportFrom::Csv => "csv",
        ImportFrom::Oracle => "oracle",
        ImportFrom::Blkparse => "blkparse",
    }
}

fn of(from: ImportFrom) -> Result<&'static ImportFormat> {
    let word = word(from);
    let format = import::FORMATS.iter().find(|format| format.name == word);
    format.with_context(|| format!("--from {word}: not built in"))
}

/// The format that the first bytes of a recording are of.
fn recognize(first: &[u8]) -> Result<&'static ImportFormat> {
    if let Some(format) = import::sniff(first) {
        return Ok(format);
    }
    let names = "strace, fio, csv, oracle or blkparse";
    match first {
        [] => bail!("is empty; expected a recording of {names}"),
        [b'P', b'A', b'R', b'1', ..] => {
            bail!("is a Parquet file, perhaps a trace; expected a recording of {names}")
        }
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            bail!("is compressed; decompress it first")
        }
        _ => bail!(
            "is not recognized as {names}; name the format with --from, and the columns of other \
             tools' CSV with --time and so on"
        ),
    }
}

/// What the options say of columns; none where they say nothing.
fn columns(args: &TraceImportArgs) -> Result<Option<CsvOptions>, Stop> {
    let Some(first) = first_option(&args.columns) else { return Ok(None) };
    match args.from {
        Some(ImportFrom::Csv) => {}
        Some(other) => {
            return Err(Stop::usage(format_args!(
                "{first}: applies to --from csv, not to --from {}",
                word(other)
            )));
        }
        None => return Err(Stop::usage(format_args!("{first}: needs --from csv"))),
    }
    let ColumnArgs { time, time_unit, file, op, offset, size, no_header, delimiter } =
        &args.columns;
    let Some(time) = time else {
        return Err(Stop::usage(format_args!(
            "{first}: needs --time COLUMN, which has the start of each request"
        )));
    };
    let named = [Some(time), file.as_ref(), op.as_ref(), offset.as_ref(), size.as_ref()];
    for column in named.into_iter().flatten() {
        if let (true, CsvColumn::Name(name)) = (*no_header, column) {
            return Err(Stop::usage(format_args!(
                "--no-header: no line names a column \"{name}\"; expected its number, from 1"
            )));
        }
    }
    let unit = time_unit.map_or(TimeUnit::Seconds, TimeUnit::from);
    let usual = CsvOptions::of_time(time.clone(), unit);
    Ok(Some(CsvOptions {
        has_header: !no_header,
        delimiter: delimiter.unwrap_or(usual.delimiter),
        file: file.clone(),
        op: op.clone(),
        offset: offset.clone(),
        size: size.clone(),
        ..usual
    }))
}

/// The first option of columns that was given.
fn first_option(columns: &ColumnArgs) -> Option<&'static str> {
    let given = [
        ("--time", columns.time.is_some()),
        ("--time-unit", columns.time_unit.is_some()),
        ("--file", columns.file.is_some()),
        ("--op", columns.op.is_some()),
        ("--offset", columns.offset.is_some()),
        ("--size", columns.size.is_some()),
        ("--no-header", columns.no_header),
        ("--delimiter", columns.delimiter.is_some()),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
}

fn say_imported(file: &Path, summary: &ImportSummary) {
    for left in &summary.left_out {
        output::say(format_args!("{} left out: {}", count(left.count), left.what));
    }
    if summary.refused > 0 {
        output::say(format_args!("{} lines could not be read:", count(summary.refused)));
    }
    for refused in summary.first_refused.iter().chain(&summary.cut_at_end) {
        output::say(format_args!("{}:{}: {}", file.display(), refused.line, refused.reason));
    }
}
