//! Cells put where a chart and its table have them.

use hotset_analysis::lab::CellNumbers;
use hotset_facts::{LabCell, Level};

use super::spec::{ChartSpec, Scale, Shown};
use super::{Named, words};
use crate::page::ChartKind;

/// A cell in its place.
pub(super) struct PanelCell<'a> {
    pub(super) cell: &'a LabCell,
    pub(super) numbers: &'a CellNumbers,
    /// Whose it is, by the number of the run.
    pub(super) run: usize,
    /// Which of the panel's levels.
    pub(super) x: usize,
    /// Which of the panel's series.
    pub(super) series: usize,
}

/// One chart's cells.
pub(super) struct Panel<'a> {
    pub(super) spec: ChartSpec<'a>,
    /// The level of `spec.each`.
    pub(super) level: Option<Level>,
    /// Levels along the horizontal axis: numbers by size, names as they come.
    pub(super) levels: Vec<Level>,
    /// The names of the series.
    pub(super) series: Vec<String>,
    /// The cells, by series, then along the axis.
    pub(super) cells: Vec<PanelCell<'a>>,
}

/// The panels of runs of one experiment.
pub(super) fn panels<'a>(runs: &[Named<'a>]) -> Vec<Panel<'a>> {
    let Some(first) = runs.first() else { return Vec::new() };
    let planned = of_specs(runs, first.result.charts);
    if planned.is_empty() { of_specs(runs, automatic(runs).as_slice()) } else { planned }
}

/// The panels that these specs ask for; those without a cell are none.
pub(super) fn of_specs<'a>(runs: &[Named<'a>], wanted: &[ChartSpec<'a>]) -> Vec<Panel<'a>> {
    let mut all = Vec::new();
    for &spec in wanted {
        let cells = kept(runs, &spec);
        match spec.each {
            None => all.extend(panel(runs, spec, None, cells)),
            Some(each) => {
                for level in distinct(cells.iter().filter_map(|(_, cell, _)| cell.level(each))) {
                    let own = cells.iter().copied();
                    let own = own.filter(|(_, cell, _)| cell.level(each) == Some(&level)).collect();
                    all.extend(panel(runs, spec, Some(level), own));
                }
            }
        }
    }
    all
}

type Cell<'a> = (usize, &'a LabCell, &'a CellNumbers);

fn all_cells<'a>(runs: &[Named<'a>]) -> impl Iterator<Item = Cell<'a>> {
    runs.iter().enumerate().flat_map(|(run, named)| {
        let cells = named.summary().session.cells.iter().zip(&named.summary().cells);
        // The second of two equal cells shows this session's noise, and would fall on the first.
        let cells = cells.filter(|(cell, _)| !cell.is_twin());
        cells.map(move |(cell, numbers)| (run, cell, numbers))
    })
}

fn kept<'a>(runs: &[Named<'a>], spec: &ChartSpec<'_>) -> Vec<Cell<'a>> {
    let keeps = |cell: &LabCell| {
        spec.keep.iter().all(|(name, levels)| {
            cell.level(name).is_some_and(|level| levels.iter().any(|known| known.is(level)))
        })
    };
    let leaves_out = |cell: &LabCell| {
        spec.leave_out.is_some_and(|(name, levels)| {
            cell.level(name).is_some_and(|level| levels.iter().any(|known| known.is(level)))
        })
    };
    let is_kept = |cell: &LabCell| keeps(cell) && !leaves_out(cell) && cell.level(spec.x).is_some();
    let mut cells: Vec<Cell<'a>> = all_cells(runs).filter(|(_, cell, _)| is_kept(cell)).collect();
    if let Some(name) = spec.largest {
        let largest = cells.iter().filter_map(|(_, cell, _)| cell.number(name)).max();
        cells.retain(|(_, cell, _)| cell.number(name) == largest);
    }
    cells
}

/// Each level once: numbers by size, before names as they come.
fn distinct<'a>(levels: impl Iterator<Item = &'a Level>) -> Vec<Level> {
    let mut found: Vec<Level> = Vec::new();
    for level in levels {
        if !found.contains(level) {
            found.push(level.clone());
        }
    }
    found.sort_by_key(|level| match level {
        Level::Number(number) => (0, *number),
        Level::Name(_) => (1, 0),
    });
    found
}

fn panel<'a>(
    runs: &[Named<'a>],
    spec: ChartSpec<'a>,
    level: Option<Level>,
    cells: Vec<Cell<'a>>,
) -> Option<Panel<'a>> {
    let factors = series_factors(&spec, &cells);
    let key = |cell: &LabCell| -> Vec<Option<Level>> {
        factors.iter().map(|name| cell.level(name).cloned()).collect()
    };
    let levels = distinct(cells.iter().filter_map(|(_, cell, _)| cell.level(spec.x)));
    let mut keys: Vec<(usize, Vec<Option<Level>>)> = Vec::new();
    for (run, cell, _) in &cells {
        let key = (*run, key(cell));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    // The same series of several runs stand beside each other; numbers by size, names as they come.
    let orders: Vec<Vec<Level>> = factors
        .iter()
        .map(|name| distinct(cells.iter().filter_map(|(_, cell, _)| cell.level(name))))
        .collect();
    keys.sort_by_key(|(run, key)| {
        let places = key
            .iter()
            .zip(&orders)
            .map(|(level, order)| order.iter().position(|known| Some(known) == level.as_ref()));
        (places.collect::<Vec<_>>(), *run)
    });
    let mut placed: Vec<PanelCell<'a>> = cells
        .into_iter()
        .filter_map(|(run, cell, numbers)| {
            let x = levels.iter().position(|level| Some(level) == cell.level(spec.x))?;
            let series = keys.iter().position(|known| *known == (run, key(cell)))?;
            Some(PanelCell { cell, numbers, run, x, series })
        })
        .collect();
    placed.sort_by_key(|cell| (cell.series, cell.x));
    let name = |(run, key): &(usize, Vec<Option<Level>>)| series_name(runs, *run, &factors, key);
    let series = keys.iter().map(name).collect();
    // A time that lacks is a finding, and its doubts say why; a count that nobody made is none.
    let is_known = spec.shown == Shown::Time
        || placed.iter().any(|cell| words::shown(spec.shown, cell.numbers).is_some());
    (!placed.is_empty() && is_known).then_some(Panel { spec, level, levels, series, cells: placed })
}

/// The spec's factors, and those in which cells would fall on each other otherwise.
fn series_factors<'a>(spec: &ChartSpec<'a>, cells: &[Cell<'a>]) -> Vec<&'a str> {
    let mut factors: Vec<&str> = spec.series.to_vec();
    let mut others: Vec<&str> = Vec::new();
    for factor in cells.iter().flat_map(|(_, cell, _)| &cell.factors) {
        let name = &*factor.name;
        let known = name == spec.x || Some(name) == spec.each;
        if !known && !factors.contains(&name) && !others.contains(&name) {
            others.push(name);
        }
    }
    others.retain(|name| {
        distinct(cells.iter().filter_map(|(_, cell, _)| cell.level(name))).len() > 1
    });
    factors.extend(others);
    factors
}

fn series_name(runs: &[Named<'_>], run: usize, factors: &[&str], key: &[Option<Level>]) -> String {
    let levels = factors.iter().zip(key);
    let mut parts: Vec<String> =
        levels.filter_map(|(name, level)| Some(words::level(name, level.as_ref()?))).collect();
    if runs.len() > 1 {
        parts.push(runs.get(run).map_or(String::new(), |run| crate::escape::escape_text(run.name)));
    }
    if parts.is_empty() { "measured".to_owned() } else { parts.join(", ") }
}

/// A chart for cells that nobody has planned one for: numbers along the axis, else the factor with the most levels.
fn automatic<'a>(runs: &[Named<'a>]) -> Option<ChartSpec<'a>> {
    const ENOUGH_FOR_A_LINE: usize = 3;
    const MANY_LINES: usize = 12;
    let first = runs.first()?;
    let names = first.summary().session.cells.first()?.factors.iter().map(|factor| &*factor.name);
    let count = |name: &str| {
        let levels = distinct(all_cells(runs).filter_map(|(_, cell, _)| cell.level(name)));
        let numbers = levels.iter().all(|level| matches!(level, Level::Number(_)));
        (numbers && levels.len() >= ENOUGH_FOR_A_LINE, levels.len())
    };
    let x = names.clone().max_by_key(|name| count(name))?;
    let (is_number, _) = count(x);
    // Many lines in one chart are none: the factor with the fewest levels gets a chart for each.
    let others = || names.clone().filter(|name| *name != x && count(name).1 > 1);
    let lines: usize = others().map(|name| count(name).1).product();
    let each = others().min_by_key(|name| count(name).1).filter(|_| lines > MANY_LINES);
    Some(ChartSpec {
        question: first.result.question,
        title: "All cells, with 95 % CIs",
        kind: if is_number { ChartKind::Lines } else { ChartKind::Bars },
        x,
        each,
        y_scale: Scale::Auto,
        ..ChartSpec::EMPTY
    })
}

impl Panel<'_> {
    /// The question, with the level that this panel is about.
    pub(super) fn question(&self) -> String {
        match (self.spec.each, &self.level) {
            (Some(each), Some(level)) => {
                format!(
                    "{} ({}: {})",
                    self.spec.question,
                    words::factor(each),
                    words::level(each, level)
                )
            }
            _ => self.spec.question.to_owned(),
        }
    }

    /// Factors in which the cells don't differ: they are said once, and not in each row. A cell that is alone keeps its place on
    /// the axis for a name.
    pub(super) fn common(&self) -> Vec<&str> {
        let Some(first) = self.cells.first() else { return Vec::new() };
        let same = |name: &&str| {
            let level = first.cell.level(name);
            self.cells.iter().all(|placed| placed.cell.level(name) == level)
        };
        let names_the_row = |name: &&str| self.cells.len() == 1 && *name == self.spec.x;
        let names = first.cell.factors.iter().map(|factor| &*factor.name);
        names.filter(|name| same(name) && !names_the_row(name)).collect()
    }

    /// `order random, block size 4 KiB`: those, with their levels. Empty where there is none.
    pub(super) fn common_words(&self) -> String {
        let common = self.common();
        let Some(first) = self.cells.first() else { return String::new() };
        let all = first.cell.factors.iter().filter(|factor| common.contains(&&*factor.name));
        let words = all.map(|factor| {
            format!("{} {}", words::factor(&factor.name), words::level(&factor.name, &factor.level))
        });
        words.collect::<Vec<_>>().join(", ")
    }
}
