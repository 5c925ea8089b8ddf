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

/// Digits behind the point, at most, of what is far below its unit.
const MAX_DIGITS: usize = 9;

impl TimeUnit {
    /// Its name, its nanoseconds, and hyperfine's digits behind the point.
    fn parts(self) -> (&'static str, f64, usize) {
        match self {
            Self::Microsecond => ("µs", 1e3, 1),
            Self::Millisecond => ("ms", 1e6, 1),
            Self::Second => ("s", 1e9, 3),
        }
    }
}

impl BenchLook {
    /// A time in nanoseconds that analysis gives as a real number. hyperfine's digits where the unit is given.
    pub(super) fn time(self, ns: f64) -> String {
        self.with_digits(ns, |_, digits| digits)
    }

    /// The same with two digits at least that are not zero: for what may be far below the unit, such as noise.
    pub(super) fn exact_time(self, ns: f64) -> String {
        self.with_digits(ns, |value, digits| {
            let zeros = if value > 0.0 { -value.log10().floor() } else { 0.0 };
            digits.max((zeros.max(0.0) as usize).saturating_add(1)).min(MAX_DIGITS)
        })
    }

    fn with_digits(self, ns: f64, digits: impl Fn(f64, usize) -> usize) -> String {
        let ns = ns.max(0.0);
        let Some(unit) = self.unit else { return units::duration(ns.round() as u64) };
        let (name, size, usual) = unit.parts();
        let value = ns / size;
        format!("{value:.0$} {name}", digits(value, usual))
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
    fn what_is_far_below_its_unit_is_not_zero() {
        let time = |unit, ns| BenchLook { unit: Some(unit), by_time: false }.exact_time(ns);
        let (milli, second) = (TimeUnit::Millisecond, TimeUnit::Second);
        assert_eq!([time(milli, 873_000.0), time(milli, 4_360_000.0)], ["0.87 ms", "4.4 ms"]);
        assert_eq!([time(second, 23_000.0), time(second, 1.5e9)], ["0.000023 s", "1.500 s"]);
        assert_eq!([time(milli, 0.0), time(second, 0.0)], ["0.0 ms", "0.000 s"]);
        assert_eq!(BenchLook::default().exact_time(873_000.0), "873 µs");
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
