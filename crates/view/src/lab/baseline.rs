//! How an experiment compares with a baseline: what changed, cell by cell, and what a reader has to know beside it.

use hotset_analysis::baseline::{Change, ChangeVerdict, NotComparable};
use hotset_analysis::lab::{CellChange, LabComparison, LabSummary};

use super::words;
use crate::baseline::{
    Kind, busier, busy, differs, estimate, host_difference, reason, sessions, title,
};
use crate::bench::words::ratio;
use crate::escape::{columns, escape_text, shorten_middle};
use crate::report::screen::Screen;
use crate::table::{Align, Table};
use crate::units::{count, percent, plural};

/// Cells of a table; the page and the JSON have all.
const LISTED: usize = 15;
/// Cells that a line names.
const NAMED: usize = 3;

/// A time of a cell that was compared.
#[derive(Clone, Copy)]
pub(super) struct Compared {
    /// What stands behind `slower`.
    pub(super) suffix: &'static str,
    pub(super) of: fn(&CellChange) -> &Change,
    pub(super) limit: Option<f64>,
}

/// Wall times, and CPU times.
pub(super) fn times(baseline: &LabComparison) -> [Compared; 2] {
    let limits = baseline.with.fail_above;
    [
        Compared { suffix: "", of: |one| &one.wall, limit: limits.wall },
        Compared { suffix: ", CPU time", of: |one| &one.cpu, limit: limits.cpu },
    ]
}

pub(super) fn push(screen: &mut Screen, summary: &LabSummary) {
    let Some(baseline) = &summary.baseline else { return };
    screen.heading(&title(&baseline.with), &sessions(&baseline.with));
    let [wall, cpu] = times(baseline);
    screen.paragraph("  ", " ", &sentence(baseline, wall), 0);
    if says_cpu(baseline, cpu) {
        screen.paragraph("  CPU time: ", " ", &sentence(baseline, cpu), 0);
    }
    for time in [wall, cpu] {
        for verdict in [ChangeVerdict::Slower, ChangeVerdict::Faster] {
            table(screen, summary, &baseline.that_are(verdict, time.of), verdict, time);
        }
    }
    let notes = notes(summary, baseline);
    if !notes.is_empty() {
        screen.line("");
    }
    for note in notes {
        screen.below_table(&note);
    }
}

/// CPU times are told where they show something, or where someone wants to know.
fn says_cpu(baseline: &LabComparison, cpu: Compared) -> bool {
    let shows = |verdict| !baseline.that_are(verdict, cpu.of).is_empty();
    cpu.limit.is_some() || shows(ChangeVerdict::Slower) || shows(ChangeVerdict::Faster)
}

/// `2 cells slower, 1 above the limit of 5.0 %; none faster; in 14, no difference detected; slow-downs below 5.1 % to 31.0 % are not
/// detectable there`.
pub(super) fn sentence(baseline: &LabComparison, time: Compared) -> String {
    let of = |verdict| baseline.that_are(verdict, time.of).len();
    let (slower, faster) = (of(ChangeVerdict::Slower), of(ChangeVerdict::Faster));
    let same = of(ChangeVerdict::NoDifferenceShown);
    if slower + faster + same == 0 {
        return "no cell can be compared".to_owned();
    }
    let number = |cells: usize| if cells == 0 { "none".to_owned() } else { count(cells as u64) };
    let cells = if slower == 0 { "no cell".to_owned() } else { plural(slower as u64, "cell") };
    let mut parts = vec![format!("{cells} slower")];
    if let (Some(limit), 1..) = (time.limit, slower) {
        let above = number(baseline.above_limit(time.of));
        parts.push(format!("{above} above the limit of {}", percent(limit)));
    }
    let mut text = format!("{}; {} faster", parts.join(", "), number(faster));
    if same > 0 {
        let detectable = match baseline.smallest_effects(time.of) {
            None => "no slow-down is detectable there".to_owned(),
            Some((low, high)) => {
                let (low, high) = (percent(low), percent(high));
                let range = if low == high { low } else { format!("{low} to {high}") };
                format!("slow-downs below {range} are not detectable there")
            }
        };
        text.push_str(&format!(
            "; in {}, no difference detected; {detectable}",
            count(same as u64)
        ));
    }
    text
}

/// What tells a cell of the session from the others.
pub(super) fn name(summary: &LabSummary, one: &CellChange) -> String {
    let cells = &summary.session.cells;
    cells.get(one.cell).map_or_else(String::new, |cell| words::name_among(cells, cell))
}

fn table(
    screen: &mut Screen,
    summary: &LabSummary,
    cells: &[&CellChange],
    verdict: ChangeVerdict,
    time: Compared,
) {
    if cells.is_empty() {
        return;
    }
    let limited = verdict == ChangeVerdict::Slower && time.limit.is_some();
    let titles = ["then", "now", "ratio", "above the limit"];
    let titles = titles.get(..if limited { 4 } else { 3 }).unwrap_or_default();
    let mut table =
        Table::new(titles.iter().map(|title| (*title, Align::Right)).collect::<Vec<_>>());
    let known = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), words::time);
    let shown = cells.get(..LISTED).unwrap_or(cells);
    for one in shown {
        let change = (time.of)(one);
        let ratio = estimate(change).map_or_else(String::new, |it| ratio(&it));
        let mut row = vec![known(change.baseline_ns), known(change.now_ns), ratio];
        if limited {
            row.push(if change.above_limit { "yes" } else { "not shown" }.to_owned());
        }
        table.push(row);
    }
    let names: Vec<String> = shown.iter().map(|one| name(summary, one)).collect();
    let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let room = table.room_for_names(screen.width).min(widest);
    let names: Vec<String> = names.iter().map(|name| shorten_middle(name, room)).collect();
    screen.table(&format!("{}{}", verdict.as_str(), time.suffix), &table, &names);
    if cells.len() > shown.len() {
        let more = count((cells.len() - shown.len()) as u64);
        screen.below_table(&format!("and {more} more; --json and --html have all"));
    }
}

/// What a reader has to know beside the numbers.
pub(super) fn notes(summary: &LabSummary, baseline: &LabComparison) -> Vec<String> {
    const REASONS: [NotComparable; 5] = [
        NotComparable::NotInBaseline,
        NotComparable::TooFewRuns,
        NotComparable::TooFewRunsThen,
        NotComparable::OtherFileSystem,
        NotComparable::OtherWork,
    ];
    let mut notes = Vec::new();
    for why in REASONS {
        let cells = baseline.not_comparable(why, |one| &one.wall);
        if cells.is_empty() {
            continue;
        }
        let which = few(cells.iter().map(|one| name(summary, one)));
        notes.push(format!("{which} not comparable: {}", reason(why, Kind::Cells)));
    }
    if !baseline.only_in_baseline.is_empty() {
        let ids = baseline.only_in_baseline.iter().map(|id| escape_text(id));
        notes.push(format!("{} only in the baseline", few(ids)));
    }
    notes.extend(busy(baseline.cells.iter().map(|one| &one.wall)));
    // Waiting is known of the session as a whole.
    notes.extend(baseline.cells.iter().find_map(|one| busier(&one.wall)));
    let facts = baseline.fact_differences.iter();
    notes.extend(facts.map(|one| differs(&one.what, &one.baseline, &one.now)));
    notes.extend(baseline.with.host_differences.iter().map(host_difference));
    notes
}

/// `4 cells (a; b; c and 1 more)`.
fn few(names: impl ExactSizeIterator<Item = String>) -> String {
    let all = names.len();
    let named = names.take(NAMED).collect::<Vec<_>>().join("; ");
    let more = match all.saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    format!("{} ({named}{more})", plural(all as u64, "cell"))
}
