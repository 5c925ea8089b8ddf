//! The code that asked, on the page of a run.

use hotset_analysis::Summary;
use hotset_analysis::sites::by_time;

use crate::escape::escape_bytes;
use crate::page::{Section, Table};
use crate::report::sites::{caveats, contexts};
use crate::sites::with_callers;
use crate::units::{bytes, count, duration};

/// Rows that the table shows.
const ROWS: usize = 200;

/// Call sites, where they were asked for.
pub(super) fn section(summary: &Summary) -> Option<Section> {
    let sites = summary.profile.sites.as_ref()?;
    let all = by_time(sites);
    let shown = all.get(..ROWS.min(all.len())).unwrap_or_default();
    let name = |site: u32| {
        let site = sites.sites.get(site as usize);
        site.map(|site| with_callers(site, &escape_bytes)).unwrap_or_default()
    };
    let cut = (all.len() > shown.len()).then(|| {
        let all = count(all.len() as u64);
        format!("The first {} of {all} call sites; the JSON has more.", shown.len())
    });
    Some(Section {
        question: "Which code asked?".to_owned(),
        answer: format!("{}.", contexts(&sites.contexts)),
        table: Table::of("Call sites, most I/O time first".to_owned(), shown)
            .words("Function and callers", |(site, _)| name(*site))
            .numbers("I/O time", |(_, io)| duration(io.time_ns))
            .numbers("Calls", |(_, io)| count(io.calls))
            .numbers("Failed", |(_, io)| count(io.failed))
            .numbers("Moved", |(_, io)| bytes(io.bytes))
            .numbers("From device", |(_, io)| bytes(io.device_read_bytes))
            .table(),
        notes: caveats(sites).into_iter().chain(cut).collect(),
        ..Section::default()
    })
}
