//! Runs of programs beside what `hotset size` makes of their recordings.

use std::path::Path;
use std::process::Command;

use hotset_sizing_runs::Errors;
use hotset_sizing_runs::programs::runs::ProgramRun;
use hotset_sizing_runs::programs::{Kind, PROGRAMS};
use hotset_sizing_runs::runs::parse;
use serde_json::Value;

use super::args::Args;
use super::table::{self, Line};
use super::{Doing, Outcome};

const MIB: u64 = 1 << 20;
/// A limit in the answer is of whole pages.
const NEAR_BYTES: u64 = 8192;

/// What the mean and the worst error of a kind may be, in points of the hit ratio: what was measured on Linux 6.1 and 6.12, and room for what
/// differs from run to run. docs/sizing.md says why children are predicted worse.
fn most(kind: Kind) -> (f64, f64) {
    match kind {
        // 0.13 and 0.28.
        Kind::Files => (0.5, 1.0),
        // 0.41 and 0.80.
        Kind::Threads => (0.8, 1.5),
        // 0.51 and 1.22.
        Kind::LargeReads => (0.9, 2.0),
        // 0.95 and 2.44.
        Kind::Children => (1.5, 3.5),
        // 1.31 and 4.87; the largest is of the multi-gen LRU of 6.12 at 12 MiB, the others are below 0.6.
        Kind::Writes => (1.8, 7.0),
    }
}

/// `check-programs --results DIR --hotset PATH`
pub(super) fn run(args: &Args) -> Outcome<()> {
    let (dir, hotset) = (args.path("--results")?, args.path("--hotset")?);
    let mut lines = Vec::new();
    for program in &PROGRAMS {
        let trace = dir.join(format!("{}.parquet", program.name));
        for policy in ["classic", "mglru"] {
            let csv = dir.join(format!("{policy}-{}.csv", program.name));
            if csv.exists() {
                let text = std::fs::read_to_string(&csv).doing(csv.display())?;
                let runs = parse::<ProgramRun>(&text).doing(csv.display())?;
                lines.extend(compare(&hotset, &trace, &runs)?);
            }
        }
    }
    if lines.is_empty() {
        return Err(format!("{}: no runs of programs", dir.display()).into());
    }
    let wrong: Vec<String> = Kind::ALL.into_iter().filter_map(|kind| judge(kind, &lines)).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ").into()) }
}

/// The runs of a program with a policy, by the recording of one without a limit.
fn compare(hotset: &Path, trace: &Path, runs: &[ProgramRun]) -> Outcome<Vec<(Kind, Line)>> {
    // It was recorded without the multi-gen LRU: all else is as it was recorded.
    let is_mglru = runs.iter().any(|run| run.is_mglru);
    let other = other_bytes(&size(hotset, trace, &[])?);
    let other = other.ok_or_else(|| format!("{}: no memory was recorded", trace.display()))?;
    let other = other.to_string();
    let asked: &[&str] = &["--other", &other];
    let of_kernel: &[&str] = if is_mglru { &["--policy", "mglru"] } else { &[] };
    let kernel = read_pages(hotset, trace, runs, &[asked, of_kernel].concat())?;
    let lru = read_pages(hotset, trace, runs, &[asked, &["--policy", "lru"]].concat())?;
    let one = |(run, (kernel, lru)): (&ProgramRun, (u64, u64))| {
        let line = Line {
            policy: run.policy(),
            name: run.program.name.to_owned(),
            limit_pages: u64::from(run.limit_mib) * MIB / hotset_sizing::PAGE_BYTES,
            pages: run.pages,
            measured: run.read_pages,
            predicted: kernel,
            lru,
        };
        (run.program.kind, line)
    };
    Ok(runs.iter().zip(kernel.into_iter().zip(lru)).map(one).collect())
}

/// What the program holds that can't be evicted. Its code is not counted: the guest's root is in memory, and charged to another group.
fn other_bytes(told: &Value) -> Option<u64> {
    Some(told["must"]["anon_bytes"].as_u64()? + told["must"]["page_tables_bytes"].as_u64()?)
}

/// What `hotset size` tells of a recording.
fn size(hotset: &Path, trace: &Path, more: &[&str]) -> Outcome<Value> {
    let mut command = Command::new(hotset);
    let output = command.args(["size", "-q", "--json", "-"]).arg(trace).args(more).output();
    let output = output.doing(hotset.display())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("hotset size {}: {said}", trace.display()).into());
    }
    serde_json::from_slice(&output.stdout).doing(trace.display())
}

/// Pages that the device reads at the limit of each run, as `hotset size` says.
fn read_pages(
    hotset: &Path,
    trace: &Path,
    runs: &[ProgramRun],
    more: &[&str],
) -> Outcome<Vec<u64>> {
    let limits: Vec<String> = runs.iter().map(|run| format!("{}M", run.limit_mib)).collect();
    let limits = limits.iter().flat_map(|limit| ["--limit", limit]);
    let told = size(hotset, trace, &more.iter().copied().chain(limits).collect::<Vec<_>>())?;
    let at = |run: &ProgramRun| {
        let wanted = u64::from(run.limit_mib) * MIB;
        let mut limits = told["limits"].as_array()?.iter();
        let is_near = |row: &&Value| {
            row["limit_bytes"].as_u64().is_some_and(|at| at.abs_diff(wanted) <= NEAR_BYTES)
        };
        let row = limits.find(is_near)?;
        Some(row["misses"].as_u64()? + row["beside_pages"].as_u64()?)
    };
    let lacks =
        |run: &ProgramRun| format!("{}: no limit of {} MiB", trace.display(), run.limit_mib);
    runs.iter().map(|run| at(run).ok_or_else(|| lacks(run).into())).collect()
}

/// Prints the runs of a kind and their errors; what is wrong with them, if something is.
fn judge(kind: Kind, all: &[(Kind, Line)]) -> Option<String> {
    let some: Vec<&Line> = all.iter().filter(|(of, _)| *of == kind).map(|(_, line)| line).collect();
    if some.is_empty() {
        return None;
    }
    let found = Errors::of(some.iter().map(|line| line.points()));
    table::print(kind.name(), &some);
    let (mean, worst) = most(kind);
    found.beyond(mean, worst).map(|what| format!("{}: {what}", kind.name()))
}
