//! Paths asked for in vain: a search path that mostly misses.

use super::input::ratio;
use super::{Answer, RuleInput};
use crate::{DirectoryLookups, Evidence, Finding};
use std::path::PathBuf;

pub(super) const ID: &str = "failed-lookups";

/// A finding names at most this many directories.
const NAMED_DIRECTORIES: usize = 5;

/// The time of failed lookups was measured, so the gate alone decides; a share alone would fire on every program that
/// probes for optional files.
pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    let counters = input.lookups()?.counters;
    let failed_ns = counters.failed_time_ns as f64;
    let saving = input.saving(failed_ns, failed_ns);
    if counters.failed == 0 || !input.worth(&saving) {
        return Ok(None);
    }
    let failed_percent = 100.0 * ratio(counters.failed as f64, counters.calls as f64);
    let (silent, answered): (Vec<_>, Vec<_>) =
        input.by_directory.iter().partition(|row| row.never_answered());
    let title = if silent.is_empty() {
        format!("{failed_percent:.0} % of the path lookups fail")
    } else {
        format!(
            "{failed_percent:.0} % of the path lookups fail; {} never answer",
            directories(silent.len())
        )
    };
    let advice = "Take directories that never answer out of the search path (PATH, PYTHONPATH, LD_LIBRARY_PATH, -I), \
                  put those that answer first, or remember where things were found.";
    let evidence = vec![
        Evidence::count("lookup_calls", counters.calls),
        Evidence::count("failed_calls", counters.failed),
        Evidence::real("failed_percent", failed_percent),
        Evidence::count("failed_ns", counters.failed_time_ns),
        Evidence::count("silent_directories", silent.len() as u64),
    ];
    let named: Vec<&DirectoryLookups> = silent.into_iter().chain(answered).collect();
    let worst: Vec<PathBuf> =
        named.into_iter().take(NAMED_DIRECTORIES).map(|row| row.directory.clone()).collect();
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst)))
}

fn directories(count: usize) -> String {
    if count == 1 { "one directory".to_owned() } else { format!("{count} directories") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, failed_lookup, profile};
    use hotset_facts::{LookupCounters, Lookups, Observed, Reason};

    fn lookups(failed_time_ns: u64) -> Run {
        let mut profile = profile();
        profile.lookups = Observed::Value(Lookups {
            counters: LookupCounters {
                calls: 40_000,
                failed: 30_000,
                time_ns: 2 * failed_time_ns,
                failed_time_ns,
            },
            failed_paths: vec![
                failed_lookup("/opt/a/x.py", 20_000),
                failed_lookup("/opt/b/x.py", 9),
            ],
            failed_unnamed: 9_991,
        });
        Run::new(profile)
    }

    #[test]
    fn hit_with_the_directories_that_never_answer() {
        let finding = lookups(60_000_000).finding(check);
        assert_eq!(finding.title, "75 % of the path lookups fail; 2 directories never answer");
        assert_eq!(finding.files[0], PathBuf::from("/opt/a"));
        assert_eq!(finding.saving.low_ns, 60_000_000);
    }

    #[test]
    fn near_miss_many_failures_that_cost_nothing() {
        assert_eq!(lookups(15_000_000).ask(check), Ok(None));
    }

    #[test]
    fn no_data() {
        let mut run = lookups(60_000_000);
        run.profile.lookups = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
    }
}
