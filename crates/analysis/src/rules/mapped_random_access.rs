//! Mappings whose pages come in one major fault at a time.

use super::culprits::{bounds, culprits, files, total, worst};
use super::input::{need, ratio};
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::Io;

pub(super) const ID: &str = "mapped-random-access";

/// Major faults on one file from which on it is a way of access and not the loading of a program: read-around brings in
/// hundreds of kilobytes per fault, so a cold library needs a few dozen.
const MIN_MAJOR_FAULTS_PER_FILE: u64 = 100;

/// What was seen on one file.
struct Faulted {
    major_faults: u64,
    pages_read: u64,
    fault_ns: u64,
}

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    input.times()?;
    if need(input.profile.totals.mmap.major_faults)? < MIN_MAJOR_FAULTS_PER_FILE {
        return Ok(None);
    }
    let found = culprits(input.profile, |_, io| {
        let seen = faulted(io)?;
        let fault_ns = seen.fault_ns as f64;
        // At most: the pages that are really used must come in anyhow, if fewer at a time.
        Some((seen, 0.0, fault_ns))
    });
    let (low_ns, high_ns) = bounds(&found);
    let saving = input.saving(low_ns, high_ns);
    if !input.worth(&saving) {
        return Ok(None);
    }
    let major_faults = total(&found, |seen| seen.major_faults);
    let pages_read = total(&found, |seen| seen.pages_read);
    let title =
        format!("Mappings of {}: major faults wait for one page at a time", files(found.len()));
    let advice = "For whole-file use: MAP_POPULATE or MADV_WILLNEED. For sparse use: MADV_RANDOM, or pread with \
                  POSIX_FADV_RANDOM, which keeps hot pages better under memory pressure.";
    let evidence = vec![
        Evidence::count("major_faults", major_faults),
        Evidence::count("mapped_in_pages", pages_read),
        Evidence::real("pages_per_major_fault", ratio(pages_read as f64, major_faults as f64)),
        Evidence::count("fault_ns", total(&found, |seen| seen.fault_ns)),
    ];
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

fn faulted(io: &Io) -> Option<Faulted> {
    let major_faults = io.mmap.major_faults.value()?;
    let fault_ns = io.time.value()?.fault_ns.value()?;
    let pages_read = io.mmap.pages_read.value().unwrap_or(0);
    (major_faults >= MIN_MAJOR_FAULTS_PER_FILE).then_some(Faulted {
        major_faults,
        pages_read,
        fault_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, file, run_of, second};
    use hotset_facts::{Observed, Reason, TimeIo};

    fn mapped(major_faults: u64, fault_ns: u64) -> Run {
        let mut row = file("/data/vectors", 1 << 30);
        row.io.edit(|io| {
            io.mmap.major_faults = Observed::Value(major_faults);
            io.mmap.pages_read = Observed::Value(65_536);
            let fault_ns = Observed::Value(fault_ns);
            io.time = Observed::Value(TimeIo { fault_ns, ..TimeIo::default() });
        });
        Run::new(run_of(vec![row]))
    }

    #[test]
    fn hit_two_thousand_random_touches() {
        let finding = mapped(2_000, second(1) / 5).finding(check);
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (0, second(1) / 5));
        assert!(finding.evidence.iter().any(|evidence| evidence.name == "pages_per_major_fault"));
    }

    #[test]
    fn near_misses() {
        assert_eq!(mapped(99, second(1) / 5).ask(check), Ok(None), "a program loads");
        assert_eq!(mapped(2_000, 40_000_000).ask(check), Ok(None), "cheap");
    }

    #[test]
    fn no_data() {
        let mut run = mapped(2_000, second(1));
        run.profile.totals.mmap.major_faults =
            Observed::Missing(Reason::unsupported("no fault tracepoint"));
        assert!(run.ask(check).is_err());
    }
}
