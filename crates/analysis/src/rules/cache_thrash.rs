//! Pages that were cached in this run, evicted, and needed again.

use super::culprits::{culprits, worst};
use super::refaults::{self, Refaults};
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};

pub(super) const ID: &str = "cache-thrash";

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    input.read()?;
    input.times()?;
    input.memory_is_the_programs()?;
    let refaults = Refaults::of_run(input.profile).evicted;
    let Some(refaults::Worth { share, saving, costs }) = refaults::worth(input, refaults)? else {
        return Ok(None);
    };
    let page_bytes = input.page_bytes();
    let found = culprits(input.profile, |file, io| {
        let refaults = Refaults::of_file(file).evicted;
        let saved = refaults::cost_ns(io, refaults, &costs, page_bytes)?;
        Some(((), saved, saved))
    });
    let refault_percent = 100.0 * share;
    let title = format!("Cache too small: {refault_percent:.0} % of pages read in are refaults");
    let environment = &input.profile.environment;
    let mut evidence = vec![
        Evidence::count("refault_pages", refaults as u64),
        Evidence::count("refault_bytes", (refaults * page_bytes) as u64),
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
        "A DAMON scheme evicts idle page cache on this host and may cause these refaults; see idle-eviction."
    } else if environment.memory_limit_bytes.is_some() {
        "Raise the cgroup memory limit, or shrink the working set: process data in blocks and release read-once data \
         with POSIX_FADV_DONTNEED."
    } else {
        "Add memory, or shrink the working set: process data in blocks and release read-once data with \
         POSIX_FADV_DONTNEED."
    }
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
    fn what_was_dropped_is_no_lack_of_memory() {
        // 48 MiB, read three times, with POSIX_FADV_DONTNEED behind each pass.
        let mut run = thrash(8_000, second(1) / 2);
        run.profile.files[0].evicted_pages = Observed::Value(8_000);
        run.profile.files[0].dropped_pages = Observed::Value(8_000);
        assert_eq!(run.ask(check), Ok(None));
        run.profile.files[0].dropped_pages = Observed::Value(4_000);
        let finding = run.finding(check);
        assert!((124_000_000..125_000_000).contains(&finding.saving.low_ns), "half: {finding:?}");
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
