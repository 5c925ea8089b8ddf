//! How a benchmark is shown: the unit of its times, and the order of its rows.

use hotset_analysis::bench::BenchSummary;

use crate::units;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Shown as µs.
    Microsecond,
    /// Shown as ms.
    Millisecond,
    /// Shown as s.
    Second,
}

/// How times and rows are shown. By default, each time has its own unit, and rows are in the order of the commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BenchLook {
    /// The unit of all wall and CPU times.
    pub unit: Option<TimeUnit>,
    /// The fastest row first.
    pub by_time: bool,
}

impl BenchLook {
    /// A time in nanoseconds that analysis gives as a real number. hyperfine's digits where the unit is given.
    pub(super) fn time(self, ns: f64) -> String {
        let ns = ns.max(0.0);
        match self.unit {
            None => units::duration(ns.round() as u64),
            Some(TimeUnit::Microsecond) => format!("{:.1} µs", ns / 1e3),
            Some(TimeUnit::Millisecond) => format!("{:.1} ms", ns / 1e6),
            Some(TimeUnit::Second) => format!("{:.3} s", ns / 1e9),
        }
    }

    /// The places of all conditions in the order of their rows. Those without a counted run come last.
    pub(super) fn rows(self, summary: &BenchSummary) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..summary.conditions.len()).collect();
        if self.by_time {
            let median = |row: &usize| {
                let times = summary.conditions.get(*row).and_then(|numbers| numbers.valid);
                times.map_or(f64::INFINITY, |times| times.wall_ns.median)
            };
            rows.sort_by(|a, b| median(a).total_cmp(&median(b)));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::versus;
    use hotset_analysis::bench::summarise_bench;

    #[test]
    fn times_have_their_unit() {
        let time = |unit| BenchLook { unit, by_time: false }.time(12_345_678.0);
        let units = [TimeUnit::Microsecond, TimeUnit::Millisecond, TimeUnit::Second];
        assert_eq!(units.map(|unit| time(Some(unit))), ["12345.7 µs", "12.3 ms", "0.012 s"]);
        assert_eq!(time(None), "12.3 ms");
    }

    #[test]
    fn rows_are_in_the_order_of_the_commands_or_of_their_times() {
        let mut session = versus();
        session.runs.retain(|run| run.condition != 0);
        let summary = summarise_bench(session);
        let medians = |rows: &[usize]| -> Vec<f64> {
            let numbers = rows.iter().filter_map(|&row| summary.conditions[row].valid);
            numbers.map(|times| times.wall_ns.median).collect()
        };
        assert_eq!(BenchLook::default().rows(&summary), [0, 1, 2, 3, 4]);
        let rows = BenchLook { by_time: true, unit: None }.rows(&summary);
        assert!(medians(&rows).is_sorted() && rows.last() == Some(&0), "{rows:?}");
    }
}
