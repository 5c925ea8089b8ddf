//! What a failed lookup in a directory costs.

use hotset_analysis::lab::ConstLevel::Name;
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, PairedTime, words};

/// What a longer path adds, by file and directory.
struct Miss<'a> {
    /// Behind the fewest directories and behind the most.
    ends: [MeasuredCell<'a>; 2],
    directories: u64,
    misses: u64,
    cost: PairedTime,
}

impl<'a> Miss<'a> {
    /// The difference between two paths, divided by the lookups that the longer one adds.
    fn between(none: MeasuredCell<'a>, most: MeasuredCell<'a>) -> Option<Self> {
        let number = |one: &MeasuredCell<'_>| one.cell.number("directories");
        let directories = number(&most)?.checked_sub(number(&none)?)?;
        let operations = most.cell.samples.first()?.operations;
        let misses = directories.checked_mul(operations).filter(|&misses| misses > 0)?;
        let cost = none.paired_with(&most, |none, most| (most - none) / misses as f64)?;
        Some(Self { ends: [none, most], directories, misses, cost })
    }

    /// Without loading, behind the same directories.
    fn of_lookups_alone(&self, cells: &Cells<'a>) -> Option<Self> {
        let lookups = cells.with(&[("what", Name("lookup")), ("state", Name("warm"))]);
        let behind = |end: &MeasuredCell<'_>| {
            let number = end.cell.number("directories");
            lookups.all().iter().find(|lookup| lookup.cell.number("directories") == number).copied()
        };
        let [none, most] = &self.ends;
        Self::between(behind(none)?, behind(most)?).filter(|alone| alone.cost.ns > 0.0)
    }

    fn evidence(&self) -> [String; 2] {
        self.ends.each_ref().map(MeasuredCell::id)
    }
}

/// What one directory of the path costs a file that isn't there, and how much of it the file system takes.
pub(super) fn cost_of_a_miss(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let searches =
        cells.with(&[("what", Name("search")), ("how", Name("path")), ("state", Name("warm"))]);
    let directories = |one: &&MeasuredCell<'_>| one.cell.number("directories");
    let none = searches.all().iter().min_by_key(directories)?;
    let most = searches.all().iter().max_by_key(directories)?;
    let miss = Miss::between(*none, *most)?;
    let cost = words::time(miss.cost.ns);
    let mut answer = format!(
        "{cost} per file and directory: {} directories searched before the right one add {} to loading 100 files.",
        miss.directories,
        words::time(miss.cost.ns * miss.misses as f64),
    );
    let mut evidence = miss.evidence().to_vec();
    let mut confidence = miss.cost.confidence.clone();
    if let Some(alone) = miss.of_lookups_alone(cells) {
        answer += &lookups_alone(&alone.cost, &miss.cost);
        confidence += &format!("; the lookups alone: {}", alone.cost.confidence);
        evidence.extend(alone.evidence());
    }
    let question = format!("{runtime}: what does one failed search-path lookup cost?");
    Some(LabAnswer {
        question,
        answer,
        number: format!("{cost} per failed lookup"),
        confidence,
        evidence,
    })
}

/// The lookups alone, where no search was measured that they are a part of.
pub(super) fn lookups_without_a_search(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let searches = cells.with(&[("what", Name("search")), ("how", Name("path"))]);
    let lookups = cells.with(&[("what", Name("lookup")), ("state", Name("warm"))]);
    if searches.all().len() > 1 {
        return None;
    }
    let directories = |one: &&MeasuredCell<'_>| one.cell.number("directories");
    let none = lookups.all().iter().min_by_key(directories)?;
    let most = lookups.all().iter().max_by_key(directories)?;
    let miss = Miss::between(*none, *most)?;
    let cost = words::time(miss.cost.ns);
    Some(LabAnswer {
        question: format!("{runtime}: what does one failed lookup cost, without loading?"),
        answer: format!(
            "{cost} per file and directory: {} directories that do not have the files add {} to one stat of each of 100 files.",
            miss.directories,
            words::time(miss.cost.ns * miss.misses as f64),
        ),
        number: format!("{cost} per failed lookup"),
        confidence: miss.cost.confidence.clone(),
        evidence: miss.evidence().to_vec(),
    })
}

/// A sentence. What takes longer than the whole is no part of it: a runtime may remember what a directory holds.
fn lookups_alone(alone: &PairedTime, miss: &PairedTime) -> String {
    let (one, whole) = (words::time(alone.ns), words::time(miss.ns));
    let what = "The lookups alone (one stat per file and directory, without loading)";
    if alone.ns > miss.ns {
        return format!(" {what} take longer: {one}.");
    }
    let share = words::percent(alone.ns / miss.ns);
    format!(" {what} are {share} of that: {one} of {whole}.")
}
