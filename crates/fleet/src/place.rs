//! Where a file of a table lies: `TABLE/v=1/dt=2026-11-21/HOST-SESSION-SEQUENCE.parquet`, below the root of the fleet.
//!
//! A day is a directory, which engines take for a column, and skip whole. Hosts are none: a directory for each would make as many small
//! files for every query. A name is the same each time that a file is made of the same rows, so that one that is delivered twice is there
//! once.

use std::time::{Duration, SystemTime};

use hotset_facts::fleet::{FLEET_VERSION, FleetTable};
use serde::{Deserialize, Serialize};

/// A stretch of time whose rows are in the same files: the hour, as a rule. It begins at a whole multiple of its length, in UTC, so that none
/// has parts of two days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Period {
    /// Seconds since 1970.
    begins: i64,
}

impl Period {
    /// The one of a moment, where each is so long; a day has a whole number of them.
    pub fn of(at: SystemTime, length: Duration) -> Self {
        let length = i64::try_from(length.as_secs()).unwrap_or(i64::MAX).max(1);
        // An interval that ends with the hour belongs to it.
        let at = micros(at).saturating_sub(1).div_euclid(1_000_000);
        Self { begins: at.div_euclid(length).saturating_mul(length) }
    }

    /// Its day in UTC: `2026-11-21`.
    pub fn day(self) -> String {
        let begins = jiff::Timestamp::from_second(self.begins).unwrap_or_default();
        begins.strftime("%Y-%m-%d").to_string()
    }
}

/// Microseconds since 1970.
pub fn micros(at: SystemTime) -> i64 {
    match at.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_micros()).map_or(i64::MIN, i64::wrapping_neg)
        }
    }
}

/// Whose file, and its first interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) host_id: String,
    pub(crate) session: u64,
    pub(crate) sequence: u64,
}

/// The path below the root.
pub(crate) fn path_of(table: FleetTable, period: Period, origin: &Origin) -> String {
    let Origin { host_id, session, sequence } = origin;
    let (table, day) = (table.as_str(), period.day());
    format!("{table}/v={FLEET_VERSION}/dt={day}/{host_id}-{session}-{sequence}.parquet")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn at(text: &str) -> SystemTime {
        text.parse::<jiff::Timestamp>().expect(text).into()
    }

    #[test]
    fn an_interval_that_ends_with_the_period_belongs_to_it() {
        let period = |text| Period::of(at(text), HOUR);
        assert_eq!(period("2026-11-21T23:00:01Z"), period("2026-11-22T00:00:00Z"));
        assert_ne!(period("2026-11-21T23:00:00Z"), period("2026-11-22T00:00:00Z"));
        assert_eq!(period("2026-11-22T00:00:00Z").day(), "2026-11-21");
        assert_eq!(period("2026-11-22T00:00:00.5Z").day(), "2026-11-22");
        assert_eq!(period("1969-12-31T23:30:00Z").day(), "1969-12-31");
    }

    #[test]
    fn a_path_is_a_partition_and_a_name_of_its_own() {
        let origin = Origin { host_id: "ab12".to_owned(), session: 7, sequence: 60 };
        let period = Period::of(at("2026-11-21T10:30:00Z"), HOUR);
        assert_eq!(
            path_of(FleetTable::GroupInterval, period, &origin),
            "group_interval/v=1/dt=2026-11-21/ab12-7-60.parquet"
        );
    }
}
