//! Random reads that make the kernel read ahead for nothing.

use super::culprits::{bounds, culprits, total, worst};
use super::input::ratio;
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::Io;

pub(super) const ID: &str = "readahead-wasted";

/// Read-ahead pages that nobody asked for, from which on it is waste (rule R13 of the catalogue: 30 %).
const MIN_WASTED_SHARE: f64 = 0.30;
/// Calls that did not continue the previous one: the advice is for files that are mostly read at random.
const MIN_RANDOM_SHARE: f64 = 0.50;

/// What was seen on one file.
struct Wasted {
    wasted_pages: u64,
    read_ahead_pages: u64,
    random_calls: u64,
}

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    input.read()?;
    input.times()?;
    if input.readahead()?.wasted_pages == 0 {
        return Ok(None);
    }
    let found = culprits(input.profile, |_, io| {
        let (wasted, saved_ns) = wasted_on(io)?;
        // At most: a device often takes little longer for a larger request.
        Some((wasted, 0.0, saved_ns))
    });
    let (low_ns, high_ns) = bounds(&found);
    let saving = input.saving(low_ns, high_ns);
    if !input.worth(&saving) {
        return Ok(None);
    }
    let wasted_pages = total(&found, |wasted| wasted.wasted_pages);
    let ahead_pages = total(&found, |wasted| wasted.read_ahead_pages);
    let wasted_percent = 100.0 * ratio(wasted_pages as f64, ahead_pages as f64);
    let title = format!("Random reads: {wasted_percent:.0} % of read-ahead pages never used");
    let advice = "Call posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) after open, or sort reads by offset. Ignore if a later \
                  phase reads those pages.";
    let evidence = vec![
        Evidence::count("random_calls", total(&found, |wasted| wasted.random_calls)),
        Evidence::count("read_ahead_pages", ahead_pages),
        Evidence::count("wasted_pages", wasted_pages),
        Evidence::real("wasted_percent", wasted_percent),
    ];
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

/// The waste on a file, and its share (by pages) of the time that reads of it waited for the device.
fn wasted_on(io: &Io) -> Option<(Wasted, f64)> {
    let read = io.read.value()?;
    let ahead = io.readahead.value()?;
    let time = io.time.value()?;
    let random_calls = read.random_calls().value()?;
    let wasted = ratio(ahead.wasted_pages as f64, ahead.pages as f64) >= MIN_WASTED_SHARE;
    let random = ratio(random_calls as f64, read.calls as f64) >= MIN_RANDOM_SHARE;
    let brought_in = ahead.pages as f64 + read.misses as f64;
    let waited_ns = time.miss_ns as f64 + time.wait_ns as f64;
    (wasted && random).then(|| {
        let seen = Wasted {
            wasted_pages: ahead.wasted_pages,
            read_ahead_pages: ahead.pages,
            random_calls,
        };
        (seen, waited_ns * ratio(ahead.wasted_pages as f64, brought_in))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, read_file, run_of, second};
    use hotset_facts::{Observed, ReadIo, ReadaheadIo, Reason, TimeIo};

    fn random(wasted_pages: u64, sequential_calls: u64, miss_ns: u64) -> Run {
        let read = ReadIo {
            calls: 1_000,
            pages: 1_000,
            misses: 1_000,
            sequential_calls: Observed::Value(sequential_calls),
            ..ReadIo::default()
        };
        let mut row = read_file("/data/index", 1 << 30, read);
        row.io.edit(|io| {
            io.readahead = Observed::Value(ReadaheadIo { pages: 31_000, wasted_pages });
            io.time = Observed::Value(TimeIo { miss_ns, ..TimeIo::default() });
        });
        Run::new(run_of(vec![row]))
    }

    #[test]
    fn hit_nearly_all_of_the_read_ahead() {
        let finding = random(30_000, 10, second(1) / 2).finding(check);
        assert!((468_000_000..469_000_000).contains(&finding.saving.high_ns), "{finding:?}");
        assert!(finding.advice.contains("POSIX_FADV_RANDOM"));
    }

    #[test]
    fn near_misses() {
        assert_eq!(random(9_000, 10, second(1)).ask(check), Ok(None), "29 % wasted");
        assert_eq!(random(30_000, 600, second(1)).ask(check), Ok(None), "in order");
        assert_eq!(random(30_000, 10, 40_000_000).ask(check), Ok(None), "cheap");
    }

    #[test]
    fn no_data() {
        let mut run = random(30_000, 10, second(1));
        run.profile.totals.readahead = Observed::Missing(Reason::unsupported("old kernel"));
        assert!(run.ask(check).is_err());
    }
}
