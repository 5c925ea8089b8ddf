//! When intervals end. No clock is read here.

use std::time::Duration;

/// Deadlines at a beginning plus whole intervals.
#[derive(Debug, Clone, Copy)]
pub struct Ticker {
    begun: Duration,
    interval: Duration,
    /// The next deadline is that many intervals after the beginning.
    next: u64,
}

impl Ticker {
    /// The first deadline is one interval after `now`, the time of a clock that doesn't go backwards.
    pub fn new(now: Duration, interval: Duration) -> Self {
        Self { begun: now, interval: interval.max(Duration::from_nanos(1)), next: 1 }
    }

    /// How long it is until the next deadline; zero where it is due.
    pub fn left(&self, now: Duration) -> Duration {
        self.deadline().saturating_sub(now)
    }

    /// Goes on to the first deadline after `now`, and says how many more than one have passed.
    pub fn advance(&mut self, now: Duration) -> u64 {
        let since = now.saturating_sub(self.begun).as_nanos();
        let passed = u64::try_from(since / self.interval.as_nanos()).unwrap_or(u64::MAX);
        let late = passed.saturating_sub(self.next);
        self.next = passed.max(self.next).saturating_add(1);
        late
    }

    fn deadline(&self) -> Duration {
        let ns = self.interval.as_nanos().saturating_mul(u128::from(self.next));
        // Beyond the range of a duration (half a trillion years) there is no deadline.
        let seconds = u64::try_from(ns / 1_000_000_000).unwrap_or(u64::MAX);
        let rest = u32::try_from(ns % 1_000_000_000).unwrap_or(0);
        self.begun.saturating_add(Duration::new(seconds, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn deadlines_do_not_drift_however_late_each_wake_is() {
        let begun = 7_777 * MS;
        let mut ticker = Ticker::new(begun, 100 * MS);
        // A day at 0.1 s, each wake 3 ms late.
        for n in 1..=864_000_u32 {
            let due = begun + 100 * MS * n;
            assert_eq!(ticker.left(due - MS), MS, "deadline {n}");
            assert_eq!(ticker.advance(due + 3 * MS), 0);
        }
    }

    #[test]
    fn what_was_missed_is_skipped_and_counted() {
        let mut ticker = Ticker::new(Duration::ZERO, 1_000 * MS);
        assert_eq!(ticker.advance(1_000 * MS), 0);
        assert_eq!(ticker.advance(5_500 * MS), 3, "2, 3 and 4 are in the one that ends at 5.5");
        assert_eq!(ticker.left(5_500 * MS), 500 * MS, "and the next is due at 6");
        assert_eq!(ticker.advance(6_000 * MS), 0);
    }

    #[test]
    fn an_early_wake_misses_nothing_and_repeats_nothing() {
        let mut ticker = Ticker::new(Duration::ZERO, 1_000 * MS);
        assert_eq!(ticker.left(999 * MS), MS);
        assert_eq!(ticker.advance(999 * MS), 0);
        assert_eq!(ticker.left(999 * MS), 1_001 * MS);
    }

    #[test]
    fn a_fraction_of_a_second_is_exact() {
        let third = Duration::from_nanos(333_333_333);
        let mut ticker = Ticker::new(Duration::ZERO, third);
        for _ in 0..1_000_000 {
            let now = ticker.left(Duration::ZERO);
            assert_eq!(ticker.advance(now), 0);
        }
        assert_eq!(ticker.left(Duration::ZERO), Duration::from_nanos(333_333_333 * 1_000_001));
    }
}
