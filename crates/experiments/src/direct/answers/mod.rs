//! Who is not using the cache?
//!
//! The cells have the times; what the sensor saw of the same programs, in runs apart, is in the session's facts.

#[cfg(test)]
mod tests;

use hotset_analysis::lab::ConstLevel::Name;
use hotset_analysis::lab::{CellNumbers, Cells, LabAnswer, MeasuredCell, words};
use hotset_facts::{LabCell, LabSession};

use super::found::{Quantity, number, text};

/// What the cells of `lab direct` say.
pub(super) fn answers(session: &LabSession, cells: &[CellNumbers]) -> Vec<LabAnswer> {
    let cells = Cells::of(session, cells);
    let all = [who(session), worth(&cells), twice(session, &cells), folios(session)];
    all.into_iter().flatten().collect()
}

fn app<'a>(cells: &Cells<'a>, mode: &'static str, which: &'static str) -> Option<MeasuredCell<'a>> {
    cells.one(&[("case", Name("app")), ("mode", Name(mode)), ("which", Name(which))])
}

/// The cells of the program that reads again and again, whatever it is asked.
fn ids(session: &LabSession, case: &str) -> Vec<String> {
    let is_of_case = |cell: &&LabCell| cell.name("case") == Some(case);
    session.cells.iter().filter(is_of_case).map(|cell| cell.id.clone()).collect()
}

fn who(session: &LabSession) -> Option<LabAnswer> {
    let direct = number(session, "app", "direct", Quantity::BytesReadDirectly)?;
    let asked = number(session, "app", "direct", Quantity::BytesRead)?;
    let pages = number(session, "app", "direct", Quantity::PagesRequested)?;
    if direct == 0 || asked == 0 {
        return None;
    }
    let flags = text(session, "app", "direct", Quantity::OpenFlags).unwrap_or("not measured");
    let added = match number(session, "app", "direct", Quantity::FoliosAdded) {
        Some(added) => format!(
            "{added} folios of any file entered the cache meanwhile, so that a tool which takes those for misses \
             shows nothing but hits"
        ),
        None => "how many folios entered the cache is not measured".to_owned(),
    };
    let share = direct as f64 / asked as f64;
    Some(LabAnswer {
        question: "Who is not using the cache?".to_owned(),
        answer: format!(
            "The program that opened its file with {flags}: {} of the {} that it read went past the cache, and it asked \
             the cache for {pages} pages of that file; {added}.",
            words::bytes(direct),
            words::bytes(asked),
        ),
        number: format!("{} direct", words::percent(share)),
        confidence: "counted by the sensor, in a run apart from the timed ones".to_owned(),
        evidence: ids(session, "app"),
    })
}

fn worth(cells: &Cells<'_>) -> Option<LabAnswer> {
    let direct = app(cells, "direct", "later")?;
    let cached = app(cells, "cached", "later")?;
    let ratio = cached.to(&direct)?;
    let rate =
        |of: &MeasuredCell<'_>| Some(of.numbers.bytes? / of.median * 1e9 / f64::from(1 << 20));
    let answer = format!(
        "Each later read takes {} with O_DIRECT ({} MiB/s) and {} through the cache ({} MiB/s): {} as long.",
        words::time(direct.median),
        words::real(rate(&direct)?),
        words::time(cached.median),
        words::real(rate(&cached)?),
        words::times(ratio.ratio),
    );
    let evidence = vec![direct.id(), cached.id()];
    Some(LabAnswer::of_ratio("What is it worth to drop O_DIRECT?", answer, &ratio, evidence))
}

fn twice(session: &LabSession, cells: &Cells<'_>) -> Option<LabAnswer> {
    let dd = |state| cells.one(&[("case", Name("dd")), ("state", Name(state))]);
    let (cold, warm) = (dd("cold")?, dd("warm")?);
    let ratio = warm.to(&cold)?;
    let shares = ["cold", "warm"].map(|state| device_share(session, state));
    let shares = match shares {
        [Some(cold), Some(warm)] => format!(
            " Of the pages asked for, {} came from the device cold, and {} warm.",
            words::percent(cold),
            words::percent(warm)
        ),
        _ => " Where the pages came from is not measured.".to_owned(),
    };
    let answer = format!(
        "It takes {} with nothing cached and {} with everything cached: {} as long.{shares}",
        words::time(cold.median),
        words::time(warm.median),
        words::times(ratio.ratio),
    );
    let question = "What does the cache do for a dd that is run twice?";
    Some(LabAnswer::of_ratio(question, answer, &ratio, vec![cold.id(), warm.id()]))
}

/// The share of the pages asked for that had to be read: misses and read-ahead hits.
fn device_share(session: &LabSession, state: &str) -> Option<f64> {
    let counted = |what| number(session, "dd", state, what);
    let pages = counted(Quantity::PagesRequested)?;
    (pages > 0).then_some(()).and_then(|()| {
        Some((counted(Quantity::Misses)? + counted(Quantity::ReadaheadHits)?) as f64 / pages as f64)
    })
}

fn folios(session: &LabSession) -> Option<LabAnswer> {
    let pages = number(session, "dd", "cold", Quantity::PagesRequested)?;
    let added = number(session, "dd", "cold", Quantity::FoliosAdded)?;
    if added == 0 {
        return None;
    }
    let each = pages as f64 / added as f64;
    Some(LabAnswer {
        question: "What does a tool print that counts folios for pages?".to_owned(),
        answer: format!(
            "For the cold dd it counts {added} misses where {pages} pages were read: {} too few, because a folio held {} pages \
             on average. What it would print as hits needs a kprobe, and is not measured here.",
            words::times(each),
            words::real(each),
        ),
        number: format!("{added} of {pages}"),
        confidence: "the kernel's own count of mm_filemap_add_to_page_cache, in a run apart from the timed ones; pages of other \
               files that dd itself brought in are in it"
            .to_owned(),
        evidence: ids(session, "dd"),
    })
}
