//! Why is loading many small files slow?

mod forms;
mod library;
mod search;
mod shares;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hotset_analysis::bench::{ConfidenceInterval, median, median_interval, sorted};
use hotset_analysis::lab::{CellNumbers, LabAnswer, by_round};
use hotset_facts::{LabCell, LabSession, Level};

/// What the cells of `lab load` say.
pub(super) fn answers(session: &LabSession, _cells: &[CellNumbers]) -> Vec<LabAnswer> {
    let cells = Cells { cells: &session.cells };
    let runtimes = cells.runtimes();
    let mut answers = Vec::new();
    let each: [fn(&Cells<'_>, &str) -> Option<LabAnswer>; 6] = [
        forms::which_wins,
        forms::both_at_once,
        search::cost_of_a_miss,
        shares::of_loading,
        forms::what_cold_adds,
        library::where_its_time_goes,
    ];
    for ask in each {
        answers.extend(runtimes.iter().filter_map(|runtime| ask(&cells, runtime)));
    }
    answers
}

/// The cells of a session, without the second of two equal ones.
struct Cells<'a> {
    cells: &'a [LabCell],
}

impl<'a> Cells<'a> {
    /// In the order of the table.
    fn runtimes(&self) -> Vec<&'a str> {
        let mut runtimes: Vec<&str> = Vec::new();
        for name in self.cells.iter().filter_map(|cell| cell.name("runtime")) {
            if !runtimes.contains(&name) {
                runtimes.push(name);
            }
        }
        runtimes
    }

    /// The first cell that was measured and has these names for its factors, of any directories.
    fn get(&self, names: &[(&str, &str)]) -> Option<&'a LabCell> {
        self.all(names).next()
    }

    fn all(&self, names: &[(&str, &str)]) -> impl Iterator<Item = &'a LabCell> {
        let matches = |cell: &&LabCell| {
            let has = |(factor, name): &(&str, &str)| cell.name(factor) == Some(name);
            cell.level("twin").is_none() && names.iter().all(has) && middle(cell).is_some()
        };
        self.cells.iter().filter(matches).collect::<Vec<_>>().into_iter()
    }

    /// The way of doing it that stands first in `hows`.
    fn first_of(&self, names: &[(&str, &str)], hows: &[&str]) -> Option<&'a LabCell> {
        hows.iter().find_map(|how| self.get(&[names, &[("how", how)]].concat()))
    }
}

/// The values of the samples that count, by round.
fn rounds(cell: &LabCell) -> BTreeMap<u32, f64> {
    by_round(cell.unit, cell.samples.iter().filter(|sample| sample.is_valid()))
}

/// The median over rounds.
fn middle(cell: &LabCell) -> Option<f64> {
    median(rounds(cell).into_values())
}

/// A number that is made of two cells, round by round.
struct Paired {
    /// Its median over rounds.
    value: f64,
    /// The exact 95 % interval of that; none below [`hotset_analysis::bench::MIN_ROUNDS`] rounds.
    interval: Option<ConfidenceInterval>,
    /// Rounds in which both cells count.
    rounds: usize,
}

/// What a function of two cells comes to.
fn within_rounds(a: &LabCell, b: &LabCell, of: impl Fn(f64, f64) -> f64) -> Option<Paired> {
    let (a, b) = (rounds(a), rounds(b));
    let values = sorted(a.iter().filter_map(|(round, &a)| Some(of(a, *b.get(round)?))));
    let (interval, rounds) = (median_interval(&values), values.len());
    Some(Paired { value: median(values)?, interval, rounds })
}

/// Operations of a sample.
fn operations(cell: &LabCell) -> Option<u64> {
    cell.samples.first().map(|sample| sample.operations).filter(|&operations| operations > 0)
}

fn how(cell: &LabCell) -> &str {
    match cell.level("how") {
        Some(Level::Name(how)) => how,
        _ => "",
    }
}
