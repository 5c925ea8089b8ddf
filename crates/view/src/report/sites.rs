//! The code that asked, where call sites were asked for.

use hotset_analysis::Summary;
use hotset_analysis::sites::by_time;
use hotset_facts::{CallSites, SiteContexts, SiteIo};

use super::screen::Screen;
use crate::escape::shorten_end;
use crate::sites::with_callers;
use crate::table::{Align, Table};
use crate::units::{bytes, count, duration, plural};

/// A screen has room for this many.
const MAX_ROWS: usize = 5;

type Cell = fn(&SiteIo) -> String;

/// A column: its title and its value. One that is zero in every row is left out.
const COLUMNS: &[(&str, Cell)] = &[
    ("I/O time", |io| duration(io.time_ns)),
    ("calls", |io| count(io.calls)),
    ("failed", |io| count(io.failed)),
    ("moved", |io| bytes(io.bytes)),
    ("from device", |io| bytes(io.device_read_bytes)),
];

pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    let Some(sites) = &summary.profile.sites else { return };
    let all = by_time(sites);
    let most = if screen.all { screen.top } else { screen.top.min(MAX_ROWS) };
    let shown = all.get(..most.min(all.len())).unwrap_or_default();
    if shown.is_empty() {
        screen.heading("Call sites", &contexts(&sites.contexts));
        screen.below_table("None: no request was made, or of none the code is known.");
    } else {
        push_table(screen, sites, shown);
        let more = all.len() - shown.len();
        let more = (more > 0).then(|| format!("{} more; ", count(more as u64)));
        screen.below_table(&format!("{}{}", more.unwrap_or_default(), contexts(&sites.contexts)));
    }
    for line in caveats(sites) {
        screen.below_table(&line);
    }
}

fn push_table(screen: &mut Screen, sites: &CallSites, shown: &[(u32, SiteIo)]) {
    let none = SiteIo::default();
    let is_shown = |cell: &Cell| shown.iter().any(|(_, io)| cell(io) != cell(&none));
    let columns: Vec<_> = COLUMNS.iter().filter(|(_, cell)| is_shown(cell)).collect();
    let mut table = Table::new(columns.iter().map(|(title, _)| (*title, Align::Right)).collect());
    for (_, io) in shown {
        table.push(columns.iter().map(|(_, cell)| cell(io)).collect());
    }
    let room = table.room_for_names(screen.width);
    let name = |site: u32| {
        let site = sites.sites.get(site as usize);
        site.map(|site| with_callers(site, &|bytes| screen.name(bytes))).unwrap_or_default()
    };
    let names: Vec<String> =
        shown.iter().map(|(site, _)| shorten_end(&name(*site), room)).collect();
    screen.table("Call sites", &table, &names);
}

/// "41 contexts: 38 resolved, 2 in part, 1 not".
pub(crate) fn contexts(of: &SiteContexts) -> String {
    let all = of.whole + of.cut + of.lost + of.refused;
    let parts = [(of.whole, "resolved"), (of.cut, "in part"), (of.lost + of.refused, "unresolved")];
    let said = parts.iter().filter(|(number, _)| *number > 0);
    let said: Vec<String> =
        said.map(|(number, what)| format!("{} {what}", count(*number))).collect();
    match said.is_empty() {
        true => plural(all, "context"),
        false => format!("{}: {}", plural(all, "context"), said.join(", ")),
    }
}

/// What the sums lack.
pub(crate) fn caveats(sites: &CallSites) -> Vec<String> {
    let parts = [
        (sites.unknown_requests, "The call site is not known"),
        (sites.lost_requests, "The sensor's buffer was full, and no call site is counted"),
        (sites.other_requests, "There are more call sites than the profile keeps"),
    ];
    let said = parts.iter().filter(|(number, _)| *number > 0);
    said.map(|(number, what)| format!("{what} for {}.", plural(*number, "request"))).collect()
}
