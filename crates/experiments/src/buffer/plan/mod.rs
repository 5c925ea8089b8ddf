//! The plan of `lab buffer`: files written in small pieces through buffers of many sizes, with and without syncs.

mod amounts;
mod grid;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};

use hotset_facts::{FilledBy, LabFact, LabSkipped, LabUnit, WantedState};
use hotset_lab::experiment::{
    CellPlan, Expects, ExperimentPlan, PlanError, ProbeCommand, Request, name, number,
};
use hotset_lab::probes::{Language, Probe};
use hotset_sys::rawio::buffered::{FileKind, Phase, SyncKind, WriterKind};

use self::amounts::Amounts;
use self::grid::{Point, points};

/// Whose writers are shown beside the native one.
const WRITE_LANGUAGES: [Language; 2] = [Language::Go, Language::Python];

/// glibc takes the block size of the file for a buffer that it allocates itself, and no more than this (`BUFSIZ`).
const STDIO_BYTES: u64 = 8192;

/// Makes the plan. The writers of other languages are those that the host has.
///
/// # Errors
/// Where what was asked for can't be measured.
pub(super) fn plan(request: &Request) -> Result<ExperimentPlan, PlanError> {
    let amounts = Amounts::of(request)?;
    let (writers, missing) = request.probes(&WRITE_LANGUAGES);
    let mut cells = Vec::new();
    let mut too_many = Vec::new();
    for point in points(&amounts) {
        let most = match point.sync {
            SyncKind::Dsync => amounts.most_synced_calls,
            SyncKind::None | SyncKind::Fsync => amounts.most_calls,
        };
        if point.calls(block_bytes(request)) > most {
            too_many.push(point);
        } else {
            cells.push(cell(request, &amounts, point));
        }
    }
    if let Some(twin) = cells.first().map(CellPlan::twin) {
        cells.push(twin);
    }
    cells.extend([FileKind::New, FileKind::Existing].map(|file| open_cell(request, file)));
    for probe in writers.iter().filter(|probe| probe.can("write")) {
        cells.extend(
            amounts
                .library_buffers()
                .map(|buffer| program_cell(request, probe, amounts.largest(), buffer)),
        );
    }
    let versions = writers.iter().filter(|probe| probe.can("write"));
    let facts =
        versions.map(|probe| LabFact::new(probe.name.clone(), probe.version.clone())).collect();
    Ok(ExperimentPlan {
        experiment: super::NAME,
        size: request.size,
        rounds: amounts.rounds,
        cells,
        skipped: skipped(&too_many).into_iter().chain(missing).collect(),
        prepare: Vec::new(),
        written_bytes: 2 * amounts.largest().max(64 << 10),
        facts,
    })
}

fn skipped(points: &[Point]) -> Vec<LabSkipped> {
    [SyncKind::None, SyncKind::Fsync, SyncKind::Dsync]
        .into_iter()
        .filter_map(|sync| {
            let cells = points.iter().filter(|point| point.sync == sync).count();
            (cells > 0).then(|| LabSkipped {
                what: format!("{cells} cells with the smallest buffers and sync {}", sync.as_str()),
                why: "that many write(2) calls take too long for this size; --full has more"
                    .to_owned(),
            })
        })
        .collect()
}

/// What the file system says is a good size for its I/O, which glibc listens to.
fn block_bytes(request: &Request) -> u64 {
    let stat = rustix::fs::stat(&request.place.directory);
    let said = stat.ok().and_then(|stat| u64::try_from(stat.st_blksize).ok());
    said.filter(|&bytes| bytes > 0 && bytes < STDIO_BYTES).unwrap_or(STDIO_BYTES)
}

fn cell(request: &Request, amounts: &Amounts, point: Point) -> CellPlan {
    let calls = point.calls(block_bytes(request));
    let files = files(point.total, point.sync);
    let count = match point.sync {
        SyncKind::None => amounts.repetitions(calls * files),
        // One takes as long as many that don't wait.
        SyncKind::Fsync | SyncKind::Dsync => 1,
    };
    let all = files * u64::from(count);
    let mut cell = CellPlan::new(
        point.factors(Phase::Write),
        WantedState::AsIs,
        ProbeCommand::native("write", words(request, point, Phase::Write, files, count)),
    );
    cell.filled_by = FilledBy::Written;
    // The kernel's count of each timed part is shown, without the repetition that isn't timed.
    cell.count_calls = false;
    let native = vec![("write", calls * all)];
    cell.expects = Expects {
        bytes: Some(point.total * all),
        operations: Some(all),
        calls: if point.writer == WriterKind::Native { native } else { Vec::new() },
        write_calls: Some((calls * all, calls * all)),
        // Nothing is read, and without a sync nothing has to be waited for.
        max_device_bytes: (point.sync == SyncKind::None).then_some(0),
        ..Expects::default()
    };
    cell
}

/// Opening, which makes the file, and closing it.
fn open_cell(request: &Request, file: FileKind) -> CellPlan {
    let point = Point {
        total: 64,
        piece: 16,
        buffer: 4096,
        sync: SyncKind::None,
        writer: WriterKind::Native,
        file,
    };
    let (files, count) = (64, 5);
    let words = words(request, point, Phase::Open, files, count);
    let mut cell = CellPlan::new(
        point.factors(Phase::Open),
        WantedState::AsIs,
        ProbeCommand::native("write", words),
    );
    cell.filled_by = FilledBy::Written;
    cell.count_calls = false;
    cell.expects.operations = Some(files * u64::from(count));
    cell
}

fn words(
    request: &Request,
    point: Point,
    phase: Phase,
    files: u64,
    count: u32,
) -> Vec<(&'static str, OsString)> {
    vec![
        ("dir", request.place.directory.clone().into()),
        ("total", point.total.to_string().into()),
        ("piece", point.piece.to_string().into()),
        ("buffer", point.buffer.to_string().into()),
        ("sync", point.sync.as_str().into()),
        ("writer", point.writer.as_str().into()),
        ("file", point.file.as_str().into()),
        ("phase", phase.as_str().into()),
        ("files", files.to_string().into()),
        ("count", count.to_string().into()),
    ]
}

/// Files in a repetition: 64 KiB together, so that even small ones take long against the clock. Few where each waits for the
/// device, which takes long anyway.
fn files(total: u64, sync: SyncKind) -> u64 {
    let fitting = ((64 << 10) / total).clamp(1, 64);
    if sync == SyncKind::None { fitting } else { fitting.min(2) }
}

/// A cell of another runtime's writer: opening, writing and closing together, which is all that it tells.
fn program_cell(request: &Request, probe: &Probe, total: u64, buffer: u64) -> CellPlan {
    let path = request.path(&format!("written-by-{}", probe.name));
    let (total_word, buffer_word) = (total.to_string(), buffer.to_string());
    let words: [(&str, &OsStr); 5] = [
        ("file", path.as_os_str()),
        ("total", OsStr::new(&total_word)),
        ("piece", OsStr::new("16")),
        ("buffer", OsStr::new(&buffer_word)),
        ("sync", OsStr::new("none")),
    ];
    let argv = probe.argv("write", &words);
    let factors = vec![
        number("total_bytes", total),
        number("piece_bytes", 16),
        number("buffer_bytes", buffer),
        name("sync", SyncKind::None.as_str()),
        name("writer", probe.name.clone()),
        name("file", FileKind::New.as_str()),
        name("phase", "open+write+close"),
    ];
    let mut cell = CellPlan::new(factors, WantedState::AsIs, ProbeCommand::Program { argv });
    cell.unit = LabUnit::Nanoseconds;
    cell.filled_by = FilledBy::Written;
    cell.count_calls = false;
    cell.expects.bytes = Some(total);
    cell
}
