//! Pages that were cached in this run, dropped by somebody, and needed again.

use super::culprits::{culprits, total, worst};
use super::input::ratio;
use super::refaults::{self, Refaults, dropped_pages};
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};

pub(super) const ID: &str = "dropped-pages";

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    input.read()?;
    input.times()?;
    let refaults = Refaults::of_run(input.profile).dropped;
    let Some(refaults::Worth { share, saving, costs }) = refaults::worth(input, refaults)? else {
        return Ok(None);
    };
    let page_bytes = input.page_bytes();
    let found = culprits(input.profile, |file, io| {
        let saved = refaults::cost_ns(io, Refaults::of_file(file).dropped, &costs, page_bytes)?;
        let own = file.dropped_by_run_pages.value().unwrap_or(0);
        Some(((dropped_pages(file), own), saved, saved))
    });
    let percent = 100.0 * share;
    let title = format!("{percent:.0} % of pages read in had been dropped from the page cache");
    let (dropped, own) = (total(&found, |(all, _)| *all), total(&found, |(_, own)| *own));
    let advice = if ratio(own as f64, dropped as f64) >= 0.5 {
        "The program drops pages itself (POSIX_FADV_DONTNEED, MADV_PAGEOUT, or direct I/O over cached pages) and reads them \
         again, while memory is available. Drop only data that is not read again."
    } else {
        "Another process drops them (drop_caches, or POSIX_FADV_DONTNEED of a backup or a benchmark), while memory is \
         available. Find out which one, and measure again without it."
    };
    let evidence = vec![
        Evidence::count("refault_pages", refaults as u64),
        Evidence::real("refault_percent", percent),
        Evidence::count("dropped_pages", dropped),
        Evidence::count("dropped_by_run_pages", own),
    ];
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, read_file, run_of, second};
    use hotset_facts::{Observed, ReadIo, Reason, TimeIo};

    fn dropping(dropped: u64, own: u64, miss_ns: u64) -> Run {
        let read = ReadIo { pages: 20_000, misses: 16_000, refaults: 8_000, ..ReadIo::default() };
        let mut row = read_file("/data/index", 20 << 20, read);
        row.evicted_pages = Observed::Value(8_000);
        row.dropped_pages = Observed::Value(dropped);
        row.dropped_by_run_pages = Observed::Value(own);
        row.io.edit(|io| io.time = Observed::Value(TimeIo { miss_ns, ..TimeIo::default() }));
        Run::new(run_of(vec![row]))
    }

    #[test]
    fn hit_a_program_that_drops_what_it_reads_again() {
        let finding = dropping(8_000, 8_000, second(1) / 2).finding(check);
        assert_eq!(finding.title, "50 % of pages read in had been dropped from the page cache");
        assert!(finding.advice.starts_with("The program drops"), "{}", finding.advice);
        assert!((249_000_000..250_000_000).contains(&finding.saving.low_ns), "{finding:?}");
    }

    #[test]
    fn hit_another_program_that_drops() {
        let finding = dropping(8_000, 0, second(1) / 2).finding(check);
        assert!(finding.advice.starts_with("Another process"), "{}", finding.advice);
    }

    #[test]
    fn near_misses() {
        assert_eq!(dropping(0, 0, second(1)).ask(check), Ok(None), "evicted by the kernel");
        assert_eq!(dropping(1_500, 1_500, second(1)).ask(check), Ok(None), "9 %");
        assert_eq!(dropping(8_000, 8_000, 50_000_000).ask(check), Ok(None), "cheap");
    }

    #[test]
    fn no_data() {
        let mut run = dropping(8_000, 8_000, second(1));
        run.profile.totals.time = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
    }
}
