//! Times in formats.

use std::time::SystemTime;

/// RFC 3339 in UTC; a clock beyond the year 9999 prints as its end.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::MAX).to_string()
}
