//! Pages that were cached in this run, evicted, and needed again.

use super::culprits::{culprits, worst};
use super::input::{BUFFER_BYTES, need, ratio};
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::{CostTable, Io};

pub(super) const ID: &str = "cache-thrash";

/// Refaults among the pages that came in, from which on eviction is a cause and not noise. The catalogue gates R16 by a
/// simulated curve, which a profile doesn't have; below a tenth, 90 % of the reads would happen with endless memory too.
const MIN_REFAULT_SHARE: f64 = 0.10;

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    let read = input.read()?;
    input.times()?;
    input.memory_is_the_programs()?;
    let totals = &input.profile.totals;
    if refault_share(totals) < MIN_REFAULT_SHARE {
        return Ok(None);
    }
    let costs = input.costs()?;
    let page_bytes = input.page_bytes();
    let saved_ns = saved_ns(totals, &costs, page_bytes).unwrap_or(0.0);
    let saving = input.saving(saved_ns, saved_ns);
    if !input.worth(&saving) {
        return Ok(None);
    }
    let found = culprits(input.profile, |_, io| {
        let saved = self::saved_ns(io, &costs, page_bytes)?;
        Some(((), saved, saved))
    });
    let refault_percent = 100.0 * refault_share(totals);
    let title = format!(
        "The cache is too small: {refault_percent:.0} % of what was read in had been cached before"
    );
    let environment = &input.profile.environment;
    let mut evidence = vec![
        Evidence::count("refault_pages", read.refaults),
        Evidence::count("refault_bytes", read.refaults.saturating_mul(page_bytes as u64)),
        Evidence::real("refault_percent", refault_percent),
    ];
    evidence.extend(
        environment.memory_limit_bytes.map(|limit| Evidence::count("memory_limit_bytes", limit)),
    );
    Ok(Some(Finding::with_saving(ID, title, advice(input), saving, evidence).about(worst(&found))))
}

fn advice(input: &RuleInput<'_>) -> &'static str {
    let environment = &input.profile.environment;
    if environment.evicts_idle_cache {
        "This host evicts idle page cache by itself (a DAMON scheme), which may be the cause rather than a lack of \
         memory: see idle-eviction."
    } else if environment.memory_limit_bytes.is_some() {
        "Raise the memory limit of the control group around the run, or touch less between two uses of a page: work \
         in blocks, and keep one-pass files out of the cache with POSIX_FADV_DONTNEED behind the cursor."
    } else {
        "Touch less between two uses of a page: work in blocks, and keep one-pass files out of the cache with \
         POSIX_FADV_DONTNEED behind the cursor. Or give the host more memory."
    }
}

/// Refaults among the pages that reads and their read-ahead brought in, 0 to 1.
fn refault_share(io: &Io) -> f64 {
    let Some(read) = io.read.value() else { return 0.0 };
    let ahead = io
        .readahead
        .value()
        .map_or(read.readahead_hits, |readahead| readahead.pages.max(read.readahead_hits));
    ratio(read.refaults as f64, read.misses as f64 + ahead as f64).min(1.0)
}

/// The share of the waiting that refaults caused, less what the cache takes for as many pages.
fn saved_ns(io: &Io, costs: &CostTable, page_bytes: f64) -> Option<f64> {
    let time = need(io.time).ok()?;
    let read = need(io.read).ok()?;
    let waited = time.wait_ns as f64 + time.miss_ns as f64;
    let cached = read.refaults as f64 * page_bytes / BUFFER_BYTES * costs.read_64k_ns;
    Some((waited * refault_share(io) - cached).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, read_file, run_of, second};
    use hotset_facts::{Feature, NotMeasured, Observed, ReadIo, Reason, TimeIo};

    fn thrash(refaults: u64, miss_ns: u64) -> Run {
        let read = ReadIo { pages: 20_000, misses: 16_000, refaults, ..ReadIo::default() };
        let mut row = read_file("/data/index", 20 << 20, read);
        row.io.edit(|io| io.time = Observed::Value(TimeIo { miss_ns, ..TimeIo::default() }));
        Run::new(run_of(vec![row]))
    }

    #[test]
    fn hit_half_of_the_misses_were_cached_before() {
        let mut run = thrash(8_000, second(1) / 2);
        run.profile.environment.memory_limit_bytes = Some(16 << 20);
        let finding = run.finding(check);
        assert!((249_000_000..250_000_000).contains(&finding.saving.low_ns), "{finding:?}");
        assert!(finding.advice.contains("memory limit"));
        assert!(finding.evidence.iter().any(|evidence| evidence.name == "memory_limit_bytes"));
    }

    #[test]
    fn near_misses() {
        assert_eq!(thrash(1_500, second(1)).ask(check), Ok(None), "9 %");
        assert_eq!(thrash(8_000, 50_000_000).ask(check), Ok(None), "cheap");
    }

    #[test]
    fn no_data() {
        let run = Run::without_costs(thrash(8_000, second(1)).profile);
        assert!(run.ask(check).is_err());
        let mut run = thrash(8_000, second(1));
        run.profile.sensor.not_measured.push(NotMeasured::lacking(Feature::FreeTables));
        assert_eq!(run.ask(check), Err(Feature::FreeTables.reason()), "hotset may be the cause");
        let mut run = thrash(8_000, second(1));
        run.profile.totals.read = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
    }
}
