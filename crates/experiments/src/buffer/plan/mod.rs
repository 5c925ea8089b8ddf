//! The plan of `lab buffer`: files written in small pieces through buffers of many sizes, with and without syncs.

mod amounts;
mod grid;
#[cfg(test)]
mod tests;
mod writers;

use hotset_facts::{Factor, FilledBy, LabFact, LabSkipped, LabUnit, WantedState};
use hotset_lab::experiment::{CellPlan, Expects, ExperimentPlan, ProbeCommand, name};
use hotset_lab::probes::Probe;
use hotset_sys::rawio::buffered::{FileKind, Phase, SyncKind, WriterKind};

use crate::Request;

use self::amounts::{Amounts, LIBRARY_BUFFERS};
use self::grid::{Point, chosen_points, points, product};
use self::writers::{Writers, can_have};

/// glibc takes the block size of the file for a buffer that it allocates itself, and no more than this (`BUFSIZ`).
const STDIO_BYTES: u64 = 8192;

/// Makes the plan. The writers of other languages are those that the host has.
///
/// # Errors
/// Where what was asked for can't be measured.
pub(super) fn plan(request: &Request) -> Result<ExperimentPlan, String> {
    let amounts = Amounts::of(request)?;
    let writers = Writers::of(request)?;
    let mut plan = ExperimentPlan::new(super::NAME, request.size, amounts.rounds);
    let all = match writers.are_chosen {
        true => chosen_points(&amounts, &writers.native),
        false => points(&amounts),
    };
    let mut too_many = Vec::new();
    for point in all {
        let most = match point.sync {
            SyncKind::Dsync => amounts.most_synced_calls,
            SyncKind::None | SyncKind::Fsync => amounts.most_calls,
        };
        if point.calls(block_bytes(request)) > most {
            too_many.push(point);
        } else {
            plan.cells.push(cell(request, &amounts, point));
        }
    }
    if !writers.are_chosen || !writers.native.is_empty() {
        let files = [FileKind::New, FileKind::Existing];
        plan.cells.extend(files.map(|file| open_cell(request, file)));
    }
    for probe in writers.programs.iter().filter(|probe| probe.can("write")) {
        add_program(&mut plan, request, &amounts, (probe, writers.are_chosen));
    }
    plan.add_twin(|_| true);
    plan.skipped.extend(skipped(&too_many).chain(writers.missing));
    plan.written_bytes = 2 * amounts.largest().max(64 << 10);
    Ok(plan)
}

/// Adds another runtime's writer: a few buffers for the largest file, or all combinations where it was chosen.
fn add_program(
    plan: &mut ExperimentPlan,
    request: &Request,
    amounts: &Amounts,
    (probe, is_chosen): (&Probe, bool),
) {
    plan.facts.push(LabFact::new(probe.name.clone(), probe.version.clone()));
    let largest = [amounts.largest()];
    let (totals, pieces, buffers): (&[u64], &[u64], &[u64]) = match is_chosen {
        true => (&amounts.totals_bytes, &amounts.pieces_bytes, &amounts.buffers_bytes),
        false => (&largest, &[16], &LIBRARY_BUFFERS),
    };
    for point in product(totals, pieces, buffers) {
        if can_have(probe.language, point.buffer).is_ok() {
            plan.cells.push(program_cell(request, probe, point));
        }
    }
    let why = buffers.iter().find_map(|&bytes| can_have(probe.language, bytes).err());
    if let Some(why) = why {
        plan.skip(format!("{} with other buffers", probe.name), why);
    }
}

fn skipped(points: &[Point]) -> impl Iterator<Item = LabSkipped> {
    [SyncKind::None, SyncKind::Fsync, SyncKind::Dsync].into_iter().filter_map(|sync| {
        let cells = points.iter().filter(|point| point.sync == sync).count();
        let what = format!("{cells} cells with the smallest buffers and sync {}", sync.as_str());
        let why = "too many write(2) calls for this size; --full includes more of them";
        (cells > 0).then(|| LabSkipped::new(what, why))
    })
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
    let mut cell = native_cell(request, point, Phase::Write, files, count);
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
    let point = Point { file, ..Point::native(64, 16, 4096) };
    let (files, count) = (64, 5);
    let mut cell = native_cell(request, point, Phase::Open, files, count);
    cell.expects.operations = Some(files * u64::from(count));
    cell
}

/// A cell of this binary's writers. The kernel's count of each timed part is shown, without the repetition that isn't timed.
fn native_cell(request: &Request, point: Point, phase: Phase, files: u64, count: u32) -> CellPlan {
    let words = [
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
    ];
    written(point.factors(phase), ProbeCommand::native("write", words))
}

/// A cell that reads nothing and whose calls are not counted apart.
fn written(factors: Vec<Factor>, probe: ProbeCommand) -> CellPlan {
    let cell = CellPlan::new(factors, WantedState::AsIs, probe);
    CellPlan { filled_by: FilledBy::Written, count_calls: false, ..cell }
}

/// Files in a repetition: 64 KiB together, so that even small ones take long against the clock. Few where each waits for the
/// device, which takes long anyway.
fn files(total: u64, sync: SyncKind) -> u64 {
    let fitting = ((64 << 10) / total).clamp(1, 64);
    if sync == SyncKind::None { fitting } else { fitting.min(2) }
}

/// A cell of another runtime's writer: opening, writing and closing together, which is all that it tells.
fn program_cell(request: &Request, probe: &Probe, point: Point) -> CellPlan {
    let path = request.path(&format!("written-by-{}", probe.name.replace('/', "-")));
    let words = [
        ("file", path.into()),
        ("total", point.total.to_string().into()),
        ("piece", point.piece.to_string().into()),
        ("buffer", point.buffer.to_string().into()),
        ("sync", "none".into()),
    ];
    let argv = probe.argv("write", &words);
    let mut factors = point.factors(Phase::Write);
    for factor in &mut factors {
        match factor.name.as_ref() {
            "writer" => *factor = name("writer", probe.name.clone()),
            "phase" => *factor = name("phase", "open+write+close"),
            _ => {}
        }
    }
    let mut cell = written(factors, ProbeCommand::Program { argv });
    cell.unit = LabUnit::Nanoseconds;
    cell.expects.bytes = Some(point.total);
    // The kernel's count is shown where the probe tells it, whatever it is: each library fills its buffer in its own way.
    cell.expects.write_calls = Some((0, u64::MAX));
    cell
}
