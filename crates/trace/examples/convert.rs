//! Converts a trace of one format into another: `convert FROM INPUT TO OUTPUT`. FROM may be `auto`.
//! OUTPUT is a directory for fio. Summaries go to standard error.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "a program, for trying formats by hand"
)]

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::path::Path;

use hotset_facts::trace::{TraceBatch, TraceHead, TraceLists};
use hotset_trace::export::{self, ExportError, Exported};
use hotset_trace::import;

type Anything<T> = Result<T, Box<dyn Error>>;

fn main() -> Anything<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, from, input, to, output] = args.as_slice() else {
        return Err("usage: convert FROM INPUT TO OUTPUT".into());
    };
    let (head, lists, batches) = read(from, input)?;
    let exported = write(to, Path::new(output), &head, &lists, batches)?;
    eprintln!("{exported:#?}");
    Ok(())
}

fn read(from: &str, input: &str) -> Anything<(TraceHead, TraceLists, Vec<TraceBatch>)> {
    let mut first = Vec::new();
    File::open(input)?.take(8192).read_to_end(&mut first)?;
    let format = match from {
        "auto" => import::sniff(&first),
        name => import::FORMATS.iter().find(|format| format.name == name),
    };
    let format = format.ok_or("no known format")?;
    let mut importer = import::open(format, BufReader::new(File::open(input)?))?;
    let (mut lists, mut batches) = (TraceLists::default(), Vec::new());
    while let Some(batch) = importer.next_batch()? {
        lists.append(batch.added.clone());
        batches.push(batch);
    }
    eprintln!("{:#?}\n{:#?}", importer.head(), importer.summary());
    Ok((importer.head(), lists, batches))
}

fn write(
    to: &str,
    output: &Path,
    head: &TraceHead,
    lists: &TraceLists,
    batches: Vec<TraceBatch>,
) -> Anything<Exported> {
    let batches = batches.into_iter().map(Ok::<_, std::convert::Infallible>);
    let told = |exported: Result<Exported, ExportError<std::convert::Infallible>>| exported;
    let create = |path: &Path| File::create(path).map(BufWriter::new);
    Ok(match to {
        "fio" | "fio-one" => {
            let logs = if to == "fio" {
                export::fio::FioLogs::PerThread
            } else {
                export::fio::FioLogs::One
            };
            told(export::fio::export(batches, lists, logs, |name| create(&output.join(name))))?
        }
        "perfetto" | "perfetto-all" => {
            let slices = match to {
                "perfetto" => export::perfetto::Slices::Slow,
                _ => export::perfetto::Slices::All,
            };
            told(export::perfetto::export(batches, head, lists, slices, create(output)?))?
        }
        "pprof" => told(export::pprof::export(batches, head, lists, create(output)?))?,
        "oracle" => told(export::oracle::export(batches, create(output)?))?,
        "csv" => told(export::csv::export(batches, lists, create(output)?))?,
        other => return Err(format!("no known format {other}").into()),
    })
}
