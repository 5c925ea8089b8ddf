//! Pages that were cached in the run, left the cache and were needed again, by who sent them away.

use super::RuleInput;
use super::input::{BUFFER_BYTES, need, ratio};
use crate::Saving;
use hotset_facts::{CostTable, FileRow, Io, Profile, Reason};

/// Refaults among the pages that came in, from which on they are a cause and not noise: below a tenth, 90 % of the reads
/// would happen with endless memory too.
const MIN_SHARE: f64 = 0.10;

/// Refaults of a run that are worth a finding.
pub(super) struct Worth {
    /// Their share of what came in, 0 to 1.
    pub(super) share: f64,
    /// What sparing them saves.
    pub(super) saving: Saving,
    /// What that was reckoned by.
    pub(super) costs: CostTable,
}

/// What sparing so many refaults of the run saves; none where they are too few, or too cheap.
pub(super) fn worth(input: &RuleInput<'_>, refaults: f64) -> Result<Option<Worth>, Reason> {
    let totals = &input.profile.totals;
    let share = share(totals, refaults);
    if share < MIN_SHARE {
        return Ok(None);
    }
    let costs = input.costs()?;
    let saved_ns = cost_ns(totals, refaults, &costs, input.page_bytes()).unwrap_or(0.0);
    let saving = input.saving(saved_ns, saved_ns);
    Ok(input.worth(&saving).then_some(Worth { share, saving, costs }))
}

/// The refaults of a run or of a file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Refaults {
    /// Of pages that the kernel evicted to have memory.
    pub(super) evicted: f64,
    /// Of pages that somebody dropped.
    pub(super) dropped: f64,
}

impl Refaults {
    /// Of a file: its refaults in proportion to how its pages left the cache.
    pub(super) fn of_file(file: &FileRow) -> Self {
        let refaults = file.io().read.value().map_or(0, |read| read.refaults) as f64;
        let evicted = file.evicted_pages.value().unwrap_or(0) as f64;
        let dropped = refaults * ratio(dropped_pages(file) as f64, evicted).min(1.0);
        Self { evicted: refaults - dropped, dropped }
    }

    /// Of a run: what no row of a file says was dropped counts as evicted.
    pub(super) fn of_run(profile: &Profile) -> Self {
        let refaults = profile.totals.read.value().map_or(0, |read| read.refaults) as f64;
        let dropped: f64 = profile.files.iter().map(|file| Self::of_file(file).dropped).sum();
        let dropped = dropped.min(refaults);
        Self { evicted: refaults - dropped, dropped }
    }
}

pub(super) fn dropped_pages(file: &FileRow) -> u64 {
    file.dropped_pages.value().unwrap_or(0)
}

/// So many refaults as a share of the pages that reads and their read-ahead brought in, 0 to 1.
fn share(io: &Io, refaults: f64) -> f64 {
    let Some(read) = io.read.value() else { return 0.0 };
    let ahead = io
        .readahead
        .value()
        .map_or(read.readahead_hits, |readahead| readahead.pages.max(read.readahead_hits));
    ratio(refaults, read.misses as f64 + ahead as f64).min(1.0)
}

/// The share of the waiting that so many refaults caused, less what the cache takes for as many pages.
pub(super) fn cost_ns(io: &Io, refaults: f64, costs: &CostTable, page_bytes: f64) -> Option<f64> {
    let time = need(io.time).ok()?;
    let waited = time.wait_ns as f64 + time.miss_ns as f64;
    let cached = refaults * page_bytes / BUFFER_BYTES * costs.read_64k_ns;
    Some((waited * share(io, refaults) - cached).max(0.0))
}
