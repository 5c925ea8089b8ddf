//! O_DIRECT reads of bytes that were read before: the cache would have had them.

use super::culprits::{bounds, culprits, worst};
use super::input::ratio;
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::{CostTable, DirectIo};

pub(super) const ID: &str = "direct-reread";

/// Share of the direct bytes that were read again, from which on a cache pays (rule R04 of the catalogue: 20 %).
const MIN_REREAD_SHARE: f64 = 0.20;

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    let totals = input.direct()?;
    if reread_share(&totals) < MIN_REREAD_SHARE {
        return Ok(None);
    }
    let costs = input.costs()?;
    let fits = fits_in_memory(&totals, input.memory_bytes());
    let found = culprits(input.profile, |_, io| {
        let direct = io.direct.value()?;
        let saved = saved_ns(&direct, &costs);
        Some((direct, saved * fits, saved))
    });
    let (low_ns, high_ns) = bounds(&found);
    // Without rows (the table of files overflowed) the totals still tell.
    let all_ns = saved_ns(&totals, &costs);
    let saving = input.saving(low_ns.max(all_ns * fits), high_ns.max(all_ns));
    if !input.worth(&saving) {
        return Ok(None);
    }
    let reread_percent = 100.0 * reread_share(&totals);
    let title = format!("{reread_percent:.0} % of O_DIRECT bytes were read before");
    let advice = "Open without O_DIRECT, or cache data in the program. Ignore for databases with their own cache and \
                  device benchmarks.";
    let evidence = vec![
        Evidence::count("direct_read_calls", totals.read_calls),
        Evidence::count("direct_read_bytes", totals.read_bytes),
        Evidence::count("reread_bytes", totals.reread_bytes),
        Evidence::real("reread_percent", reread_percent),
        Evidence::count("direct_ns", totals.time_ns),
        Evidence::count("reread_ns", totals.reread_time_ns),
    ];
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

fn reread_share(direct: &DirectIo) -> f64 {
    ratio(direct.reread_bytes as f64, direct.read_bytes as f64)
}

/// The time that fetched bytes again, less what the cache takes for as many by reads of the mean size.
fn saved_ns(direct: &DirectIo, costs: &CostTable) -> f64 {
    let mean = ratio(direct.read_bytes as f64, direct.read_calls as f64);
    let cached = ratio(direct.reread_bytes as f64, mean) * costs.read_ns(mean);
    (direct.reread_time_ns as f64 - cached).max(0.0)
}

/// How much of the distinct bytes memory could hold, 0 to 1.
fn fits_in_memory(direct: &DirectIo, memory_bytes: u64) -> f64 {
    let distinct = direct.read_bytes.saturating_sub(direct.reread_bytes);
    if distinct <= memory_bytes { 1.0 } else { ratio(memory_bytes as f64, distinct as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, file, run_of, second};
    use hotset_facts::{Observed, Reason};

    fn direct(reread_bytes: u64, time_ns: u64) -> Run {
        let reread_time_ns = time_ns * (reread_bytes >> 20) / 64;
        of(DirectIo {
            read_calls: 1024,
            read_bytes: 64 << 20,
            reread_bytes,
            time_ns,
            reread_time_ns,
            ..DirectIo::default()
        })
    }

    fn of(direct: DirectIo) -> Run {
        let mut row = file("/db", 64 << 20);
        row.io.edit(|io| io.direct = Observed::Value(direct));
        Run::new(run_of(vec![row]))
    }

    #[test]
    fn hit_three_quarters_read_again() {
        let finding = direct(48 << 20, second(1) / 2).finding(check);
        // 0.75 × 0.5 s − 768 × 1.6 µs.
        assert!((373_000_000..374_000_000).contains(&finding.saving.low_ns), "{finding:?}");
        assert_eq!(finding.files.len(), 1);
        assert_eq!(finding.title, "75 % of O_DIRECT bytes were read before");
    }

    #[test]
    fn a_file_beyond_memory_has_a_smaller_lower_bound() {
        let mut run = direct(48 << 20, second(1) / 2);
        run.profile.environment.memory_limit_bytes = Some(8 << 20);
        let finding = run.finding(check);
        assert!(finding.saving.low_ns < finding.saving.high_ns * 6 / 10);
    }

    #[test]
    fn near_misses() {
        assert_eq!(direct(12 << 20, second(1) / 2).ask(check), Ok(None), "19 % again");
        assert_eq!(direct(48 << 20, 10_000_000).ask(check), Ok(None), "fast device");
    }

    /// Most bytes are those of 96 large rereads, most time that of small reads of what nobody read before.
    #[test]
    fn time_of_other_reads_is_not_saved() {
        let mixed = DirectIo {
            read_calls: 4_097,
            read_bytes: (97 << 20) + 4_000 * 4096,
            reread_bytes: 96 << 20,
            time_ns: second(1) / 2,
            reread_time_ns: second(1) / 5,
            ..DirectIo::default()
        };
        let saving = of(mixed).finding(check).saving;
        assert!(saving.high_ns < second(1) / 5, "{saving:?}");
        let fast = DirectIo { reread_time_ns: 3_000_000, ..mixed };
        assert_eq!(of(fast).ask(check), Ok(None), "little time goes into them");
    }

    #[test]
    fn no_data() {
        let run = Run::without_costs(direct(48 << 20, second(1)).profile);
        assert!(run.ask(check).is_err());
        let mut run = direct(48 << 20, second(1));
        run.profile.totals.direct = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
    }
}
