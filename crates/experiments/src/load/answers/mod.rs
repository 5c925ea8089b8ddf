//! Why is loading many small files slow?

mod alone;
mod forms;
mod library;
mod search;
mod shares;
#[cfg(test)]
mod tests;

use hotset_analysis::lab::ConstLevel::Name;
use hotset_analysis::lab::{CellNumbers, Cells, LabAnswer, MeasuredCell};
use hotset_facts::LabSession;

/// What the cells of `lab load` say.
pub(super) fn answers(session: &LabSession, cells: &[CellNumbers]) -> Vec<LabAnswer> {
    let all = Cells::of(session, cells);
    let runtimes: Vec<(&str, Cells<'_>)> =
        all.names("runtime").into_iter().map(|name| (name, all.named("runtime", name))).collect();
    // Each is asked of the cells of one runtime.
    let each: [fn(&Cells<'_>, &str) -> Option<LabAnswer>; 8] = [
        forms::which_wins,
        forms::both_at_once,
        search::cost_of_a_miss,
        search::lookups_without_a_search,
        shares::of_loading,
        forms::what_cold_adds,
        alone::reading,
        alone::asking,
    ];
    let asked = each.iter().flat_map(|ask| runtimes.iter().map(|(name, cells)| ask(cells, name)));
    let mut answers: Vec<LabAnswer> = asked.flatten().collect();
    for (runtime, cells) in &runtimes {
        let libraries = cells.names("library");
        let of_each = libraries.iter().map(|library| cells.named("library", library));
        answers
            .extend(of_each.filter_map(|one| library::where_its_time_goes(session, &one, runtime)));
    }
    answers
}

/// The cell of the way of doing it that stands first in `hows`.
fn first_of<'a>(
    cells: &Cells<'a>,
    what: &'static str,
    state: &'static str,
    hows: &[&str],
) -> Option<MeasuredCell<'a>> {
    let all = cells.with(&[("what", Name(what)), ("state", Name(state))]);
    hows.iter().find_map(|how| all.named("how", how).first(&[]))
}

fn how<'a>(one: &MeasuredCell<'a>) -> &'a str {
    one.cell.name("how").unwrap_or_default()
}
