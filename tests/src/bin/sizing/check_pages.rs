//! Runs of `pages` beside predictions of them.

use hotset_sizing::PolicyKind;
use hotset_sizing::evidence::{Access, KernelVersion, predictor};
use hotset_sizing_runs::runs::{self, Run};
use hotset_sizing_runs::sequences::{Sequence, of_chunks, of_pages};
use hotset_sizing_runs::{Compared, Errors, compare};

use super::args::Args;
use super::check_high;
use super::table::{self, Line};
use super::{Doing, Outcome};

/// What the mean and the worst error of reads may be, in points, by policy: what was measured in two or more runs of these cases on Linux 6.1,
/// 6.12 and 6.18, and room for what differs from run to run.
fn most_of_reads(policy: PolicyKind, kernel: KernelVersion) -> (f64, f64) {
    match policy {
        // 0.06 and 0.34; misses of a case differ by 0.04 points.
        PolicyKind::Classic => (0.1, 0.5),
        // At which moment the kernel refreshes what it knows of a group is chance: 0.22 and 0.52 on 6.12, 0.27 and 1.41 on 6.18.
        PolicyKind::ClassicOldSizes { .. } => (0.5, 2.0),
        // 0.05 and 0.18; misses of a case hardly differ.
        PolicyKind::Mglru if kernel < KernelVersion::new(6, 14) => (0.1, 0.5),
        // Another policy than the one that is simulated: 8.5 in one case.
        _ => (1.8, 10.0),
    }
}

/// So much larger than in `evidence` the mean and the worst error of mapped pages may be, in points: they are few.
const MAPPED_ALLOWANCE: (f64, f64) = (0.2, 0.5);

/// `check-pages --kernel VERSION --csv PATH --high PATH`
pub(super) fn run(args: &Args) -> Outcome<()> {
    let kernel = version(args.text("--kernel")?)?;
    let (runs, high) = (read(args, "--csv")?, read(args, "--high")?);
    let sequences: Vec<Sequence> = of_pages().into_iter().chain(of_chunks()).collect();
    let predicted = compare(&sequences, kernel, &runs, None)?;
    let lru = compare(&sequences, kernel, &runs, Some(PolicyKind::Lru))?;
    let lines: Vec<(Access, Line)> =
        predicted.iter().zip(&lru).map(|(one, lru)| line(one, lru)).collect();
    let mut wrong = Vec::new();
    for is_mglru in [false, true] {
        for access in Access::ALL {
            wrong.extend(judge(kernel, is_mglru, access, &lines));
        }
    }
    wrong.extend(check_high::check(&runs, &high).err());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ").into()) }
}

/// The runs of a file.
fn read(args: &Args, option: &str) -> Outcome<Vec<Run>> {
    let path = args.path(option)?;
    let csv = std::fs::read_to_string(&path).doing(path.display())?;
    let runs = runs::parse(&csv).doing(path.display())?;
    if runs.is_empty() { Err(format!("{}: no runs", path.display()).into()) } else { Ok(runs) }
}

fn version(text: &str) -> Outcome<KernelVersion> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => Ok(KernelVersion::new(major, minor)),
        _ => Err(format!("--kernel \"{text}\": expected a version such as 6.12").into()),
    }
}

fn line(one: &Compared, lru: &Compared) -> (Access, Line) {
    let run = one.run;
    let line = Line {
        policy: run.policy(),
        name: format!("{} {}", run.case.access.name(), run.case.sequence),
        limit_pages: run.case.limit_pages,
        pages: one.predicted.references,
        measured: run.misses,
        predicted: one.predicted.misses,
        lru: lru.predicted.misses,
    };
    (run.case.access.of_evidence(), line)
}

/// Prints the runs with a kind of access and their errors; what is wrong with them, if something is.
fn judge(
    kernel: KernelVersion,
    is_mglru: bool,
    access: Access,
    all: &[(Access, Line)],
) -> Option<String> {
    let policy = if is_mglru { "mglru" } else { "classic" };
    let is_one = |(of, line): &&(Access, Line)| *of == access && line.policy == policy;
    let some: Vec<&Line> = all.iter().filter(is_one).map(|(_, line)| line).collect();
    if some.is_empty() {
        return None;
    }
    let title = format!("{policy}, {access:?}");
    table::print(&title, &some);
    let prediction = predictor(kernel, is_mglru, &[access]);
    let (mean, worst) = match (access, prediction.mean_error, prediction.worst_error) {
        (Access::Read, ..) => most_of_reads(prediction.policy, kernel),
        (_, Some(mean), Some(worst)) => (mean + MAPPED_ALLOWANCE.0, worst + MAPPED_ALLOWANCE.1),
        _ => {
            println!("    no row of evidence says how good it should be");
            return None;
        }
    };
    let found = Errors::of(some.iter().map(|line| line.points()));
    found.beyond(mean, worst).map(|what| format!("{title}: {what}"))
}
