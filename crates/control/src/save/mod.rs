//! `hotset save`.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow};
use hotset_facts::SaveReport;
use hotset_snapshot::{HOTSET_VERSION, Header, Writer};
use hotset_sys::tree::{Selection, walk};

use super::destination::Destination;
use super::gather::{Gather, Out, Shared};
use super::systems::Systems;
use super::users::Users;
use crate::args::SaveArgs;
use crate::exit::Exit;
use crate::{interrupt, output};

/// One takes a CPU, and opening files waits for locks in the kernel beyond a few.
const MOST_THREADS: usize = 4;

/// Saves which pages are cached, and says how many.
pub(crate) fn save(args: &SaveArgs) -> Exit {
    let selection = match args.selection.selection() {
        Ok(selection) => selection,
        Err(error) => {
            output::say(format_args!("{error:#}"));
            return Exit::Usage;
        }
    };
    match write(args, selection) {
        Ok(report) => finish(args, &report),
        Err(error) => {
            output::say(format_args!("{error:#}"));
            Exit::Failure
        }
    }
}

fn finish(args: &SaveArgs, report: &SaveReport) -> Exit {
    let text = if args.json {
        hotset_view::save_json(report)
    } else {
        hotset_view::save_text(report).into_bytes()
    };
    let printed = match (args.quiet && !args.json, report.file.is_none()) {
        (true, _) => Ok(()),
        (false, true) => output::print_beside(&text),
        (false, false) => output::print(&text),
    };
    if let Err(error) = &printed {
        output::say(format_args!("{error:#}"));
    }
    if report.interrupted {
        return interrupt::exit();
    }
    if report.refused.count == 0 && printed.is_ok() { Exit::Success } else { Exit::Failure }
}

fn write(args: &SaveArgs, selection: Selection) -> Result<SaveReport> {
    let named = || args.file.display().to_string();
    let destination = Destination::open(&args.file)?;
    let own = destination.own_files();
    let writer = Writer::new(BufWriter::new(destination), &header()).with_context(named)?;
    let stop = interrupt::stop_flag();
    let shared = Shared {
        out: Mutex::new(Out::new(writer)),
        users: Users::now(),
        systems: Systems::now(),
        roots: selection.roots.iter().map(|root| canonical(root)).collect(),
        given: selection.roots.clone(),
        own,
        stop,
    };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(MOST_THREADS));
    let walked = walk(&selection, stop, (0..threads).map(|_| Gather::new(&shared)).collect());
    let mut report = SaveReport {
        file: Some(args.file.clone()).filter(|file| file != Path::new("-")),
        page_bytes: hotset_sys::page_size(),
        skipped: walked.skipped,
        hidden_processes: shared.users.hidden,
        interrupted: walked.interrupted,
        ..SaveReport::default()
    };
    for part in walked.visitors {
        report.uncached_files += part.uncached;
        report.refused.merge(part.refused);
    }
    report.refused.named.sort();
    let out = shared.out.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = out.failed {
        return Err(anyhow!(error).context(named()));
    }
    if report.interrupted {
        return Ok(report);
    }
    complete(out.writer, &mut report).with_context(named)?;
    Ok(report)
}

fn complete(writer: Writer<BufWriter<Destination>>, report: &mut SaveReport) -> Result<()> {
    let (buffer, totals) = writer.finish()?;
    let destination = buffer.into_inner().map_err(|error| error.into_error())?;
    (report.files, report.ranges, report.pages) = (totals.files, totals.ranges, totals.pages);
    report.snapshot_bytes = destination.bytes;
    destination.keep()?;
    Ok(())
}

fn header() -> Header {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut kernel = hotset_sys::environment::kernel_release();
    // Releases have 64 bytes at most; this holds whatever a kernel says.
    while kernel.len() > 255 {
        kernel.pop();
    }
    Header {
        page_size: hotset_sys::page_size(),
        created_s: since.map_or(0, |since| since.as_secs()),
        kernel,
        written_by: HOTSET_VERSION.to_owned(),
    }
}

/// Without links, so that it means the same wherever one is; what can't be resolved is named by the walk.
fn canonical(root: &Path) -> PathBuf {
    std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned())
}
