//! The same classes in many files and in one, as sources and compiled.

use hotset_analysis::bench::{Difference, RatioEstimate};
use hotset_analysis::lab::ConstLevel::Name;
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, confidence, unless_shown, words};

use super::{first_of, how};

/// How a runtime loads what nobody prepared.
const PLAIN: [&str; 5] = ["source", "require", "classes", "jar", "dlopen"];
/// How it loads what was compiled before.
const COMPILED: [&str; 4] = ["iseq", "pyc", "compile-cache", "appcds"];

/// A change, the cell before it and the one after it.
struct Change<'a> {
    /// As in "merging saves".
    name: String,
    before: MeasuredCell<'a>,
    after: MeasuredCell<'a>,
    saved_ns: f64,
    /// The time before by the time after, within rounds.
    ratio: RatioEstimate,
}

impl<'a> Change<'a> {
    fn new(
        name: impl Into<String>,
        before: Option<MeasuredCell<'a>>,
        after: Option<MeasuredCell<'a>>,
    ) -> Option<Self> {
        let (before, after) = (before?, after?);
        if before.cell.id == after.cell.id {
            return None;
        }
        let (saved_ns, ratio) = (before.median - after.median, after.to(&before)?);
        Some(Self { name: name.into(), before, after, saved_ns, ratio })
    }

    fn is_shown(&self) -> bool {
        matches!(self.ratio.difference(), Difference::Faster | Difference::Slower)
    }

    fn words(&self) -> String {
        let (before, after) = (words::time(self.before.median), words::time(self.after.median));
        let name = &self.name;
        if !self.is_shown() {
            let unless = unless_shown(&self.ratio).trim_start_matches(", ");
            return format!("{unless} for {name} (from {before} to {after})");
        }
        let verb = if self.saved_ns >= 0.0 { "saves" } else { "costs" };
        let size = words::time(self.saved_ns.abs());
        format!("{name} {verb} {size} (from {before} to {after})")
    }

    /// How sure it is, as a ratio.
    fn confidence(&self) -> String {
        let Self { name, ratio, .. } = self;
        format!("{name}: {} as fast, {}", words::times(ratio.ratio), confidence(ratio))
    }

    fn evidence(&self) -> [String; 2] {
        [self.before.id(), self.after.id()]
    }
}

/// Does merging, precompiling or knowing the paths win more? By time saved, because each starts from something else.
pub(super) fn which_wins(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let many = first_of(cells, "load_class", "warm", &PLAIN);
    let merged = first_of(cells, "load_one", "warm", &PLAIN);
    let compiled = first_of(cells, "load_class", "warm", &COMPILED);
    let behind = most_directories(cells, "path");
    let known = most_directories(cells, "known");
    let directories = behind.and_then(|search| search.cell.number("directories")).unwrap_or(0);
    let path_cache = format!("a path cache for {directories} directories");
    let mut changes: Vec<Change<'_>> = [
        Change::new("merging 100 files into one", many, merged),
        Change::new("precompiling the 100 files", many, compiled),
        Change::new(path_cache, behind, known),
    ]
    .into_iter()
    .flatten()
    .collect();
    // What may be chance stands last.
    changes.sort_by(|a, b| b.is_shown().cmp(&a.is_shown()).then(b.saved_ns.total_cmp(&a.saved_ns)));
    let best = changes.first()?;
    let sentences: Vec<String> = changes.iter().map(Change::words).collect();
    Some(LabAnswer {
        question: format!(
            "{runtime}: which saves most, merging files, precompiling them, or a path cache?"
        ),
        answer: format!("Warm: {}.", sentences.join("; ")),
        number: match best.is_shown() && best.saved_ns > 0.0 {
            true => format!("{} saved", words::time(best.saved_ns)),
            false => "no saving detected".to_owned(),
        },
        confidence: changes.iter().map(Change::confidence).collect::<Vec<_>>().join("; "),
        evidence: changes.iter().flat_map(Change::evidence).collect(),
    })
}

fn most_directories<'a>(cells: &Cells<'a>, how: &'static str) -> Option<MeasuredCell<'a>> {
    let searches = cells.with(&[("what", Name("search")), ("how", Name(how))]);
    searches.all().iter().max_by_key(|search| search.cell.number("directories")).copied()
}

/// What is left for merging where the files are compiled already, and the other way round.
pub(super) fn both_at_once(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let plain = first_of(cells, "load_class", "warm", &PLAIN)?;
    let both = first_of(cells, "load_one", "warm", &COMPILED)?;
    let ratio = both.to(&plain)?;
    let answer = format!(
        "Warm: 100 classes take {} as 100 files ({}) and {} as one precompiled file ({}): {}.",
        words::time(plain.median),
        how(&plain),
        words::time(both.median),
        how(&both),
        words::speed(&ratio),
    );
    let question = format!("{runtime}: how much do merging and precompiling save together?");
    Some(LabAnswer::of_ratio(question, answer, &ratio, vec![plain.id(), both.id()]))
}

/// What a cold cache adds to many files, and to one.
pub(super) fn what_cold_adds(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let pair = |what| {
        let in_state = |state| first_of(cells, what, state, &PLAIN);
        let (warm, cold) = (in_state("warm")?, in_state("cold")?);
        let ratio = warm.to(&cold).filter(|_| how(&warm) == how(&cold))?;
        let (times, unless) = (words::times(ratio.ratio), unless_shown(&ratio));
        let (took_warm, took_cold) = (words::time(warm.median), words::time(cold.median));
        let took = format!("{took_warm} warm and {took_cold} cold ({times} the time{unless})");
        Some((took, ratio, [warm.id(), cold.id()]))
    };
    let (took, ratio, ids) = pair("load_class")?;
    let mut answer = format!("100 files take {took}");
    let mut intervals = format!("100 files: {}", confidence(&ratio));
    let mut evidence = ids.to_vec();
    if let Some((took, ratio, ids)) = pair("load_one") {
        answer += &format!(", the one file {took}");
        intervals += &format!("; the one file: {}", confidence(&ratio));
        evidence.extend(ids);
    }
    Some(LabAnswer {
        question: format!("{runtime}: how much time does a cold cache add?"),
        answer: answer
            + ". Only the files themselves were evicted; their directories and inodes stayed in memory.",
        number: format!("{} the time", words::times(ratio.ratio)),
        confidence: intervals,
        evidence,
    })
}
