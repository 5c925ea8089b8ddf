//! The same classes in many files and in one, as sources and compiled.

use hotset_analysis::bench::{Difference, RatioEstimate};
use hotset_analysis::lab::{LabAnswer, compare, confidence, unless_shown, words};
use hotset_facts::LabCell;

use super::{Cells, how, middle};

/// How a runtime loads what nobody prepared.
const PLAIN: [&str; 5] = ["source", "require", "classes", "jar", "dlopen"];
/// How it loads what was compiled before.
const COMPILED: [&str; 4] = ["iseq", "pyc", "compile-cache", "appcds"];

/// A change, the cell before it and the one after it.
struct Change<'a> {
    /// As in "merging saves".
    name: String,
    before: &'a LabCell,
    after: &'a LabCell,
    saved_ns: f64,
    /// The time before by the time after, within rounds.
    ratio: RatioEstimate,
}

impl<'a> Change<'a> {
    fn new(
        name: impl Into<String>,
        before: Option<&'a LabCell>,
        after: Option<&'a LabCell>,
    ) -> Option<Self> {
        let (before, after) = (before?, after?);
        if before.id == after.id {
            return None;
        }
        let saved_ns = middle(before)? - middle(after)?;
        Some(Self { name: name.into(), before, after, saved_ns, ratio: compare(after, before)? })
    }

    fn is_shown(&self) -> bool {
        matches!(self.ratio.difference(), Difference::Faster | Difference::Slower)
    }

    fn words(&self) -> Option<String> {
        let (name, before, after) = (&self.name, middle(self.before)?, middle(self.after)?);
        let (before, after) = (words::time(before), words::time(after));
        if !self.is_shown() {
            let unless = unless_shown(&self.ratio).trim_start_matches(", ");
            return Some(format!("{name}: {unless} (from {before} to {after})"));
        }
        let verb = if self.saved_ns >= 0.0 { "saves" } else { "costs" };
        let size = words::time(self.saved_ns.abs());
        Some(format!("{name} {verb} {size} (from {before} to {after})"))
    }

    /// How sure it is, as a ratio.
    fn confidence(&self) -> String {
        let name = self.name.trim_end_matches(',');
        format!("{name}: {} as fast, {}", words::times(self.ratio.ratio), confidence(&self.ratio))
    }

    fn evidence(&self) -> [String; 2] {
        [self.before.id.clone(), self.after.id.clone()]
    }
}

/// Does merging, precompiling or knowing the paths win more? By time saved, because each starts from something else.
pub(super) fn which_wins(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let warm = |what| [("runtime", runtime), ("what", what), ("state", "warm")];
    let many = cells.first_of(&warm("load_class"), &PLAIN);
    let merged = cells.first_of(&warm("load_one"), &PLAIN);
    let compiled = cells.first_of(&warm("load_class"), &COMPILED);
    let behind = most_directories(cells, runtime, "path");
    let known = most_directories(cells, runtime, "known");
    let directories = behind.and_then(|cell| cell.number("directories")).unwrap_or(0);
    let path_cache =
        format!("a cache of paths, where {directories} directories are searched first,");
    let mut changes: Vec<Change<'_>> = [
        Change::new("merging 100 files into one", many, merged),
        Change::new("precompiling them", many, compiled),
        Change::new(path_cache, behind, known),
    ]
    .into_iter()
    .flatten()
    .collect();
    // What may be chance stands last.
    changes.sort_by(|a, b| b.is_shown().cmp(&a.is_shown()).then(b.saved_ns.total_cmp(&a.saved_ns)));
    let best = changes.first()?;
    let sentences: Option<Vec<String>> = changes.iter().map(Change::words).collect();
    Some(LabAnswer {
        question: format!(
            "{runtime}: what wins more, merging files, precompiling them, or a cache of paths?"
        ),
        answer: format!("Warm, {}.", sentences?.join("; ")),
        number: match best.is_shown() && best.saved_ns > 0.0 {
            true => format!("{} saved", words::time(best.saved_ns)),
            false => "nothing shown to save time".to_owned(),
        },
        confidence: changes.iter().map(Change::confidence).collect::<Vec<_>>().join("; "),
        evidence: changes.iter().flat_map(Change::evidence).collect(),
    })
}

fn most_directories<'a>(cells: &Cells<'a>, runtime: &str, how: &str) -> Option<&'a LabCell> {
    let names = [("runtime", runtime), ("what", "search"), ("how", how)];
    cells.all(&names).max_by_key(|cell| cell.number("directories"))
}

/// What is left for merging where the files are compiled already, and the other way round.
pub(super) fn both_at_once(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let warm = |what| [("runtime", runtime), ("what", what), ("state", "warm")];
    let plain = cells.first_of(&warm("load_class"), &PLAIN)?;
    let both = cells.first_of(&warm("load_one"), &COMPILED)?;
    let ratio = compare(both, plain)?;
    Some(LabAnswer {
        question: format!("{runtime}: and merged and precompiled together?"),
        answer: format!(
            "Warm, 100 classes take {} as many files ({}), {} as one that was compiled before ({}): {} as fast{}.",
            words::time(middle(plain)?),
            how(plain),
            words::time(middle(both)?),
            how(both),
            words::times(ratio.ratio),
            unless_shown(&ratio),
        ),
        number: words::times(ratio.ratio),
        confidence: confidence(&ratio),
        evidence: vec![plain.id.clone(), both.id.clone()],
    })
}

/// What a cold cache adds to many files, and to one.
pub(super) fn what_cold_adds(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let pair = |what: &str| {
        let of = |state| {
            cells.first_of(&[("runtime", runtime), ("what", what), ("state", state)], &PLAIN)
        };
        let (warm, cold) = (of("warm")?, of("cold")?);
        (how(warm) == how(cold)).then_some((warm, cold))
    };
    let (warm, cold) = pair("load_class")?;
    let ratio = compare(warm, cold)?;
    let took = |warm: &LabCell, cold: &LabCell, ratio: &RatioEstimate| {
        let (times, unless) = (words::times(ratio.ratio), unless_shown(ratio));
        let (warm, cold) = (words::time(middle(warm)?), words::time(middle(cold)?));
        Some(format!("{warm} warm and {cold} cold ({times} within rounds{unless})"))
    };
    let mut answer = format!("100 files take {}", took(warm, cold, &ratio)?);
    let mut intervals = format!("100 files: {}", confidence(&ratio));
    let mut evidence = vec![warm.id.clone(), cold.id.clone()];
    if let Some((warm, cold)) = pair("load_one")
        && let Some(ratio) = compare(warm, cold)
    {
        answer += &format!(", the one file {}", took(warm, cold, &ratio)?);
        intervals += &format!("; the one file: {}", confidence(&ratio));
        evidence.extend([warm.id.clone(), cold.id.clone()]);
    }
    Some(LabAnswer {
        question: format!("{runtime}: what does a cold cache add?"),
        answer: answer
            + ". Only the files themselves were evicted; their directories and inodes stay in memory.",
        number: words::times(ratio.ratio),
        confidence: intervals,
        evidence,
    })
}
