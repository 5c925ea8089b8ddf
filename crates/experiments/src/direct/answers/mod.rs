//! Which program bypasses the cache?
//!
//! The cells have the times; what the sensor saw of the same programs, in runs apart, is in the session's facts.

#[cfg(test)]
mod tests;

use hotset_analysis::lab::ConstLevel::Name;
use hotset_analysis::lab::{CellNumbers, Cells, LabAnswer, MeasuredCell, words};
use hotset_facts::units::plural;
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
        Some(0) => "No folio of any file was added to the cache meanwhile, so a tool that counts such additions as misses \
                    shows only hits"
            .to_owned(),
        Some(added) => format!(
            "{} of any file entered the cache meanwhile, which a tool that counts such additions as misses shows as misses",
            plural(added, "folio")
        ),
        None => "How many folios entered the cache meanwhile was not measured".to_owned(),
    };
    let share = direct as f64 / asked as f64;
    Some(LabAnswer {
        question: "Which program bypasses the cache?".to_owned(),
        answer: format!(
            "The program that opened its file with {flags}: {} of the {} that it read bypassed the cache, and it requested \
             {} of that file from the cache. {added}.",
            words::bytes(direct),
            words::bytes(asked),
            plural(pages, "page"),
        ),
        number: format!("{} direct I/O", words::percent(share)),
        confidence: "counted by the BPF sensor in a separate run that is not timed".to_owned(),
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
        "Each read after the first takes {} with O_DIRECT ({} MiB/s) and {} through the cache ({} MiB/s): {}.",
        words::time(direct.median),
        words::real(rate(&direct)?),
        words::time(cached.median),
        words::real(rate(&cached)?),
        words::speed(&ratio),
    );
    let evidence = vec![direct.id(), cached.id()];
    Some(LabAnswer::of_ratio(
        "How much faster is reading without O_DIRECT?",
        answer,
        &ratio,
        evidence,
    ))
}

fn twice(session: &LabSession, cells: &Cells<'_>) -> Option<LabAnswer> {
    let dd = |state| cells.one(&[("case", Name("dd")), ("state", Name(state))]);
    let (cold, warm) = (dd("cold")?, dd("warm")?);
    let ratio = warm.to(&cold)?;
    let shares = ["cold", "warm"].map(|state| device_share(session, state));
    let shares = match shares {
        [Some(cold), Some(warm)] => format!(
            " Of the requested pages, {} came from the device in the cold run and {} in the warm run.",
            words::percent(cold),
            words::percent(warm)
        ),
        _ => " How many pages came from the device was not measured.".to_owned(),
    };
    let answer = format!(
        "dd takes {} with nothing cached and {} with everything cached: {}.{shares}",
        words::time(cold.median),
        words::time(warm.median),
        words::speed(&ratio),
    );
    let question = "How much faster is dd when the file is cached?";
    Some(LabAnswer::of_ratio(question, answer, &ratio, vec![cold.id(), warm.id()]))
}

/// The share of the requested pages that came from the device: misses and read-ahead hits.
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
        question: "What does a tool show that counts folios as pages?".to_owned(),
        answer: format!(
            "For the cold run of dd it counts {added} misses, but {pages} pages were read: too few by a factor of {}, the \
             average number of pages in a folio. What it shows as hits requires a kprobe and was not measured.",
            words::real(each),
        ),
        number: format!("{added} of {pages}"),
        confidence: "counted at the kernel's mm_filemap_add_to_page_cache in a separate run that is not timed; includes other \
                     files that dd itself read into the cache"
            .to_owned(),
        evidence: ids(session, "dd"),
    })
}
